import type { Kysely } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { createLatest } from '../../core/latest.ts'
import type { Database } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import { isAhead, mergeStates, silentHost, withReport } from './host-state.ts'
import type { HostState } from './host-state.ts'
import {
  allHeartbeats,
  findHeartbeats,
  findServerRow,
  lockHeartbeat,
  lockHeartbeatVersions,
  liveServers,
  saveHeartbeats,
} from './servers.store.ts'
import type { ServerRow } from './servers.store.ts'
import type { Jail } from '../../db/tables/stored.ts'

export interface Server extends HostState {
  readonly row: ServerRow
}

/**
 * Keeps every server in memory, as a mirror of the tables, so that lists, polls and heartbeats cost no query. Heartbeats are
 * written in bulk at intervals; losing the last seconds of them in a crash does no harm.
 *
 * Memory and storage are merged by version (`host-state.ts`): reading an old row, or writing an old state, changes nothing.
 */
export interface Registry {
  byId(id: string): Server | undefined
  byNo(no: number): Server | undefined
  /** Ordered by hostname. */
  all(): readonly Server[]
  /** Whether a server has this name, in any letter case. */
  hasName(name: string): boolean
  /** Takes over a committed row. */
  put(row: ServerRow): void
  remove(no: number): void
  /** Takes in a report of a host, in memory. Returns false if a later report overtook it. */
  receive(no: number, report: Parameters<typeof withReport>[1]): boolean
  /** Writes the heartbeats received since the last time. */
  flush(): Promise<void>
  /** Reads the heartbeats that other processes wrote. */
  sync(): Promise<void>
  /**
   * Locks a host's row, merges memory into it, changes the jails' details and writes the result. Nobody else writes the row
   * until the transaction ends. After the commit, pass `after` to `take`.
   */
  writeJails(
    sql: Kysely<Schema>,
    no: number,
    change?: (jails: readonly Jail[]) => readonly Jail[],
  ): Promise<{ readonly before: readonly Jail[]; readonly after: HostState }>
  /** Merges a committed state into memory. */
  take(no: number, state: HostState): void
  /** Reads one server again, after another process changed it. */
  refresh(no: number): Promise<void>
}

/** A server's place in the order of names. */
interface Place {
  readonly key: string
  readonly no: number
}
const placeOf = (hostname: string, no: number): Place => ({ key: hostname.toLowerCase(), no })
const byName = (a: Place, b: Place): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.no - b.no)
/** Where it stands, or would stand. */
const indexIn = (places: readonly Place[], place: Place): number => {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = places[middle]
    if (other && byName(other, place) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** @param heard is given each accepted report of a host, and must cost no query */
export const createRegistry = async (
  db: Database,
  clock: Clock,
  heard: (no: number, state: HostState) => void = () => {},
): Promise<Registry> => {
  const byNo = new Map<number, Server>()
  const nos = new Map<string, number>()
  const dirty = new Set<number>()
  /** The order by hostname, which heartbeats do not change. Null before it was asked for. */
  let order: Place[] | null = null
  let synced = 0
  const refreshes = new Map<number, ReturnType<typeof createLatest>>()

  const sorted = () => (order ??= [...byNo.values()].map(({ row }) => placeOf(row.hostname, row.no)).sort(byName))
  const leave = ({ hostname, no }: ServerRow) => {
    if (order) order.splice(indexIn(order, placeOf(hostname, no)), 1)
  }
  const put = (row: ServerRow) => {
    if (row.deleted_at !== null) return remove(row.no)
    const knownServer = byNo.get(row.no)
    if (knownServer?.row.hostname !== row.hostname) {
      if (knownServer) leave(knownServer.row)
      const place = placeOf(row.hostname, row.no)
      if (order) order.splice(indexIn(order, place), 0, place)
    }
    byNo.set(row.no, { ...(knownServer ?? silentHost), row })
    nos.set(row.id, row.no)
  }
  const remove = (no: number) => {
    const server = byNo.get(no)
    if (!server) return
    byNo.delete(no)
    nos.delete(server.row.id)
    dirty.delete(no)
    refreshes.delete(no)
    leave(server.row)
  }
  const take = (no: number, state: HostState) => {
    const server = byNo.get(no)
    if (server && isAhead(state, server)) byNo.set(no, { ...mergeStates(server, state), row: server.row })
  }
  const writeDirty = async (sql: Kysely<Schema>, changed: readonly number[]) => {
    const stored = await lockHeartbeatVersions(sql, db.engine, changed)
    const ahead = stored.flatMap(({ server_no, ...versions }) => {
      const server = byNo.get(server_no)
      return server && isAhead(versions, server) ? [server_no] : []
    })
    for (const [no, state] of await findHeartbeats(sql, db.engine, ahead)) take(no, state)
    const states = changed.flatMap(no => {
      const server = byNo.get(no)
      return server ? [[no, server] as const] : []
    })
    // Cleared in the same turn as the states are read: a report that arrives later marks its host again.
    for (const no of changed) dirty.delete(no)
    await saveHeartbeats(sql, db.engine, states)
  }
  /** Reads until no row was put meanwhile: a read that began before a commit would bring back what the commit replaced. */
  const readSettled = async (no: number) => {
    for (;;) {
      const before = byNo.get(no)?.row
      const storedParts = await Promise.all([findServerRow(db.read, no), findHeartbeats(db.read, db.engine, [no])])
      if (byNo.get(no)?.row === before) return storedParts
    }
  }
  for (const row of await liveServers(db.read)) put(row)
  for (const [no, state] of await allHeartbeats(db.read, 0)) take(no, state)
  synced = clock()

  return {
    byId(id) {
      const no = nos.get(id.toLowerCase())
      return no === undefined ? undefined : byNo.get(no)
    },
    byNo: no => byNo.get(no),
    all: () => sorted().flatMap(({ no }) => byNo.get(no) ?? []),
    hasName(name) {
      const places = sorted()
      // Numbers of servers begin with 1.
      const place = placeOf(name, 0)
      return places[indexIn(places, place)]?.key === place.key
    },
    put,
    remove,
    receive(no, report) {
      const server = byNo.get(no)
      if (!server) return false
      const state = withReport(server, report)
      if (state === server) return false
      byNo.set(no, { ...state, row: server.row })
      dirty.add(no)
      heard(no, state)
      return true
    },
    async writeJails(sql, no, change = jails => jails) {
      const stored = await lockHeartbeat(sql, db.engine, no)
      const knownServer = byNo.get(no) ?? silentHost
      const merged = stored ? mergeStates(knownServer, stored) : knownServer
      const { boot, report, lastHeartbeat, metrics, jails, revision, protection } = merged
      const changed = change(jails)
      const after = {
        boot,
        report,
        lastHeartbeat: lastHeartbeat ?? clock(),
        metrics,
        jails: changed,
        revision: changed === jails ? revision : revision + 1,
        protection,
      }
      await saveHeartbeats(sql, db.engine, [[no, after]])
      return { before: jails, after }
    },
    take,
    async flush() {
      if (dirty.size === 0) return
      const changed = [...dirty]
      try {
        await db.write.transaction().execute(sql => writeDirty(sql, changed))
      } catch (error) {
        for (const no of changed) if (byNo.has(no)) dirty.add(no)
        throw error
      }
    },
    async sync() {
      const from = synced - 10_000
      synced = clock()
      for (const [no, state] of await allHeartbeats(db.read, from)) take(no, state)
    },
    async refresh(no) {
      const latest = refreshes.get(no) ?? createLatest()
      refreshes.set(no, latest)
      await latest(
        () => readSettled(no),
        ([row, states]) => {
          if (row) put(row)
          for (const [serverNo, state] of states) take(serverNo, state)
        },
      )
    },
  }
}
