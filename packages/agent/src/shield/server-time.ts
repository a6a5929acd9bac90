import { createSteps } from '../clock.ts'
import type { Clocks } from '../clock.ts'
import type { SavedShield } from './store.ts'

/**
 * The server's time. Until the server has answered, it goes on from the file of the last run as if nobody set the host's clock: a step
 * would end bans. A clock without a battery starts before the file was written, and a step that mends it counts.
 */
export const createServerTime = (
  { now, steadyNow, clockOffset }: Clocks & { clockOffset: () => number | null },
  saved: Pick<SavedShield, 'offset' | 'savedAt'>,
): (() => number) => {
  const steps = createSteps({ now, steadyNow })
  const isBehind = now() + saved.offset < saved.savedAt
  const savedOffset = Math.max(saved.offset, saved.savedAt - now())
  return () => {
    const offset = clockOffset()
    if (offset !== null) return now() + offset
    const unset = now() + savedOffset - steps.since()
    return isBehind ? Math.max(unset, now() + saved.offset) : unset
  }
}
