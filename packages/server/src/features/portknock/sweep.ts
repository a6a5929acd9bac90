import { setTimeout as sleep } from 'node:timers/promises'
import { day } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { removeOldKnocks, removeOver } from './sweep.store.ts'

const mostRows = 1000

/** Removes history that is older than it has to be kept, and what is over; a little at a time, and writers go first. */
export const sweepKnocks = async (needs: { db: Database; clock: Clock; keptDays: number }): Promise<void> => {
  const { db, clock, keptDays } = needs
  const now = clock()
  await removeOver(db.write, now, now - day)
  for (;;) {
    const began = performance.now()
    if ((await removeOldKnocks(db.write, now - keptDays * day, mostRows)) < mostRows) return
    await sleep(2 * (performance.now() - began))
  }
}
