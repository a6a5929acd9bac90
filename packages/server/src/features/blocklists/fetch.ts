import { promisify } from 'node:util'
import { gunzip as gunzipWithCallback } from 'node:zlib'
import { codeOf } from '@stockade/contract/error-code.ts'
import { parseRange, covers, parseIp } from '../../core/ip.ts'
import { Refused } from '../../outgoing/outgoing.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { NoList } from './parse.ts'

const gunzip = promisify(gunzipWithCallback)

/** What a source said about its content, to ask whether it changed. */
export interface Validators {
  readonly etag: string | null
  readonly last_modified: string | null
}
export interface Fetched extends Validators {
  readonly text: string
  readonly bytes: number
}

/** Bytes as they travel, and as they are read. */
const mostBytes = 16 * 1024 * 1024
const mostExpanded = 48 * 1024 * 1024
const timeout = 60_000
const mostRedirects = 3
const redirects = new Set([301, 302, 303, 307, 308])

const privateRanges = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '::1',
  'fc00::/7',
].flatMap(text => parseRange(text) ?? [])
const isPrivate = (address: string): boolean => {
  const ip = parseIp(address)
  return ip !== null && privateRanges.some(range => covers(range, ip))
}
const headerOf = (value: string | string[] | undefined): string | null => {
  const text = Array.isArray(value) ? value[0] : value
  return text === undefined || text.length > 500 ? null : text
}

/** Where a redirect may lead: never from https to http, and never from a public address to a private one. */
const followed = async (outgoing: Pick<Outgoing, 'reach'>, from: string, location: string): Promise<string> => {
  const before = new URL(from)
  const next = URL.parse(location, from)
  if (!next) throw new Refused('The source redirects to something that is no address.')
  if (before.protocol === 'https:' && next.protocol !== 'https:')
    throw new Refused('The source redirects from https to http.')
  const reach = ({ hostname, port, protocol }: URL) =>
    outgoing.reach(hostname, Number(port) || (protocol === 'https:' ? 443 : 80))
  const [here, there] = [await reach(before), await reach(next)]
  if (isPrivate(there.address) && !isPrivate(here.address))
    throw new Refused('The source redirects to a private address.')
  return next.href
}

/**
 * The content of a source; null if it did not change. Bodies are bounded before and after they are expanded.
 * @throws Refused, NoList, or the connection's error
 */
export const fetchBlocklist = async (
  outgoing: Outgoing,
  url: string,
  known: Validators | null,
): Promise<Fetched | null> => {
  let at = url
  for (let hops = 0; hops <= mostRedirects; hops++) {
    const { status, headers, body, isCut } = await outgoing.request(at, {
      timeout,
      most: mostBytes,
      headers: {
        accept: 'text/plain, application/json;q=0.9, */*;q=0.5',
        'accept-encoding': 'gzip',
        'user-agent': 'Stockade',
        ...(known?.etag ? { 'if-none-match': known.etag } : {}),
        ...(known?.last_modified ? { 'if-modified-since': known.last_modified } : {}),
      },
    })
    if (status === 304 && known) return null
    if (redirects.has(status)) {
      at = await followed(outgoing, at, headerOf(headers.location) ?? '')
      continue
    }
    if (status !== 200) throw new NoList(`The source answered HTTP ${status}.`)
    if (isCut) throw new NoList(`The content is larger than ${mostBytes / 1024 / 1024} MiB.`)
    if (/^text\/html\b/i.test(headerOf(headers['content-type']) ?? ''))
      throw new NoList('The content is a web page and no list.')
    return {
      text: await textOf(body),
      bytes: body.length,
      etag: headerOf(headers.etag),
      last_modified: headerOf(headers['last-modified']),
    }
  }
  throw new Refused(`The source redirects more than ${mostRedirects} times.`)
}

const textOf = async (body: Buffer): Promise<string> => {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body.toString('utf8')
  try {
    return (await gunzip(body, { maxOutputLength: mostExpanded })).toString('utf8')
  } catch (error) {
    const isLarge = codeOf(error) === 'ERR_BUFFER_TOO_LARGE'
    throw new NoList(
      isLarge
        ? `The content expands to more than ${mostExpanded / 1024 / 1024} MiB.`
        : 'The content is damaged: it begins as gzip and can’t be expanded.',
    )
  }
}
