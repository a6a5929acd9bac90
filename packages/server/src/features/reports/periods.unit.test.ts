import { describe, expect, test } from 'vitest'
import { isDate, lastDue, nextDue, periodBefore, periodOf, spanOf, stepsOf } from './periods.ts'

const hours = ({ from, to }: { from: number; to: number }) => (to - from) / 3_600_000
const at = (text: string) => Date.parse(text)

describe('periods', () => {
  test('weeks begin on Monday, months have their own length, also across years', () => {
    expect(periodOf('week', '2027-01-03')).toEqual({ first: '2026-12-28', end: '2027-01-04' })
    expect(periodOf('week', '2027-01-04')).toEqual({ first: '2027-01-04', end: '2027-01-11' })
    expect(periodOf('month', '2028-02-29')).toEqual({ first: '2028-02-01', end: '2028-03-01' })
    expect(periodBefore('month', periodOf('month', '2027-01-15'))).toEqual({ first: '2026-12-01', end: '2027-01-01' })
    expect(periodBefore('day', periodOf('day', '2027-03-01'))).toEqual({ first: '2027-02-28', end: '2027-03-01' })
  })
  test('have exact boundaries in their time zone, also where the clock changes', () => {
    const vienna = 'Europe/Vienna'
    expect(spanOf(periodOf('day', '2027-03-28'), vienna)).toEqual({
      from: at('2027-03-27T23:00:00Z'),
      to: at('2027-03-28T22:00:00Z'),
    })
    expect(hours(spanOf(periodOf('day', '2027-10-31'), vienna))).toBe(25)
    expect(hours(spanOf(periodOf('month', '2027-10-05'), vienna))).toBe(31 * 24 + 1)
    expect(hours(spanOf(periodOf('week', '2027-03-24'), 'Asia/Kolkata'))).toBe(7 * 24)
    expect(spanOf(periodOf('day', '2027-05-01'), 'Asia/Kolkata').from).toBe(at('2027-04-30T18:30:00Z'))
  })
  test('are cut into steps that leave nothing out', () => {
    expect(stepsOf('day', periodOf('day', '2027-10-31'), 'Europe/Vienna')).toHaveLength(26)
    const steps = stepsOf('month', periodOf('month', '2027-03-01'), 'Europe/Vienna')
    expect(steps).toHaveLength(32)
    expect((steps[28] ?? 0) - (steps[27] ?? 0)).toBe(23 * 3_600_000)
  })
  test('dates that the calendar does not have are refused', () => {
    expect(['2027-02-29', '2027-13-01', '1970-01-01', 'yesterday', '9999-01-01'].filter(isDate)).toEqual([])
    expect(isDate('2028-02-29')).toBe(true)
  })
})

describe('a schedule', () => {
  const timing = { hour: 7, weekday: 1, day: 1 }
  test('was last due at its hour of a day, a weekday or a day of the month', () => {
    const due = (period: 'day' | 'week' | 'month', now: string, more = {}) =>
      lastDue({ ...timing, period, ...more }, at(now), 'Europe/Vienna')
    expect(due('day', '2027-01-05T05:59:59Z')).toBe('2027-01-04')
    expect(due('day', '2027-01-05T06:00:00Z')).toBe('2027-01-05')
    expect(due('week', '2027-01-04T05:59:59Z')).toBe('2026-12-28')
    expect(due('week', '2027-01-04T06:00:00Z')).toBe('2027-01-04')
    expect(due('week', '2027-01-10T23:30:00Z', { weekday: 7 })).toBe('2027-01-10')
    expect(due('month', '2027-01-01T05:00:00Z')).toBe('2026-12-01')
    expect(due('month', '2027-01-01T06:00:00Z')).toBe('2027-01-01')
    expect(due('month', '2027-03-10T06:00:00Z', { day: 28 })).toBe('2027-02-28')
  })
  test('is due next at its hour, also on the day that has no such hour', () => {
    const next = (period: 'day' | 'week' | 'month', last: string, hour = 7) =>
      new Date(nextDue({ ...timing, period, hour }, last, 'Europe/Vienna')).toISOString()
    expect(next('day', '2027-03-27', 2)).toBe('2027-03-28T01:00:00.000Z')
    expect(next('day', '2027-10-30', 2)).toBe('2027-10-31T00:00:00.000Z')
    expect(next('week', '2027-03-22')).toBe('2027-03-29T05:00:00.000Z')
    expect(next('month', '2026-12-01')).toBe('2027-01-01T06:00:00.000Z')
  })
})
