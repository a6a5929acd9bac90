import { pause } from '../schedule.ts'

/** Seconds for which the server may hold a poll. Some proxies end a request that gets no answer for 30 s. */
const longestHold = 25
/** A heartbeat waits for a poll that should end within this time, milliseconds: a hold has whole seconds, and the answer is on its way for a while. */
const nearEnd = 1500
/**
 * And waits so long for it, milliseconds. The answers of a server that has too much to do are late: hosts that opened a second connection then
 * would give it more to do, until it has no files left.
 */
const patience = 5000
/** A poll waits so long for what its predecessor caused to be reported, milliseconds. Longer work goes by a connection of its own. */
const reportPatience = 700

/**
 * At rest, heartbeats and polls share one connection, since a server of many hosts pays for each: a poll ends when the next heartbeat is
 * due, the heartbeat waits for that end, and the next poll for the heartbeat. A heartbeat that is early, or whose poll does not end, goes at
 * once by a connection of its own.
 */
export interface Line {
  /** The next heartbeat is due in this many milliseconds. */
  due(wait: number): void
  /** `ask` gets the seconds for which the server may hold the poll. */
  poll<T>(ask: (hold: number) => Promise<T>): Promise<T>
  heartbeat<T>(ask: () => Promise<T>): Promise<T>
  /** The next poll lets this report go first. */
  first(report: Promise<unknown>): void
}

/** @param now milliseconds of a clock that nobody sets */
export const createLine = (now: () => number, signal: AbortSignal): Line => {
  let dueAt = 0
  let pollEndsAt = 0
  let polling: Promise<unknown> = Promise.resolve()
  let beating: Promise<unknown> = Promise.resolve()
  let reporting: Promise<unknown> = Promise.resolve()
  /** Resolves when the work has ended, or when it lets others wait for too long. */
  const ended = (work: Promise<unknown>): Promise<unknown> =>
    Promise.race([work.catch(() => undefined), pause(patience, signal)])
  return {
    due(wait) {
      dueAt = now() + wait
    },
    async poll(ask) {
      await ended(beating)
      await reporting
      const left = Math.ceil((dueAt - now()) / 1000)
      const hold = left > 0 ? Math.min(longestHold, left) : longestHold
      pollEndsAt = now() + hold * 1000
      const answer = ask(hold)
      polling = answer
      return answer
    },
    async heartbeat(ask) {
      const beat = (async () => {
        if (pollEndsAt - now() < nearEnd) await ended(polling)
        return ask()
      })()
      beating = beat
      return beat
    },
    first(report) {
      reporting = Promise.race([Promise.all([reporting, report]), pause(reportPatience, signal)])
    },
  }
}
