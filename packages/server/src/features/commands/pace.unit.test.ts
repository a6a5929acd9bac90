import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPace } from './pace.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const leastWidth = 512
const mostWidth = 1024
const widening = 128
/** A thread that works for this share of its time, and the hosts that it let go, in their order. */
const paceAt = (share: number) => {
  const gone: number[] = []
  const thread = { share }
  const pace = createPace(
    serverNo => {
      gone.push(serverNo)
      return true
    },
    () => thread.share,
  )
  const addAll = (first: number, last: number) => {
    for (let no = first; no <= last; no++) pace.add(no)
  }
  return { pace, gone, thread, addAll }
}
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('few hosts go at once', () => {
  const { gone, addAll } = paceAt(1)
  addAll(1, leastWidth)
  expect(gone).toEqual(numbers(leastWidth))
  expect(vi.getTimerCount()).toBe(0)
})

test('of many, one goes for each that is back, in the order in which they were added', () => {
  const { pace, gone, addAll } = paceAt(0.9)
  addAll(1, 1000)
  expect(gone).toHaveLength(leastWidth)
  // Added again: it keeps its turn, and goes once.
  pace.add(1000)
  for (let no = 1; no <= 1000; no++) pace.back(no)
  expect(gone).toEqual(numbers(1000))
  vi.advanceTimersByTime(50)
  expect(vi.getTimerCount()).toBe(0)
})

test('a calm thread lets more go, a busy one fewer', () => {
  const { pace, gone, thread, addAll } = paceAt(0.5)
  const most = leastWidth + 2 * widening
  addAll(1, 2000)
  vi.advanceTimersByTime(100)
  expect(gone).toHaveLength(most)
  vi.advanceTimersByTime(1000)
  expect(gone).toHaveLength(mostWidth)
  thread.share = 1
  vi.advanceTimersByTime(500)
  // Another one goes only when fewer than the least number are at work.
  for (let no = 1; no <= mostWidth - leastWidth; no++) pace.back(no)
  expect(gone).toHaveLength(mostWidth)
  pace.back(mostWidth)
  expect(gone).toHaveLength(mostWidth + 1)
})

test('hosts that never come back leave their places after two seconds', () => {
  const { gone, addAll } = paceAt(1)
  const count = 2 * leastWidth + 100
  addAll(1, count)
  vi.advanceTimersByTime(1900)
  expect(gone).toHaveLength(leastWidth)
  vi.advanceTimersByTime(150)
  expect(gone).toHaveLength(2 * leastWidth)
  vi.advanceTimersByTime(2100)
  expect(gone).toHaveLength(count)
  expect(vi.getTimerCount()).toBe(0)
})

test('a host that does not wait any more takes no place', () => {
  const asked: number[] = []
  const pace = createPace(serverNo => {
    asked.push(serverNo)
    return serverNo > 500
  })
  for (let no = 1; no <= 500 + leastWidth; no++) pace.add(no)
  expect(asked).toHaveLength(500 + leastWidth)
})

test('a stop lets all go', () => {
  const { pace, gone, addAll } = paceAt(1)
  addAll(1, 1000)
  pace.close()
  expect(gone).toHaveLength(1000)
  expect(vi.getTimerCount()).toBe(0)
})
