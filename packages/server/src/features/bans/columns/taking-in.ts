import { totalmem } from 'node:os'
import { UnfitForColumns } from './rows.ts'
import type { Columns } from './rows.ts'

/* How rows of either database become columns. */

/** The columns of a database, and how far they follow it. */
export interface Followed {
  readonly columns: Columns
  /** Takes in what was committed since the last time. */
  catchUp(): void | Promise<void>
  /** Which of these bans were lifted before their time was up. */
  liftedAmong(ids: readonly number[]): readonly number[] | Promise<readonly number[]>
}

export type Row = [
  id: number,
  at: number,
  server: number,
  jail: number,
  country: number,
  asn: number | null,
  duration: number | null,
  city: string | null,
  /** In hexadecimal digits: text costs a third of a blob, which becomes an object with a buffer of its own. */
  ip: string,
]
/** The columns of a `Row` in `bans`, but the address. */
export const fields = 'id, banned_at, server_no, jail_id, country_id, asn, ban_duration, city'
/** Whether a ban of `bans` was lifted before its time was up. */
export const endedEarly = `unbanned_at is not null
  and (ban_duration is null or ban_duration < 0 or unbanned_at < banned_at + cast(ban_duration as bigint) * 1000)`

/** What a ban takes in the columns at most: it may be the only one of its address. */
const bytesOfBan = 56
/** Bans that fit on every machine: up to 225 MB. */
const leastBans = 4_000_000
/** Above this number SQL answers instead, which takes seconds: an eighth of the memory that this process may have. */
const mostBansOf = (memory: number): number => Math.max(leastBans, Math.floor(memory / 8 / bytesOfBan))
const ownMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity)
/** Throws UnfitForColumns when the columns can't hold this number of bans. */
export const checkFit = (bans: number): void => {
  const most = mostBansOf(ownMemory())
  if (bans > most) throw new UnfitForColumns(`More than ${most} bans do not go into the columns.`)
}

/** Address bytes of hexadecimal digits, in one of two buffers that the next call uses again. */
const buffers = [new Uint8Array(4), new Uint8Array(16)] as const
export const bytesOfHex = (text: string): Uint8Array => {
  const bytes = buffers[text.length === 8 ? 0 : 1]
  for (let at = 0; at < bytes.length; at++) bytes[at] = digitOf(text, at * 2) * 16 + digitOf(text, at * 2 + 1)
  return bytes
}
/** SQLite writes them in capitals, PostgreSQL does not. */
const digitOf = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code < 58 ? code - 48 : (code | 32) - 87
}

export const addRow = (
  columns: Columns,
  [id, bannedAt, server, jail, country, asn, duration, city, ip]: readonly [...Row, ...number[]],
  isOver: boolean,
): void =>
  columns.add({
    id,
    server,
    jail,
    country,
    asn,
    city,
    ip: bytesOfHex(ip),
    at: bannedAt,
    duration,
    isOver,
  })
