import { isIPv4, isIPv6 } from 'node:net'

/**
 * The canonical form of an address or CIDR: RFC 5952, IPv4-mapped IPv6 as IPv4, host bits cleared, `/32` and `/128`
 * as the single address. Null for anything else: zone ids, leading zeros, ports, names.
 */
export const canonicalIp = (text: string): string | null => {
  const slash = text.indexOf('/')
  const address = canonicalAddress(slash < 0 ? text : text.slice(0, slash))
  if (address === null) return null
  if (slash < 0) return address
  const prefix = text.slice(slash + 1)
  const bits = isIPv4(address) ? 32 : 128
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > bits) return null
  if (Number(prefix) === bits) return address
  const host = BigInt(bits - Number(prefix))
  return `${fromNumber((toNumber(address) >> host) << host, bits)}/${prefix}`
}

export const isCidr = (canonical: string): boolean => canonical.includes('/')

/** Loopback, unspecified and link-local addresses, and ranges that hold them: a ban of these only hurts the host itself. */
export const isOwnGround = (canonical: string): boolean => localNetworks.some(range => overlaps(range, canonical))

/** Whether two canonical addresses or CIDRs have an address in common. */
export const overlaps = (one: string, other: string): boolean => {
  const a = span(one)
  const b = span(other)
  return a.bits === b.bits && a.first <= b.last && b.first <= a.last
}

const localNetworks = ['127.0.0.0/8', '0.0.0.0/8', '::1', '::', 'fe80::/10', '169.254.0.0/16']

const canonicalAddress = (text: string): string | null => {
  if (text.length > 45 || text.includes('%')) return null
  if (isIPv4(text)) return text
  if (!isIPv6(text)) return null
  const short = new URL(`http://[${text}]/`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short)
  if (!mapped) return short
  return fromNumber((BigInt(`0x${mapped[1] ?? '0'}`) << 16n) | BigInt(`0x${mapped[2] ?? '0'}`), 32)
}

/** From the first to the last address, as numbers. */
export interface Span {
  readonly bits: number
  readonly first: bigint
  readonly last: bigint
}

export const span = (canonical: string): Span => {
  const [address = '', prefix] = canonical.split('/')
  const bits = isIPv4(address) ? 32 : 128
  const first = toNumber(address)
  return { bits, first, last: first + (1n << BigInt(bits - Number(prefix ?? bits))) - 1n }
}

const toNumber = (address: string): bigint => {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
  const [head = '', tail = ''] = address.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === '' ? [] : tail.split(':')
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

/** The address of a number, 32 or 128 bits wide. */
export const fromNumber = (value: bigint, bits: number): string => {
  if (bits === 32) return [24n, 16n, 8n, 0n].map(shift => String((value >> shift) & 255n)).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}

/** The address of 4 or 16 bytes in network byte order, as the kernel has it in the key of an element. */
export const fromKey = (key: Buffer): string => fromNumber(BigInt(`0x${key.toString('hex')}`), key.length * 8)

/** The netmask of a prefix length, as an address. */
export const maskOf = (bits: number, length: number): string => {
  const host = BigInt(bits - length)
  return fromNumber(((1n << BigInt(bits)) - 1n) ^ ((1n << host) - 1n), bits)
}
