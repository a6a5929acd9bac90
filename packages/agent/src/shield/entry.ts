import { isCidr, span } from '../ip.ts'

/* Addresses and ranges as keys of hash sets. */

export type Family = 4 | 6

/** A canonical address or range as an element of the set for its prefix length. */
export interface Entry {
  readonly text: string
  readonly family: Family
  /** The prefix length. */
  readonly length: number
  /** The first address, in network byte order. */
  readonly key: Buffer
}

export const bitsOf = (family: Family): number => (family === 4 ? 32 : 128)

export const toEntry = (canonical: string): Entry => {
  const { family, length } = sizeOf(canonical)
  const key = family === 4 ? bytesOf4(canonical) : bytesOf(span(canonical).first, 128)
  return { text: canonical, family, length, key }
}

/** Family and prefix length of a canonical address or range, without its key. */
export const sizeOf = (canonical: string): Pick<Entry, 'family' | 'length'> => {
  const family = canonical.includes(':') ? 6 : 4
  const length = isCidr(canonical) ? Number(canonical.slice(canonical.indexOf('/') + 1)) : bitsOf(family)
  return { family, length }
}

const [dot, slash, zero] = [46, 47, 48]

/** Without big integers: a load of 100,000 entries spent half of its time on them. */
const bytesOf4 = (canonical: string): Buffer => {
  const key = Buffer.allocUnsafe(4)
  let at = 0
  let value = 0
  for (let i = 0; i < canonical.length; i += 1) {
    const code = canonical.charCodeAt(i)
    if (code === slash) break
    if (code !== dot) {
      value = value * 10 + code - zero
      continue
    }
    key[at] = value
    at += 1
    value = 0
  }
  key[at] = value
  return key
}

/** The entry of this length that holds the entry; null if the entry is wider. */
export const widen = (entry: Entry, length: number): Buffer | null => {
  if (length > entry.length) return null
  const bits = bitsOf(entry.family)
  const host = BigInt(bits - length)
  return bytesOf((BigInt(`0x${entry.key.toString('hex')}`) >> host) << host, bits)
}

const bytesOf = (value: bigint, bits: number): Buffer => Buffer.from(value.toString(16).padStart(bits / 4, '0'), 'hex')

/** `ban24_4`, `keep64_6`; `ban_4` for single addresses. Of list 7: `l7a_24_4`. */
export const setName = (kind: string, family: Family, length: number): string =>
  `${kind}${length === bitsOf(family) ? '' : length}_${family}`
