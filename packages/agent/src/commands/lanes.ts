export interface Lanes {
  run(lane: string | null, work: () => Promise<void>): void
  /** Resolves when everything that was begun so far is done. */
  idle(): Promise<void>
}

/**
 * Commands for the same jail run in order, those of different jails side by side; a command for the whole engine waits
 * for all before it, and all after it wait for it.
 */
export const createLanes = (): Lanes => {
  const lanes = new Map<string, Promise<void>>()
  let barrier: Promise<void> = Promise.resolve()

  return {
    run(lane: string | null, work: () => Promise<void>): void {
      if (lane === null) {
        barrier = Promise.all([barrier, ...lanes.values()]).then(work)
        lanes.clear()
        return
      }
      const end = Promise.all([barrier, lanes.get(lane)]).then(work)
      lanes.set(lane, end)
      void end.then(() => {
        if (lanes.get(lane) === end) lanes.delete(lane)
      })
    },
    idle: async (): Promise<void> => void (await Promise.all([barrier, ...lanes.values()])),
  }
}
