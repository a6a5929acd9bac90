import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { ReportsSearch } from './filter.ts'

export type Report = Reply<'GET /reports'>
export type Schedule = Reply<'GET /reports/schedules'>['schedules'][number]

/** Attackers, networks and addresses may follow a moment later. */
const countingPause = 2000
export const reportQuery = ({ period = 'week', ...search }: ReportsSearch) =>
  queryOptions({
    queryKey: ['reports', period, search],
    queryFn: ({ signal }) => api.call('GET /reports', { query: { period, ...search }, signal }),
    refetchInterval: ({ state }) => (state.data?.counting ? countingPause : false),
    placeholderData: keepPreviousData,
  })
export const schedulesQuery = queryOptions({
  queryKey: ['report-schedules'],
  queryFn: ({ signal }) => api.call('GET /reports/schedules', { signal }),
})
export const readSchedulesAgain = () => queries.invalidateQueries({ queryKey: schedulesQuery.queryKey })
