import type { Insertable, Selectable, Transaction } from 'kysely'
import { sql as raw } from 'kysely'
import { eventKinds } from '@stockade/contract'
import type { EventName } from '@stockade/contract'
import type { Author } from '../core/author.ts'
import type { Clock } from '../core/clock.ts'
import { jsonText, parseJson } from '../core/json-text.ts'
import type { Database, Engine } from '../db/database.ts'
import { untilItPasses } from '../db/passing.ts'
import type { EventsTable } from '../db/tables/service.ts'
import type { Schema } from '../db/schema.ts'

export interface StockadeEvent {
  readonly id: number
  readonly at: number
  readonly name: EventName
  readonly author: Author | null
  readonly serverNo: number | null
  readonly banId: number | null
  readonly data: Readonly<Record<string, unknown>>
}

export interface EventInput {
  readonly name: EventName
  readonly author?: Author | null
  readonly serverNo?: number
  readonly banId?: number
  readonly data?: Readonly<Record<string, unknown>>
}

/** A change under way: its SQL, and the record of what it did in the same transaction. */
export interface Change {
  readonly sql: Transaction<Schema>
  record(event: EventInput): Promise<void>
  /** Many at once, in their order; a few statements for thousands. */
  recordMany(events: readonly EventInput[]): Promise<void>
}

export type Listener = (events: readonly StockadeEvent[]) => void

export interface Events {
  /**
   * Runs a transaction; subscribers get its events after the commit. Where PostgreSQL ends it by a deadlock or
   * a serialization failure, `work` runs again from its beginning, so it must not change memory or call other systems.
   */
  change<T>(work: (change: Change) => Promise<T>): Promise<T>
  /** Tells of events that a hot write recorded itself. */
  tell(events: readonly StockadeEvent[]): void
  subscribe(listener: Listener): () => void
}

/** What a service reads and changes the storage with. */
export interface StoreAccess {
  readonly db: Database
  readonly clock: Clock
  readonly events: Events
}

const rowOf = (event: EventInput, at: number): Omit<Selectable<EventsTable>, 'id'> => ({
  at,
  name: event.name,
  actor: event.author?.name ?? null,
  actor_user_id: event.author?.userId ?? null,
  actor_ip: event.author?.ip ?? null,
  server_no: event.serverNo ?? null,
  ban_id: event.banId ?? null,
  data: event.data ? jsonText(event.data) : null,
})

export const eventOf = (row: Selectable<EventsTable>): StockadeEvent | null =>
  row.name in eventKinds
    ? {
        id: row.id,
        at: row.at,
        name: row.name,
        author: row.actor === null ? null : { name: row.actor, userId: row.actor_user_id, ip: row.actor_ip },
        serverNo: row.server_no,
        banId: row.ban_id,
        data: row.data === null ? {} : parseJson(row.data),
      }
    : null

/** What stands in the audit log, of rows that were just written. */
const auditRow = (row: Pick<Selectable<EventsTable>, 'id' | 'at' | 'name' | 'actor_user_id'>) => ({
  event_id: row.id,
  at: row.at,
  name: row.name,
  user_id: row.actor_user_id,
})
const isAudited = (name: EventName): boolean => eventKinds[name].audited

const chunk = 1000
/** One text carries all the rows: thousands of parameters cost more than the rows. Returns the ids in the rows' order. */
const insertRows = async (
  sql: Transaction<Schema>,
  engine: Engine,
  rows: readonly Insertable<EventsTable>[],
): Promise<number[]> => {
  const json = JSON.stringify(rows)
  const columns = raw`at, name, actor, actor_user_id, actor_ip, server_no, ban_id, data`
  const query =
    engine === 'sqlite'
      ? raw<{ id: number }>`insert into events (${columns}) select value ->> 'at', value ->> 'name', value ->> 'actor',
          value ->> 'actor_user_id', value ->> 'actor_ip', value ->> 'server_no', value ->> 'ban_id', value ->> 'data'
          from json_each(${json}) order by key returning id`
      : raw<{ id: number }>`insert into events (${columns}) select ${columns} from jsonb_array_elements(${json}::jsonb)
          with ordinality as given (value, place), jsonb_to_record(value) as row (at bigint, name text, actor text,
          actor_user_id bigint, actor_ip text, server_no integer, ban_id bigint, data text) order by place returning id`
  const { rows: made } = await query.execute(sql)
  return made.map(({ id }) => id).sort((a, b) => a - b)
}

const insertAudited = async (
  sql: Transaction<Schema>,
  engine: Engine,
  rows: readonly ReturnType<typeof auditRow>[],
): Promise<void> => {
  const json = JSON.stringify(rows)
  const query =
    engine === 'sqlite'
      ? raw`insert into audit (event_id, at, name, user_id) select value ->> 'event_id', value ->> 'at', value ->> 'name',
          value ->> 'user_id' from json_each(${json})`
      : raw`insert into audit (event_id, at, name, user_id) select event_id, at, name, user_id
          from jsonb_to_recordset(${json}::jsonb) as row (event_id bigint, at bigint, name text, user_id bigint)`
  await query.execute(sql)
}

/**
 * The stream of everything that happened. With one process (SQLite) subscribers hear an event right after its commit;
 * with N processes over PostgreSQL each of them reads the stream by its cursor (`tail.ts`), and a commit only nudges it.
 */
export const createEvents = (
  db: Database,
  clock: Clock,
  log: (error: unknown) => void,
  nudge: (() => void) | null,
): Events & { dispatch(events: readonly StockadeEvent[]): void } => {
  const listeners = new Set<Listener>()
  const dispatch = (events: readonly StockadeEvent[]) => {
    if (events.length === 0) return
    for (const listener of listeners)
      try {
        listener(events)
      } catch (error) {
        // One subscriber's defect must not keep the others from hearing; it stands in the log.
        log(error)
      }
  }
  const tell = (events: readonly StockadeEvent[]) => (nudge ? nudge() : dispatch(events))
  return {
    dispatch,
    tell,
    async change(work) {
      const recorded: StockadeEvent[] = []
      const value = await untilItPasses(() =>
        db.write.transaction().execute(async sql => {
          // What a run recorded that was rolled back never happened.
          recorded.length = 0
          return work({
            sql,
            async record(event) {
              const row = await sql
                .insertInto('events')
                .values(rowOf(event, clock()))
                .returningAll()
                .executeTakeFirstOrThrow()
              if (isAudited(event.name)) await sql.insertInto('audit').values(auditRow(row)).execute()
              const storedEvent = eventOf(row)
              if (storedEvent) recorded.push(storedEvent)
            },
            async recordMany(many) {
              const at = clock()
              for (let start = 0; start < many.length; start += chunk) {
                const rows = many.slice(start, start + chunk).map(event => rowOf(event, at))
                const ids = await insertRows(sql, db.engine, rows)
                const audited = rows.flatMap(({ name, actor_user_id = null }, index) =>
                  isAudited(name) ? [auditRow({ id: ids[index] ?? 0, at, name, actor_user_id })] : [],
                )
                if (audited.length > 0) await insertAudited(sql, db.engine, audited)
                rows.forEach((row, index) => {
                  const event = eventOf({ ...row, id: ids[index] ?? 0 })
                  if (event) recorded.push(event)
                })
              }
            },
          })
        }),
      )
      if (recorded.length > 0) tell(recorded)
      return value
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
