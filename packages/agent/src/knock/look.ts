import type { Once } from '../log.ts'
import type { Serial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Enforcer } from './enforcer.ts'
import type { KnockTable, Reading } from './table.ts'

/** Milliseconds between two readings of the event sets. */
const lookEvery = 700
/** Somebody may flush our chains and leave the table, so every 8th reading compares the entrance too. */
const looksPerComparison = 8
const looksPerCleanup = 100

/** Reads the event sets at intervals, as long as rules are in force or are to be tried again. */
export interface Looks {
  schedule(): void
  /** Whether this reading is one of those after which expired members are dropped. */
  isCleanupDue(): boolean
  stop(): void
}

export const createLooks = (needs: {
  table: KnockTable
  inTurn: Serial
  onReading: (reading: Reading, readAt: number) => void
  enforcer: Pick<Enforcer, 'restore' | 'retryAt'>
  retry: () => Promise<void>
  trouble: Once
  signal: AbortSignal
  now: () => number
}): Looks => {
  const { table, inTurn, enforcer, now, trouble } = needs
  let looks = 0
  let timer: NodeJS.Timeout | null = null

  /** Reads outside the queue, so that nobody who waits for a port waits for the reading. */
  const look = async (): Promise<void> => {
    const readAt = now()
    looks += 1
    const reading = await table.read(looks % looksPerComparison === 0)
    if (reading === null) return
    await inTurn(async () => {
      if (reading.isStale() || table.loaded().length === 0) return
      if (reading.damage !== null) await enforcer.restore(reading.damage)
      else needs.onReading(reading, readAt)
    })
  }

  const schedule = (): void => {
    const isIdle = table.loaded().length === 0 && enforcer.retryAt() === Infinity
    if (timer !== null || needs.signal.aborted || isIdle) return
    timer = setTimeout(() => {
      look()
        .then(() => (now() >= enforcer.retryAt() ? inTurn(needs.retry) : undefined))
        .then(trouble.over)
        .catch((error: unknown) => trouble.tell(`port knocking: ${errorText(error)}`))
        .finally(() => {
          timer = null
          schedule()
        })
    }, lookEvery)
  }

  return {
    schedule,
    isCleanupDue: () => looks % looksPerCleanup === 0,
    stop() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}
