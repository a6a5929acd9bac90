import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pacedReads } from './read-again.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The seconds at which is read, when messages come at these seconds. */
const readAt = (seconds: readonly number[], most = 30_000): readonly number[] => {
  const start = Date.now()
  const reads: number[] = []
  const readAgain = pacedReads(() => reads.push((Date.now() - start) / 1000))
  for (const second of seconds) setTimeout(() => readAgain(['stats'], { pause: 5000, most }), second * 1000)
  vi.runAllTimers()
  return reads
}
const every = (step: number, until: number) => Array.from({ length: until / step }, (_, index) => index * step)

it('reads at once, and what comes close to it once a pause later', () => {
  expect(readAt([0])).toEqual([0])
  expect(readAt([0, 1, 2, 3])).toEqual([0, 5])
})
it('reads twice a minute in a storm that goes on', () => {
  expect(readAt(every(0.5, 120))).toEqual([0, 5, 15, 35, 65, 95, 125])
  expect(readAt(every(10, 120)).length).toBeLessThanOrEqual(7)
})
it('reads at once again after a storm', () => {
  expect(readAt([...every(1, 20), 200])).toEqual([0, 5, 15, 35, 200])
})
it('keeps its pause where it does not grow', () => {
  expect(readAt(every(1, 20), 5000)).toEqual([0, 5, 10, 15, 20])
})
it('paces each key by itself', () => {
  const reads: string[] = []
  const readAgain = pacedReads(key => reads.push(key.join(' ')))
  for (const key of ['stats', 'attackers', 'stats']) readAgain([key], { pause: 5000, most: 30_000 })
  expect(reads).toEqual(['stats', 'attackers'])
  vi.runAllTimers()
  expect(reads).toEqual(['stats', 'attackers', 'stats'])
})
