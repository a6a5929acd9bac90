import { day } from '../../core/clock.ts'
import { beginOf, wallOf } from '../../core/wall.ts'

/* Periods are of dates on the wall of a time zone. A day with a change of the clock has 23 or 25 hours. */

export type Period = 'day' | 'week' | 'month'
/** Dates such as `2026-11-01`; `end` is the first date after the period. */
export interface Dates {
  readonly first: string
  readonly end: string
}

const utc = (date: string): number => Date.parse(`${date}T00:00:00Z`)
const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
export const addDays = (date: string, days: number): string => dateOf(utc(date) + days * day)
/** 1 is Monday, 7 is Sunday. */
const weekdayOf = (date: string): number => new Date(utc(date)).getUTCDay() || 7
const monthAfter = (first: string): string => {
  const at = new Date(utc(first))
  return dateOf(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))
}

/** Whether the text is a date of the calendar within the years that reports are made for. */
export const isDate = (text: string): boolean => {
  const at = utc(text)
  return !Number.isNaN(at) && dateOf(at) === text && text >= '2000-01-01' && text < '2200-01-01'
}

/** The period that holds a date. Weeks begin on Monday. */
export const periodOf = (period: Period, date: string): Dates => {
  if (period === 'day') return { first: date, end: addDays(date, 1) }
  const first = period === 'week' ? addDays(date, 1 - weekdayOf(date)) : `${date.slice(0, 8)}01`
  return { first, end: period === 'week' ? addDays(first, 7) : monthAfter(first) }
}
export const periodBefore = (period: Period, { first }: Dates): Dates => periodOf(period, addDays(first, -1))

export interface Span {
  readonly from: number
  readonly to: number
}
export const spanOf = ({ first, end }: Dates, timezone: string): Span => ({
  from: beginOf(first, timezone),
  to: beginOf(end, timezone),
})
/** Beginnings of the hours of a day, or of the days of a longer period, and the end. */
export const stepsOf = (period: Period, dates: Dates, timezone: string): number[] => {
  const { from, to } = spanOf(dates, timezone)
  const steps: number[] = []
  if (period === 'day') for (let at = from; at < to; at += day / 24) steps.push(at)
  else for (let date = dates.first; date < dates.end; date = addDays(date, 1)) steps.push(beginOf(date, timezone))
  return [...steps, to]
}

interface Timing {
  readonly period: Period
  readonly hour: number
  readonly weekday: number
  readonly day: number
}
/** The date at which the schedule was last due. */
export const lastDue = ({ period, hour, weekday, day: monthDay }: Timing, now: number, timezone: string): string => {
  const wall = wallOf(now, timezone)
  const today = wall.hour >= hour ? wall.date : addDays(wall.date, -1)
  if (period === 'day') return today
  if (period === 'week') return addDays(today, -((weekdayOf(today) - weekday + 7) % 7))
  const inMonth = addDays(`${today.slice(0, 8)}01`, monthDay - 1)
  return inMonth <= today ? inMonth : addDays(periodBefore('month', periodOf('month', today)).first, monthDay - 1)
}
/** When it is due after that date: the first moment of the hour, or of a later one where the clock leaps over it. */
export const nextDue = (timing: Timing, last: string, timezone: string): number => {
  const { period, day: monthDay, hour } = timing
  const date =
    period === 'month' ? addDays(periodOf('month', last).end, monthDay - 1) : addDays(last, period === 'week' ? 7 : 1)
  let at = beginOf(date, timezone)
  const end = beginOf(addDays(date, 1), timezone)
  while (at + day / 96 < end && wallOf(at, timezone).hour < hour) at += day / 96
  return at
}
