import type { Generated } from 'kysely'
import type { Bytes } from './column.ts'

export interface JailsTable {
  id: Generated<number>
  name: string
}
export interface CountriesTable {
  id: Generated<number>
  code: string
}
export interface NetworksTable {
  asn: number
  org: string | null
}
interface BanColumns {
  server_no: number
  jail_id: number
  /** 0 where unknown. */
  country_id: number
  ip: Bytes
  /** Length of the prefix of a range; null for one address. */
  prefix: number | null
  banned_at: number
}
export interface BansTable extends BanColumns {
  id: Generated<number>
  /** Seconds; -1 permanent; null when the end is unknown. */
  ban_duration: number | null
  unbanned_at: number | null
  asn: number | null
  city: string | null
  latitude: number | null
  longitude: number | null
  log_lines: string
  /** The operator behind a manual ban; null for the engine. */
  banned_by: string | null
  event_id: Bytes
  reported: Generated<number>
  reputation_score: number | null
  /** `adopted`: the host held it before it was enrolled. Null: a report. */
  origin: 'adopted' | null
  /** Packets that the shield of the host dropped; null: none reported. */
  dropped_packets: number | null
  /** The host's own count at its last report. It starts at 0 again when the host loads its bans again. */
  dropped_seen: number | null
  dropped_at: number | null
}
/** When late reports arrived (`lateAfter`); no row: in time. */
export interface LateBansTable {
  ban_id: number
  arrived_at: number
}
/** What is banned now, narrow, so that "active" needs no index on the big table. */
export interface ActiveBansTable extends BanColumns {
  ban_id: number
  /** Null: no end, or an unknown one. */
  expires_at: number | null
}
/**
 * Exact counts of bans by server, jail and country. This and the ones below are views: the sums of the bans up to
 * `rolled_up`, and one row for each ban since; so always sum `n`, and group where it matters.
 */
export interface BanCubeTable {
  server_no: number
  jail_id: number
  country_id: number
  n: number
}
/** The same of all servers together: few rows, also of a large fleet. */
export interface BanFleetTable {
  jail_id: number
  country_id: number
  n: number
}
/** Roll-ups: `bucket` is the start of an hour or a UTC day in epoch milliseconds. */
export interface BanHoursJailTable {
  bucket: number
  jail_id: number
  n: number
}
export interface BanHoursCountryTable {
  bucket: number
  country_id: number
  n: number
}
/** Bans of the whole fleet. */
export interface BanFleetHoursTable {
  bucket: number
  n: number
}
export type BanFleetDaysJailTable = BanHoursJailTable
export type BanFleetDaysCountryTable = BanHoursCountryTable
export interface BanHoursServerTable {
  server_no: number
  bucket: number
  n: number
}
export interface BanDaysJailTable {
  bucket: number
  server_no: number
  jail_id: number
  n: number
}
export interface BanDaysCountryTable {
  bucket: number
  server_no: number
  country_id: number
  n: number
}
/** The last ban that the sums hold. */
export interface RolledUpTable {
  ban_id: number
}
/** How many addresses were last banned in each step of five minutes, of the bans up to `rolled_up`. */
export interface RolledLastBansTable {
  bucket: number
  n: number
}
