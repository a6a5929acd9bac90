import type { Kysely } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { createLatest } from '../../core/latest.ts'
import type { Database } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import {
  allHeartbeats,
  findHeartbeat,
  findServerRow,
  holdJails,
  liveServers,
  saveHeartbeats,
  saveJails,
} from './servers.store.ts'
import type { HeartbeatRow, ServerRow } from './servers.store.ts'

export interface Metrics {
  readonly cpu_percent: number | null
  readonly memory_percent: number | null
  readonly disk_percent: number | null
  readonly uptime: number | null
}
/** A jail as its host describes it. */
export interface Jail {
  readonly name: string
  readonly enabled: boolean
  readonly current_bans: number
  readonly filter: string | null
  readonly logpath: string | null
  readonly maxretry: number | null
  readonly bantime: number | null
  readonly findtime: number | null
  /** The template that the agent keeps on the host for it. */
  readonly template: string | null
}
export interface Server {
  readonly row: ServerRow
  readonly lastHeartbeat: number | null
  readonly metrics: Metrics | null
  readonly jails: readonly Jail[]
}

/**
 * Every server in memory, a mirror of the tables: lists, polls and heartbeats cost no query. What a heartbeat says is
 * written at intervals, many at once; a lost second of it does no harm.
 */
export interface Registry {
  byId(id: string): Server | undefined
  byNo(no: number): Server | undefined
  /** By hostname. */
  all(): readonly Server[]
  /** Takes over what was committed. */
  put(row: ServerRow): void
  remove(no: number): void
  beat(no: number, at: number, metrics: Metrics | null, jails: readonly Jail[]): void
  /** Writes the heartbeats since the last time. */
  flush(): Promise<void>
  /** Reads what other processes wrote. */
  sync(): Promise<void>
  /**
   * A host's jails, which nobody else writes until the transaction ends: as this process knows them, unless another one, or this
   * transaction, has written others since.
   */
  holdJails(sql: Kysely<Schema>, no: number): Promise<readonly Jail[]>
  /** Writes a host's jails at once, in the transaction that tells of their change. */
  saveJails(sql: Kysely<Schema>, no: number, jails: readonly Jail[]): Promise<void>
  /** Whether what was saved last was committed is not known. */
  doubt(no: number): void
  /** Reads one server anew, after another process changed it. */
  refresh(no: number): Promise<void>
}

const jailsOf = (text: string): readonly Jail[] =>
  (JSON.parse(text) as (Omit<Jail, 'template'> & Partial<Jail>)[]).map(jail => ({
    ...jail,
    template: jail.template ?? null,
  }))

export const createRegistry = async (db: Database, clock: Clock): Promise<Registry> => {
  const byNo = new Map<number, Server>()
  const nos = new Map<string, number>()
  const dirty = new Set<number>()
  /** The order by hostname; heartbeats leave it as it is. */
  let order: number[] | null = null
  let synced = 0
  const refreshes = new Map<number, ReturnType<typeof createLatest>>()
  /** The jails of each server as storage has them, as far as this process knows: else another process changed them. */
  const stored = new Map<number, string>()
  /** How often this process changed them itself, and what they were before the last time, which may not be committed yet. */
  const writes = new Map<number, { readonly count: number; readonly before: string | undefined }>()
  const wrote = (no: number, jails: string) => {
    const before = stored.get(no)
    if (before === jails) return
    stored.set(no, jails)
    writes.set(no, { count: (writes.get(no)?.count ?? 0) + 1, before })
  }
  const isOurs = (no: number, jails: string) => jails === stored.get(no) || jails === writes.get(no)?.before
  /** What a transaction under way wrote. */
  const written = new WeakMap<Kysely<Schema>, Map<number, readonly Jail[]>>()

  const set = (no: number, server: Server) => {
    if (byNo.get(no)?.row.hostname !== server.row.hostname) order = null
    byNo.set(no, server)
    nos.set(server.row.id, no)
  }
  const put = (row: ServerRow) => {
    if (row.deleted_at !== null) return remove(row.no)
    set(row.no, { ...(byNo.get(row.no) ?? { lastHeartbeat: null, metrics: null, jails: [] }), row })
  }
  const remove = (no: number) => {
    const server = byNo.get(no)
    if (!server) return
    byNo.delete(no)
    nos.delete(server.row.id)
    dirty.delete(no)
    refreshes.delete(no)
    stored.delete(no)
    writes.delete(no)
    order = null
  }
  const merge = (beat: HeartbeatRow, jailsChanged = false) => {
    const server = byNo.get(beat.server_no)
    if (!server) return
    const isNewer = (server.lastHeartbeat ?? 0) < beat.last_heartbeat
    if (!isNewer && !jailsChanged) return
    stored.set(beat.server_no, beat.jails)
    set(beat.server_no, {
      ...server,
      ...(isNewer
        ? {
            lastHeartbeat: beat.last_heartbeat,
            metrics: beat.metrics === null ? null : (JSON.parse(beat.metrics) as Metrics),
          }
        : {}),
      jails: jailsOf(beat.jails),
    })
  }
  const beatOf = (no: number) => {
    const server = byNo.get(no)
    return server?.lastHeartbeat
      ? [
          {
            server_no: no,
            last_heartbeat: server.lastHeartbeat,
            metrics: server.metrics && JSON.stringify(server.metrics),
            jails: JSON.stringify(server.jails),
          },
        ]
      : []
  }
  /** Heartbeats that are news to storage. Jails that another process wrote meanwhile stay, with the numbers that came here. */
  const reconciled = (rows: readonly HeartbeatRow[], held: Awaited<ReturnType<typeof holdJails>>): HeartbeatRow[] => {
    const stands = new Map(held.map(row => [row.server_no, row]))
    return rows.flatMap(row => {
      const there = stands.get(row.server_no)
      if (!there || isOurs(row.server_no, there.jails)) return [row]
      if (there.last_heartbeat > row.last_heartbeat) return []
      const numbers = new Map(jailsOf(row.jails).map(jail => [jail.name, jail.current_bans]))
      const jails = jailsOf(there.jails).map(jail => ({
        ...jail,
        current_bans: numbers.get(jail.name) ?? jail.current_bans,
      }))
      const whole = { ...row, jails: JSON.stringify(jails) }
      merge(whole, true)
      return [whole]
    })
  }
  for (const row of await liveServers(db.read)) put(row)
  for (const beat of await allHeartbeats(db.read, 0)) merge(beat)
  synced = clock()

  return {
    byId(id) {
      const no = nos.get(id.toLowerCase())
      return no === undefined ? undefined : byNo.get(no)
    },
    byNo: no => byNo.get(no),
    all() {
      order ??= [...byNo.values()]
        .map(({ row }) => ({ no: row.no, key: row.hostname.toLowerCase() }))
        .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.no - b.no))
        .map(({ no }) => no)
      return order.flatMap(no => byNo.get(no) ?? [])
    },
    put,
    remove,
    beat(no, at, metrics, jails) {
      const server = byNo.get(no)
      if (!server) return
      byNo.set(no, { row: server.row, lastHeartbeat: at, metrics, jails })
      dirty.add(no)
    },
    async holdJails(sql, no) {
      const [row] = await holdJails(sql, db.engine, [no])
      const known = written.get(sql)?.get(no) ?? byNo.get(no)?.jails ?? []
      return row === undefined || isOurs(no, row.jails) ? known : jailsOf(row.jails)
    },
    async saveJails(sql, no, jails) {
      const server = byNo.get(no)
      if (!server) return
      const last_heartbeat = server.lastHeartbeat ?? clock()
      const text = JSON.stringify(jails)
      const mine = written.get(sql) ?? new Map<number, readonly Jail[]>()
      written.set(sql, mine.set(no, jails))
      // Before it is written: a read that began earlier brings what was there before, and is not news.
      wrote(no, text)
      await saveJails(sql, { server_no: no, last_heartbeat, jails: text })
    },
    doubt(no) {
      stored.delete(no)
    },
    async flush() {
      if (dirty.size === 0) return
      await db.write.transaction().execute(async sql => {
        const nos = [...dirty]
        const held = db.engine === 'postgres' ? await holdJails(sql, db.engine, nos) : []
        // What is known only now, so that nothing that was saved meanwhile is written over.
        for (const no of nos) dirty.delete(no)
        const news = reconciled(nos.flatMap(beatOf), held)
        for (const { server_no, jails } of news) wrote(server_no, jails)
        await saveHeartbeats(sql, news)
      })
    },
    async sync() {
      const from = synced - 10_000
      synced = clock()
      for (const beat of await allHeartbeats(db.read, from)) merge(beat)
    },
    async refresh(no) {
      const latest = refreshes.get(no) ?? createLatest()
      refreshes.set(no, latest)
      const before = writes.get(no)
      await latest(
        () => Promise.all([findServerRow(db.read, no), findHeartbeat(db.read, no)]),
        ([row, beat]) => {
          if (row) put(row)
          // What this process wrote itself it may know better by now: heartbeats are written seconds later.
          if (beat) merge(beat, beat.jails !== stored.get(no) && writes.get(no) === before)
        },
      )
    },
  }
}
