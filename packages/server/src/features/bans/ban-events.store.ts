import type { Kysely } from 'kysely'
import { uuidBytes, uuidText } from '../../core/ids.ts'
import type { Schema } from '../../db/schema.ts'
import { expiryOf } from './ban-input.ts'

/* The ids under which hosts report bans. */

type Sql = Kysely<Schema>
const chunk = 500

/** The ids that these bans were reported under, by the number of the ban. */
export const eventsOf = async (sql: Sql, banIds: readonly number[]): Promise<ReadonlyMap<number, string>> => {
  const eventById = new Map<number, string>()
  for (let start = 0; start < banIds.length; start += chunk) {
    const rows = await sql
      .selectFrom('bans')
      .select(['id', 'event_id'])
      .where('id', 'in', banIds.slice(start, start + chunk))
      .execute()
    for (const { id, event_id } of rows) eventById.set(id, uuidText(event_id))
  }
  return eventById
}
/** Of these events the ones that are on record for the server, each with the time of its end; null without one. */
export const knownEvents = async (
  sql: Sql,
  serverNo: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number | null>> => {
  const endByEvent = new Map<string, number | null>()
  for (let start = 0; start < ids.length; start += chunk) {
    const rows = await sql
      .selectFrom('bans')
      .select(['event_id', 'banned_at', 'ban_duration', 'unbanned_at'])
      .where('event_id', 'in', ids.slice(start, start + chunk).map(uuidBytes))
      .where('server_no', '=', serverNo)
      .execute()
    for (const { event_id, banned_at, ban_duration, unbanned_at } of rows)
      endByEvent.set(uuidText(event_id), unbanned_at ?? expiryOf({ bannedAt: banned_at, duration: ban_duration }))
  }
  return endByEvent
}
