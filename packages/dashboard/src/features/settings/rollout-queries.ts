import { queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'

export type Rollout = Reply<'GET /agents/rollouts/{id}'>

export const isOpen = ({ state }: Rollout): boolean => state === 'running' || state === 'paused'
const whileOpen = 3000
const atRest = 60_000
export const rolloutsQuery = queryOptions({
  queryKey: ['agents', 'rollouts'],
  queryFn: ({ signal }) => api.call('GET /agents/rollouts', { query: { limit: 6 }, signal }),
  refetchInterval: ({ state }) => (state.data?.rollouts.some(isOpen) ? whileOpen : atRest),
})
export const releaseQuery = (isBusy: boolean) =>
  queryOptions({
    queryKey: ['agents', 'release'],
    queryFn: ({ signal }) => api.call('GET /agents/release', { signal }),
    refetchInterval: isBusy ? whileOpen : atRest,
  })
export const failedQuery = (id: number) =>
  queryOptions({
    queryKey: ['agents', 'failed', id],
    queryFn: ({ signal }) =>
      api.call('GET /agents/rollouts/{id}/servers', { params: { id }, query: { state: 'failed', limit: 20 }, signal }),
  })
