import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api, statusOf } from '../../api/client.ts'
import { quiet } from '../../api/quiet.ts'
import { historyQueryOf } from './filter.ts'
import type { HistorySearch, StatsSearch } from './filter.ts'

/* The live feed does not tell of knocks: they are asked for while the page is seen, and not where the licence is missing. */

export type Sequence = Reply<'GET /portknock/sequences'>['sequences'][number]
export type Place = Sequence['servers'][number]
export type Opening = Reply<'GET /portknock/active'>['openings'][number]
export type Knock = Reply<'GET /portknock/history'>['history'][number]
export type KnockList = Reply<'GET /portknock/history'>
export type KnockTotals = Reply<'GET /portknock/stats'>
export type Blocked = Reply<'GET /portknock/blocked'>['blocked'][number]

export const every10s = ({ state }: { readonly state: { readonly error: unknown } }): number | false =>
  quiet.is() || statusOf(state.error) === 402 ? false : 10_000

export const sequencesQuery = queryOptions({
  queryKey: ['portknock', 'sequences'],
  queryFn: ({ signal }) => api.call('GET /portknock/sequences', { signal }),
})
export const openingsQuery = queryOptions({
  queryKey: ['portknock', 'open'],
  queryFn: ({ signal }) => api.call('GET /portknock/active', { signal }),
  refetchInterval: every10s,
})
export const blockedQuery = queryOptions({
  queryKey: ['portknock', 'blocked'],
  queryFn: ({ signal }) => api.call('GET /portknock/blocked', { signal }),
  refetchInterval: every10s,
})
export const historyQuery = (search: HistorySearch) =>
  queryOptions({
    queryKey: ['portknock', 'history', search],
    queryFn: ({ signal }) => api.call('GET /portknock/history', { query: historyQueryOf(search, Date.now()), signal }),
    placeholderData: keepPreviousData,
    // What is read on a further page stays where it is.
    refetchInterval: query => (search.page ? false : every10s(query)),
  })
export const statsQuery = ({ period = 'day' }: StatsSearch) =>
  queryOptions({
    queryKey: ['portknock', 'stats', period],
    queryFn: ({ signal }) => api.call('GET /portknock/stats', { query: { period }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: every10s,
  })
