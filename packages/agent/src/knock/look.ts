import type { Once } from '../log.ts'
import type { Serial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Enforcer } from './enforcer.ts'
import type { KnockTable, Reading } from './table.ts'

/**
 * Milliseconds between two readings of the event sets. The kernel opens and blocks by itself: without knocks the news may come a few
 * seconds later. Without the netlink socket a reading starts a program.
 */
const lookEvery = { busy: 700, idle: 5000 }
/** How long after the last news, or new rules, readings stay frequent. */
const busyFor = 30_000
/** Somebody may flush our chains and leave the table, so readings at this distance compare the entrance too. */
const compareEvery = 5000
const cleanUpEvery = 70_000

/** Reads the event sets at intervals, as long as rules are in force or are to be tried again. */
export interface Looks {
  schedule(): void
  /** Something happens, or is about to: readings are frequent for a while. */
  quicken(): void
  /** Whether this reading is one of those after which expired members are dropped. */
  isCleanupDue(): boolean
  stop(): void
}

export const createLooks = (needs: {
  table: KnockTable
  inTurn: Serial
  /** Answers whether there was news. */
  onReading: (reading: Reading, readAt: number) => boolean
  enforcer: Pick<Enforcer, 'restore' | 'retryAt'>
  retry: () => Promise<void>
  trouble: Once
  signal: AbortSignal
  now: () => number
  /** Milliseconds of a clock that never jumps. */
  steadyNow: () => number
}): Looks => {
  const { table, inTurn, enforcer, now, steadyNow, trouble } = needs
  let busyUntil = 0
  let comparedAt = -compareEvery
  let cleanedUpAt = steadyNow()
  let timer: NodeJS.Timeout | null = null

  const quicken = (): void => {
    busyUntil = steadyNow() + busyFor
  }

  /** Reads outside the queue, so that nobody who waits for a port waits for the reading. */
  const look = async (): Promise<void> => {
    const readAt = now()
    const comparing = steadyNow() - comparedAt >= compareEvery
    if (comparing) comparedAt = steadyNow()
    const reading = await table.read(comparing)
    if (reading === null) return
    await inTurn(async () => {
      // The agent stopped during the reading. It no longer owns the firewall, so it restores nothing.
      if (needs.signal.aborted || reading.isStale() || table.loaded().length === 0) return
      if (reading.damage !== null) await enforcer.restore(reading.damage)
      else if (needs.onReading(reading, readAt)) quicken()
    })
  }

  const retry = async (): Promise<void> => (needs.signal.aborted ? undefined : needs.retry())

  const schedule = (): void => {
    const isIdle = table.loaded().length === 0 && enforcer.retryAt() === Infinity
    if (timer !== null || needs.signal.aborted || isIdle) return
    const isBusy = steadyNow() < busyUntil || enforcer.retryAt() !== Infinity
    const wait = isBusy ? lookEvery.busy : lookEvery.idle
    timer = setTimeout(() => {
      look()
        .then(() => (now() >= enforcer.retryAt() ? inTurn(retry) : undefined))
        .then(trouble.over)
        .catch((error: unknown) => trouble.tell(`port knocking: ${errorText(error)}`))
        .finally(() => {
          timer = null
          schedule()
        })
    }, wait)
  }

  return {
    schedule,
    quicken,
    isCleanupDue() {
      if (steadyNow() - cleanedUpAt < cleanUpEvery) return false
      cleanedUpAt = steadyNow()
      return true
    },
    stop() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}
