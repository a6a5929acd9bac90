import type { BodyOf, ReplyOf, blocklists as contract } from '@stockade/contract'
import { errorText } from '@stockade/contract/error-code.ts'
import { bounds } from '@stockade/contract/limits.ts'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { Problem, conflict } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { sessionAddresses } from './blocklists.store.ts'
import { guardPrivate, unreadForLimited } from './consent.ts'
import type { Built } from './content.ts'
import type { Protection } from '../reach/protected.ts'
import type { ListThreads } from './list-threads.ts'
import { readSource, withoutSecrets } from './sources.ts'
import type { takeSource } from './sources.ts'
import { packedCuts } from './updates.ts'

type Input = BodyOf<typeof contract.previewBlocklist>
type Preview = ReplyOf<typeof contract.previewBlocklist>

const mostServers = 10

/** Reads a source and says what servers would hold of it, and what of ours it names. Stores nothing but who looked where. */
export const createPreview = (
  needs: Pick<StoreAccess, 'db' | 'events'> & {
    registry: Pick<Registry, 'all'>
    mirror: Pick<Mirror, 'render'>
    take: ReturnType<typeof takeSource>
    protection: Pick<Protection, 'now'>
    threads: ListThreads
  },
) => {
  const { db, events, registry, mirror } = needs

  const look = async (actor: Principal, input: Input) => {
    const source = readSource(input.source)
    const mayBePrivate = input.allow_private === true
    if (mayBePrivate) guardPrivate(actor)
    await events.change(change =>
      change.record({ name: 'list.preview', author: authorOf(actor), data: { source: withoutSecrets(source) } }),
    )
    const content = await needs.take(source, mayBePrivate, null)
    if (content === null) throw conflict('The source did not give its content.')
    const servers = registry.all().filter(({ row }) => sees(actor, row.no) && row.ip_address !== null)
    const addresses = servers.flatMap(({ row }) => row.ip_address ?? [])
    // Who has access to some servers must not learn by trying which addresses other servers and people have.
    const isLimited = actor.servers !== 'all'
    const sessions = isLimited ? [] : await sessionAddresses(db.read)
    const built = await needs.threads.run('build', {
      given: content.given,
      reading: {
        format: input.format ?? 'auto',
        column: input.column ?? null,
        allowsWide: input.allow_wide === true || source.kind !== 'url',
      },
      cuts: packedCuts(await needs.protection.now(), isLimited ? addresses : undefined),
      most: bounds.blocklists.entries,
      before: null,
      named: { addresses: [actor.ip, ...addresses, ...sessions], whitelist: (await mirror.render()).plain },
    })
    return { built, bytes: content.bytes, servers, isLimited }
  }
  const viewOf = ({ built, bytes, servers, isLimited }: Awaited<ReturnType<typeof look>>): Preview => {
    const { format, entries, addresses, networks, left_out, samples, unread, named } = built
    return {
      format,
      bytes,
      entries,
      addresses,
      networks,
      share_percent: (addresses / 2 ** 32) * 100,
      left_out: isLimited ? { ...left_out, managed: null, people: null } : left_out,
      unread: [...unread],
      samples: [...samples],
      conflicts: { ...conflictsOf(named, servers), ...(isLimited ? { sessions: null } : {}) },
    }
  }
  return async (actor: Principal, input: Input): Promise<Preview> =>
    viewOf(
      await look(actor, input).catch((error: unknown) => {
        if (error instanceof Problem) throw error
        throw conflict(actor.servers === 'all' ? tame(errorText(error), 500) : unreadForLimited)
      }),
    )
}

/** In the order in which they were asked: the caller, servers, signed-in users. */
const conflictsOf = (
  { addresses: [you = false, ...others], whitelist }: Built['named'],
  servers: ReturnType<Registry['all']>,
): Preview['conflicts'] => ({
  servers: servers
    .filter((_, place) => others[place] === true)
    .slice(0, mostServers)
    .map(({ row }) => row.hostname),
  whitelist: [...whitelist],
  sessions: others.slice(servers.length).filter(Boolean).length,
  you,
})
