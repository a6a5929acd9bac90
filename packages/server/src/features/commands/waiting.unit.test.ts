import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWaiting } from './waiting.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const count = 2000
const nos = Array.from({ length: count }, (_, index) => index + 1)
const hold = 25_000
const never = new AbortController().signal

/** Agents that wait once each; `woken` has the numbers of those that were answered. */
const waitOnce = (waiting: ReturnType<typeof createWaiting>) => {
  const woken = new Set<number>()
  for (const no of nos) void waiting.wait(no, hold, never).then(() => woken.add(no))
  return woken
}

test('a change for all reaches each agent, also where none of them ever comes back', async () => {
  const waiting = createWaiting(() => 1)
  const woken = waitOnce(waiting)
  for (const no of nos) waiting.wake(no)
  await vi.advanceTimersByTimeAsync(0)
  expect(woken.size).toBeGreaterThan(0)
  expect(woken.size).toBeLessThan(count)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(woken.size).toBe(count)
  expect(vi.getTimerCount()).toBe(0)
})

test('agents that come back make room for the others without a timer', async () => {
  const waiting = createWaiting(() => 1)
  const woken = new Map(nos.map(no => [no, 0]))
  const gone = new AbortController()
  const live = async (no: number) => {
    while (!gone.signal.aborted) {
      await waiting.wait(no, hold, gone.signal)
      woken.set(no, (woken.get(no) ?? 0) + 1)
    }
  }
  const lives = nos.map(live)
  for (const no of nos) waiting.wake(no)
  await vi.advanceTimersByTimeAsync(0)
  expect(new Set(woken.values())).toEqual(new Set([1]))
  gone.abort()
  await Promise.all(lives)
})

test('an agent whose time is up, or that leaves, does not wait for its turn', async () => {
  const waiting = createWaiting(() => 1)
  const woken = waitOnce(waiting)
  const short = waiting.wait(count + 1, 40, never)
  const leaving = new AbortController()
  const left = waiting.wait(count + 2, hold, leaving.signal)
  for (const no of [...nos, count + 1, count + 2]) waiting.wake(no)
  leaving.abort()
  await left
  await vi.advanceTimersByTimeAsync(40)
  await short
  expect(woken.size).toBeLessThan(count)
  waiting.close()
  await vi.advanceTimersByTimeAsync(0)
  expect(woken.size).toBe(count)
  expect(vi.getTimerCount()).toBe(0)
})

test('a stolen host that polls a thousand times at once takes one place', async () => {
  const waiting = createWaiting(() => 1)
  let answers = 0
  for (let n = 0; n < 1000; n++) void waiting.wait(count + 1, hold, never).then(() => answers++)
  waiting.wake(count + 1)
  const woken = waitOnce(waiting)
  for (const no of nos.slice(0, 511)) waiting.wake(no)
  await vi.advanceTimersByTimeAsync(0)
  expect(answers).toBe(1000)
  expect(woken.size).toBe(511)
  waiting.close()
  await vi.advanceTimersByTimeAsync(0)
})

test('an agent hears whether it was woken, its time is up or it is let go', async () => {
  const waiting = createWaiting(() => 0)
  const leaving = new AbortController()
  const ends = [
    waiting.wait(1, hold, never),
    waiting.wait(2, 40, never),
    waiting.wait(3, hold, leaving.signal),
    waiting.wait(4, hold, never),
  ]
  waiting.wake(1)
  leaving.abort()
  await vi.advanceTimersByTimeAsync(40)
  waiting.close()
  expect(await Promise.all(ends)).toEqual(['woken', 'timeout', 'closed', 'closed'])
  expect(await waiting.wait(5, hold, never)).toBe('closed')
})
