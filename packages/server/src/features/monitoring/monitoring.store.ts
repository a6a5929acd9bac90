import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
/* Sums of small tables and of indexes; none of these reads bans, events or ended commands. */

const numbered = (rows: readonly { key: string; n: number | string }[]): Readonly<Record<string, number>> =>
  Object.fromEntries(rows.map(({ key, n }) => [key, Number(n)]))

/** Commands that are not over, by state. */
export const openCommands = async (sql: Sql): Promise<Readonly<Record<string, number>>> => ({
  pending: 0,
  running: 0,
  ...numbered(
    await sql
      .selectFrom('commands')
      .select(eb => ['status as key', eb.fn.countAll<number>().as('n')])
      .where('status', 'in', ['pending', 'running'])
      .groupBy('status')
      .execute(),
  ),
})
/** Alerts that are not over, by severity and state. */
export const openAlerts = (sql: Sql) =>
  sql
    .selectFrom('alert_states')
    .select(eb => ['severity', 'state', eb.fn.countAll<number>().as('n')])
    .where('state', 'in', ['pending', 'firing'])
    .groupBy(['severity', 'state'])
    .execute()
/** Bans that are stored. */
export const storedBans = async (sql: Sql): Promise<number> => {
  const row = await sql
    .selectFrom('ban_fleet')
    .select(eb => eb.fn.sum<number | null>('n').as('n'))
    .executeTakeFirstOrThrow()
  return Number(row.n ?? 0)
}
/** Fleet bans in force, by what made them. */
export const standingFleetBans = async (sql: Sql): Promise<Readonly<Record<string, number>>> =>
  numbered(
    await sql
      .selectFrom('fleet_bans')
      .select(eb => ['source as key', eb.fn.countAll<number>().as('n')])
      .where('ended_at', 'is', null)
      .groupBy('source')
      .execute(),
  )
export const rulesByState = async (sql: Sql): Promise<Readonly<Record<string, number>>> =>
  numbered(
    await sql
      .selectFrom('rules')
      .select(eb => ['state as key', eb.fn.countAll<number>().as('n')])
      .groupBy('state')
      .execute(),
  )
export const feedUses = (sql: Sql) => sql.selectFrom('feeds').select(['name', 'used_at']).execute()

export interface QueueFigure {
  readonly waiting: number
  /** Since when the oldest waits. */
  readonly oldest: number | null
  readonly failingSince: number | null
}
const figure = (
  row: { n: number | string; oldest: number | string | null } | undefined,
  failing: number | null,
): QueueFigure => ({
  waiting: Number(row?.n ?? 0),
  oldest: row?.oldest === null || row?.oldest === undefined ? null : Number(row.oldest),
  failingSince: failing,
})
/** What waits to leave this installation, by queue. */
export const queueFigures = async (sql: Sql): Promise<ReadonlyMap<string, QueueFigure>> => {
  const siem = await sql
    .selectFrom('siem_queue')
    .select(eb => [eb.fn.countAll<number>().as('n'), eb.fn.min('queued_at').as('oldest')])
    .where('sent_at', 'is', null)
    .executeTakeFirst()
  const siemState = await sql.selectFrom('siem_state').select('failing_since').executeTakeFirst()
  const reputation = await sql
    .selectFrom('reputation_reports')
    .select(eb => [eb.fn.countAll<number>().as('n'), eb.fn.min('created_at').as('oldest')])
    .where('state', '=', 'waiting')
    .executeTakeFirst()
  const messages = await sql
    .selectFrom('notifications')
    .select(eb => ['channel', eb.fn.countAll<number>().as('n'), eb.fn.min('created_at').as('oldest')])
    .groupBy('channel')
    .execute()
  const channels = await sql.selectFrom('notification_channels').select(['channel', 'failing_since']).execute()
  const channelRows = await sql.selectFrom('channels').select(['id', 'name']).execute()
  const nameOf = new Map(channelRows.map(({ id, name }) => [`channel:${id}`, name]))
  const queues = new Map([
    ['siem', figure(siem, siemState?.failing_since ?? null)],
    ['reputation', figure(reputation, null)],
  ])
  const ids = new Set([...nameOf.keys(), ...messages.map(row => row.channel), ...channels.map(row => row.channel)])
  for (const id of ids) {
    const name = nameOf.get(id)
    // What is left of a channel that was deleted.
    if (id.startsWith('channel:') && name === undefined) continue
    queues.set(
      name === undefined ? `notifications/${id}` : `channel/${name}`,
      figure(
        messages.find(({ channel }) => channel === id),
        channels.find(({ channel }) => channel === id)?.failing_since ?? null,
      ),
    )
  }
  return queues
}
/** Bytes of the database. */
export const databaseBytes = async ({ engine, read }: Pick<Database, 'engine' | 'read'>): Promise<number> => {
  const { rows } =
    engine === 'postgres'
      ? await raw<{ n: number }>`select pg_database_size(current_database()) as n`.execute(read)
      : await raw<{
          n: number
        }>`select page_count * page_size as n from pragma_page_count(), pragma_page_size()`.execute(read)
  return Number(rows[0]?.n ?? 0)
}
