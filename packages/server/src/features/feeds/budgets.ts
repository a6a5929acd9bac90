import { minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { tooManyRequests } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { addRateCounts } from '../../db/rate-counts.ts'

const perMinute = 60

/**
 * Requests of each feed in a minute. Where several processes share the database they count there together: a feed is read a few
 * times a minute, so each request may cost a statement.
 */
export const createFeedBudgets = (needs: {
  readonly db: Database
  readonly clock: Clock
  readonly isShared: boolean
}): ((id: number) => Promise<void>) => {
  const { db, clock, isShared } = needs
  const counts = new Map<number, { readonly bucket: number; readonly n: number }>()

  const count = async (id: number, bucket: number): Promise<number> => {
    const knownCount = counts.get(id)
    const own = knownCount?.bucket === bucket ? knownCount.n : 0
    // What is beyond the budget costs no statement.
    if (!isShared || own > perMinute) return own + 1
    const [row] = await addRateCounts(db.write, [{ key: `feed ${id}`, bucket, n: 1 }])
    return Number(row?.n ?? own + 1)
  }
  /** @throws Problem 429 beyond the budget */
  return async id => {
    const now = clock()
    const bucket = Math.floor(now / minute) * minute
    const n = await count(id, bucket)
    counts.set(id, { bucket, n })
    if (n > perMinute) throw tooManyRequests(Math.max(1, Math.ceil((bucket + minute - now) / second)))
  }
}
