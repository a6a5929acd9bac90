import { setTimeout as sleep } from 'node:timers/promises'
import { day } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { removeOldCommands } from './retention.store.ts'
import { retireBans, trimEvents } from './retire.ts'
import { mostRows } from './retire-chunk.ts'
import type { Place } from './retire-chunk.ts'

export interface RetentionService {
  /** Removes what is older than it has to be kept: a little at a time, and writers go first. */
  run(): Promise<void>
  /** Lets the chunk at hand finish and stops there. */
  close(): void
}

/** Commands that ended longer ago than this are forgotten. */
const commandsKept = 90 * day
const longestPause = 1000

export const createRetention = (needs: {
  db: Database
  clock: Clock
  banDays: number
  eventDays: number
  log: { info(facts: object, message: string): void }
}): RetentionService => {
  const { db, clock } = needs
  const most = mostRows[db.engine]
  let closed = false

  /** Works off chunks; between them the writer is free for twice as long as each took. */
  const inChunks = async (chunk: () => Promise<{ removed: number; more: boolean }>): Promise<number> => {
    let removed = 0
    while (!closed) {
      const began = performance.now()
      const done = await chunk()
      removed += done.removed
      if (!done.more) break
      await sleep(Math.min(longestPause, 2 * (performance.now() - began)))
    }
    return removed
  }
  const bans = () => {
    const before = clock() - needs.banDays * day
    let after: Place = { at: 0, id: 0 }
    return inChunks(async () => {
      const { removed, next } = await db.run(retireBans, { before, after, most })
      after = next ?? after
      return { removed, more: next !== null }
    })
  }
  const events = () => {
    const before = clock() - needs.eventDays * day
    let after = 0
    return inChunks(async () => {
      const { removed, next } = await db.run(trimEvents, { before, after, most })
      after = next ?? after
      return { removed, more: next !== null }
    })
  }
  const commands = () => {
    const before = clock() - commandsKept
    return inChunks(async () => {
      const removed = await removeOldCommands(db.write, before, most)
      return { removed, more: removed === most }
    })
  }
  return {
    async run() {
      const removed = { bans: await bans(), events: await events(), commands: await commands() }
      if (removed.bans + removed.events + removed.commands > 0)
        needs.log.info(removed, 'removed what was older than it has to be kept')
    },
    close() {
      closed = true
    },
  }
}
