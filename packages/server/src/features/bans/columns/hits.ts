import { maskOf } from './mask.ts'
import type { ColumnTree } from './mask.ts'
import { free } from './memory.ts'
import { endOf, ends } from './rows.ts'
import type { ColumnArrays, Columns } from './rows.ts'

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
  /** By row: 1 where the terms of a search hold; null without a search. */
  readonly mask: Uint8Array | null
  readonly now: number
}
/** It holds for the columns as they are now. */
export const testOf = (columns: Columns, { servers, server, ...filter }: ColumnFilter, now: number): RowTest => {
  const scope = server === null ? servers : [server]
  const seen = scope && new Uint8Array(Math.max(0, ...scope) + 1)
  for (const number of scope ?? []) if (seen) seen[number] = 1
  const { jail, country, asn, active } = filter
  return {
    from: filter.from ?? -Infinity,
    to: filter.to ?? Infinity,
    jail: jail ?? -1,
    country: country ?? -1,
    // A network that is unknown is 0, and no filter asks for it.
    asn: asn === 0 ? -2 : (asn ?? -1),
    active: active === null ? -1 : Number(active),
    seen,
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
  readonly rows: Uint32Array | null
  readonly from: number
  readonly count: number
}
/** Used again by each answer; answers are made one at a time. */
let buffer = new Uint32Array(0)

const narrowTime = ({ at }: ColumnArrays, { from, to }: RowTest, span: Span): Hits => {
  const rows = buffer
  let count = 0
  for (let row = span.from; row < span.to; row++) {
    const time = at[row] ?? 0
    rows[count] = row
    // Without a branch that the processor would guess wrong; a ban that is gone is NaN.
    count += time >= from && time < to ? 1 : 0
  }
  return { rows, from: 0, count }
}
const narrowNumber = (column: Uint16Array | Uint32Array, value: number, { rows, from, count }: Hits): Hits => {
  const kept = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    kept[n] = row
    n += column[row] === value ? 1 : 0
  }
  return { rows: kept, from, count: n }
}
const narrowServers = ({ server }: ColumnArrays, seen: Uint8Array, { rows, from, count }: Hits): Hits => {
  const kept = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    kept[n] = row
    n += seen[server[row] ?? 0] ?? 0
  }
  return { rows: kept, from, count: n }
}
const narrowMask = (mask: Uint8Array, { rows, from, count }: Hits): Hits => {
  const kept = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    kept[n] = row
    n += mask[row] ?? 0
  }
  return { rows: kept, from, count: n }
}
const narrowActive = ({ at, lasts }: ColumnArrays, test: RowTest, { rows, from, count }: Hits): Hits => {
  const { active, now } = test
  const kept = buffer
  let n = 0
  for (let index = 0; index < count; index++) {
    const row = rows === null ? from + index : (rows[index] ?? 0)
    const seconds = lasts[row] ?? 0
    const inForce = seconds !== ends.over && (seconds >= ends.unknown || (at[row] ?? 0) + seconds * 1000 > now) ? 1 : 0
    kept[n] = row
    n += inForce === active ? 1 : 0
  }
  return { rows: kept, from, count: n }
}
/** The rows of a span that match. They lie in a buffer until the next call. */
export const hitsOf = (a: ColumnArrays, test: RowTest, span: Span, hasGone: boolean): Hits => {
  if (buffer.length < span.to - span.from + 1) {
    free(buffer)
    buffer = new Uint32Array(span.to - span.from + 1)
  }
  const { from, to, jail, country, asn, active, seen, mask } = test
  let hits: Hits = { rows: null, from: span.from, count: Math.max(0, span.to - span.from) }
  if (hasGone || from !== -Infinity || to !== Infinity) hits = narrowTime(a, test, span)
  if (jail !== -1) hits = narrowNumber(a.jail, jail, hits)
  if (country !== -1) hits = narrowNumber(a.country, country, hits)
  if (asn !== -1) hits = narrowNumber(a.asn, asn, hits)
  if (seen) hits = narrowServers(a, seen, hits)
  if (mask) hits = narrowMask(mask, hits)
  if (active !== -1) hits = narrowActive(a, test, hits)
  return hits
}

/** Whether a ban of a settled address is in force on the listed servers. */
export const isActiveIn = (a: ColumnArrays, { seen, now }: RowTest, address: number): boolean => {
  const stop = a.start[address + 1] ?? 0
  for (let row = a.start[address] ?? 0; row < stop; row++)
    if (endOf(a.at[row] ?? 0, a.lasts[row] ?? 0) > now && (seen === null || seen[a.server[row] ?? 0] === 1)) return true
  return false
}
