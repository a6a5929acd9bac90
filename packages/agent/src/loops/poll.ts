import type { Command, News, Offer, Wire } from '../wire.ts'
import { createLoop } from './loop.ts'
import type { Carrier } from './carrier.ts'
import type { Line } from './line.ts'
import type { Loop, LoopNeeds } from './loop.ts'

/** An answer that comes sooner was not held, milliseconds. */
const notHeld = 5000
/** An operator may open and close many ports: up to 20 new states at once, then one in two seconds, are not throttled. */
const stateBurst = 20
const stateEvery = 2000

/** The long poll answers when there is a command or a new state. It only saves time: heartbeats carry both too. */
export const createPoll = (
  needs: LoopNeeds & {
    wire: Pick<Wire, 'pending' | 'turn'>
    carrier: Pick<Carrier, 'open' | 'leave'>
    line: Pick<Line, 'poll'>
    onCommands: (commands: readonly Command[]) => void
    /** The state that is applied or being applied. */
    state: () => string | null
    onState: (version: string | null, offer: Offer | null) => void
    /** Seconds between two heartbeats. */
    interval: () => number
    now: () => number
  },
): Loop => {
  const { now } = needs
  /** How many polls in a row the server answered at once without any news. */
  let quickAnswers = 0
  let allowance = stateBurst
  let allowedAt = now()

  const takeAllowance = (): boolean => {
    allowance = Math.min(stateBurst, allowance + (now() - allowedAt) / stateEvery)
    allowedAt = now()
    return allowance >= 1
  }

  /** Polls with what there is to take along. */
  const ask = async (hold: number): Promise<News> => {
    const load = needs.carrier.leave()
    if (load === null) return needs.wire.pending(hold, needs.state(), needs.signal)
    const answer = await needs.wire.turn(load.cargo, hold, needs.state(), needs.signal).catch((error: unknown) => {
      load.settle({ error })
      throw error
    })
    load.settle(answer)
    return answer
  }
  /** Milliseconds until the next poll: a server that does not hold the request must not be polled in a tight loop. */
  const waitAfter = (isQuick: boolean, isNewState: boolean): number => {
    if (takeAllowance() && isNewState) {
      allowance -= 1
      quickAnswers = 0
      return 0
    }
    quickAnswers = isQuick ? Math.min(quickAnswers + 1, 5) : 0
    return isQuick ? 1000 * 2 ** (quickAnswers - 1) : 0
  }

  const poll = async (): Promise<number> => {
    let startedAt = now()
    let leastHold = notHeld
    const { commands, stateVersion, offer, turns } = await needs.line.poll(hold => {
      startedAt = now()
      leastHold = Math.min(notHeld, hold * 500)
      return ask(hold)
    })
    needs.link.good('other')
    const isQuick = commands.length === 0 && now() - startedAt < leastHold
    const wait = waitAfter(isQuick, stateVersion !== null && stateVersion !== needs.state())
    if (turns && wait === 0) needs.carrier.open()
    needs.onCommands(commands)
    needs.onState(stateVersion, offer)
    return wait
  }

  return createLoop({
    ...needs,
    speaker: 'other',
    turn: poll,
    firstWait: () => needs.interval() * 1000,
  })
}
