import { createBackoff, createNap } from '../schedule.ts'
import { ServerError } from '../transport.ts'
import type { Link, Speaker } from './link.ts'

/** How long a loop rests while another host uses our key. */
const mutedWait = 5000

/** Work that is repeated until the agent stops. */
export interface Loop {
  /** Resolves when the agent stops. */
  run(): Promise<void>
  /** Ends the current wait. */
  wake(): void
  /** Resolves when the current turn has ended, or the next one where the loop waits. */
  turned(): Promise<void>
}

/** What every loop gets from the agent. */
export interface LoopNeeds {
  readonly link: Link
  readonly signal: AbortSignal
}

/**
 * The frame of all loops: rest while muted, take a turn, sleep; after a failure back off as the server asks or with
 * growing waits. A success of another loop ends the wait.
 */
export const createLoop = (
  needs: LoopNeeds & {
    speaker: Speaker
    /** One turn. Answers how many milliseconds to sleep after it. */
    turn: () => Promise<number>
    /** Handles a failure instead of the link. Answers how long to wait, or undefined to back off. */
    onFailure?: (error: unknown) => number | undefined
    /** Milliseconds of the first wait after a failure, at most. */
    firstWait?: () => number
    longestWait?: number
    random?: (() => number) | undefined
  },
): Loop => {
  const { link, signal, speaker } = needs
  const { firstWait = () => 4000, longestWait = 60_000, random = Math.random } = needs
  const onFailure = needs.onFailure ?? (error => void link.bad(error, speaker))
  const nap = createNap()
  let endings: (() => void)[] = []
  const backoff = createBackoff({ interval: firstWait, cap: longestWait, random })
  link.onBack(nap.wake)

  const nextWait = async (): Promise<number> => {
    if (speaker !== 'heartbeat' && link.muted()) return mutedWait
    try {
      const wait = await needs.turn()
      backoff.reset()
      return wait
    } catch (error) {
      if (signal.aborted) return 0
      return onFailure(error) ?? backoff.next(error instanceof ServerError ? error.retryAfter : null)
    } finally {
      const resolves = endings
      endings = []
      for (const resolve of resolves) resolve()
    }
  }

  return {
    async run() {
      while (!signal.aborted) {
        const wait = await nextWait()
        if (wait > 0 && !signal.aborted) await nap.sleep(wait)
      }
    },
    wake: nap.wake,
    turned: () => new Promise(resolve => endings.push(resolve)),
  }
}
