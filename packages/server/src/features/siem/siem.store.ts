import { sql as raw } from 'kysely'
import type { Kysely, Selectable, Updateable } from 'kysely'
import type { SiemType } from '@stockade/contract'
import { day, hour, minute, second } from '../../core/clock.ts'
import type { Engine } from '../../db/database.ts'
import { insertMany } from '../../db/given.ts'
import type { Target } from '../../db/given.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'
import type { SiemDeliveriesTable, SiemQueueTable, SiemStateTable } from '../../db/tables/siem.ts'

type Sql = Kysely<Schema>
export type Waiting = Selectable<SiemQueueTable>
export type State = Selectable<SiemStateTable>
export type Delivery = Omit<Selectable<SiemDeliveriesTable>, 'id'>

/** More than this does not wait: the oldest goes. */
const mostQueued = 100_000
/** What was written to a stream is kept for so long, to be sent again when it breaks. */
export const keptFor = minute
const mostDeliveries = 100

const atFirst: State = {
  id: 1,
  since: 0,
  off_at: null,
  draining: 0,
  connected: 0,
  stream_open: 0,
  last_sent_at: null,
  last_error: null,
  failing_since: null,
  attempts: 0,
  retry_at: 0,
  flush_asked: 0,
  flush_done: 0,
  flush_sent: 0,
  flush_failed: 0,
}
export const readState = async (sql: Sql): Promise<State> =>
  (await sql.selectFrom('siem_state').selectAll().where('id', '=', 1).executeTakeFirst()) ?? atFirst
/** The same to change it: nobody else changes it until the transaction ends. SQLite has one writer anyway. */
export const readStateToChange = async (sql: Sql, engine: Engine): Promise<State> => {
  const query = sql.selectFrom('siem_state').selectAll().where('id', '=', 1)
  return (await (engine === 'postgres' ? query.forUpdate() : query).executeTakeFirst()) ?? atFirst
}
export const saveState = async (sql: Sql, set: Updateable<SiemStateTable>): Promise<void> => {
  await sql
    .insertInto('siem_state')
    .values({ id: 1, ...set })
    .onConflict(on => on.column('id').doUpdateSet(set))
    .execute()
}
/** Asks the sending process to send everything now; returns the number to wait for. */
export const askFlush = async (sql: Sql): Promise<number> => {
  const row = await sql
    .insertInto('siem_state')
    .values({ id: 1, flush_asked: 1 })
    .onConflict(on => on.column('id').doUpdateSet(eb => ({ flush_asked: eb('siem_state.flush_asked', '+', 1) })))
    .returning('flush_asked')
    .executeTakeFirstOrThrow()
  return row.flush_asked
}

const chunk = 500
const chunks = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / chunk) }, (_, index) => rows.slice(index * chunk, (index + 1) * chunk))

export interface NewWaiting {
  readonly event_id: number
  readonly type: SiemType
  readonly at: number
}
const newWaiting: Target<NewWaiting & { readonly queued_at: number }> = {
  table: 'siem_queue',
  columns: { event_id: 'bigint', type: 'text', at: 'bigint', queued_at: 'bigint' },
}
export const addWaiting = (sql: Sql, engine: Engine, rows: readonly NewWaiting[], now: number): Promise<void> =>
  insertMany(
    sql,
    engine,
    newWaiting,
    rows.map(row => ({ ...row, queued_at: now })),
  )
export const countWaiting = (sql: Sql): Promise<number> =>
  rowCount(sql.selectFrom('siem_queue').where('sent_at', 'is', null))
/** Drops the oldest of what is too much and answers it. */
export const dropOldest = async (sql: Sql): Promise<Waiting[]> => {
  const over = (await countWaiting(sql)) - mostQueued
  if (over <= 0) return []
  return sql
    .deleteFrom('siem_queue')
    .where('id', 'in', eb =>
      eb.selectFrom('siem_queue').select('id').where('sent_at', 'is', null).orderBy('id').limit(over),
    )
    .returningAll()
    .execute()
}
/** What may be sent now, in order. */
export const nextWaiting = (sql: Sql, now: number, most: number): Promise<Waiting[]> =>
  sql
    .selectFrom('siem_queue')
    .selectAll()
    .where('sent_at', 'is', null)
    .where('due_at', '<=', now)
    .orderBy('id')
    .limit(most)
    .execute()
/** How many wait and the newest of them, from one statement: what is sent or comes in between is in both or in neither. */
export const newestWaiting = async (sql: Sql, most: number): Promise<{ size: number; rows: Waiting[] }> => {
  const rows = await sql
    .selectFrom('siem_queue')
    .selectAll()
    .select(eb =>
      eb
        .selectFrom('siem_queue as all')
        .select(all => all.fn.countAll<number>().as('n'))
        .where('all.sent_at', 'is', null)
        .as('size'),
    )
    .where('sent_at', 'is', null)
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  return { size: Number(rows[0]?.size ?? 0), rows }
}
/** Forgets everything that waits and answers how much it was. */
export const forgetWaiting = async (sql: Sql): Promise<number> => {
  const done = await sql.deleteFrom('siem_queue').where('sent_at', 'is', null).executeTakeFirst()
  return Number(done.numDeletedRows)
}
/** Takes rows out of the queue; answers those that were still in it. */
export const dropWaiting = async (sql: Sql, ids: readonly number[]): Promise<Waiting[]> => {
  const gone: Waiting[] = []
  for (const part of chunks(ids))
    gone.push(...(await sql.deleteFrom('siem_queue').where('id', 'in', part).returningAll().execute()))
  return gone
}
/** Notes that rows were written to a stream; answers them as they were before. */
export const markWritten = async (sql: Sql, rows: readonly Waiting[], now: number): Promise<Waiting[]> => {
  const idSet = new Set<number>()
  for (const part of chunks(rows)) {
    const done = await sql
      .updateTable('siem_queue')
      .set({ sent_at: now, counted: 1 })
      .where(
        'id',
        'in',
        part.map(({ id }) => id),
      )
      .returning('id')
      .execute()
    for (const { id } of done) idSet.add(id)
  }
  return rows.filter(({ id }) => idSet.has(id))
}
export const countTry = async (sql: Sql, ids: readonly number[]): Promise<void> => {
  for (const part of chunks(ids))
    await sql
      .updateTable('siem_queue')
      .set(eb => ({ retry_count: eb('retry_count', '+', 1) }))
      .where('id', 'in', part)
      .execute()
}
/** A row was refused on its own: it is retried alone and delays no other row. */
export const putOff = async (sql: Sql, id: number, due_at: number): Promise<void> => {
  await sql
    .updateTable('siem_queue')
    .set(eb => ({ due_at, retry_count: eb('retry_count', '+', 1), refusals: eb('refusals', '+', 1) }))
    .where('id', '=', id)
    .execute()
}
/** What was written since then waits again; answers it by its types. */
export const writtenAgain = (sql: Sql, since: number): Promise<Pick<Waiting, 'type'>[]> =>
  sql
    .updateTable('siem_queue')
    .set(eb => ({ sent_at: null, due_at: 0, retry_count: eb('retry_count', '+', 1) }))
    .where('sent_at', '>=', since)
    .returning('type')
    .execute()
export const forgetWritten = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('siem_queue').where('sent_at', '<', before).execute()
}

export interface Counted {
  readonly type: SiemType | 'test'
  readonly sent?: number
  readonly failed?: number
  readonly retried?: number
}
/** Adds to the sums of the hour. */
export const addCounts = async (sql: Sql, counted: readonly Counted[], now: number): Promise<void> => {
  const sums = new Map<SiemType | 'test', { sent: number; failed: number; retried: number }>()
  for (const { type, sent = 0, failed = 0, retried = 0 } of counted) {
    const sum = sums.get(type) ?? { sent: 0, failed: 0, retried: 0 }
    sums.set(type, { sent: sum.sent + sent, failed: sum.failed + failed, retried: sum.retried + retried })
  }
  const rows = [...sums].map(([type, sum]) => ({ hour: now - (now % hour), type, ...sum }))
  if (rows.length === 0) return
  await sql
    .insertInto('siem_counts')
    .values(rows)
    .onConflict(on =>
      on.columns(['hour', 'type']).doUpdateSet(eb => ({
        sent: eb('siem_counts.sent', '+', eb.ref('excluded.sent')),
        failed: eb('siem_counts.failed', '+', eb.ref('excluded.failed')),
        retried: eb('siem_counts.retried', '+', eb.ref('excluded.retried')),
      })),
    )
    .execute()
}
export const countsSince = (sql: Sql, since: number) =>
  sql.selectFrom('siem_counts').selectAll().where('hour', '>=', since).execute()

export const addDelivery = async (sql: Sql, row: Delivery): Promise<void> => {
  const { id } = await sql.insertInto('siem_deliveries').values(row).returning('id').executeTakeFirstOrThrow()
  await sql
    .deleteFrom('siem_deliveries')
    .where('id', '<=', id - mostDeliveries)
    .execute()
}
export const lastDeliveries = (sql: Sql) =>
  sql.selectFrom('siem_deliveries').selectAll().orderBy('id', 'desc').limit(mostDeliveries).execute()

/** Notes that the target was reachable, or was not, from the last look until now; longer gaps were not measured. */
export const addSpan = async (sql: Sql, up: 0 | 1, now: number): Promise<void> => {
  const last = await sql.selectFrom('siem_spans').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirst()
  const fresh = last !== undefined && now - last.to_at <= minute && now >= last.to_at
  if (fresh) await sql.updateTable('siem_spans').set({ to_at: now }).where('id', '=', last.id).execute()
  // A change takes effect from now on: what lies behind was as it was last seen.
  if (!fresh || last.up !== up) await sql.insertInto('siem_spans').values({ from_at: now, to_at: now, up }).execute()
}
/** Percent of the measured time of the last 24 hours in which the target was reachable; null where nothing was measured. */
export const uptime = async (sql: Sql, now: number): Promise<number | null> => {
  const since = now - day
  const rows = await sql.selectFrom('siem_spans').selectAll().where('to_at', '>', since).orderBy('id').execute()
  const lengthOf = (row: { from_at: number; to_at: number }) => Math.max(0, row.to_at - Math.max(row.from_at, since))
  const measured = rows.reduce((sum, row) => sum + lengthOf(row), 0)
  // Nothing but the first look: it is what is known.
  const last = rows.at(-1)
  if (measured < second) return last ? last.up * 100 : null
  const up = rows.reduce((sum, row) => sum + row.up * lengthOf(row), 0)
  return Math.round((up / measured) * 10_000) / 100
}

/** Rows that are no longer needed. */
export const forgetOld = async (sql: Sql, now: number): Promise<void> => {
  await forgetWritten(sql, now - day)
  await sql
    .deleteFrom('siem_counts')
    .where('hour', '<', now - 32 * day)
    .execute()
  await sql
    .deleteFrom('siem_spans')
    .where('to_at', '<', now - 2 * day)
    .execute()
  await sql
    .deleteFrom('siem_replays')
    .where('ended_at', '<', now - 30 * day)
    .execute()
}

/** The smallest and largest id of all events. */
export const eventEnds = async (sql: Sql): Promise<{ first: number; last: number }> => {
  const row = await sql
    .selectFrom('events')
    .select(eb => [eb.fn.min('id').as('first'), eb.fn.max('id').as('last')])
    .executeTakeFirst()
  return { first: Number(row?.first ?? 1), last: Number(row?.last ?? 0) }
}
/** The next event from this id on. */
export const eventFrom = (sql: Sql, id: number) =>
  sql.selectFrom('events').select(['id', 'at']).where('id', '>=', id).orderBy('id').limit(1).executeTakeFirst()

export interface Past {
  /** After this id, up to that one. */
  readonly after: number
  readonly until: number
  readonly from: number
  readonly to: number
  readonly names: readonly string[]
}
const past = ({ after, until, from, to, names }: Past) =>
  raw`id > ${after} and id <= ${until} and at >= ${from} and at < ${to} and name in (${raw.join([...names])})`
export const countPast = async (sql: Sql, which: Past): Promise<number> => {
  const { rows } = await raw<{ n: number }>`select count(*) as n from events where ${past(which)}`.execute(sql)
  return Number(rows[0]?.n ?? 0)
}
export const pastIds = async (sql: Sql, which: Past, most: number): Promise<number[]> => {
  const { rows } = await raw<{
    id: number
  }>`select id from events where ${past(which)} order by id limit ${most}`.execute(sql)
  return rows.map(({ id }) => Number(id))
}

/** Events of the stream, as they were recorded. */
export const eventRows = (sql: Sql, ids: readonly number[]) =>
  sql
    .selectFrom('events')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute()
export const serverNames = (
  sql: Sql,
  nos: readonly number[],
): Promise<{ no: number; id: string; hostname: string }[]> =>
  nos.length === 0
    ? Promise.resolve([])
    : sql.selectFrom('servers').select(['no', 'id', 'hostname']).where('no', 'in', nos).execute()
