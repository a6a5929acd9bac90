/**
 * Agents that wait for something to do. Waking only says "look": what there is to do is read as ever, so that a lost
 * wake-up costs one poll and nothing else.
 */
export interface Waiting {
  /** Resolves when woken, after `milliseconds`, or when the caller went away. */
  wait(serverNo: number, milliseconds: number, gone: AbortSignal): Promise<void>
  wake(serverNo: number): void
  /** Lets everybody go, for a graceful stop. */
  close(): void
}

export const createWaiting = (): Waiting => {
  const waiters = new Map<number, Set<() => void>>()
  let closed = false
  return {
    wait(serverNo, milliseconds, gone) {
      if (closed || gone.aborted || milliseconds <= 0) return Promise.resolve()
      return new Promise(resolve => {
        const mine = waiters.get(serverNo) ?? new Set()
        const done = () => {
          clearTimeout(timer)
          gone.removeEventListener('abort', done)
          mine.delete(done)
          if (mine.size === 0) waiters.delete(serverNo)
          resolve()
        }
        const timer = setTimeout(done, milliseconds)
        gone.addEventListener('abort', done)
        mine.add(done)
        waiters.set(serverNo, mine)
      })
    },
    wake(serverNo) {
      for (const done of [...(waiters.get(serverNo) ?? [])]) done()
    },
    close() {
      closed = true
      for (const mine of [...waiters.values()]) for (const done of [...mine]) done()
    },
  }
}
