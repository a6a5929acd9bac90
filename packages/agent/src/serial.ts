/** Runs work one at a time, in the order of the calls. The caller gets the outcome; a failure doesn't stop later work. */
export type Serial = <T>(work: () => Promise<T>) => Promise<T>

export const createSerial = (): Serial => {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const outcome = last.then(work)
    last = outcome.catch(() => undefined)
    return outcome
  }
}

/** The work is done on the first call only. */
export const once = (work: () => void): (() => void) => {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

/** Lets the event loop do what waits, between portions of long work. */
export const eventLoopTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
