import type { Log } from '../log.ts'
import type { Serial } from '../serial.ts'
import { errorText } from '../text.ts'
import { definition } from './model.ts'
import type { Sequence } from './model.ts'
import type { KnockTable } from './table.ts'

/** New rules are on trial until the server has answered while they were in force; without an answer they are taken back. */
export interface Trial {
  /** The sequences that passed: they return after a failed trial and after the host's next start. */
  proved(): readonly Sequence[]
  isProved(sequence: Sequence): boolean
  whyTakenBack(sequence: Sequence): string | undefined
  /** Lets sequences that were taken back be tried again. */
  forgive(): void
  /** New rules are in force. What is proved already needs no trial. */
  begin(): void
  /** The rules in force are the ones wanted; only revisions may have changed. */
  relabel(): void
  /** Ends a trial that still runs by taking its rules back. To be called in turn. */
  abandon(): Promise<void>
}

const retryEvery = 1000
const takenBackReason = 'the server could not be reached while its rules were in place, so they were taken back'

export const createTrial = (needs: {
  proved: readonly Sequence[]
  table: Pick<KnockTable, 'loaded' | 'load'>
  inTurn: Serial
  /** Whether the server answers a request that is made now. */
  answers: () => Promise<boolean>
  /** How long rules may stay in force without an answer, milliseconds. */
  timeout: number
  steadyNow: () => number
  onProved: () => void
  onTakenBack: () => void
  /** The trial ended, and the server should hear of it. */
  changed: () => void
  signal: AbortSignal
  log: Log
}): Trial => {
  const { table, inTurn, steadyNow, signal, log } = needs
  let proved = needs.proved
  /** The trial that runs; a newer one replaces it. */
  let current: object | null = null
  /** Reasons by definition, so that a changed sequence gets a new trial. */
  const reasons = new Map<string, string>()

  const isProved = (sequence: Sequence): boolean => proved.some(other => definition(other) === definition(sequence))

  const keep = (): void => {
    current = null
    proved = table.loaded()
    needs.onProved()
  }

  const takeBack = async (): Promise<void> => {
    current = null
    for (const sequence of table.loaded()) if (!isProved(sequence)) reasons.set(definition(sequence), takenBackReason)
    log.warn(`port knocking: ${takenBackReason}`)
    await table.load(proved).catch(async (error: unknown) => {
      log.warn(`port knocking: the previous rules cannot be restored (${errorText(error)}), so all rules are removed`)
      await table.load([])
    })
    needs.onTakenBack()
  }

  const run = async (): Promise<void> => {
    const trial = {}
    current = trial
    const isOver = (): boolean => current !== trial || signal.aborted
    const deadline = steadyNow() + needs.timeout
    while (!isOver()) {
      const isReached = await needs.answers().catch(() => false)
      if (isOver()) return
      if (isReached || steadyNow() >= deadline) {
        await inTurn(async () => {
          if (current !== trial) return
          if (!isReached) return takeBack()
          keep()
          log.info(`port knocking: ${proved.length} sequences are in force`)
        })
        needs.changed()
        return
      }
      await new Promise(resolve => setTimeout(resolve, Math.min(retryEvery, Math.max(0, deadline - steadyNow()))))
    }
  }

  return {
    proved: () => proved,
    isProved,
    whyTakenBack: sequence => reasons.get(definition(sequence)),
    forgive: () => reasons.clear(),
    begin() {
      current = null
      if (table.loaded().every(isProved)) keep()
      else void run().catch((error: unknown) => log.warn(`port knocking: ${errorText(error)}`))
    },
    relabel() {
      if (current === null) proved = table.loaded()
    },
    abandon: () => (current === null ? Promise.resolve() : takeBack()),
  }
}
