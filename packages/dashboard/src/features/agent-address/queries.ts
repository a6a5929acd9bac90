import { queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'

export type Address = Reply<'GET /agents/address'>
export type Move = Reply<'GET /agents/address/servers'>['servers'][number]

const whileMoving = 5000
const atRest = 60_000
const isMoving = ({ counts }: Address): boolean => counts.waiting + counts.trying + counts.failed > 0

export const addressQuery = queryOptions({
  queryKey: ['agents', 'address'],
  queryFn: ({ signal }) => api.call('GET /agents/address', { signal }),
  refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? whileMoving : atRest),
})

/** Servers shown; those that failed come first. */
const most = 20
export const movesQuery = (is: Address) =>
  queryOptions({
    queryKey: ['agents', 'address', 'servers'],
    queryFn: ({ signal }) => api.call('GET /agents/address/servers', { query: { limit: most }, signal }),
    enabled: is.url !== null,
    refetchInterval: isMoving(is) ? whileMoving : atRest,
  })
