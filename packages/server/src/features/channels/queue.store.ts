import type { Kysely, Selectable } from 'kysely'
import { jsonText } from '../../core/json-text.ts'
import type { JsonText } from '../../core/json-text.ts'
import type { Schema } from '../../db/schema.ts'
import type { Category, Message } from '../../db/tables/message.ts'
import type { NotificationChannelsTable } from '../../db/tables/messages.ts'

type Sql = Kysely<Schema>
/** A queue of messages: of the chat or the e-mail of the settings, or of another channel by its number. */
export type QueueName = 'chat' | 'email' | `channel:${number}`
/** How the deliveries of a channel fare. */
export type DeliveryState = Selectable<NotificationChannelsTable>

/** With other settings the next attempt is made at once, and what was said of the last ones means nothing. */
export const freshState = { attempts: 0, retry_at: 0, last_error: null, failing_since: null } as const

export interface Waiting {
  readonly category: Category
  readonly n: number
  readonly first: number
  readonly last: number
  readonly oldest: number
}
export interface NewNotification {
  readonly channel: QueueName
  readonly category: Category
  readonly content: JsonText<Message>
  readonly recipients?: JsonText<readonly string[]> | null
  readonly due_at?: number
}

export const addNotifications = async (sql: Sql, rows: readonly NewNotification[], now: number): Promise<void> => {
  for (let start = 0; start < rows.length; start += 100)
    await sql
      .insertInto('notifications')
      .values(rows.slice(start, start + 100).map(row => ({ due_at: 0, recipients: null, ...row, created_at: now })))
      .execute()
}
/** Counts messages beyond the limit: only their number is sent. */
export const addOverflow = async (sql: Sql, channel: QueueName, category: Category, n: number): Promise<void> => {
  await sql
    .insertInto('notification_overflow')
    .values({ channel, category, n })
    .onConflict(on =>
      on.columns(['channel', 'category']).doUpdateSet(eb => ({ n: eb('notification_overflow.n', '+', n) })),
    )
    .execute()
}
export const overflowOf = async (sql: Sql, channel: QueueName, category: Category): Promise<number> => {
  const row = await sql
    .selectFrom('notification_overflow')
    .select('n')
    .where('channel', '=', channel)
    .where('category', '=', category)
    .executeTakeFirst()
  return row?.n ?? 0
}
/** What is due on a channel, by category. */
export const waitingOn = async (sql: Sql, channel: QueueName, now: number): Promise<Waiting[]> => {
  const rows = await sql
    .selectFrom('notifications')
    .select(eb => [
      'category',
      eb.fn.countAll<number>().as('n'),
      eb.fn.min('id').as('first'),
      eb.fn.max('id').as('last'),
      eb.fn.min('created_at').as('oldest'),
    ])
    .where('channel', '=', channel)
    .where('due_at', '<=', now)
    .groupBy('category')
    .execute()
  return rows.map(row => ({
    category: row.category,
    n: Number(row.n),
    first: Number(row.first),
    last: Number(row.last),
    oldest: Number(row.oldest),
  }))
}
export const firstOf = async (sql: Sql, channel: QueueName, category: Category, most: number, now: number) =>
  sql
    .selectFrom('notifications')
    .selectAll()
    .where('channel', '=', channel)
    .where('category', '=', category)
    .where('due_at', '<=', now)
    .orderBy('id')
    .limit(most)
    .execute()
/** Deletes what was sent: `id` alone, or all of the category up to it that was due at `now`, and what was only counted. */
export const dropTold = async (
  sql: Sql,
  channel: QueueName,
  category: Category,
  id: number,
  counted: number | null,
  now: number,
): Promise<void> => {
  await sql
    .deleteFrom('notifications')
    .where('channel', '=', channel)
    .where('category', '=', category)
    .where('id', counted === null ? '=' : '<=', id)
    .where('due_at', '<=', now)
    .execute()
  if (counted)
    await sql
      .updateTable('notification_overflow')
      .set(eb => ({ n: eb('n', '-', counted) }))
      .where('channel', '=', channel)
      .where('category', '=', category)
      .execute()
}
export const putOffRow = async (sql: Sql, id: number, due_at: number): Promise<void> => {
  await sql.updateTable('notifications').set({ due_at }).where('id', '=', id).execute()
}
/** Forgets everything that waits on a channel. */
export const forgetWaiting = async (sql: Sql, channel: QueueName): Promise<void> => {
  await sql.deleteFrom('notifications').where('channel', '=', channel).execute()
  await sql.deleteFrom('notification_overflow').where('channel', '=', channel).execute()
}
/** The state of a channel that is deleted. */
export const forgetState = async (sql: Sql, channel: QueueName): Promise<void> => {
  await sql.deleteFrom('notification_channels').where('channel', '=', channel).execute()
}
export const forgetBefore = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('notifications').where('created_at', '<', before).execute()
}

export const stateOf = async (sql: Sql, channel: QueueName): Promise<DeliveryState> =>
  (await sql.selectFrom('notification_channels').selectAll().where('channel', '=', channel).executeTakeFirst()) ?? {
    channel,
    last_sent: null,
    last_error: null,
    failing_since: null,
    attempts: 0,
    retry_at: 0,
    recent: jsonText({}),
    since: 0,
  }
export const saveState = async (sql: Sql, channel: QueueName, row: Partial<Omit<DeliveryState, 'channel'>>) => {
  await sql
    .insertInto('notification_channels')
    .values({ channel, ...row })
    .onConflict(on => on.column('channel').doUpdateSet(row))
    .execute()
}
