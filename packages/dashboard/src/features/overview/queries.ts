import { useEffect, useState } from 'react'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { live } from '../../api/live.ts'
import { queries } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import type { Period } from '../fleet/queries.ts'

/** With the moments, by the clock of this page, between which the service counted. */
export interface Stats extends Reply<'GET /bans/stats'> {
  readonly askedAt: number
  readonly readAt: number
}
export const statsQuery = (period: Period) =>
  queryOptions({
    queryKey: ['stats', 'overview', period],
    queryFn: async ({ signal }): Promise<Stats> => {
      const askedAt = Date.now()
      const reply = await api.call('GET /bans/stats', { query: { period }, signal })
      return { ...reply, askedAt, readAt: Date.now() }
    },
    placeholderData: keepPreviousData,
    refetchInterval: every(60_000),
  })

/** Networks and servers with the most bans; its window is its own. */
export type Late = Reply<'GET /bans/top'>
export const topQuery = (period: Period) =>
  queryOptions({
    queryKey: ['stats', 'top', period],
    queryFn: ({ signal }) => api.call('GET /bans/top', { query: { period, limit: 5 }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: every(60_000),
  })

/** Attackers of the last quarter of an hour. The window begins on a whole minute, so that repeated requests are alike. */
const quarter = 15 * 60_000
export const attackingQuery = queryOptions({
  queryKey: ['attackers', 'now'],
  queryFn: ({ signal }) => {
    const from = Math.floor((Date.now() - quarter) / 60_000) * 60_000
    return api.call('GET /bans/attackers', { query: { from: new Date(from).toISOString(), limit: 6 }, signal })
  },
  placeholderData: keepPreviousData,
  refetchInterval: every(60_000),
})

interface Counted {
  readonly bans: number
  readonly active: number
  /** End of the time in which the bans were counted, exclusive: its beginning is that of the statistics. */
  readonly to: string
}
/** What a message changes in the figures; `at` by the clock of the service, `heard` by this one. */
interface Heard {
  readonly at: number
  readonly heard: number
  readonly bans: 0 | 1
  readonly active: -1 | 0 | 1
}
/** So many are kept: more come in a storm only, and the next answer of the service has them. */
const mostHeard = 2000

/** After so long without news a burst is over, in milliseconds. */
const settles = 600

/**
 * The figures with what was reported since they were counted: statistics are read again every few seconds at most. What is
 * heard after an answer is not in it; of what is heard while one is on its way nobody knows, so it is asked for once more
 * when it has become quiet.
 */
export const useCounted = (stats: Stats | undefined): Counted | undefined => {
  const [heard, setHeard] = useState<readonly Heard[]>([])
  const { askedAt, readAt } = stats ?? { askedAt: 0, readAt: 0 }
  const [from, end] = stats ? [Date.parse(stats.from), Date.parse(stats.to)] : [0, 0]
  const [lastAt, setLastAt] = useState(0)
  useEffect(() => {
    if (lastAt <= askedAt || lastAt > readAt) return
    const timer = setTimeout(() => void queries.invalidateQueries({ queryKey: ['stats', 'overview'] }), settles)
    return () => clearTimeout(timer)
  }, [lastAt, askedAt, readAt])
  useEffect(
    () =>
      live.listen(message => {
        if (message.type !== 'ban' && message.type !== 'unban') return
        const { banned_at, unbanned_at, active } = message.data
        const now = Date.now()
        const news: Heard =
          message.type === 'ban'
            ? { at: Date.parse(banned_at), heard: now, bans: 1, active: active ? 1 : 0 }
            : { at: Date.parse(unbanned_at ?? banned_at), heard: now, bans: 0, active: -1 }
        setLastAt(now)
        setHeard(before => [...before.filter(isNews(end, readAt)), news].slice(-mostHeard))
      }),
    [end, readAt],
  )
  if (!stats) return undefined
  const since = heard.filter(isNews(end, readAt))
  const bans = since.filter(({ bans, at }) => bans === 1 && at >= from)
  const newest = Math.max(0, ...bans.map(({ at }) => at))
  return {
    bans: stats.total_bans + bans.length,
    active: Math.max(0, stats.active_now + since.reduce((sum, { active }) => sum + active, 0)),
    to: newest >= end ? new Date(newest + 1).toISOString() : stats.to,
  }
}
const isNews =
  (end: number, readAt: number) =>
  ({ at, heard }: Heard): boolean =>
    at >= end || heard > readAt
