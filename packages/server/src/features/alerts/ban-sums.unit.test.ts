import { expect, test } from 'vitest'
import { judgeBans, previewOf, recentBans, usualBans } from './ban-sums.ts'

const hour = 3_600_000
const day = 24 * hour
const now = Date.UTC(2026, 10, 23, 12, 30)
const series = (countAt: (bucket: number) => number) => ({
  step: hour,
  counts: new Map(
    Array.from({ length: 240 }, (_, back) => now - (now % hour) - back * hour).map(at => [at, countAt(at)]),
  ),
})

test('a window slides over the hours', () => {
  const even = series(() => 60)
  // Half of the running hour is over: its bans, and half of those of the hour before.
  expect(recentBans(even, now, hour)).toBe(90)
  expect(
    recentBans(
      series(at => (at > now - hour / 2 - 1 ? 30 : 60)),
      now,
      hour,
    ),
  ).toBe(60)
  expect(recentBans(even, now, 3 * hour)).toBe(60 * 3 + 30)
})

test('the usual is the mean of seven days, and unknown without a day of history', () => {
  expect(
    usualBans(
      series(() => 12),
      now,
    ),
  ).toBe(12)
  expect(
    usualBans(
      series(at => (at > now - 10 * hour ? 5 : 0)),
      now,
    ),
  ).toBeNull()
  const burst = series(at => (at > now - hour ? 300 : 12))
  expect(judgeBans('bans-unusual', { factor: 10, minimum: 20 }, burst, now)).toMatchObject({ isOver: true, limit: 120 })
  expect(judgeBans('bans-unusual', { factor: 50, minimum: 20 }, burst, now)).toMatchObject({ isOver: false })
  // Ten times of nearly nothing is nothing.
  const quiet = series(at => (at > now - hour ? 10 : at % day === 0 ? 1 : 0))
  expect(judgeBans('bans-unusual', {}, quiet, now)).toMatchObject({ isOver: false, limit: 20 })
})

test('the preview names the hours in a row', () => {
  const from = now - (now % hour) - 20 * hour
  const busy = series(at => (at >= from && at < from + 3 * hour ? 100 : 1))
  expect(previewOf('bans-over', { threshold: 100 }, busy, now)).toEqual([{ from, to: from + 3 * hour, highest: 100 }])
})
