import { covers, readRange } from '../../lib/address.ts'

export interface Found {
  readonly ip: string
  /** Whether more was pasted than the address, so that the page says which one it took. */
  readonly part: boolean
}

/** One address in its plain form; an IPv4 address in IPv6 notation becomes IPv4. Null for anything else. */
const plain = (text: string): string | null => {
  const range = readRange(text)
  if (!range || text.includes('/') || range.prefix !== range.bits) return null
  if (range.bits === 32 && text.includes(':'))
    return [24n, 16n, 8n, 0n].map(shift => String((range.from >> shift) & 255n)).join('.')
  return text.toLowerCase()
}

/** An address as programs write it: alone, with a port, in brackets, with a zone. */
const written = (text: string): string | null => {
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)
  if (bracketed) return plain((bracketed[1] ?? '').replace(/%.*$/, ''))
  const ported = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(text)
  return plain(ported ? (ported[1] ?? '') : text)
}

/** Takes what was pasted: an address in any of its forms, or a line of a log, of which the first address counts. */
export const findAddress = (pasted: string): Found | null => {
  const text = pasted.trim().slice(0, 4096)
  const whole = written(text)
  if (whole !== null) return { ip: whole, part: false }
  for (const [token] of text.matchAll(/(?<![\w.:])(\[[0-9a-f:.]+\](:\d{1,5})?|[0-9a-f:.]*[0-9a-f:])(?!\w|\/\d)/gi)) {
    const ip = /[.:]/.test(token) ? written(token.replace(/:$/, '')) : null
    if (ip !== null) return { ip, part: true }
  }
  return null
}

/** What is wrong with an IPv4 address of which one part is too large, the commonest slip: `203.0.113.300`. */
export const tooLarge = (pasted: string): { readonly part: string; readonly place: number } | null => {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(pasted.trim())
  const parts = match?.slice(1) ?? []
  const index = parts.findIndex(part => Number(part) > 255)
  return index < 0 ? null : { part: parts[index] ?? '', place: index + 1 }
}

const kinds = [
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
  ['shared', ['100.64.0.0/10']],
  ['link', ['169.254.0.0/16', 'fe80::/10']],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
] as const
export type Kind = (typeof kinds)[number][0]

/** The special use of an address, null for one of the open internet. */
export const kindOf = (ip: string): Kind | null =>
  kinds.find(([, ranges]) => ranges.some(range => covers(range, ip)))?.[0] ?? null
