import { expect, it, vi } from 'vitest'
import {
  createBackoff,
  createBudget,
  createNap,
  onBeat,
  retryAfterOf,
  slotOf,
  untilBeat,
  untilSlot,
} from '../src/schedule.ts'

it('backs off with full jitter, doubling up to the cap, and starts over after a success', () => {
  const longest = createBackoff({ interval: () => 10_000, random: () => 1 })
  expect([1, 2, 3, 4, 5].map(() => longest.next())).toEqual([10_000, 20_000, 40_000, 60_000, 60_000])
  longest.reset()
  expect(longest.next()).toBe(10_000)
  const shortest = createBackoff({ interval: () => 30_000, random: () => 0 })
  expect(shortest.next()).toBe(0)
  const half = createBackoff({ interval: () => 4000, cap: 60_000, random: () => 0.5 })
  for (let i = 0; i < 100; i += 1) half.next()
  expect(half.next()).toBe(30_000)
})

it('does what the server asks for, within an hour', () => {
  const backoff = createBackoff({ interval: () => 30_000, random: () => 0 })
  expect(backoff.next(90_000)).toBe(90_000)
  expect(backoff.next(10 * 3_600_000)).toBe(3_600_000)
})

it.each([
  ['120', 120_000],
  ['0', 0],
  ['Sat, 21 Nov 2026 09:00:30 GMT', 30_000],
  ['Sat, 21 Nov 2026 08:00:00 GMT', 0],
  ['soon', null],
  ['-5', null],
  [undefined, null],
  [['1'], null],
])('Retry-After %j is %j', (header, expected) => {
  const value = retryAfterOf(header, Date.parse('2026-11-21T09:00:00Z'))
  // "-5" is a year to Date.parse on some engines: in the past, so no wait.
  if (header === '-5') expect(value === null || value === 0).toBe(true)
  else expect(value).toBe(expected)
})

it('spreads a fleet over the interval', () => {
  const buckets = Array<number>(30).fill(0)
  for (let i = 0; i < 3000; i += 1) {
    // Ids of version 7 made in the same millisecond begin alike.
    const slot = slotOf(`0192f0c1-2d3e-7a4b-8c5d-${i.toString(16).padStart(12, '0')}`, 30_000)
    const bucket = Math.floor(slot / 1000)
    buckets[bucket] = (buckets[bucket] ?? 0) + 1
  }
  expect(Math.min(...buckets)).toBeGreaterThan(60)
  expect(Math.max(...buckets)).toBeLessThan(140)
})

it('waits for the own slot, once in each interval', () => {
  const id = '0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b'
  let now = 1_795_250_132_123
  const first = now + untilSlot(id, 30_000, now)
  expect(first % 30_000).toBe(slotOf(id, 30_000))
  for (let i = 0; i < 5; i += 1) {
    const wait = untilSlot(id, 30_000, now)
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(30_000)
    now += wait
  }
  expect(now).toBe(first + 4 * 30_000)
})

it('keeps to its requests in any minute, polls first to wait and heartbeats last', () => {
  let now = 0
  const budget = createBudget({ perMinute: 80, now: () => now })
  const counts = { poll: 0, report: 0, heartbeat: 0 }
  for (const urgency of ['poll', 'report', 'heartbeat'] as const)
    while (budget.take(urgency) === 0) counts[urgency] += 1
  expect(counts).toEqual({ poll: 60, report: 12, heartbeat: 8 })
  now = 59_999
  expect(budget.take('heartbeat')).toBe(1)
  now = 60_000
  expect(budget.take('heartbeat')).toBe(0)
})

it('a nap is cut short by a wake, also one that came before it', async () => {
  const nap = createNap()
  const started = Date.now()
  nap.wake()
  // A nap that nothing cuts short outlasts the test.
  await nap.sleep(600_000)
  setTimeout(() => nap.wake(), 20)
  await nap.sleep(600_000)
  await nap.sleep(30)
  expect(Date.now() - started).toBeGreaterThanOrEqual(40)
})

it('waits until a multiple of half a second, and takes a timer that is a little early or late for on time', () => {
  expect(untilBeat(5000, 10_000)).toBe(5000)
  expect(untilBeat(5000, 10_030.2)).toBe(4970)
  expect(untilBeat(5000, 12_300)).toBe(2700)
  expect(untilBeat(12_000, 10_030.2)).toBe(11_970)
  expect(untilBeat(15_000, 9999)).toBe(15_001)
  expect(untilBeat(500, 999.6)).toBe(501)
  expect(untilBeat(500, 1480)).toBe(520)
})

it('does all work at intervals in the same moments', async () => {
  vi.useFakeTimers()
  try {
    const times: number[] = []
    const ends = [onBeat(500, () => times.push(performance.now()))]
    await vi.advanceTimersByTimeAsync(130)
    ends.push(onBeat(1000, () => times.push(performance.now())))
    await vi.advanceTimersByTimeAsync(2000)
    expect(times.length).toBeGreaterThanOrEqual(5)
    expect(times.map(time => time % 500).filter(offset => offset > 1)).toEqual([])
    for (const end of ends) end()
    times.length = 0
    await vi.advanceTimersByTimeAsync(2000)
    expect(times).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})
