import { neverBanned, privateNetworks, translatedNetworks } from '@stockade/contract/reach.ts'
import { networkOf, spansOfNetworks, touches } from '@stockade/contract/spans.ts'
import type { IpRange } from '../../core/ip.ts'
import { Refused } from '../../outgoing/outgoing.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { NoList } from './parse.ts'

/** What a source said about its content, to ask whether it changed. */
export interface Validators {
  readonly etag: string | null
  readonly last_modified: string | null
}
export interface Fetched extends Validators {
  readonly body: Buffer
}

/** Bytes as they travel. */
const mostBytes = 16 * 1024 * 1024
const timeout = 60_000
const mostRedirects = 3
const redirects = new Set([301, 302, 303, 307, 308])

/** By NAT64 (RFC 6052) hosts without IPv4 reach public addresses. The IPv4 address inside is judged by itself. */
const nat64 = '64:ff9b::/96'
const privateSpans = spansOfNetworks(
  [...neverBanned, ...privateNetworks, ...translatedNetworks.filter(text => text !== nat64)].map(networkOf),
)
const isPrivate = (ip: IpRange): boolean => touches(privateSpans, ip)

const headerOf = (value: string | string[] | undefined): string | null => {
  const text = Array.isArray(value) ? value[0] : value
  return text === undefined || text.length > 500 ? null : text
}

/** Where a redirect leads: never from https to http. */
const followed = (from: string, location: string): string => {
  const next = URL.parse(location, from)
  if (!next) throw new Refused('The source redirects to something that is no address.')
  if (URL.parse(from)?.protocol === 'https:' && next.protocol !== 'https:')
    throw new Refused('The source redirects from https to http.')
  return next.href
}

/**
 * The content of a source as it came; null if it did not change. A private or loopback address is reached only where `mayBePrivate` says so, and never by
 * a redirect from a public one.
 *
 * @throws Refused, NoList, or the connection's error
 */
export const fetchBlocklist = async (
  outgoing: Pick<Outgoing, 'request'>,
  { url, mayBePrivate }: { readonly url: string; readonly mayBePrivate: boolean },
  known: Validators | null,
): Promise<Fetched | null> => {
  let at = url
  let isInside = mayBePrivate
  for (let hops = 0; hops <= mostRedirects; hops++) {
    let hasPrivate = false
    const judge = (ip: IpRange): string | null => {
      if (!isPrivate(ip)) return null
      hasPrivate = true
      if (isInside) return null
      return at === url
        ? 'The source is at a private or loopback address. An administrator with access to all servers may allow that for the list.'
        : 'The source redirects to a private address.'
    }
    const { status, headers, body, isCut } = await outgoing.request(at, {
      timeout,
      most: mostBytes,
      judge,
      headers: {
        accept: 'text/plain, application/json;q=0.9, */*;q=0.5',
        'accept-encoding': 'gzip',
        'user-agent': 'Stockade',
        ...(known?.etag ? { 'if-none-match': known.etag } : {}),
        ...(known?.last_modified ? { 'if-modified-since': known.last_modified } : {}),
      },
    })
    isInside &&= hasPrivate
    if (status === 304 && known) return null
    if (redirects.has(status)) {
      at = followed(at, headerOf(headers.location) ?? '')
      continue
    }
    if (status !== 200) throw new NoList(`The source answered HTTP ${status}.`)
    if (isCut) throw new NoList(`The content is larger than ${mostBytes / 1024 / 1024} MiB.`)
    if (/^text\/html\b/i.test(headerOf(headers['content-type']) ?? ''))
      throw new NoList('The content is a web page and no list.')
    return { body, etag: headerOf(headers.etag), last_modified: headerOf(headers['last-modified']) }
  }
  throw new Refused(`The source redirects more than ${mostRedirects} times.`)
}
