import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { ServerError } from '../transport.ts'
import { errorText } from '../text.ts'

/** Who reports a success or a failure. Only the heartbeat decides whether another host uses our key. */
export type Speaker = 'heartbeat' | 'other'

/**
 * What the loops know together about the connection to the server: a success of one ends the back-off of the others,
 * and a 409 (another host uses our key) silences all but the heartbeat.
 */
export interface Link {
  /** `wake` is called when the server answers again. */
  onBack(wake: () => void): void
  muted(): boolean
  /** `listen` hears of each heartbeat: null if it was answered, else why not. */
  onHeartbeat(listen: (error: unknown) => void): void
  good(speaker: Speaker): void
  bad(error: unknown, speaker: Speaker): void
}

export const createLink = (log: Log): Link => {
  const once = createOnce(log.warn)
  const wakers: (() => void)[] = []
  const listeners: ((error: unknown) => void)[] = []
  let isFailing = false
  let isConflict = false

  return {
    onBack: wake => void wakers.push(wake),
    onHeartbeat: listen => void listeners.push(listen),
    muted: () => isConflict,
    good(speaker) {
      if (speaker === 'heartbeat') {
        isConflict = false
        for (const listen of listeners) listen(null)
      }
      if (!isFailing) return
      isFailing = false
      once.over()
      log.info('the server answers')
      for (const wake of wakers) wake()
    },
    bad(error, speaker) {
      isFailing = true
      if (speaker === 'heartbeat') for (const listen of listeners) listen(error)
      const status = error instanceof ServerError ? error.status : 0
      if (status === 409 && speaker === 'heartbeat') isConflict = true
      once.tell(troubleOf(error, status, speaker))
    },
  }
}

const troubleOf = (error: unknown, status: number, speaker: Speaker): string => {
  if (status === 409 && speaker === 'heartbeat')
    return 'another host uses the key of this one (a cloned machine?): nothing is sent until that is settled; enrol one of the two again. Protection continues'
  if (status === 401)
    return 'the server does not accept the key of this host (401): the key was revoked, or this is another server. Protection continues and nothing is lost; to enrol again, get a new token'
  if (status === 403) return `the server refuses this host's requests (403): ${errorText(error)}. Events are kept`
  return `the server cannot be reached: ${errorText(error)}`
}
