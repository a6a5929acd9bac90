import { keysOf } from '../records.ts'
import type { QueryValue } from './tree.ts'

const readsAsIpv4 = (text: string) =>
  /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) &&
  text.split('.').every(part => Number(part) <= 255 && String(Number(part)) === part)
const readsAsIpv6 = (text: string) => {
  if (text.length > 45 || !/^[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*$/.test(text)) return false
  const dotted = text.includes('.') ? text.slice(text.lastIndexOf(':') + 1) : null
  if (dotted !== null && !readsAsIpv4(dotted)) return false
  const whole = dotted === null ? text : `${text.slice(0, -dotted.length)}0:0`
  const halves = whole.split('::')
  if (halves.length > 2) return false
  const groups = halves.flatMap(half => (half === '' ? [] : half.split(':')))
  if (!groups.every(group => /^[0-9A-Fa-f]{1,4}$/.test(group))) return false
  return halves.length === 2 ? groups.length < 8 : groups.length === 8
}
/** Whether a text is an IPv4 or IPv6 address, or a CIDR range. */
export const readsAsIp = (text: string): boolean => {
  const [address = '', length, ...more] = text.split('/')
  if (more.length > 0 || !(readsAsIpv4(address) || readsAsIpv6(address))) return false
  return (
    length === undefined ||
    (/^(?:0|[1-9]\d{0,2})$/.test(length) && Number(length) <= (address.includes(':') ? 128 : 32))
  )
}
/** What a value of an address stands for as an address or a CIDR: `203.0.113.` and `203.0.113.*` are `203.0.113.0/24`. Null: neither. */
export const rangeOfQuery = (text: string): string | null => {
  if (readsAsIp(text)) return text
  const parts = /^((?:\d{1,3}\.){1,3})\*?$/.exec(text)?.[1]?.slice(0, -1).split('.')
  if (!parts) return null
  const address = [...parts, '0', '0', '0'].slice(0, 4).join('.')
  return readsAsIpv4(address) ? `${address}/${parts.length * 8}` : null
}

const lengths = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const
/**
 * The span that a time means, `from` inclusive and `to` exclusive, in epoch milliseconds: a date is a day in UTC, a time is
 * as long as it is exact. Null when it is none.
 */
// oxlint-disable-next-line complexity -- one branch for each form of a time
export const spanOfQuery = (text: string, now: number): { readonly from: number; readonly to: number } | null => {
  const relative = /^now(?:-(\d{1,5})([mhdw]))?$/i.exec(text)
  if (relative) {
    const unit = keysOf(lengths).find(name => name === relative[2]?.toLowerCase()) ?? 'm'
    const at = now - Number(relative[1] ?? 0) * lengths[unit]
    return { from: at, to: at + 1 }
  }
  const parts = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?(\.\d{1,3})?(Z|[+-]\d\d:\d\d)?)?$/i.exec(text)
  if (!parts) return null
  const [, date = '', minutes, seconds, fraction, zone] = parts
  const day = Date.parse(`${date}T00:00:00Z`)
  // The 31st of a shorter month would be read as a day of the next one.
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== date) return null
  if (minutes === undefined) return { from: day, to: day + lengths.d }
  if (fraction !== undefined && seconds === undefined) return null
  const from = Date.parse(`${date}T${minutes}${seconds ?? ':00'}${fraction ?? ''}${zone?.toUpperCase() ?? 'Z'}`)
  if (Number.isNaN(from)) return null
  return { from, to: from + (fraction ? 1 : seconds ? 1000 : lengths.m) }
}
/** The number of a network; null when it is none. */
export const asnOfQuery = (text: string): number | null => {
  const digits = /^(?:AS)?(\d{1,10})$/i.exec(text)?.[1]
  return digits !== undefined && Number(digits) <= 0xffff_ffff ? Number(digits) : null
}

/** The letters A to Z alone: what every storage does alike. */
const folded = (text: string) => text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
/** A value cut at its stars, in lower case; one part where it has none. */
export const patternOf = (value: Pick<QueryValue, 'text' | 'quoted'>): readonly string[] =>
  value.quoted ? [folded(value.text)] : folded(value.text).split('*')
/** Whether a text matches a value: as a whole, or anywhere in it. The letters A to Z match in any case. */
export const matchesValue = (value: Pick<QueryValue, 'text' | 'quoted'>, text: string, whole: boolean): boolean => {
  const parts = patternOf(value)
  const where = folded(text)
  const [first = ''] = parts
  const last = parts.at(-1) ?? ''
  if (parts.length === 1) return whole ? where === first : where.includes(first)
  let at = 0
  let end = where.length
  if (whole) {
    if (!where.startsWith(first) || !where.endsWith(last) || where.length < first.length + last.length) return false
    at = first.length
    end -= last.length
  }
  for (const part of whole ? parts.slice(1, -1) : parts) {
    const place = where.indexOf(part, at)
    if (place < 0 || place + part.length > end) return false
    at = place + part.length
  }
  return true
}
