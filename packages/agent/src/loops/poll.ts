import { createBackoff, createNap } from '../schedule.ts'
import { ServerError } from '../transport.ts'
import type { Command, Wire } from '../wire.ts'
import type { Link } from './link.ts'

const WAIT = 25

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
          // A server that does not hold the request must not be asked in a tight loop; a new state or two is no such.
          quick = commands.length === 0 && needs.now() - started < 5000 ? Math.min(quick + 1, 8) : 0
          if (quick > (news ? 3 : 0)) await nap.sleep(1000 * 2 ** Math.min(quick - 1, 4))
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
