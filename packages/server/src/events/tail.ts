import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { createSerial } from '../core/serial.ts'
import type { Postgres } from '../db/postgres.ts'
import type { EventsTable } from '../db/tables/service.ts'
import { eventOf } from './events.ts'
import type { StockadeEvent } from './events.ts'
import { horizonOf } from './horizon.ts'
import { createPeers } from './peers.ts'

const channel = 'stockade_events'
const peerChannel = 'stockade_peers'
const most = 1000
/** Milliseconds between two looks while changes come one after the other: a look costs as much as writing a ban. */
const betweenLooks = 25

export interface Tail {
  /** Something was committed here: look, at once if the last look is some milliseconds ago, and nudge the other processes. */
  nudge(): void
  /**
   * Resolves when the other processes have taken over what was committed here before the call, so that whoever changed
   * something finds it there too. Waits a second at most; at once where this is the only process.
   */
  settle(): Promise<void>
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
  /** Resolves when what was dispatched has been taken over. */
  taken: () => Promise<unknown>,
): Promise<Tail> => {
  type Row = Selectable<EventsTable> & { xid: string }
  let cursor = { xid: String(BigInt(await horizonOf(db)) - 1n), id: Number.MAX_SAFE_INTEGER }
  let closed = false
  let reading: Promise<void> | null = null
  let again = false
  let listener: pg.Client | null = null
  let lookedAt = -Infinity
  let nextLook: NodeJS.Timeout | null = null

  const readOn = async () => {
    for (;;) {
      const horizon = await horizonOf(db)
      const { rows } = await sql<Row>`
        select id, xid::text as xid, at, name, actor, actor_user_id, actor_ip, server_no, ban_id, data from events
        where xid < ${horizon}::xid8
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
    lookedAt = performance.now()
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
  const lookSoon = () => {
    nextLook ??= setTimeout(
      () => {
        nextLook = null
        look()
      },
      Math.max(0, lookedAt + betweenLooks - performance.now()),
    )
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
      client.on('notification', ({ channel: heard, payload = '' }) => {
        if (heard === channel) lookSoon()
        else peers.hear(payload)
      })
      await client.query(`listen ${channel}; listen ${peerChannel}`)
      listener = client
      peers.greet()
    } catch (error) {
      log(error)
      await client.end().catch(() => {})
    }
  }
  /** A connection runs one query at a time. */
  const inTurn = createSerial()
  const say = (query: string, values: string[] = []) => {
    inTurn(() => listener?.query(query, values)).catch(log)
  }
  const peers = createPeers({
    id: randomUUID(),
    say: text => say('select pg_notify($1, $2)', [peerChannel, text]),
    async caughtUp() {
      const target = await firstNotBegun()
      // What was committed before is read only once no older transaction runs.
      for (let wait = 0; wait < 100 && BigInt(await horizonOf(db)) < target && !closed; wait++) await pause(5)
      await reading
      look()
      await reading
      await taken()
    },
    log,
  })
  const firstNotBegun = async (): Promise<bigint> => {
    const { rows } = await sql<{ next: string }>`
      select pg_snapshot_xmax(pg_current_snapshot())::text as next`.execute(db.read)
    return BigInt(rows[0]?.next ?? 0)
  }
  await listen()
  const poll = setInterval(() => {
    look()
    if (!listener) void listen()
  }, 1000)
  let notifying: NodeJS.Timeout | null = null
  return {
    nudge() {
      lookSoon()
      notifying ??= setTimeout(() => {
        notifying = null
        say(`notify ${channel}`)
      }, 20)
    },
    settle: peers.settle,
    async close() {
      closed = true
      clearInterval(poll)
      if (notifying) clearTimeout(notifying)
      if (nextLook) clearTimeout(nextLook)
      await reading
      peers.close()
      await inTurn(() => {})
      await listener?.end().catch(() => {})
    },
  }
}
