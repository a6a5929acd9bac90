import type { Log } from '../log.ts'
import { createOnce } from '../log.ts'
import { ServerError } from '../transport.ts'

/**
 * What the loops know together about the way to the server: a success of one wakes the others out of their back-off,
 * and a 409 (another host uses our key) keeps all but the heartbeat silent.
 */
export function createLink(log: Log) {
  const once = createOnce(log.warn)
  const wakers: (() => void)[] = []
  let failing = false
  let conflict = false

  return {
    onBack: (wake: () => void): void => void wakers.push(wake),
    muted: (): boolean => conflict,
    good(who: 'heartbeat' | 'other'): void {
      if (who === 'heartbeat') conflict = false
      if (failing) {
        failing = false
        once.over()
        log.info('the server answers')
        for (const wake of wakers) wake()
      }
    },
    bad(error: unknown, who: 'heartbeat' | 'other'): void {
      failing = true
      const status = error instanceof ServerError ? error.status : 0
      if (status === 409 && who === 'heartbeat') {
        conflict = true
        once.tell(
          'another host uses the key of this one (a cloned machine?): nothing is sent until that is settled; enrol one of the two again. Protection goes on',
        )
      } else if (status === 401) {
        once.tell(
          'the server does not accept the key of this host (401): it was revoked, or the server is another one. Protection goes on, nothing is lost; to enrol again, get a new token',
        )
      } else if (status === 403) {
        once.tell(`the server refuses this host's requests (403): ${(error as Error).message}. Everything is kept`)
      } else {
        once.tell(`the server cannot be reached: ${error instanceof Error ? error.message : String(error)}`)
      }
    },
  }
}

export type Link = ReturnType<typeof createLink>
