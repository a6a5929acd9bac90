import { parentPort, workerData } from 'node:worker_threads'
import { parseRange } from '../../core/ip.ts'
import { buffersOf, packEntries } from './intervals.ts'
import type { Listed } from './intervals.ts'

/* Packs a long whitelist in a thread of its own, off the event loop. */

export interface PackJob {
  readonly ids: Float64Array
  /** One entry a line, in the order of the ids. */
  readonly lines: string
}

const { ids, lines } = workerData as PackJob
const listed = lines.split('\n').flatMap((line, index): Listed[] => {
  const range = parseRange(line)
  return range ? [{ id: ids[index] ?? 0, range }] : []
})
const packed = packEntries(listed)
parentPort?.postMessage(packed, buffersOf(packed))
