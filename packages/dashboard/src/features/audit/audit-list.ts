import { useState } from 'react'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { every } from '../../api/quiet.ts'
import { auditFilterOf, auditLimit } from './filter.ts'
import type { AuditSearch } from './filter.ts'

export type Entry = Reply<'GET /settings/audit'>['entries'][number]

const auditQuery = ({ open: _, ...search }: AuditSearch) =>
  queryOptions({
    queryKey: ['audit', search],
    queryFn: ({ signal }) =>
      api.call('GET /settings/audit', {
        query: { page: search.page ?? 1, limit: auditLimit, ...auditFilterOf(search, Date.now()) },
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    // There are no messages about it in the live feed.
    refetchInterval: every(30_000),
  })

const newestOf = (entries: readonly Entry[]) => entries.reduce((newest, { id }) => Math.max(newest, id), 0)

/** The list as the reader knows it: what comes later is counted and waits above it until it is asked for. */
export const useAuditList = (search: AuditSearch) => {
  const { open: _, ...filter } = search
  const key = JSON.stringify(filter)
  const query = useQuery(auditQuery(search))
  const [known, setKnown] = useState<{ key: string; newest: number } | null>(null)
  const entries = query.data?.entries
  const fresh = entries !== undefined && !query.isPlaceholderData
  const current = known?.key === key ? known.newest : null
  // An empty list has nothing to move.
  if (fresh && (current === null || (current === 0 && entries.length > 0))) setKnown({ key, newest: newestOf(entries) })
  const limit = current === null || current === 0 ? Infinity : current
  const waiting = fresh ? entries.filter(({ id }) => id > limit).length : 0
  return {
    query,
    rows: fresh ? entries.filter(({ id }) => id <= limit) : entries,
    total: query.data?.total ?? 0,
    waiting,
    /** Whether more wait than one page tells. */
    manyWaiting: waiting === auditLimit,
    showWaiting: () => setKnown({ key, newest: newestOf(entries ?? []) }),
  }
}
