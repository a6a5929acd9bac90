import type { Procedure } from '../../db/database.ts'
import { appendToPostgres } from './append.postgres.ts'

export { addToSums } from './append.postgres.ts'

/** A ban on its way to the table: plain data, since it crosses to the writer thread. */
export interface NewBan {
  readonly kind: 'ban'
  readonly serverNo: number
  readonly jail: string
  readonly country: string | null
  readonly ip: Uint8Array
  readonly prefix: number | null
  readonly bannedAt: number
  readonly duration: number | null
  readonly asn: number | null
  readonly asnOrg: string | null
  readonly city: string | null
  readonly latitude: number | null
  readonly longitude: number | null
  readonly logLines: string
  readonly bannedBy: string | null
  readonly eventId: Uint8Array
}
/** The end of a ban, as its host saw it. `jail` null: in every jail. */
export interface BanEnd {
  readonly kind: 'end'
  readonly serverNo: number
  readonly jail: string | null
  readonly ip: Uint8Array
  readonly prefix: number | null
  readonly at: number
}
export type Append = NewBan | BanEnd

/** What became of an item, in the order of the items. */
export interface Appended {
  /** The ban's row: the new one, the first one of the same event, or the one that ended. */
  readonly id: number | null
  /** True where the row is new or ended by this. */
  readonly changed: boolean
  readonly bannedAt: number
  /** The event that was recorded. */
  readonly eventId: number | null
}
export interface AppendInput {
  readonly items: readonly Append[]
  readonly now: number
}

/** When a ban ends: null for never or unknown. */
export const expiryOf = (ban: Pick<NewBan, 'bannedAt' | 'duration'>): number | null =>
  ban.duration === null || ban.duration < 0 ? null : ban.bannedAt + ban.duration * 1000

const hourLength = 3_600_000
const dayLength = 86_400_000
export const hourOf = (at: number): number => Math.floor(at / hourLength) * hourLength
export const dayOf = (at: number): number => Math.floor(at / dayLength) * dayLength

export interface Counted {
  readonly serverNo: number
  readonly jailId: number
  readonly countryId: number
  readonly bannedAt: number
}
/** Table, key columns and value column of each sum that is kept of bans. */
export const cellTables = [
  ['rolled_server_totals', ['server_no'], 'total_bans'],
  ['rolled_ban_cube', ['server_no', 'jail_id', 'country_id'], 'n'],
  ['rolled_ban_hours_jail', ['bucket', 'jail_id'], 'n'],
  ['rolled_ban_hours_country', ['bucket', 'country_id'], 'n'],
  ['rolled_ban_hours_server', ['server_no', 'bucket'], 'n'],
  ['rolled_ban_days_jail', ['server_no', 'bucket', 'jail_id'], 'n'],
  ['rolled_ban_days_country', ['server_no', 'bucket', 'country_id'], 'n'],
] as const
/** The cells of those tables that a batch touches, in their order: summed, and sorted by key so that pages come in turn. */
export const cellsOf = (bans: readonly Counted[]): number[][][] => {
  const sums = cellTables.map(() => new Map<string, number[]>())
  const count = (table: number, ...key: number[]) => {
    const sum = sums[table]
    if (!sum) return
    const name = key.join(' ')
    const cell = sum.get(name)
    if (cell) cell[cell.length - 1] = (cell.at(-1) ?? 0) + 1
    else sum.set(name, [...key, 1])
  }
  for (const { serverNo, jailId, countryId, bannedAt } of bans) {
    const hour = hourOf(bannedAt)
    const day = dayOf(bannedAt)
    count(0, serverNo)
    count(1, serverNo, jailId, countryId)
    count(2, hour, jailId)
    count(3, hour, countryId)
    count(4, serverNo, hour)
    count(5, serverNo, day, jailId)
    count(6, serverNo, day, countryId)
  }
  const byKey = (a: number[], b: number[]) => {
    for (let index = 0; index < a.length - 1; index++) {
      const order = (a[index] ?? 0) - (b[index] ?? 0)
      if (order !== 0) return order
    }
    return 0
  }
  return sums.map(sum => [...sum.values()].sort(byKey))
}
/**
 * How the counts of addresses by the hour of their last ban change: `seen` are an address's bans in the order of their
 * rows, `before` is the latest ban that was counted already.
 */
export const hoursMoved = (
  addresses: Iterable<{ readonly before: number | null; readonly latest: number }>,
): [bucket: number, n: number][] => {
  const moved = new Map<number, number>()
  const add = (at: number, n: number) => moved.set(hourOf(at), (moved.get(hourOf(at)) ?? 0) + n)
  for (const { before, latest } of addresses) {
    if (before !== null && before >= latest) continue
    if (before !== null) add(before, -1)
    add(latest, 1)
  }
  return [...moved].filter(([, n]) => n !== 0).sort(([a], [b]) => a - b)
}

/**
 * Writes a batch of bans and ends with their events as one durable transaction. Without items it only brings the sums up
 * to date; on SQLite a batch does so when enough bans have come since.
 */
export const appendBans: Procedure<AppendInput, Appended[]> = {
  name: 'appendBans',
  module: new URL('./append.sqlite.ts', import.meta.url).href,
  postgres: appendToPostgres,
}
