import type { Engine } from '../../db/database.ts'
import { stepOf } from '../bans/sums.ts'
import type { Forgotten } from './forget-chunk.ts'

/** Rows that one transaction looks at. On SQLite more would keep writers waiting; on PostgreSQL nobody who reports waits for it. */
export const mostRows: Readonly<Record<Engine, number>> = { sqlite: 200, postgres: 1000 }

/** Where a run is among the bans, oldest first. */
export interface Place {
  readonly at: number
  readonly id: number
}
export interface RetireInput {
  /** Bans from before this moment go, unless they are active. */
  readonly before: number
  readonly after: Place
  readonly most: number
}
export interface Retired {
  readonly removed: number
  /** Where to go on; null: nothing older is left. */
  readonly next: Place | null
}
export interface TrimInput {
  readonly before: number
  /** The last event that was looked at. */
  readonly after: number
  readonly most: number
}
export interface Trimmed {
  readonly removed: number
  readonly next: number | null
}

export interface OldBan extends Forgotten {
  /** Whether it still holds. */
  readonly active: number
}
/** The sums of what is there, which shrink when bans leave, and their key columns. */
export const shrinking = [
  ['rolled_ban_cube', ['server_no', 'jail_id', 'country_id']],
  ['rolled_ban_fleet', ['jail_id', 'country_id']],
] as const
type Key = (typeof shrinking)[number][1][number]
/** How many bans leave each cell of such a sum: the cell's key, then the number; sorted, as writers sort them. */
export const leavingCells = (bans: readonly OldBan[], keys: readonly Key[]): number[][] => {
  const cells = new Map<string, { readonly key: readonly number[]; n: number }>()
  for (const ban of bans) {
    const key = keys.map(name => ban[name])
    const cell = cells.get(key.join(' ')) ?? { key, n: 0 }
    cell.n++
    cells.set(key.join(' '), cell)
  }
  return [...cells.values()]
    .map(({ key, n }) => [...key, n])
    .sort((a, b) => a.reduce((order, part, at) => order || part - (b[at] ?? 0), 0))
}
/** How addresses move among the steps of their last ban; one without a ban left leaves its step. */
export const lastBansLeft = (
  addresses: Iterable<{ readonly before: number | null; readonly after: number | null }>,
): [bucket: number, n: number][] => {
  const moved = new Map<number, number>()
  const add = (at: number | null, n: number) => {
    if (at !== null) moved.set(stepOf(at), (moved.get(stepOf(at)) ?? 0) + n)
  }
  for (const { before, after } of addresses) {
    add(before, -1)
    add(after, 1)
  }
  return [...moved].filter(([, n]) => n !== 0).sort(([a], [b]) => a - b)
}
export const keyOfIp = (ip: Uint8Array): string =>
  Buffer.from(ip.buffer, ip.byteOffset, ip.byteLength).toString('latin1')
