export interface Lanes {
  run(lane: string | null, work: () => Promise<void>): void
  /** Resolves when all work so far is done. */
  idle(): Promise<void>
}

/**
 * Commands for the same jail run in order, those for different jails in parallel. A command for all of fail2ban waits for
 * every command before it, and every command after it waits for it.
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
