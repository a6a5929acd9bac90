import { lastOf } from '@stockade/contract/spans.ts'
import { parseRange } from '../../core/ip.ts'

/*
 * Ranges that are nobody's place: private, local, documentation, multicast and reserved ones of IANA's special-purpose
 * registries (RFC 6890 and its updates). Data sets list some of them all the same.
 */
const ipv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** Inside 2000::/3, which is all that is given out to the internet. */
const ipv6 = ['2001:2::/48', '2001:10::/28', '2001:db8::/32', '3fff::/20']

/** An IPv4 address as one unsigned number. */
const ipv4Word = (bytes: Uint8Array): number =>
  (bytes[0] ?? 0) * 0x1000000 + (((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0))

/** The address as unsigned 32-bit words, the highest first. */
const wordsOf = (bytes: Uint8Array): number[] => {
  const words: number[] = []
  for (let at = 0; at < bytes.length; at += 4)
    words.push(
      (bytes[at] ?? 0) * 0x1000000 +
        (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)),
    )
  return words
}

/** First and last address of a range; of IPv6 the upper 64 bits, since none of these is narrower than that. */
const bounds = (text: string) => {
  const range = parseRange(text)
  if (!range) throw new Error(`${text} is no range`)
  return [...wordsOf(range.bytes).slice(0, 2), ...wordsOf(lastOf(range)).slice(0, 2)]
}
const ipv4Bounds = ipv4.map(text => {
  const [first = 0, last = 0] = bounds(text)
  return { first, last }
})
/** Which first bytes any of these begins with: most addresses need no further look. */
const ipv4Firsts = Uint8Array.from({ length: 256 }, (_, first) =>
  Number(ipv4Bounds.some(range => first >= range.first >>> 24 && first <= range.last >>> 24)),
)
const ipv6Bounds = ipv6.map(bounds)

/** Whether an address of 4 or 16 bytes belongs to no place on the internet. */
export const isSpecial = (bytes: Uint8Array): boolean => {
  if (bytes.length === 4) {
    if (ipv4Firsts[bytes[0] ?? 0] === 0) return false
    const word = ipv4Word(bytes)
    return ipv4Bounds.some(({ first, last }) => word >= first && word <= last)
  }
  const [high = 0, low = 0] = wordsOf(bytes)
  if (high >>> 29 !== 1) return true
  return ipv6Bounds.some(
    ([firstHigh = 0, firstLow = 0, lastHigh = 0, lastLow = 0]) =>
      (high > firstHigh || (high === firstHigh && low >= firstLow)) &&
      (high < lastHigh || (high === lastHigh && low <= lastLow)),
  )
}
