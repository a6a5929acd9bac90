import { lastOf } from '@stockade/contract/spans.ts'
import ipaddr from 'ipaddr.js'

/** An address or a range, canonical. `bytes` has 4 or 16 bytes; `prefix` is null for a single address. */
export interface IpRange {
  readonly bytes: Uint8Array
  readonly prefix: number | null
  readonly text: string
}

const textOf = (bytes: Uint8Array): string => {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`
  const address = ipaddr.fromByteArray([...bytes])
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString()
}

const bytesOf = (text: string): Uint8Array | null => {
  // No zones, no leading zeros, no short IPv4 forms: `010.0.0.1` and `10.1` mean different things to different readers.
  if (text.length > 45 || text.includes('%')) return null
  if (!text.includes(':')) return ipv4Of(text)
  if (!ipaddr.IPv6.isValid(text) || /(^|[:.])0\d+\./.test(text)) return null
  const address = ipaddr.IPv6.parse(text)
  return Uint8Array.from(address.toByteArray())
}

/** Four decimal numbers; by hand, because it is done for every report and a pattern's parts cost more than their reading. */
const ipv4Of = (text: string): Uint8Array | null => {
  const bytes = new Uint8Array(4)
  let part = 0
  let digits = 0
  let value = 0
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 0x30
    if (digit === dot) {
      if (digits === 0 || part === 3) return null
      bytes[part++] = value
      digits = value = 0
    } else {
      if (digit < 0 || digit > 9 || (digits > 0 && value === 0)) return null
      digits++
      value = value * 10 + digit
      if (value > 255) return null
    }
  }
  if (part !== 3 || digits === 0) return null
  bytes[3] = value
  return bytes
}
/** As far from `0` as `.` stands. */
const dot = 0x2e - 0x30

const mapped = (bytes: Uint8Array) =>
  bytes.length === 16 && bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every(byte => byte === 0)

/** Reads one address in any valid textual form; IPv4-mapped IPv6 becomes IPv4. Null when it is none. */
export const parseIp = (text: string): IpRange | null => {
  const read = bytesOf(text)
  if (!read) return null
  // There is one way to write an IPv4 address.
  if (read.length === 4) return { bytes: read, prefix: null, text }
  const bytes = mapped(read) ? read.slice(12) : read
  return { bytes, prefix: null, text: textOf(bytes) }
}

/** Reads an address or a CIDR; host bits are cleared, `/32` and `/128` become the single address. Null when it is neither. */
export const parseRange = (text: string): IpRange | null => {
  const slash = text.indexOf('/')
  if (slash < 0) return parseIp(text)
  const length = text.slice(slash + 1)
  if (!/^(0|[1-9]\d{0,2})$/.test(length)) return null
  const read = bytesOf(text.slice(0, slash))
  if (!read) return null
  let prefix = Number(length)
  if (prefix > read.length * 8) return null
  // The mapped block is folded only where the whole range lies inside it.
  const folds = mapped(read) && prefix >= 96
  const bytes = folds ? read.slice(12) : read
  if (folds) prefix -= 96
  if (prefix === bytes.length * 8) return { bytes, prefix: null, text: textOf(bytes) }
  clearHostBits(bytes, prefix)
  return { bytes, prefix, text: `${textOf(bytes)}/${prefix}` }
}

const clearHostBits = (bytes: Uint8Array, prefix: number) => {
  for (let index = 0; index < bytes.length; index++) {
    const keptBits = Math.min(8, Math.max(0, prefix - index * 8))
    bytes[index] = (bytes[index] ?? 0) & (0xff << (8 - keptBits))
  }
}

/**
 * The shortest prefix that a whitelisted range may have: two ranges of /1 would be the Internet. Unique local and
 * link-local IPv6 may be listed whole.
 */
export const widestListed = ({ bytes }: IpRange): number => {
  if (bytes.length === 4) return 8
  const head = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)
  return (head & 0xfe00) === 0xfc00 ? 7 : (head & 0xffc0) === 0xfe80 ? 10 : 16
}

export const ipText = (bytes: Uint8Array, prefix: number | null): string =>
  prefix === null ? textOf(bytes) : `${textOf(bytes)}/${prefix}`

export const isLoopback = (ip: IpRange): boolean =>
  ip.bytes.length === 4 ? ip.bytes[0] === 127 : ip.bytes.every((byte, index) => byte === (index === 15 ? 1 : 0))

/** Whether the address lies in the range. */
export const covers = (range: IpRange, ip: IpRange): boolean => {
  if (range.bytes.length !== ip.bytes.length) return false
  return Buffer.compare(range.bytes, ip.bytes) <= 0 && Buffer.compare(ip.bytes, lastOf(range)) <= 0
}
