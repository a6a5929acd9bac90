import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { parseIp, parseRange } from '../../core/ip.ts'
import { inSlices } from '../../core/slices.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { neverBanned, privateNetworks } from '@stockade/contract/reach.ts'
import { SpanCollector, subtract } from '@stockade/contract/spans.ts'
import type { Spans } from '@stockade/contract/spans.ts'

/* What no list may hold. */

export const spansOfTexts = (texts: Iterable<string>): Spans => {
  const collector = new SpanCollector()
  for (const text of texts) {
    const range = parseRange(text)
    if (range) collector.add(range)
  }
  return collector.spans()
}
/** Private, shared, loopback, link-local, multicast and reserved addresses: a list that names them hurts its subscribers only. */
const reserved = spansOfTexts([...neverBanned, ...privateNetworks])

export interface Cuts {
  /** Names what is cut out; another text means that every list must be cut again. */
  readonly version: string
  /** What is cut out, by its kind, for a thread that cuts by `cutBy`. */
  readonly parts: CutParts
  /** The spans without what must not be in them, with the number of spans that each kind touched. */
  cut(spans: Spans): { readonly spans: Spans; readonly counts: CutCounts }
}
const kinds = ['private', 'whitelisted', 'own', 'managed'] as const
export type CutCounts = Readonly<Record<(typeof kinds)[number], number>>
export type CutParts = Readonly<Record<(typeof kinds)[number], Spans>>

export const cutBy = (parts: CutParts, spans: Spans): ReturnType<Cuts['cut']> => {
  const counts = { private: 0, whitelisted: 0, own: 0, managed: 0 }
  let left = spans
  for (const kind of kinds) {
    const step = subtract(left, parts[kind])
    left = step.spans
    counts[kind] = step.touched
  }
  return { spans: left, counts }
}

export const createCuts = (needs: {
  mirror: Pick<Mirror, 'version' | 'render'>
  registry: Pick<Registry, 'all'>
  /** Host of the address under which users and agents reach this server. */
  baseUrl: () => string
}): { readonly version: () => string; readonly now: () => Promise<Cuts> } => {
  const { mirror, registry } = needs
  let whitelist: { readonly version: string; readonly spans: Spans } | null = null

  const whitelisted = async (): Promise<Spans> => {
    const { version, plain } = await mirror.render()
    if (whitelist?.version !== version) {
      const collector = new SpanCollector()
      await inSlices(plain.toString('utf8').split('\n'), line => {
        const range = line.startsWith('#') || line === '' ? null : parseRange(line)
        if (range) collector.add(range)
      })
      whitelist = { version, spans: collector.spans() }
    }
    return whitelist.spans
  }
  const ownAddresses = (): string[] => {
    const host = URL.parse(needs.baseUrl())?.hostname.replace(/^\[|\]$/g, '') ?? ''
    const bound = Object.values(networkInterfaces()).flatMap(list => (list ?? []).map(({ address }) => address))
    return [...bound, host].flatMap(text => parseIp(text)?.text ?? []).sort()
  }
  const managedAddresses = (): string[] =>
    registry
      .all()
      .flatMap(({ row }) => row.ip_address ?? [])
      .sort()
  const versionOf = (own: readonly string[], managed: readonly string[]): string =>
    `${mirror.version()} ${createHash('sha256').update(`${own.join()} ${managed.join()}`).digest('hex').slice(0, 16)}`

  return {
    version: () => versionOf(ownAddresses(), managedAddresses()),
    async now() {
      const own = ownAddresses()
      const managed = managedAddresses()
      const parts = {
        private: reserved,
        whitelisted: await whitelisted(),
        own: spansOfTexts(own),
        managed: spansOfTexts(managed),
      }
      return {
        version: versionOf(own, managed),
        parts,
        cut: spans => cutBy(parts, spans),
      }
    },
  }
}
