import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { minute, second } from './clock.ts'

/** Milliseconds between two looks, and between two collections at least. */
const lookEvery = 15 * second
const againAfter = minute
/** The share of its time in which the thread may be busy, and bytes by which its heap grew. */
const calm = 0.1
const worthwhile = 4 * 1024 * 1024
/** Bytes of a heap at most: with more a collection would stop the thread for longer than a caller should wait. */
const largest = 192 * 1024 * 1024

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void
/** V8's own function, which Node offers behind a flag only. */
const collector = (): Collect => {
  setFlagsFromString('--expose-gc')
  const collect: Collect = runInNewContext('gc')
  return collect
}

/**
 * Gives back to the system what the start or a burst of work left in this thread's heap. By itself V8 keeps the pages of a heap that grew;
 * only this kind of collection moves what lives together and returns the rest. It stops the thread for some 50 ms with a heap of 40 MB, so it waits
 * until the thread has little to do.
 */
export const giveMemoryBack = (every = lookEvery): void => {
  const collect = collector()
  let lastUtilization = performance.eventLoopUtilization()
  let heapSize = 0
  let collectedAt = -Infinity
  const look = () => {
    const { utilization } = performance.eventLoopUtilization(lastUtilization)
    lastUtilization = performance.eventLoopUtilization()
    if (utilization > calm || performance.now() - collectedAt < againAfter) return
    const size = getHeapStatistics().total_heap_size
    if (size > largest || size - heapSize < worthwhile) return
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    heapSize = getHeapStatistics().total_heap_size
    collectedAt = performance.now()
  }
  setInterval(look, every).unref()
}
