import { useEffect, useState } from 'react'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { live } from '../../api/live.ts'
import type { Ban } from '../../api/queries.ts'
import { withoutView, bansQueryOf } from './filter.ts'
import type { BansSearch } from './filter.ts'
import { isReadable, matches } from './matches.ts'

export const bansQuery = (search: BansSearch) =>
  queryOptions({
    queryKey: ['bans', withoutView(search)],
    queryFn: ({ signal }) => api.call('GET /bans', { query: bansQueryOf(search, Date.now()), signal }),
    // The last list stays until the next one is there; not where none will come, since it would answer another question.
    placeholderData: isReadable(search) ? keepPreviousData : undefined,
    enabled: isReadable(search),
  })
/** How often the list is read again for bans of which only the service can tell whether they belong into it. */
const pause = 5000
/** So many new ones are counted; of more it is only said that there are more. A list stays open for days. */
export const mostWaiting = 999
const newestOf = (bans: readonly Ban[]) => bans.reduce((newest, ban) => Math.max(newest, ban.id), 0)

/**
 * The list as the reader knows it: whatever arrives later, by a message or because the list was read again, is counted
 * and waits above it until it is asked for. An empty list has nothing to move, so there it comes at once.
 */
// oxlint-disable-next-line complexity -- most branches are defaults while a list loads
export const useBansList = (search: BansSearch) => {
  const key = JSON.stringify(withoutView(search))
  const query = useQuery(bansQuery(search))
  const [known, setKnown] = useState<{ key: string; newest: number } | null>(null)
  const [heard, setHeard] = useState<{ key: string; ids: ReadonlySet<number> }>({ key, ids: new Set() })

  const { refetch } = query
  const bans = query.data?.bans
  const current = known?.key === key ? known.newest : null
  if (bans && !query.isPlaceholderData && (current === null || (current === 0 && bans.length > 0)))
    setKnown({ key, newest: newestOf(bans) })

  const empty = bans?.length === 0
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = live.listen(message => {
      if (message.type !== 'ban') return
      const belongs = matches(message.data, search, Date.now())
      if (belongs === false) return
      if (empty) return void refetch()
      if (belongs === null)
        timer ??= setTimeout(() => {
          timer = undefined
          void refetch()
        }, pause)
      else {
        const { id } = message.data
        setHeard(before => {
          if (before.key !== key) return { key, ids: new Set([id]) }
          return before.ids.size > mostWaiting ? before : { key, ids: new Set([...before.ids, id]) }
        })
      }
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [key, search, empty, refetch])

  const limit = current === null || current === 0 ? Infinity : current
  const waiting = new Set([
    ...(bans ?? []).filter(ban => ban.id > limit).map(ban => ban.id),
    ...(heard.key === key ? heard.ids : []),
  ])
  for (const id of waiting) if (id <= limit && limit !== Infinity) waiting.delete(id)
  const isFresh = !query.isPlaceholderData
  return {
    query,
    rows: bans && isFresh ? bans.filter(ban => ban.id <= limit) : bans,
    total: query.data?.total ?? 0,
    /** How many wait above the list, and whether there are more than that. */
    waiting: isFresh && limit !== Infinity ? Math.min(waiting.size, mostWaiting) : 0,
    more: waiting.size > mostWaiting,
    async showWaiting() {
      const read = await refetch()
      if (read.data) setKnown({ key, newest: newestOf(read.data.bans) })
      setHeard({ key, ids: new Set() })
    },
  }
}
