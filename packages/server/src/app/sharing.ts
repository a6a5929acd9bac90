import { minute, second } from '../core/clock.ts'
import { addRateCounts, forgetRateCounts } from '../db/rate-counts.ts'
import type { RateCount } from '../db/rate-counts.ts'
import { followEvents } from '../events/tail.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import type { createFollowing } from './follow.ts'
import type { Platform } from './platform.ts'

/** Makes this process one of several over the same PostgreSQL: it follows their changes and adds up rate limits with them. */
export const shareDatabase = async (
  platform: Platform,
  following: ReturnType<typeof createFollowing>,
  limits: RateLimits,
): Promise<void> => {
  const { postgres, jobs, core } = platform
  const { db, clock, log, config, isStorageError } = core
  if (!postgres || !config.databaseUrl) return
  const tail = await followEvents(
    postgres,
    config.databaseUrl,
    platform.dispatch,
    error => {
      if (!isStorageError(error)) log.warn({ err: error }, 'listening for events failed; polling goes on')
    },
    following.taken,
  )
  platform.follow(tail)
  const exchange = (counts: readonly RateCount[]) => addRateCounts(db.write, counts)
  jobs.add({ name: 'rate limits', every: second / 2, everywhere: true, run: () => limits.share(exchange) })
  jobs.add({ name: 'old rate limits', every: minute, run: () => forgetRateCounts(db.write, clock() - 5 * minute) })
  jobs.add(following.reread)
}
