import { useEffect } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { live } from '../../api/live.ts'
import { queries } from '../../api/queries.ts'
import type { Command } from '../../api/queries.ts'
import { commandsQuery } from '../../features/fleet/queries.ts'
import { useWords } from '../../kit/now.ts'
import { mostCommands, withNews } from './last-commands.ts'

/** For how long a failure is news, in milliseconds. */
const newsLasts = 10 * 60_000

const activityQuery = queryOptions({
  queryKey: ['activity'],
  // The first page of the list of commands: what that page has just read is not asked for again.
  queryFn: async () =>
    (await queries.fetchQuery({ ...commandsQuery({ page: 1, limit: mostCommands }), staleTime: 10_000 })).commands,
  staleTime: Infinity,
})

/** Reads the last commands once, and follows them by the live feed. */
export const useFollowedActivity = (): void => {
  useQuery(activityQuery)
  useEffect(
    () =>
      live.listen(message => {
        if (message.type !== 'command') return
        queries.setQueryData(activityQuery.queryKey, rows => rows && withNews(rows, message.data))
      }),
    [],
  )
}

/** What `useFollowedActivity` has read: the last 50 commands that I may see, newest first. */
export const useActivityQuery = () => useQuery({ ...activityQuery, enabled: false })
const useActivity = (): readonly Command[] => useActivityQuery().data ?? []

export interface Counts {
  readonly running: number
  readonly waiting: number
  /** Failed or timed out within the last ten minutes. */
  readonly failed: number
}
const failedLately = (rows: readonly Command[], now: number) =>
  rows.filter(
    ({ status, completed_at, cancelled }) =>
      !cancelled &&
      (status === 'failed' || status === 'timeout') &&
      completed_at !== null &&
      now - Date.parse(completed_at) < newsLasts,
  ).length
export const useActivityCounts = (): Counts => {
  const rows = useActivity()
  const failed = useWords(now => failedLately(rows, now))
  return {
    running: rows.filter(({ status }) => status === 'running').length,
    waiting: rows.filter(({ status }) => status === 'pending').length,
    failed,
  }
}
