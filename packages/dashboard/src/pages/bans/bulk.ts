import { ApiError, api } from '../../api/client.ts'
import type { Ban } from '../../api/queries.ts'
import { matchQueryOf } from './filter.ts'
import type { BansSearch } from './filter.ts'
import { light, mostAtOnce } from './selection.ts'

const pageSize = 100
/** More requests than this in one go are spread out, so that the page itself can still ask for something. */
const atOnce = 15
const between = 900

const pause = (wait: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, wait)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('Stopped', 'AbortError'))
    })
  })

/** Asks again after the time that the server names, for as long as it refuses because of too many requests. */
export const patiently = async <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (let tries = 0; ; tries++)
    try {
      signal.throwIfAborted()
      return await ask()
    } catch (error) {
      const limited = error instanceof ApiError && error.status === 429
      if (!limited || tries >= 10) throw error
      await pause((error.retryAfter ?? 10) * 1000, signal)
    }
}

/** Acts on one after the other, slowly where there are many. */
export const paced = async <T>(
  items: readonly T[],
  signal: AbortSignal,
  act: (item: T, index: number) => Promise<void>,
): Promise<void> => {
  for (const [index, item] of items.entries()) {
    if (index >= atOnce) await pause(between, signal)
    await patiently(() => act(item, index), signal)
  }
}

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
