/* Addresses as the browser has to know them: to tell a typing error early, and whether a live ban matches a filter. */

interface Range {
  readonly bits: 32 | 128
  readonly from: bigint
  readonly prefix: number
}

const readV4 = (text: string): bigint | null => {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every(part => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null
  return parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n)
}

const readV6 = (text: string): bigint | null => {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const v4 = tail ? readV4(tail[2] ?? '') : null
  if (tail && v4 === null) return null
  const whole =
    tail && v4 !== null ? `${tail[1] ?? ''}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}` : text
  const halves = whole.split('::')
  if (halves.length > 2) return null
  const groups = halves.map(half => (half === '' ? [] : half.split(':')))
  const [head = [], end = []] = groups
  const missing = 8 - head.length - end.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null
  const all = [...head, ...Array.from({ length: missing }, () => '0'), ...end]
  if (!all.every(group => /^[0-9a-f]{1,4}$/i.test(group))) return null
  return all.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n)
}

/** An address or CIDR, its host bits cleared; IPv4-mapped IPv6 counts as IPv4. Null where it is neither. */
export const readRange = (typed: string): Range | null => {
  const [address = '', length, ...more] = typed.trim().split('/')
  if (more.length > 0 || (length !== undefined && !/^(0|[1-9]\d{0,2})$/.test(length))) return null
  const v4 = readV4(address)
  const v6 = v4 === null ? readV6(address) : null
  const mapped = v6 !== null && v6 >> 32n === 0xffffn
  const value = v4 ?? v6
  if (value === null) return null
  const written = v4 !== null ? 32 : 128
  const prefix = length === undefined ? written : Number(length)
  if (prefix > written) return null
  if (mapped && prefix >= 96) return clear(32, value & 0xffff_ffffn, prefix - 96)
  return clear(written, value, prefix)
}
const clear = (bits: 32 | 128, value: bigint, prefix: number): Range => {
  const low = BigInt(bits - prefix)
  return { bits, from: (value >> low) << low, prefix }
}

/** Whether the first holds the second, both as typed; false where either can't be read. */
export const covers = (outer: string, inner: string): boolean => {
  const [a, b] = [readRange(outer), readRange(inner)]
  if (!a || !b || a.bits !== b.bits || b.prefix < a.prefix) return false
  const low = BigInt(a.bits - a.prefix)
  return a.from >> low === b.from >> low
}
