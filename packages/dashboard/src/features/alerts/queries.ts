import { queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { every } from '../../api/quiet.ts'

export type Alert = Reply<'GET /alerts'>['alerts'][number]
export type AlertRule = Reply<'GET /alerts/rules'>['rules'][number]
export type Channel = Reply<'GET /channels'>['channels'][number]
export type AlertRoute = Reply<'GET /alerts/routes'>['routes'][number]

const alertsListed = 100
export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => api.call('GET /alerts', { query: { limit: alertsListed }, signal }),
  refetchInterval: every(10_000),
})
export const rulesQuery = queryOptions({
  queryKey: ['alerts', 'rules'],
  queryFn: ({ signal }) => api.call('GET /alerts/rules', { signal }),
  refetchInterval: every(30_000),
})
export const silencesQuery = queryOptions({
  queryKey: ['alerts', 'silences'],
  queryFn: ({ signal }) => api.call('GET /alerts/silences', { signal }),
  refetchInterval: every(30_000),
})
export const routesQuery = queryOptions({
  queryKey: ['alerts', 'routes'],
  queryFn: ({ signal }) => api.call('GET /alerts/routes', { signal }),
})
export const routeChannelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => api.call('GET /channels', { signal }),
  refetchInterval: every(15_000),
})
