import { useEffect, useState } from 'react'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { live } from '../../api/live.ts'
import { queries } from '../../api/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import type { Period } from '../../fleet/queries.ts'

export type Stats = Reply<'GET /bans/stats'>

/** Networks and addresses with the most bans; its window is its own. */
export const topQuery = (period: Period) =>
  queryOptions({
    queryKey: ['stats', 'top', period],
    queryFn: ({ signal }) => api.call('GET /bans/top', { query: { period, limit: 5 }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: every(60_000),
  })

const mostLast = 8
export const lastQuery = queryOptions({
  queryKey: ['bans', 'last'],
  queryFn: ({ signal }) => api.call('GET /bans', { query: { limit: mostLast }, signal }),
})
/** Puts each ban on top of the last ones as it is reported. */
export const useLastLive = (): void =>
  useEffect(
    () =>
      live.listen(message => {
        if (message.type !== 'ban') return
        const ban = message.data
        queries.setQueryData(lastQuery.queryKey, list =>
          !list || list.bans.some(({ id }) => id === ban.id)
            ? list
            : { ...list, bans: [...list.bans, ban].sort(newestFirst).slice(0, mostLast) },
        )
      }),
    [],
  )
const newestFirst = (a: Ban, b: Ban) => Date.parse(b.banned_at) - Date.parse(a.banned_at) || b.id - a.id

interface Counted {
  readonly bans: number
  readonly active: number
  /** End of the time in which the bans were counted, exclusive: its beginning is that of the statistics. */
  readonly to: string
}
interface Heard {
  readonly of: Stats
  readonly bans: number
  readonly active: number
  readonly newest: number
}
/** The figures with what was reported since they were counted: statistics are read again every few seconds at most. */
export const useCounted = (stats: Stats | undefined): Counted | undefined => {
  const [heard, setHeard] = useState<Heard | null>(null)
  useEffect(
    () =>
      live.listen(message => {
        if (!stats || (message.type !== 'ban' && message.type !== 'unban')) return
        const at = Date.parse(message.data.banned_at)
        const counts = message.type === 'ban' && at >= Date.parse(stats.to)
        setHeard(before => {
          const known = before?.of === stats ? before : { of: stats, bans: 0, active: 0, newest: 0 }
          if (message.type === 'unban') return { ...known, active: known.active - 1 }
          if (!counts) return known
          return {
            of: stats,
            bans: known.bans + 1,
            active: known.active + (message.data.active ? 1 : 0),
            newest: Math.max(known.newest, at),
          }
        })
      }),
    [stats],
  )
  if (!stats) return undefined
  const since = heard?.of === stats ? heard : null
  return {
    bans: stats.total_bans + (since?.bans ?? 0),
    active: Math.max(0, stats.active_now + (since?.active ?? 0)),
    to: since && since.newest > 0 ? new Date(since.newest + 1).toISOString() : stats.to,
  }
}
