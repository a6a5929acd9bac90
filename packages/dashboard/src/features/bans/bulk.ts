import { api } from '../../api/client.ts'
import { paced } from '../../api/paced.ts'
import type { Ban } from '../../api/queries.ts'
import { matchQueryOf } from './filter.ts'
import type { BansSearch } from './filter.ts'
import { light, mostAtOnce } from './selection.ts'

const pageSize = 100
/**
 * All that match at this moment, the newest first, `mostAtOnce` at most. Read from the last page to the first: what drops
 * out meanwhile moves rows to pages that are still to be read, so that none is missed.
 */
export const collect = async (
  search: BansSearch,
  total: number,
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<readonly Ban[]> => {
  const now = Date.now()
  const query = { ...matchQueryOf(search, now), to: search.to ?? new Date(now).toISOString() }
  const last = Math.ceil(Math.min(total, mostAtOnce) / pageSize)
  const pages = Array.from({ length: last }, (_, index) => last - index)
  const found = new Map<number, Ban>()
  await paced(pages, signal, async page => {
    const { bans } = await api.call('GET /bans', { query: { ...query, page, limit: pageSize }, signal })
    for (const ban of bans) found.set(ban.id, light(ban))
    onRead(found.size)
  })
  return [...found.values()].sort((a, b) => b.id - a.id).slice(0, mostAtOnce)
}
