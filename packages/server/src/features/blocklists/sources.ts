import type { BlocklistFormat, BlocklistSource } from '@stockade/contract'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { invalid } from '../../core/problem.ts'
import { fetchBlocklist } from './fetch.ts'
import type { Validators } from './fetch.ts'
import { NoList, parseBlocklist } from './parse.ts'
import { SpanCollector } from '@stockade/contract/spans.ts'
import type { Spans } from '@stockade/contract/spans.ts'

/** What a source gives now. */
export interface Taken extends Validators {
  readonly format: BlocklistFormat | null
  readonly bytes: number
  readonly spans: Spans
  readonly invalid: number
  readonly too_wide: number
  /** Entries before they were merged. */
  readonly lines: number
}

/** The source as it is stored: only what belongs to its kind. @throws Problem 400 */
export const readSource = ({ kind, url, countries, asns }: BlocklistSource): BlocklistSource => {
  switch (kind) {
    case 'url': {
      const parsed = url === undefined ? null : URL.parse(url)
      if (!parsed || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:'))
        throw invalid('source.url', 'source.url must be an address that begins with http:// or https://.')
      if (parsed.username || parsed.password)
        throw invalid('source.url', 'source.url must not hold a user name or a password.')
      return { kind, url: parsed.href }
    }
    case 'countries':
      if (!countries) throw invalid('source.countries', 'source.countries must name at least one country.')
      return { kind, countries: [...new Set(countries)].sort() }
    case 'networks':
      if (!asns) throw invalid('source.asns', 'source.asns must name at least one network.')
      return { kind, asns: [...new Set(asns)].sort((a, b) => a - b) }
  }
}

/**
 * Reads a source; null if it did not change since `known`.
 * @throws NoList, Refused, or the connection's error
 */
export const takeSource =
  (needs: { outgoing: Outgoing; ipinfo: Pick<IpInfo, 'eachRange' | 'ready'> }) =>
  async (
    source: BlocklistSource,
    reading: { readonly format: BlocklistFormat; readonly column: number | null },
    known: Validators | null,
  ): Promise<Taken | null> => {
    if (source.kind !== 'url') {
      await needs.ipinfo.ready
      const collector = new SpanCollector()
      await needs.ipinfo.eachRange({ countries: source.countries ?? [], asns: source.asns ?? [] }, (first, last) =>
        collector.addBytes(first, last),
      )
      const spans = collector.spans()
      const lines = spans.v4.length / 2 + spans.v6.length
      if (lines === 0) throw new NoList('The data of places knows no address of these.')
      const nothing = { format: null, bytes: 0, etag: null, last_modified: null, invalid: 0, too_wide: 0 }
      return { ...nothing, spans, lines }
    }
    const fetched = await fetchBlocklist(needs.outgoing, source.url ?? '', known)
    if (fetched === null) return null
    const { text, ...rest } = fetched
    return { ...rest, ...(await parseBlocklist(text, reading.format, reading.column)) }
  }
