import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { every } from '../../api/quiet.ts'

export type SiemSettings = Reply<'GET /siem/settings'>
export type Format = SiemSettings['format']
export type SiemStatus = Reply<'GET /siem/status'>
export type EventType = Reply<'GET /siem/event-types'>['event_types'][number]
export type Delivery = Reply<'GET /siem/deliveries'>['deliveries'][number]
export type Stats = Reply<'GET /siem/stats'>

/* The live feed tells nothing of forwarding. What changes by itself is asked for while it is seen. */
export const pollEvery = every(5000)
/** For what stands beside what is polled: all of a page stays below 20 requests a minute at rest. */
export const pollRarely = every(15_000)

/** A replay is waited for, and over soon. */
export const pollReplay = 2000

export const siemSettingsQuery = queryOptions({
  queryKey: ['siem', 'settings'],
  queryFn: ({ signal }) => api.call('GET /siem/settings', { signal }),
})
export const typesQuery = queryOptions({
  queryKey: ['siem', 'types'],
  queryFn: async ({ signal }) => (await api.call('GET /siem/event-types', { signal })).event_types,
  staleTime: Infinity,
})
export const statusQuery = queryOptions({
  queryKey: ['siem', 'status'],
  queryFn: ({ signal }) => api.call('GET /siem/status', { signal }),
  staleTime: 0,
})
export const deliveriesQuery = queryOptions({
  queryKey: ['siem', 'deliveries'],
  queryFn: async ({ signal }) => (await api.call('GET /siem/deliveries', { signal })).deliveries,
  staleTime: 0,
})
export const statsQuery = queryOptions({
  queryKey: ['siem', 'stats'],
  queryFn: ({ signal }) => api.call('GET /siem/stats', { query: { period: 'day' }, signal }),
  staleTime: 0,
})
const queueLimit = 100
export const queueQuery = queryOptions({
  queryKey: ['siem', 'queue'],
  queryFn: ({ signal }) => api.call('GET /siem/queue', { query: { limit: queueLimit }, signal }),
  staleTime: 0,
  placeholderData: keepPreviousData,
})
export type Replay = Reply<'GET /siem/replay/{jobId}'>
export const replayQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['siem', 'replay', jobId],
    queryFn: ({ signal }) => api.call('GET /siem/replay/{jobId}', { params: { jobId }, signal }),
    staleTime: 0,
  })
