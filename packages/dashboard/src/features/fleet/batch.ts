import { useEffect, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { live } from '../../api/live.ts'
import { paced, patiently } from '../../api/paced.ts'
import type { Command } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { isOver } from './command-progress.tsx'
import { ordersOf } from './batch-orders.ts'
import type { Ordered } from './batch-orders.ts'

/* Batches of more commands than one page of a list holds. */

/** How many of a batch have ended, and how. */
export interface BatchCounts {
  readonly done: number
  /** Failed, or timed out. */
  readonly failed: number
  readonly cancelled: number
}
const wait = 4000
const states = { done: 'completed', failed: 'failed,timeout', cancelled: 'cancelled' } as const
const endOf = ({ status, cancelled }: Command): keyof BatchCounts =>
  status === 'completed' ? 'done' : cancelled ? 'cancelled' : 'failed'

/** By the messages about its commands, and by the service's own count every few seconds until all have ended. */
export const useBatchCounts = (batchId: string, total: number, enabled = true): BatchCounts => {
  const [heard, setHeard] = useState<ReadonlyMap<string, keyof BatchCounts>>(new Map())
  useEffect(
    () =>
      live.listen(message => {
        if (!enabled || message.type !== 'command' || message.data.batch_id !== batchId || !isOver(message.data)) return
        const { data } = message
        setHeard(before => new Map([...before, [data.id, endOf(data)]]))
      }),
    [batchId, enabled],
  )
  const count = (state: keyof BatchCounts, signal: AbortSignal) =>
    api
      .call('GET /commands', { query: { q: `batch:${batchId} status:${states[state]}`, limit: 1 }, signal })
      .then(({ total }) => total)
  const read = useQuery({
    queryKey: ['batch', batchId, 'counts'],
    queryFn: async ({ signal }) => ({
      done: await count('done', signal),
      failed: await count('failed', signal),
      cancelled: await count('cancelled', signal),
    }),
    refetchInterval: ({ state }) => (state.data && sumOf(state.data) >= total ? false : every(wait)()),
    enabled,
  }).data
  const commands = [...heard.values()]
  const of = (state: keyof BatchCounts) =>
    Math.min(total, Math.max(commands.filter(end => end === state).length, read?.[state] ?? 0))
  return { done: of('done'), failed: of('failed'), cancelled: of('cancelled') }
}
export const sumOf = ({ done, failed, cancelled }: BatchCounts): number => done + failed + cancelled

const pageSize = 100
/** All failed commands of a batch, about `count`, read slowly if there are many. `onRead` gets the number read so far. */
export const failedOf = async (
  batchId: string,
  count: number,
  signal: AbortSignal,
  onRead: (known: number) => void = () => {},
): Promise<readonly Ordered[]> => {
  const orderById = new Map<string, Ordered>()
  // What fails meanwhile moves rows to further pages: none is missed, and some are met twice.
  const pages = Array.from({ length: Math.ceil(count / pageSize) }, (_, index) => index + 1)
  await paced(pages, signal, async page => {
    const query = { q: `batch:${batchId} status:${states.failed}`, limit: pageSize, page }
    const { commands } = await api.call('GET /commands', { query, signal })
    for (const { id, type, params, server } of commands) orderById.set(id, { type, params, server })
    onRead(orderById.size)
  })
  return [...orderById.values()]
}

/** The ids of what no server of a batch has fetched, about `count` of them. */
export const pendingOf = async (batchId: string, count: number, signal: AbortSignal): Promise<readonly string[]> => {
  const ids = new Set<string>()
  // From the last page to the first: what is fetched meanwhile moves rows to pages that are still to be read.
  const last = Math.ceil(count / pageSize)
  const pages = Array.from({ length: last }, (_, index) => last - index)
  await paced(pages, signal, async page => {
    const query = { q: `batch:${batchId} status:pending`, limit: pageSize, page }
    for (const { id } of (await api.call('GET /commands', { query, signal })).commands) ids.add(id)
  })
  return [...ids]
}

/** Orders it all again; resolves to the new batches, none where there was nothing. */
export const orderAgain = async (
  rows: readonly Ordered[],
  signal: AbortSignal,
): Promise<readonly { readonly batchId: string; readonly total: number }[]> => {
  const batches: { batchId: string; total: number }[] = []
  for (const body of ordersOf(rows)) {
    const { batch_id, commands } = await patiently(() => api.call('POST /commands/batch', { body }), signal)
    batches.push({ batchId: batch_id, total: commands.length })
  }
  return batches
}
