import type { BlocklistSource } from '@stockade/contract'
import { SpanCollector, packSpans } from '@stockade/contract/spans.ts'
import { invalid } from '../../core/problem.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { Given } from './content.ts'
import { fetchBlocklist } from './fetch.ts'
import type { Validators } from './fetch.ts'
import { NoList } from './parse.ts'

/** What a source gives now. */
export interface Taken extends Validators {
  readonly bytes: number
  readonly given: Given
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

/** Whether a part of a path may be a token: a long word of letters and digits, as people do not name files. */
const looksSecret = (segment: string): boolean =>
  segment
    .split(/[-_.~%]/)
    .some(
      word => word.length >= 20 || (word.length >= 10 && /\p{L}/u.test(word) && (word.match(/\d/g) ?? []).length > 1),
    ) || /[0-9a-f]{8}-[0-9a-f]{4}-/i.test(segment)
/** A source without what may be a secret of it: the query, and parts of the path that look like tokens. */
export const withoutSecrets = (source: BlocklistSource): BlocklistSource => {
  const parsed = source.url === undefined ? null : URL.parse(source.url)
  if (!parsed) return source
  const path = parsed.pathname.split('/').map(segment => (looksSecret(segment) ? '***' : segment))
  return { ...source, url: `${parsed.origin}${path.join('/')}` }
}

/**
 * Reads a source; null if it did not change since `known`.
 * @throws NoList, Refused, or the connection's error
 */
export const takeSource =
  (needs: { outgoing: Pick<Outgoing, 'request'>; ipinfo: Pick<IpInfo, 'eachRange' | 'ready'> }) =>
  async (
    { url, countries = [], asns = [] }: BlocklistSource,
    mayBePrivate: boolean,
    known: Validators | null,
  ): Promise<Taken | null> => {
    if (url === undefined) {
      await needs.ipinfo.ready
      const collector = new SpanCollector()
      await needs.ipinfo.eachRange({ countries, asns }, (first, last) => collector.addBytes(first, last))
      const lines = collector.size
      if (lines === 0) throw new NoList('The data of places knows no address of these.')
      const spans = packSpans(collector.spans())
      return { bytes: 0, etag: null, last_modified: null, given: { kind: 'places', spans, lines } }
    }
    const fetched = await fetchBlocklist(needs.outgoing, { url, mayBePrivate }, known)
    if (fetched === null) return null
    const { body, ...validators } = fetched
    return { ...validators, bytes: body.length, given: { kind: 'answer', body } }
  }
