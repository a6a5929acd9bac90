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
import { commandsQuery } from './queries.ts'
import type { Sync } from './queries.ts'
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
  /** A command of it, to name what was asked; undefined until it is read. */
  readonly sample: Command | undefined
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

/** How far a request is, live; it settles when only offline servers are left. */
export const useReceipt = (of: ReceiptOf): ReceiptFacts => {
  const batch = useBatchFacts('batchId' in of ? of.batchId : '')
  const command = useCommand('commandId' in of ? of.commandId : '')
  const whitelist = useWhitelistFacts('whitelistSince' in of ? of.whitelistSince : null)
  const offline = useOffline()
  if ('batchId' in of) return batch
  return 'whitelistSince' in of ? whitelist : factsOf(command.data ? [command.data] : [], offline, command.isError)
}
