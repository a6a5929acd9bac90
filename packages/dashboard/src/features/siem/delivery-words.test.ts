import { describe, expect, it } from 'vitest'
import { failingSince, healthOf, lastHours, rateOf, ratePerMinute } from './delivery-words.ts'
import type { Delivery, SiemStatus } from './queries.ts'

const now = Date.parse('2026-11-20T09:30:00.000Z')
const attempt = (secondsAgo: number, ok: boolean, events = 10): Delivery => ({
  at: new Date(now - secondsAgo * 1000).toISOString(),
  events,
  bytes: 100,
  ok,
  status: null,
  error: ok ? null : 'refused',
  next_try: null,
})
const status = (change: Partial<SiemStatus>): SiemStatus => ({
  enabled: true,
  connected: false,
  queue_size: 0,
  events_sent_today: 0,
  events_failed_today: 0,
  last_event: null,
  last_error: null,
  uptime_percent: null,
  ...change,
})

describe('how delivery does', () => {
  it.each([
    [{ enabled: false, last_error: 'x' }, 'off'],
    [{ connected: true }, 'connected'],
    [{ last_error: 'refused' }, 'failing'],
    [{}, 'waiting'],
  ] as const)('%j is %s', (change, health) => expect(healthOf(status(change))).toBe(health))

  it('has failed since the first attempt after the last good one', () => {
    expect(failingSince([])).toBeNull()
    expect(failingSince([attempt(1, true), attempt(5, false)])).toBeNull()
    expect(failingSince([attempt(1, false), attempt(5, false), attempt(9, true), attempt(12, false)])).toEqual({
      at: attempt(5, false).at,
      longer: false,
    })
    expect(failingSince([attempt(1, false), attempt(5, false)])).toEqual({ at: attempt(5, false).at, longer: false })
    expect(failingSince(Array.from({ length: 100 }, (_, index) => attempt(index, false)))?.longer).toBe(true)
  })
  it('has a rate of what was taken in five minutes, or since the oldest that is known', () => {
    expect(ratePerMinute([], now)).toBe(0)
    expect(ratePerMinute([attempt(10, true, 20), attempt(20, false, 99), attempt(200, true, 5)], now)).toBe(5)
    expect(ratePerMinute([attempt(400, true)], now)).toBe(0)
    const many = Array.from({ length: 100 }, (_, index) => attempt(index + 1, true, 100))
    expect(ratePerMinute(many, now)).toBeCloseTo((10_000 * 60) / 100)
  })
  it.each([
    [0, '0'],
    [0.25, '0.3'],
    [9.94, '9.9'],
    [41.6, '42'],
  ])('%d a minute is said as %s', (rate, words) => expect(rateOf(rate)).toBe(words))

  it('the hours of a day are the last 24, the present one last', () => {
    const byHour = Array.from({ length: 24 }, (_, hour) => ({ hour, count: hour * 10 }))
    const series = lastHours(byHour, now)
    expect(series).toHaveLength(24)
    expect(series.at(-1)).toEqual({ start: '2026-11-20T09:00:00.000Z', count: 90 })
    expect(series[0]).toEqual({ start: '2026-11-19T10:00:00.000Z', count: 100 })
    expect(series.reduce((sum, { count }) => sum + count, 0)).toBe(2760)
  })
})
