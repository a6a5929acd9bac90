/** Runs pieces of work one after another, in the order of the calls. A failed one does not stop those after it. */
export const createSerial = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T> | T): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

/** Runs `work` once at a time. Calls during a run share that run. */
export const shareRuns = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | null = null
  return () => (running ??= work().finally(() => (running = null)))
}
