import { minute, second } from '../core/clock.ts'
import type { Asked, ScanWatch } from './scans.ts'

/** What a line of the log says; numbers of statements, times in milliseconds. */
export interface SlowScans {
  readonly tooLong: number
  readonly refused: number
  /** Answered, and waited longer than `longWait` for others. */
  readonly waited: number
  /** The longest time from asking to the end, and what that one was about. */
  readonly longestMs: number
  readonly longest: Asked | null
}

/** Longer than somebody who searches takes for no time. */
export const longWait = second

/**
 * Tells of searches that are ended, refused, or wait behind others: the first at once, and what comes within a minute of a
 * line together in the next one. What they searched for is not told.
 */
export const createSlowScans = (
  say: (told: SlowScans) => void,
  quiet = minute,
): { readonly watch: ScanWatch; close(): void } => {
  const none: SlowScans = { tooLong: 0, refused: 0, waited: 0, longestMs: 0, longest: null }
  let sum = none
  let resting: NodeJS.Timeout | undefined
  const tell = () => {
    resting = undefined
    if (sum === none) return
    say(sum)
    sum = none
    resting = setTimeout(tell, quiet).unref()
  }
  return {
    watch({ outcome, waited, ran, asked }) {
      const slow = outcome === 'too_long' || outcome === 'refused' || (outcome === 'answered' && waited > longWait)
      if (!slow) return
      const took = Math.round(waited + ran)
      const longer = took >= sum.longestMs
      sum = {
        tooLong: sum.tooLong + (outcome === 'too_long' ? 1 : 0),
        refused: sum.refused + (outcome === 'refused' ? 1 : 0),
        waited: sum.waited + (outcome === 'answered' ? 1 : 0),
        longestMs: longer ? took : sum.longestMs,
        longest: longer ? asked() : sum.longest,
      }
      if (!resting) tell()
    },
    close() {
      clearTimeout(resting)
      tell()
      clearTimeout(resting)
    },
  }
}
