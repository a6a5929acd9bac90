import { createPace } from './pace.ts'

/** `timeout`: the time is up. `closed`: the caller went away, or the server stops. */
export type WaitEnd = 'woken' | 'timeout' | 'closed'
/**
 * Agents that wait for something to do. Waking only says "look": what there is to do is read as ever, so that a lost
 * wake-up costs one poll and nothing else.
 */
export interface Waiting {
  /** Resolves when woken, after `milliseconds`, or when the caller went away, and says which it was first. */
  wait(serverNo: number, milliseconds: number, gone: AbortSignal): Promise<WaitEnd>
  /** Wakes the host's agent, in its turn when many are woken at once. */
  wake(serverNo: number): void
  /** Lets everybody go, for a graceful stop. */
  close(): void
}

/** @param utilization as that of `createPace` */
export const createWaiting = (utilization?: () => number): Waiting => {
  const waiters = new Map<number, Set<(end: WaitEnd) => void>>()
  let closed = false
  const pace = createPace(serverNo => {
    const mine = waiters.get(serverNo)
    for (const done of [...(mine ?? [])]) done('woken')
    return mine !== undefined
  }, utilization)
  return {
    wait(serverNo, milliseconds, gone) {
      // It asks again, so it has done what it was woken for.
      pace.back(serverNo)
      if (closed || gone.aborted) return Promise.resolve('closed')
      if (milliseconds <= 0) return Promise.resolve('timeout')
      return new Promise(resolve => {
        const mine = waiters.get(serverNo) ?? new Set()
        const leave = () => done('closed')
        const done = (end: WaitEnd) => {
          clearTimeout(timer)
          gone.removeEventListener('abort', leave)
          mine.delete(done)
          if (mine.size === 0) waiters.delete(serverNo)
          resolve(end)
        }
        const timer = setTimeout(done, milliseconds, 'timeout')
        gone.addEventListener('abort', leave)
        mine.add(done)
        waiters.set(serverNo, mine)
      })
    },
    wake(serverNo) {
      if (waiters.has(serverNo)) pace.add(serverNo)
    },
    close() {
      closed = true
      pace.close()
      for (const mine of [...waiters.values()]) for (const done of [...mine]) done('closed')
    },
  }
}
