import type { Blocklist, BlocklistHostState, QueryOf, ReplyOf, bans, blocklists as contract } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { hour, iso, isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { notFound, unavailable } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import type { Server } from '../servers/registry.ts'
import { allHostRows, allLists, coverageOf, findList, hitsSince } from './blocklists.store.ts'
import type { BlocklistHostRow, BlocklistRow } from './blocklists.store.ts'
import { isFullAdmin, unreadForLimited } from './consent.ts'
import type { GivenList, HostLists } from './host-lists.ts'
import { allPlaces, entryAt, placesOf } from './list-index.ts'
import { createListIndexes } from './list-indexes.ts'
import type { ListThreads } from './list-threads.ts'
import { NoList } from './parse.ts'
import { withoutSecrets } from './sources.ts'
import { readLeftOut, sourceOf } from './updates.ts'

type Line = ReplyOf<typeof bans.lookUp>['blocklists'][number]
type Lists = ReplyOf<typeof contract.listBlocklists>
type ListServers = ReplyOf<typeof contract.listBlocklistServers>
type ListEntries = ReplyOf<typeof contract.listBlocklistEntries>

/** What callers read of lists: of all that they may see, and no server beyond. */
export interface BlocklistReading {
  list(actor: Principal, query: QueryOf<typeof contract.listBlocklists>): Promise<Lists>
  read(actor: Principal, id: number): Promise<Blocklist>
  servers(actor: Principal, id: number, query: QueryOf<typeof contract.listBlocklistServers>): Promise<ListServers>
  entries(actor: Principal, id: number, query: QueryOf<typeof contract.listBlocklistEntries>): Promise<ListEntries>
  /** The lists in force that cover an address, on servers that the caller sees. */
  covering(actor: Principal, ip: IpRange): Promise<Line[]>
  /** @throws Problem 404 for what the caller does not see */
  visibleRow(actor: Principal, id: number): Promise<BlocklistRow>
}

const hoursShown = 24
const noShield = 'The server has no shield: its kernel has no nftables, or the agent may not use it.'

interface HostState {
  readonly server: Server
  readonly state: BlocklistHostState
  readonly reason: string | null
  readonly row: BlocklistHostRow | undefined
}
/** What hosts said of all lists, read once for a request. */
interface Said {
  readonly rows: ReadonlyMap<string, BlocklistHostRow>
  readonly notCovered: ReadonlyMap<number, string | null>
  readonly hits: ReadonlyMap<number, readonly number[]>
}
const keyOf = (serverNo: number, listId: number) => `${serverNo} ${listId}`

const stateOf = (server: Server, list: BlocklistRow, said: Said): HostState => {
  const row = said.rows.get(keyOf(server.row.no, list.id))
  const isWithout = server.row.status !== 'pending' && server.row.shield_supported !== 1
  const notCovered = said.notCovered.get(server.row.no) ?? (isWithout ? noShield : null)
  if (notCovered !== null) return { server, row, state: 'not_covered', reason: notCovered }
  if (row?.error) return { server, row, state: 'refused', reason: row.error }
  if (list.version > 0 && row?.version === list.version && row.mode === list.mode)
    return { server, row, state: 'held', reason: null }
  const { status } = server.row
  const reason =
    list.version === 0
      ? 'The list has not been read yet.'
      : status === 'pending'
        ? 'No agent has reported yet.'
        : status === 'offline'
          ? 'The server is offline.'
          : 'The server has not confirmed it yet.'
  return { server, row, state: 'pending', reason }
}

export const createBlocklistReading = (needs: {
  db: Database
  clock: Clock
  lists: Pick<HostLists, 'packed'>
  threads: ListThreads
  targeting: Targeting
}): BlocklistReading => {
  const { db, clock, lists, threads, targeting } = needs
  const readIndex = createListIndexes({ lists, threads })

  const hoursNow = () => Math.floor(clock() / hour)
  const readSaid = async (): Promise<Said> => {
    const first = hoursNow() - hoursShown
    const hits = new Map<number, number[]>()
    for (const { list_id, hour: at, packets } of await hitsSince(db.read, first)) {
      const hours = hits.get(list_id) ?? Array<number>(hoursShown).fill(0)
      hours[at - first - 1] = packets
      hits.set(list_id, hours)
    }
    return {
      rows: new Map((await allHostRows(db.read)).map(row => [keyOf(row.server_no, row.list_id), row])),
      notCovered: new Map((await coverageOf(db.read)).map(row => [row.server_no, row.not_covered])),
      hits,
    }
  }
  const statesOf = (actor: Principal, row: BlocklistRow, said: Said): HostState[] =>
    row.mode === 'off'
      ? []
      : targeting
          .serversOf(targetsOf(row.target))
          .filter(server => sees(actor, server.row.no))
          .map(server => stateOf(server, row, said))
  const viewOf = (actor: Principal, row: BlocklistRow, said: Said): Blocklist => {
    const targets = targetsOf(row.target)
    const states = statesOf(actor, row, said)
    const count = (state: BlocklistHostState) => states.filter(one => one.state === state).length
    const hours = said.hits.get(row.id) ?? Array<number>(hoursShown).fill(0)
    const source = sourceOf(row)
    const isLimited = actor.servers !== 'all'
    const isWhole = isFullAdmin(actor)
    const leftOut = readLeftOut(row)
    return {
      id: row.id,
      name: row.name,
      source: isWhole ? source : withoutSecrets(source),
      url_shortened: !isWhole && withoutSecrets(source).url !== source.url,
      format: row.format,
      column: row.csv_column,
      interval: row.every_seconds,
      target: targeting.view(actor, targets),
      mode: row.mode,
      max_entries: row.max_entries,
      max_addresses: row.max_addresses,
      max_networks: row.max_networks || null,
      max_change: row.max_change,
      allow_wide: row.allow_wide === 1,
      allow_private: row.allow_private === 1,
      entries: row.entries,
      addresses: row.addresses,
      networks: row.networks,
      left_out: isLimited ? { ...leftOut, managed: null, people: null } : leftOut,
      fetched_at: isoOrNull(row.fetched_at),
      checked_at: isoOrNull(row.checked_at),
      next_check_at: row.mode === 'off' ? null : iso(row.next_at),
      last_error: isLimited && row.failures > 0 ? row.last_error && unreadForLimited : row.last_error,
      stale: row.stale === 1,
      version: row.version,
      hits: { last_day: hours.reduce((sum, n) => sum + n, 0), hours: [...hours] },
      created_by: row.created_by,
      created_at: iso(row.created_at),
      updated_at: iso(row.updated_at),
      held: {
        applied: count('held'),
        pending: count('pending'),
        failed: count('refused'),
        not_covered: count('not_covered'),
      },
    }
  }
  const visibleRow = async (actor: Principal, id: number): Promise<BlocklistRow> => {
    const row = await findList(db.read, id)
    if (!row || !targeting.isVisible(actor, targetsOf(row.target))) throw notFound(`There is no blocklist ${id}.`)
    return row
  }
  /** @throws Problem 503 while too many wait for the thread */
  const unhurried = <T>(found: Promise<T>): Promise<T> =>
    found.catch((error: unknown) => {
      throw error instanceof NoList ? unavailable(error.message) : error
    })
  const givenOf = (row: BlocklistRow): GivenList => ({ ...row, mode: 'observe', targets: targetsOf(row.target) })
  const indexOfRow = (row: BlocklistRow) => (row.version === 0 ? null : unhurried(readIndex(givenOf(row))))
  const beginning = async (row: BlocklistRow, asked: { text: string; from: number; to: number }) => {
    const packed = row.version === 0 ? null : await lists.packed(givenOf(row))
    return packed ? unhurried(threads.run('search', { packed, ...asked })) : { entries: [], total: 0 }
  }

  return {
    visibleRow,
    async list(actor, { page = 1, limit = 50 }) {
      const rows = (await allLists(db.read)).filter(row => targeting.isVisible(actor, targetsOf(row.target)))
      const byName = rows.sort((a, b) => a.name.localeCompare(b.name, 'en'))
      const reports = await readSaid()
      return {
        lists: byName.slice((page - 1) * limit, page * limit).map(row => viewOf(actor, row, reports)),
        total: rows.length,
        page,
        limit,
      }
    },
    async read(actor, id) {
      return viewOf(actor, await visibleRow(actor, id), await readSaid())
    },
    async servers(actor, id, { state, page = 1, limit = 50 }) {
      const row = await visibleRow(actor, id)
      const states = statesOf(actor, row, await readSaid()).filter(one => state === undefined || one.state === state)
      return {
        servers: states.slice((page - 1) * limit, page * limit).map(one => ({
          server: { id: one.server.row.id, hostname: one.server.row.hostname },
          state: one.state,
          reason: one.reason,
          entries: one.row?.held ?? null,
          packets: one.row?.packets ?? 0,
          at: isoOrNull(one.row?.acked_at ?? null),
        })),
        total: states.length,
        page,
        limit,
      }
    },
    async entries(actor, id, { search, page = 1, limit = 50 }) {
      const row = await visibleRow(actor, id)
      const text = search?.trim().toLowerCase() ?? ''
      const range = text === '' ? null : parseRange(text)
      const from = (page - 1) * limit
      if (text !== '' && !range) return { ...(await beginning(row, { text, from, to: from + limit })), page, limit }
      const index = await indexOfRow(row)
      if (!index) return { entries: [], total: 0, page, limit }
      const places = range ? placesOf(index, range) : allPlaces(index)
      const total = places.to - places.from
      const pagePlaces = Array.from(
        { length: Math.max(0, Math.min(limit, total - from)) },
        (_, n) => places.from + from + n,
      )
      return { entries: pagePlaces.map(place => entryAt(index, place)), total, page, limit }
    },
    async covering(actor, ip) {
      const rows = (await allLists(db.read)).filter(
        row => row.mode !== 'off' && row.version > 0 && targeting.isVisible(actor, targetsOf(row.target)),
      )
      const listMatches = await Promise.all(
        rows.map(async row => {
          const index = await indexOfRow(row)
          const places = index && placesOf(index, ip)
          return index && places && places.from < places.to ? [{ row, entry: entryAt(index, places.from) }] : []
        }),
      )
      const lines = listMatches.flat()
      if (lines.length === 0) return []
      const reports = await readSaid()
      return lines.map(({ row, entry }): Line => {
        const view = viewOf(actor, row, reports)
        return {
          id: row.id,
          name: row.name,
          mode: view.mode,
          entry,
          servers: view.held.applied,
          fetched_at: view.fetched_at,
        }
      })
    },
  }
}
