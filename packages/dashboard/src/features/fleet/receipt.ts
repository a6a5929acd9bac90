import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { summaryQuery } from '../../api/queries.ts'
import type { Command } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import type { ReceiptCounts } from '../../kit/receipt-state.ts'
import type { ReceiptOf } from '../../kit/toasts.ts'
import { sumOf, useBatchCounts } from './batch.ts'
import type { BatchCounts } from './batch.ts'
import { isOver, useCommand } from './command-progress.tsx'
import { fleetBanQuery, fleetBanServersQuery } from './fleet-bans.ts'
import type { FleetBanServer } from './fleet-bans.ts'
import { commandsQuery } from './queries.ts'
import type { Sync } from './queries.ts'
import type { Named } from './said-words.ts'
import { useSync } from './sync.ts'

/** What one server was asked for. */
export type ReceiptRow = Pick<Command, 'id' | 'server' | 'status' | 'cancelled' | 'result'> &
  Partial<Pick<Command, 'params' | 'started_at' | 'completed_at'>>

const endsOf = (rows: readonly ReceiptRow[]): BatchCounts => ({
  done: rows.filter(row => row.status === 'completed').length,
  failed: rows.filter(row => isOver(row) && row.status !== 'completed' && !row.cancelled).length,
  cancelled: rows.filter(row => row.cancelled).length,
})

const pageSize = 100
/** The first hundred commands of a batch, live, or asked for every two seconds where the feed does not get through. */
export const useBatch = (batchId: string, page = 1) => {
  const { phase } = useLive()
  return useQuery({
    ...commandsQuery({ batch_id: batchId, limit: pageSize, page }),
    enabled: batchId !== '',
    refetchInterval: ({ state }) => (state.data?.commands.every(isOver) ? false : phase === 'live' ? 10_000 : 2000),
  })
}

/** How a batch ended so far: by its rows where one page holds them all, else by the service's count. */
export const useBatchState = (batchId: string): BatchCounts & { readonly total: number } => {
  const batch = useBatch(batchId).data
  const rows = batch?.commands ?? []
  const total = Math.max(batch?.total ?? 0, rows.length)
  const whole = rows.length === total
  const counted = useBatchCounts(batchId, total, !whole)
  return { total, ...(whole ? endsOf(rows) : counted) }
}

const restOf = { later: 'status:pending offline:yes', failed: 'status:failed,timeout' } as const
/** Of a large batch, whose first page lacks them: how many wait for offline servers or failed, and the first hundred of these. */
const useRest = (batchId: string, kind: keyof typeof restOf, enabled: boolean) => {
  const query = { q: `batch:${batchId} ${restOf[kind]}`, limit: pageSize }
  return useQuery({
    queryKey: ['batch', batchId, kind],
    queryFn: ({ signal }) => api.call('GET /commands', { query, signal }),
    enabled,
    refetchInterval: every(4000),
  }).data
}

export type Offline = ReadonlyMap<string, string | null>
/** The servers that are not online now, by their id, and since when. */
export const useOffline = (): Offline => {
  const servers = useQuery(summaryQuery).data?.servers ?? []
  return new Map(servers.flatMap(({ id, status, since }) => (status === 'online' ? [] : [[id, since]])))
}

export interface ReceiptFacts {
  readonly counts: ReceiptCounts
  /** The commands that are known one by one: all of a small batch, the first hundred of a large one. */
  readonly rows: readonly ReceiptRow[]
  /** Those that wait for an offline server, and those that failed. */
  readonly later: readonly ReceiptRow[]
  readonly failed: readonly ReceiptRow[]
  /** A command of it, or what is like one, to name what was asked; undefined until it is read. */
  readonly sample: Named | undefined
  /** It is the whitelist, which servers fetch by themselves: nothing of it can be cancelled or retried. */
  readonly isWhitelist?: boolean
  /** It asks for different things: its commands are counted, not its servers. */
  readonly mixed: boolean
  readonly isMissing: boolean
}
const isFailed = (row: ReceiptRow) => isOver(row) && row.status !== 'completed' && !row.cancelled

const stateOf = (rows: readonly ReceiptRow[], offline: Offline) => {
  const later = rows.filter(row => row.status === 'pending' && offline.has(row.server.id))
  const counts = { total: rows.length, ...endsOf(rows), later: later.length }
  return { counts, rows, later, failed: rows.filter(isFailed) }
}
const factsOf = (rows: readonly Command[], offline: Offline, isMissing: boolean): ReceiptFacts => {
  const [sample] = rows
  return {
    ...stateOf(rows, offline),
    sample,
    mixed: new Set(rows.map(({ type, params }) => JSON.stringify([type, params]))).size > 1,
    isMissing,
  }
}

const useBatchFacts = (batchId: string): ReceiptFacts => {
  const query = useBatch(batchId)
  const rows = query.data?.commands ?? []
  const { total, ...ends } = useBatchState(batchId)
  const large = total > rows.length
  const open = large && sumOf(ends) < total
  const waiting = useRest(batchId, 'later', open)
  const broken = useRest(batchId, 'failed', large && ends.failed > 0)
  const offline = useOffline()
  const facts = factsOf(rows, offline, query.isError || query.data?.total === 0)
  if (!large) return facts
  // The counts are of different moments: what has ended since does not wait any more.
  const later = open ? Math.min(waiting?.total ?? 0, total - sumOf(ends)) : 0
  return { ...facts, counts: { total, ...ends, later }, later: waiting?.commands ?? [], failed: broken?.commands ?? [] }
}

const statusOfSync = { synced: 'completed', failed: 'failed', pending: 'pending', never: 'pending' } as const
const rowOfSync = ({ id, hostname, sync_status: sync, error }: Sync): ReceiptRow => ({
  id,
  server: { id, hostname },
  status: statusOfSync[sync],
  cancelled: false,
  result: error === null ? null : { success: false, output: error, exit_code: null },
})
/** How far the whitelist is on its way; what was read before the change says nothing of it. */
const useWhitelistFacts = (since: number | null): ReceiptFacts => {
  const query = useSync(since !== null)
  const offline = useOffline()
  const servers = query.data?.servers ?? []
  const isCurrent = query.dataUpdatedAt >= (since ?? 0)
  const rows = servers.map(server => rowOfSync(isCurrent ? server : { ...server, sync_status: 'pending', error: null }))
  const state = stateOf(rows, isCurrent ? offline : new Map())
  const isMissing = query.isError || (query.isSuccess && servers.length === 0)
  return { ...state, sample: undefined, isWhitelist: true, mixed: false, isMissing }
}

const statusOfHost = { held: 'completed', pending: 'pending', refused: 'failed', not_covered: 'failed' } as const
const rowOfHost = ({ server, state, reason }: FleetBanServer): ReceiptRow => ({
  id: server.id,
  server,
  status: statusOfHost[state],
  cancelled: false,
  result: reason === null || state === 'held' ? null : { success: false, output: reason, exit_code: null },
})
/** How far a fleet ban is, which servers fetch by themselves: one that is offline follows when it is back. */
const useFleetBanFacts = (id: number | null): ReceiptFacts => {
  // Live messages come at a pace; who waits for a ban looks more often.
  const looks = { enabled: id !== null, refetchInterval: every(2000) }
  const fleetBanId = id ?? 0
  const ban = useQuery({ ...fleetBanQuery(fleetBanId), ...looks })
  const servers = useQuery({ ...fleetBanServersQuery(fleetBanId, { limit: pageSize }), ...looks }).data
  const counts = ban.data?.state ?? noHosts
  const away = useQuery({
    ...fleetBanServersQuery(fleetBanId, { state: 'pending', online: false, limit: pageSize }),
    ...{ ...looks, enabled: counts.pending > 0 },
  }).data
  const rows = (servers?.servers ?? []).map(rowOfHost)
  // What was read before the last server answered waits no more.
  const later = counts.pending > 0 && away ? away : { total: 0, servers: [] }
  const failed = counts.failed + counts.not_covered
  const total = counts.applied + counts.pending + failed
  return {
    counts: { total, done: counts.applied, failed, cancelled: 0, later: Math.min(counts.pending, later.total) },
    rows,
    later: later.servers.map(rowOfHost),
    failed: rows.filter(isFailed),
    sample: ban.data && { type: 'ban-ip', params: { ip: ban.data.entry } },
    mixed: false,
    // One that was lifted or has ended is for no server any more.
    isMissing: ban.isError || (ban.isSuccess && total === 0),
  }
}
const noHosts = { applied: 0, pending: 0, failed: 0, not_covered: 0 }

/** How far a request is, live; it settles when only offline servers are left. */
export const useReceipt = (of: ReceiptOf): ReceiptFacts => {
  const batch = useBatchFacts('batchId' in of ? of.batchId : '')
  const command = useCommand('commandId' in of ? of.commandId : '')
  const whitelist = useWhitelistFacts('whitelistSince' in of ? of.whitelistSince : null)
  const fleetBan = useFleetBanFacts('fleetBanId' in of ? of.fleetBanId : null)
  const offline = useOffline()
  if ('batchId' in of) return batch
  if ('fleetBanId' in of) return fleetBan
  return 'whitelistSince' in of ? whitelist : factsOf(command.data ? [command.data] : [], offline, command.isError)
}
