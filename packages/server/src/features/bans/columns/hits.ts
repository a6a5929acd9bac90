import { maskOf } from './mask.ts'
import type { ColumnTree } from './mask.ts'
import { free } from './memory.ts'
import { endOf, ends } from './rows.ts'
import type { ColumnArrays, Columns } from './rows.ts'
import { indexOfRow, stampWindow } from './server-rows.ts'

/* Which rows match: one short loop for each part of a filter, which is several times faster than one loop that tests all parts. */

/** A filter in the numbers that the columns hold. Plain data, so that it crosses to the thread. */
export interface ColumnFilter {
  /** The caller's servers; null for all. */
  readonly servers: readonly number[] | null
  readonly server: number | null
  readonly jail: number | null
  readonly country: number | null
  readonly asn: number | null
  readonly range: { readonly first: Uint8Array; readonly last: Uint8Array } | null
  readonly active: boolean | null
  readonly from: number | null
  readonly to: number | null
  /** What the terms of a search ask besides. */
  readonly tree: ColumnTree | null
}
/** A filter as the loop over rows compares it: -1 stands for any. */
export interface RowTest {
  readonly from: number
  readonly to: number
  readonly jail: number
  readonly country: number
  readonly asn: number
  /** 1: in force, 0: over. */
  readonly active: number
  /** By number of server: 1 where the list is about it; null for all. */
  readonly seen: Uint8Array | null
  /** The only server that the list is about; null: it is about several. */
  readonly server: number | null
  /** By row: 1 where the terms of a search hold; null without a search. */
  readonly mask: Uint8Array | null
  readonly now: number
}
const onlyOf = (scope: readonly number[] | null): number | null => (scope?.length === 1 ? (scope[0] ?? null) : null)
/** It holds for the columns as they are now. */
export const testOf = (columns: Columns, { servers, server, ...filter }: ColumnFilter, now: number): RowTest => {
  const scope = server === null ? servers : [server]
  // A place for each number that fits into the column: reading beyond the end costs a branch for each row.
  const countedServers = scope && new Uint8Array(65_536)
  for (const number of scope ?? []) if (countedServers) countedServers[number] = 1
  const { jail, country, asn, active } = filter
  return {
    from: filter.from ?? -Infinity,
    to: filter.to ?? Infinity,
    jail: jail ?? -1,
    country: country ?? -1,
    // A network that is unknown is 0, and no filter asks for it.
    asn: asn === 0 ? -2 : (asn ?? -1),
    active: active === null ? -1 : Number(active),
    seen: countedServers,
    server: onlyOf(scope),
    mask: filter.tree && maskOf(columns, filter.tree),
    now,
  }
}
export const inScope = (a: ColumnArrays, test: RowTest, row: number): boolean =>
  test.seen === null || test.seen[a.server[row] ?? 0] === 1
export const matches = (a: ColumnArrays, test: RowTest, row: number): boolean => {
  const at = a.at[row] ?? 0
  return (
    at >= test.from &&
    at < test.to &&
    (test.jail === -1 || a.jail[row] === test.jail) &&
    (test.country === -1 || a.country[row] === test.country) &&
    (test.asn === -1 || a.asn[row] === test.asn) &&
    (test.active === -1 || Number(endOf(at, a.lasts[row] ?? 0) > test.now) === test.active) &&
    (test.mask === null || test.mask[row] === 1) &&
    inScope(a, test, row)
  )
}

/** Rows from one to the one before another. */
interface Span {
  readonly from: number
  readonly to: number
}
/** Row numbers in order. Where `rows` is null, `count` rows from `from`. */
export interface Hits {
  readonly rows: Int32Array | null
  readonly from: number
  readonly count: number
}
/** Used again by each answer; answers are made one at a time. Signed, because row numbers that may not fit are calculated as floats. */
let buffer = new Int32Array(0)
/** One place more: a row is written before it is known whether it counts. */
const reserve = (rows: number): void => {
  if (buffer.length > rows) return
  free(buffer)
  buffer = new Int32Array(rows + 1)
}

const narrowTime = ({ at }: ColumnArrays, test: RowTest, { rows, from, count }: Hits): Hits => {
  const hitBuffer = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    const time = at[row] ?? 0
    hitBuffer[n] = row
    // Without a branch that the processor would guess wrong; a ban that is gone is NaN.
    n += time >= test.from && time < test.to ? 1 : 0
  }
  return { rows: hitBuffer, from, count: n }
}
const narrowNumber = (column: Uint16Array | Uint32Array, value: number, { rows, from, count }: Hits): Hits => {
  const hitBuffer = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    hitBuffer[n] = row
    n += column[row] === value ? 1 : 0
  }
  return { rows: hitBuffer, from, count: n }
}
const narrowServers = ({ server }: ColumnArrays, seen: Uint8Array, { rows, from, count }: Hits): Hits => {
  const hitBuffer = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    hitBuffer[n] = row
    n += seen[server[row] ?? 0] === 1 ? 1 : 0
  }
  return { rows: hitBuffer, from, count: n }
}
const narrowMask = (mask: Uint8Array, { rows, from, count }: Hits): Hits => {
  const hitBuffer = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    hitBuffer[n] = row
    n += mask[row] ?? 0
  }
  return { rows: hitBuffer, from, count: n }
}
const narrowActive = ({ at, lasts }: ColumnArrays, test: RowTest, { rows, from, count }: Hits): Hits => {
  const { active, now } = test
  const hitBuffer = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    const seconds = lasts[row] ?? 0
    hitBuffer[n] = row
    // No branch here either. What has no known end is a number of seconds that lasts beyond any present.
    const isOver = seconds === ends.over ? 1 : (at[row] ?? 0) + seconds * 1000 <= now ? 1 : 0
    n += isOver ^ active
  }
  return { rows: hitBuffer, from, count: n }
}
const isBetween = (at: Float64Array, row: number, from: number, to: number): boolean => {
  const time = at[row] ?? 0
  return time >= from && time < to
}
/** The rows of one server in a span and within the time that is asked for. Times are read by stamps, which lie side by side. */
const rowsOfServer = (columns: Columns, { from, to, server }: RowTest, span: Span): Hits => {
  const { at } = columns.arrays()
  const { rows, stamps } = columns.rowsOf(server ?? 0)
  const stop = indexOfRow(rows, span.to)
  let index = indexOfRow(rows, span.from)
  if (columns.goneRows() === 0 && from === -Infinity && to === Infinity)
    return { rows: rows.subarray(index, stop), from: span.from, count: stop - index }
  reserve(stop - index)
  const hitBuffer = buffer
  const { first, last } = stampWindow(from, to)
  let n = 0
  for (; index < stop; index++) {
    const row = rows[index] ?? 0
    const second = (stamps[index] ?? 0) >>> 1
    hitBuffer[n] = row
    const isInside = second > first && second < last
    n += isInside || ((second === first || second === last) && isBetween(at, row, from, to)) ? 1 : 0
  }
  return { rows: hitBuffer, from: span.from, count: n }
}
/** The settled rows of a span that match. They hold until the next call. */
export const hitsOf = (columns: Columns, test: RowTest, span: Span): Hits => {
  const a = columns.arrays()
  const { from, to, jail, country, asn, active, seen, server, mask } = test
  let hits: Hits =
    server === null
      ? { rows: null, from: span.from, count: Math.max(0, span.to - span.from) }
      : rowsOfServer(columns, test, span)
  reserve(hits.count)
  // The narrow columns first: what is left reads fewer of the wide ones.
  if (seen && server === null) hits = narrowServers(a, seen, hits)
  if (jail !== -1) hits = narrowNumber(a.jail, jail, hits)
  if (country !== -1) hits = narrowNumber(a.country, country, hits)
  if (asn !== -1) hits = narrowNumber(a.asn, asn, hits)
  if (server === null && (columns.goneRows() > 0 || from !== -Infinity || to !== Infinity))
    hits = narrowTime(a, test, hits)
  if (mask) hits = narrowMask(mask, hits)
  if (active !== -1) hits = narrowActive(a, test, hits)
  return hits
}

/** Whether a ban of a settled address is in force on the listed servers. */
export const isActiveIn = (a: ColumnArrays, { seen, now }: RowTest, address: number): boolean => {
  // Without a look at its bans, which is most of the work of a list: only in the last second of the last ban they are asked.
  if (seen === null && (a.until[address] ?? 0) > Math.floor(now / 1000) + 1) return true
  const stop = a.start[address + 1] ?? 0
  for (let row = a.start[address] ?? 0; row < stop; row++)
    if (endOf(a.at[row] ?? 0, a.lasts[row] ?? 0) > now && (seen === null || seen[a.server[row] ?? 0] === 1)) return true
  return false
}
