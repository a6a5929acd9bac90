import pg from 'pg'
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { Postgres } from '../db/postgres.ts'
import type { EventsTable } from '../db/schema.ts'
import { eventOf } from './events.ts'
import type { StockadeEvent } from './events.ts'

const channel = 'stockade_events'
const most = 1000

export interface Tail {
  /** Something was committed here: look at once, and nudge the other processes. */
  nudge(): void
  close(): Promise<void>
}

/**
 * Follows the events table of a PostgreSQL that N processes share. The cursor is the pair (xid, id) below the oldest
 * transaction still running, because serial ids are not in commit order: an id read too early would hide a later commit.
 * NOTIFY is only a nudge, sent from a connection of its own and never inside a transaction; a lost one costs one second.
 */
export const followEvents = async (
  db: Postgres,
  url: string,
  dispatch: (events: readonly StockadeEvent[]) => void,
  log: (error: unknown) => void,
): Promise<Tail> => {
  type Row = Selectable<EventsTable> & { xid: string }
  const end = await sql<{ xid: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as xid`.execute(db.read)
  let cursor = { xid: String(Number(end.rows[0]?.xid ?? 1) - 1), id: Number.MAX_SAFE_INTEGER }
  let closed = false
  let reading: Promise<void> | null = null
  let again = false
  let listener: pg.Client | null = null

  const readOn = async () => {
    for (;;) {
      const { rows } = await sql<Row>`
        select id, xid::text as xid, at, name, actor, actor_user_id, actor_ip, server_no, ban_id, data from events
        where xid < pg_snapshot_xmin(pg_current_snapshot())
          and (xid, id) > (${cursor.xid}::xid8, ${cursor.id}::bigint)
        order by events.xid, id limit ${most}`.execute(db.read)
      const last = rows.at(-1)
      if (last) cursor = { xid: last.xid, id: last.id }
      dispatch(rows.flatMap(row => eventOf(row) ?? []))
      if (rows.length < most) return
    }
  }
  const look = () => {
    if (closed) return
    if (reading) {
      again = true
      return
    }
    reading = readOn()
      .catch(log)
      .finally(() => {
        reading = null
        if (again) {
          again = false
          look()
        }
      })
  }
  /** Reconnects by itself: polling goes on meanwhile, so that only the speed suffers. */
  const listen = async () => {
    if (closed) return
    const client = new pg.Client({ connectionString: url, application_name: 'stockade-events' })
    client.on('error', error => {
      log(error)
      if (listener === client) listener = null
    })
    client.on('end', () => {
      if (listener === client) listener = null
    })
    try {
      await client.connect()
      client.on('notification', look)
      await client.query(`listen ${channel}`)
      listener = client
    } catch (error) {
      log(error)
      await client.end().catch(() => {})
    }
  }
  await listen()
  const poll = setInterval(() => {
    look()
    if (!listener) void listen()
  }, 1000)
  let notifying: NodeJS.Timeout | null = null
  let notified: Promise<unknown> = Promise.resolve()
  return {
    nudge() {
      look()
      notifying ??= setTimeout(() => {
        notifying = null
        // One after the other: a connection runs one query at a time.
        notified = notified.then(() => listener?.query(`notify ${channel}`)).catch(log)
      }, 20)
    },
    async close() {
      closed = true
      clearInterval(poll)
      if (notifying) clearTimeout(notifying)
      await reading
      await notified
      await listener?.end().catch(() => {})
    },
  }
}
