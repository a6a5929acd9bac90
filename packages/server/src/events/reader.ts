import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { Database } from '../db/database.ts'
import type { EventsTable } from '../db/tables/service.ts'
import { eventOf } from './events.ts'
import { horizonOf } from './horizon.ts'
import type { Change, StockadeEvent } from './events.ts'

/** Where a reader is in the stream: `xid` is "0" on SQLite, whose ids are in the order of commits. */
export interface Position {
  readonly xid: string
  readonly id: number
}
export interface ReadOn {
  readonly events: readonly StockadeEvent[]
  /** To be kept in the transaction that did what the events asked for. */
  readonly position: Position
  /** Whether more waits already. */
  readonly more: boolean
}

/**
 * A reader of the stream of events that survives restarts: what it did for an event and its place are kept in one
 * transaction, so that no event is missed or done twice. Only one process may use a name at a time: jobs hold a lease.
 */
export interface Reader {
  /**
   * The next events, from the place that is kept or another one; nothing new: none of them, and the place where it is. The first time it
   * begins at the end.
   */
  read(most: number, from?: Position): Promise<ReadOn>
  /** The lowest id of a reported ban whose event is not read yet, whether or not an older transaction holds it back; null: none. */
  firstWaitingBan(): Promise<number | null>
  /** The place behind everything that is committed. */
  end(): Promise<Position>
  /** Keeps the place. */
  keep(change: Pick<Change, 'sql'>, position: Position): Promise<void>
  /** Forgets what waits: the next read begins with what comes from now on. */
  skip(change: Pick<Change, 'sql'>): Promise<void>
}

type Row = Selectable<EventsTable> & { xid: string }

export const createReader = (db: Database, name: string): Reader => {
  const postgres = db.engine === 'postgres'
  const end = async (): Promise<Position> => {
    if (postgres) return { xid: String(BigInt(await horizonOf(db)) - 1n), id: Number.MAX_SAFE_INTEGER }
    const { rows } = await sql<{ id: number | null }>`select max(id) as id from events`.execute(db.read)
    return { xid: '0', id: rows[0]?.id ?? 0 }
  }
  const keep: Reader['keep'] = async (change, { xid, id }) => {
    const row = { xid, event_id: id }
    await change.sql
      .insertInto('cursors')
      .values({ name, ...row })
      .onConflict(on => on.column('name').doUpdateSet(row))
      .execute()
  }
  const storedPosition = async (): Promise<Position> => {
    const row = await db.read.selectFrom('cursors').selectAll().where('name', '=', name).executeTakeFirst()
    if (row) return { xid: row.xid, id: row.event_id }
    const position = await end()
    await db.write.transaction().execute(change => keep({ sql: change }, position))
    return position
  }
  return {
    keep,
    end,
    skip: async change => keep(change, await end()),
    async firstWaitingBan() {
      const { xid, id } = await storedPosition()
      const isWaiting = postgres ? sql`(xid, id) > (${xid}::xid8, ${id}::bigint)` : sql`id > ${id}`
      const { rows } = await sql<{ first: number | null }>`select min(ban_id) as first from events
        where ${isWaiting} and name = 'ban.report'`.execute(db.read)
      return rows[0]?.first ?? null
    },
    async read(most, given) {
      const from = given ?? (await storedPosition())
      // Ids of PostgreSQL are not in commit order: only what lies below the oldest running transaction is complete.
      const horizon = postgres ? await horizonOf(db) : '0'
      const { rows } = postgres
        ? await sql<Row>`select id, xid::text as xid, at, name, actor, actor_user_id, actor_ip, server_no, ban_id, data
            from events where xid < ${horizon}::xid8
              and (xid, id) > (${from.xid}::xid8, ${from.id}::bigint) order by events.xid, id limit ${most}`.execute(
            db.read,
          )
        : await sql<Row>`select '0' as xid, id, at, name, actor, actor_user_id, actor_ip, server_no, ban_id, data
            from events where id > ${from.id} order by id limit ${most}`.execute(db.read)
      const last = rows.at(-1)
      return {
        events: rows.flatMap(row => eventOf(row) ?? []),
        position: last ? { xid: last.xid, id: last.id } : from,
        more: rows.length === most,
      }
    },
  }
}
