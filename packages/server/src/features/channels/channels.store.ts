import type { Insertable, Kysely, Selectable } from 'kysely'
import type { ChannelDeliveriesTable, ChannelsTable } from '../../db/tables/messages.ts'
import type { Schema } from '../../db/schema.ts'
import type { Category } from '../../db/tables/message.ts'
import type { QueueName } from './queue.store.ts'

type Sql = Kysely<Schema>
export type ChannelRow = Selectable<ChannelsTable>

export const allChannels = (sql: Sql): Promise<ChannelRow[]> =>
  sql.selectFrom('channels').selectAll().orderBy('name_key').execute()
export const findChannel = (sql: Sql, id: number): Promise<ChannelRow | undefined> =>
  sql.selectFrom('channels').selectAll().where('id', '=', id).executeTakeFirst()
/** Undefined where another one has the name. */
export const insertChannel = (sql: Sql, row: Insertable<ChannelsTable>): Promise<ChannelRow | undefined> =>
  sql
    .insertInto('channels')
    .values(row)
    .onConflict(on => on.column('name_key').doNothing())
    .returningAll()
    .executeTakeFirst()
export const idOfChannelName = async (sql: Sql, key: string): Promise<number | null> =>
  (await sql.selectFrom('channels').select('id').where('name_key', '=', key).executeTakeFirst())?.id ?? null
/** Sets what a channel holds; undefined where it is gone. */
export const saveChannelRow = (
  sql: Sql,
  id: number,
  set: Partial<Omit<ChannelRow, 'id'>>,
): Promise<ChannelRow | undefined> =>
  sql.updateTable('channels').set(set).where('id', '=', id).returningAll().executeTakeFirst()
export const deleteChannelRow = async (sql: Sql, id: number): Promise<ChannelRow | undefined> => {
  await sql.deleteFrom('channel_deliveries').where('channel', '=', `channel:${id}`).execute()
  return sql.deleteFrom('channels').where('id', '=', id).returningAll().executeTakeFirst()
}

/** Deliveries of a channel that are kept. */
const keptDeliveries = 100
export const addDelivery = async (sql: Sql, row: Insertable<ChannelDeliveriesTable>): Promise<void> => {
  await sql.insertInto('channel_deliveries').values(row).execute()
  const last = await sql
    .selectFrom('channel_deliveries')
    .select('id')
    .where('channel', '=', row.channel)
    .orderBy('id', 'desc')
    .offset(keptDeliveries)
    .limit(1)
    .executeTakeFirst()
  if (last)
    await sql.deleteFrom('channel_deliveries').where('channel', '=', row.channel).where('id', '<=', last.id).execute()
}
export const deliveriesOf = (sql: Sql, queue: QueueName): Promise<Selectable<ChannelDeliveriesTable>[]> =>
  sql.selectFrom('channel_deliveries').selectAll().where('channel', '=', queue).orderBy('id', 'desc').execute()

/** Queues in which messages are due. */
export const dueQueues = async (sql: Sql, now: number): Promise<QueueName[]> => {
  const rows = await sql
    .selectFrom('notifications')
    .select('channel')
    .where('due_at', '<=', now)
    .groupBy('channel')
    .execute()
  return rows.map(({ channel }) => channel)
}
/** Messages that wait, by queue; all or those of one category. */
export const waitingByQueue = async (sql: Sql, category?: Category): Promise<ReadonlyMap<string, number>> => {
  const rows = await sql
    .selectFrom('notifications')
    .select(eb => ['channel', eb.fn.countAll<number>().as('n')])
    .$if(category !== undefined, query => query.where('category', '=', category ?? 'alert'))
    .groupBy('channel')
    .execute()
  return new Map(rows.map(({ channel, n }) => [channel, Number(n)]))
}
