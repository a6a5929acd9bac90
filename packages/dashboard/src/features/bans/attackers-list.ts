import { useEffect, useMemo, useState } from 'react'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { live } from '../../api/live.ts'
import { inOrder } from './attackers-order.ts'
import { attackersRead } from './attackers-read.ts'
import { mostWaiting } from './bans-list.ts'
import { withoutView, matchQueryOf } from './filter.ts'
import type { BansSearch } from './filter.ts'
import { isReadable, matches } from './matches.ts'

export type Attacker = Reply<'GET /bans/attackers'>['attackers'][number]

const attackersQuery = (search: BansSearch) =>
  queryOptions({
    ...attackersRead(search),
    placeholderData: isReadable(search) ? keepPreviousData : undefined,
    enabled: isReadable(search),
  })

/** The newest bans of one attacker within what the list shows: enough to say how many more there are, and where. */
export const attackerBansQuery = (search: BansSearch, ip: string) =>
  queryOptions({
    queryKey: ['bans', 'of', ip, withoutView({ ...search, page: undefined, sort: undefined })],
    queryFn: ({ signal }) =>
      api.call('GET /bans', { query: { ...matchQueryOf(search, Date.now()), ip, limit: 20 }, signal }),
  })

interface Known {
  readonly key: string
  readonly rows: readonly Attacker[]
}

/** Attackers as the reader knows them: what arrives later is counted and waits above until it is asked for. */
export const useAttackersList = (search: BansSearch) => {
  const key = JSON.stringify(withoutView(search))
  const query = useQuery(attackersQuery(search))
  const [known, setKnown] = useState<Known | null>(null)
  const [heard, setHeard] = useState<{ key: string; ids: ReadonlySet<number> }>({ key, ids: new Set() })
  const { refetch, data, isPlaceholderData } = query
  const fresh = data?.attackers
  const isKnown = known?.key === key && (known.rows.length > 0 || fresh?.length === 0)
  if (fresh && !isPlaceholderData && !isKnown) setKnown({ key, rows: fresh })

  const rows = useMemo(
    () => (fresh && !isPlaceholderData && known?.key === key ? inOrder(known.rows, fresh) : fresh),
    [fresh, isPlaceholderData, known, key],
  )
  const isEmpty = fresh?.length === 0
  useEffect(() => {
    return live.listen(message => {
      if (message.type !== 'ban') return
      const belongs = matches(message.data, search, Date.now())
      if (belongs === false) return
      if (isEmpty) return void refetch()
      // Only the service can tell: the list is read again after each ban, and what is new in it waits as well.
      if (belongs === null) return
      const { id } = message.data
      setHeard(before => {
        if (before.key !== key) return { key, ids: new Set([id]) }
        return before.ids.size > mostWaiting ? before : { key, ids: new Set([...before.ids, id]) }
      })
    })
  }, [key, search, isEmpty, refetch])

  const unseen = useMemo(() => {
    const listedAddresses = new Set(known?.rows.map(({ ip }) => ip))
    return known?.key === key ? (fresh ?? []).filter(({ ip }) => !listedAddresses.has(ip)).length : 0
  }, [known, fresh, key])
  const waiting = isPlaceholderData ? 0 : Math.max(unseen, heard.key === key ? heard.ids.size : 0)
  return {
    query,
    rows,
    totals: data?.totals,
    waiting: Math.min(waiting, mostWaiting),
    more: waiting > mostWaiting,
    async showWaiting() {
      const read = await refetch()
      if (read.data) setKnown({ key, rows: read.data.attackers })
      setHeard({ key, ids: new Set() })
    },
  }
}
