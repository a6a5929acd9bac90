import type { BodyOf, ReplyOf, blocklists as contract } from '@stockade/contract'
import { errorText } from '@stockade/contract/error-code.ts'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { parseIp, parseRange } from '../../core/ip.ts'
import { conflict } from '../../core/problem.ts'
import { inSlices } from '../../core/slices.ts'
import { tame } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { sessionAddresses } from './blocklists.store.ts'
import { buildContent } from './content.ts'
import type { Cuts } from './cuts.ts'
import { readSource } from './sources.ts'
import type { takeSource } from './sources.ts'
import { touches } from '@stockade/contract/spans.ts'

type Preview = ReplyOf<typeof contract.previewBlocklist>

const mostShown = 10

/** Reads a source and says what servers would hold of it, and what of ours it names. Stores nothing. */
export const createPreview =
  (needs: {
    db: Database
    registry: Pick<Registry, 'all'>
    mirror: Pick<Mirror, 'render'>
    take: ReturnType<typeof takeSource>
    cuts: { readonly now: () => Promise<Cuts> }
  }) =>
  async (actor: Principal, input: BodyOf<typeof contract.previewBlocklist>): Promise<Preview> => {
    const { db, registry, mirror } = needs
    const source = readSource(input.source)
    const reading = { format: input.format ?? 'auto', column: input.column ?? null }
    const taken = await needs.take(source, reading, null).catch((error: unknown) => {
      throw conflict(tame(errorText(error), 500))
    })
    if (taken === null) throw conflict('The source did not give its content.')
    const { spans, lines, bytes, format, invalid, too_wide } = taken
    const duplicates = Math.max(0, lines - spans.v4.length / 2 - spans.v6.length)
    const built = await buildContent(spans, await needs.cuts.now(), { invalid, too_wide, duplicates })
    const names = (text: string | null): boolean => {
      const ip = text === null ? null : parseIp(text)
      return ip !== null && touches(spans, ip)
    }
    const whitelist: string[] = []
    await inSlices((await mirror.render()).plain.toString('utf8').split('\n'), line => {
      const range = whitelist.length < mostShown && !line.startsWith('#') ? parseRange(line) : null
      if (range && touches(spans, range)) whitelist.push(range.text)
    })
    return {
      format,
      bytes,
      entries: built.entries.length,
      addresses: built.addresses,
      share_percent: (built.addresses / 2 ** 32) * 100,
      left_out: built.left_out,
      samples: built.entries.slice(0, mostShown),
      conflicts: {
        servers: registry
          .all()
          .filter(({ row }) => sees(actor, row.no) && names(row.ip_address))
          .slice(0, mostShown)
          .map(({ row }) => row.hostname),
        whitelist,
        sessions: (await sessionAddresses(db.read)).filter(names).length,
        you: names(actor.ip),
      },
    }
  }
