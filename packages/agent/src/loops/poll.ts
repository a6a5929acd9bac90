import { createBackoff, createNap } from '../schedule.ts'
import { ServerError } from '../transport.ts'
import type { Command, Wire } from '../wire.ts'
import type { Link } from './link.ts'

const WAIT = 25
/** Somebody at the dashboard opens and closes ports: so many new states at once are no sign of trouble, nor one in two seconds. */
const NEWS_AT_ONCE = 20
const NEWS_EVERY = 2000

/** The long poll: answers at once when there is a command or a new state to hold. It only makes things faster, heartbeats carry commands too. */
export function createPoll(needs: {
  wire: Wire
  link: Link
  onCommands: (commands: readonly Command[]) => void
  /** The state that is applied or being applied. */
  state: () => string | null
  onState: (version: string | null) => void
  interval: () => number
  signal: AbortSignal
  now: () => number
}) {
  const nap = createNap()
  needs.link.onBack(nap.wake)
  return {
    async run(): Promise<void> {
      const backoff = createBackoff({ interval: () => needs.interval() * 1000 })
      let quick = 0
      let spare = NEWS_AT_ONCE
      let sparedAt = needs.now()
      while (!needs.signal.aborted) {
        if (needs.link.muted()) {
          await nap.sleep(5000)
          continue
        }
        const started = needs.now()
        try {
          const { commands, stateVersion } = await needs.wire.pending(WAIT, needs.state(), needs.signal)
          needs.link.good('other')
          needs.onCommands(commands)
          const news = stateVersion !== null && stateVersion !== needs.state()
          needs.onState(stateVersion)
          backoff.reset()
          spare = Math.min(NEWS_AT_ONCE, spare + (needs.now() - sparedAt) / NEWS_EVERY)
          sparedAt = needs.now()
          if (news && spare >= 1) {
            spare -= 1
            quick = 0
          } else {
            // A server that does not hold the request must not be asked in a tight loop.
            quick = commands.length === 0 && needs.now() - started < 5000 ? Math.min(quick + 1, 8) : 0
            if (quick > 0) await nap.sleep(1000 * 2 ** Math.min(quick - 1, 4))
          }
        } catch (error) {
          if (needs.signal.aborted) return
          needs.link.bad(error, 'other')
          await nap.sleep(backoff.next(error instanceof ServerError ? error.retryAfter : null))
        }
      }
    },
    wake: (): void => nap.wake(),
  }
}
