import { second } from '../../core/clock.ts'

/** Number of hosts that may be at work at least, however busy the thread is: their acknowledgements share transactions. */
const leastWidth = 512
/** And at most: hosts that share a busy machine or link with each other leave this thread idle, and still must not all come at once. */
const mostWidth = 1024
/** Milliseconds between two looks at how busy the thread is, while hosts wait for their turn. */
const lookEvery = 50
/** The share of its time for which the thread works: below, more hosts may be at work; above, fewer. */
const calm = 0.8
const busy = 0.95
const widening = 128
const narrowing = 0.75
/** A host that is not back after so long leaves its place to another, milliseconds. */
const patience = 2 * second

/**
 * Lets hosts go to work at the pace at which this thread gets their requests done. A change for all would otherwise bring the requests of all hosts at
 * once: they open further connections meanwhile, and whatever else is asked of the server waits behind them for seconds.
 */
export interface Pace {
  /** Lets the host go, now or in its turn. */
  add(serverNo: number): void
  /** The host has done what it was let go for. */
  back(serverNo: number): void
  /** Lets go all that wait, for a graceful stop. */
  close(): void
}

/** The share of its time for which this thread worked since the last question, from 0 to 1. */
const createUtilization = () => {
  let lastUtilization = performance.eventLoopUtilization()
  return () => {
    const { utilization } = performance.eventLoopUtilization(lastUtilization)
    lastUtilization = performance.eventLoopUtilization()
    return utilization
  }
}

/**
 * @param go returns false when the host does not wait any more, so that nothing comes of it
 * @param utilization the share of its time for which the thread worked since the last question, from 0 to 1
 */
export const createPace = (go: (serverNo: number) => boolean, utilization = createUtilization()): Pace => {
  /** In the order in which they were added. A host that is added again keeps its turn. */
  const queued = new Set<number>()
  /** When each host went, in that order, milliseconds of `performance.now()`. */
  const atWork = new Map<number, number>()
  let width = leastWidth
  let timer: NodeJS.Timeout | undefined

  const letGo = (serverNo: number) => {
    if (!go(serverNo)) return
    atWork.delete(serverNo)
    atWork.set(serverNo, performance.now())
  }
  const advance = () => {
    for (const serverNo of queued) {
      if (atWork.size >= width) return
      queued.delete(serverNo)
      letGo(serverNo)
    }
  }
  const dropLate = () => {
    const last = performance.now() - patience
    for (const [serverNo, since] of atWork) {
      if (since > last) return
      atWork.delete(serverNo)
    }
  }
  const look = () => {
    dropLate()
    const share = utilization()
    if (share < calm) width = Math.min(mostWidth, width + widening)
    else if (share > busy) width = Math.max(leastWidth, Math.floor(width * narrowing))
    advance()
    if (queued.size === 0) stop()
  }
  const stop = () => {
    clearInterval(timer)
    timer = undefined
    width = leastWidth
  }
  return {
    add(serverNo) {
      if (timer === undefined) dropLate()
      if (queued.size === 0 && atWork.size < width) return letGo(serverNo)
      queued.add(serverNo)
      if (timer !== undefined) return
      utilization()
      timer = setInterval(look, lookEvery)
    },
    back(serverNo) {
      if (atWork.delete(serverNo)) advance()
    },
    close() {
      stop()
      for (const serverNo of queued) go(serverNo)
      queued.clear()
    },
  }
}
