import { locale, textsOf } from './texts/catalogue.ts'
import { browserZone, preferences, shownZone } from './preferences.ts'
import { timeTexts } from './time.texts.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const formatters = new Map<string, Intl.DateTimeFormat>()
type Cycle = 'h23' | 'h12'
const cycle = (): Cycle => (preferences.read().clock === '12' ? 'h12' : 'h23')
const formatter = (key: string, options: Intl.DateTimeFormatOptions, zone: string, hourCycle = cycle()) => {
  const name = `${key} ${zone} ${hourCycle}`
  const format = formatters.get(name) ?? new Intl.DateTimeFormat(locale, { hourCycle, ...options, timeZone: zone })
  formatters.set(name, format)
  return format
}

/* Where no zone is named, times are told in the one of the preferences. */

/** `14:02`, or `02:02 pm` */
export const clockTime = (at: number, zone = shownZone()): string =>
  formatter('clock', { hour: '2-digit', minute: '2-digit' }, zone).format(at)

/** `Friday 20 November` */
export const longDay = (at: number, zone = shownZone()): string =>
  formatter('long day', { weekday: 'long', day: 'numeric', month: 'long' }, zone).format(at)

/** `16 – 22 Nov 2026`, `22 Nov 2026`: days of a calendar, given as `2026-11-16`. */
export const daysBetween = (first: string, last: string): string =>
  formatter('days', { day: 'numeric', month: 'short', year: 'numeric' }, 'UTC').formatRange(
    Date.parse(first),
    Date.parse(last),
  )

/** `20 Nov 14:04`, with the year where it is not this one. */
export const shortDate = (at: number, now: number, zone = shownZone()): string => {
  const sameYear =
    formatter('year', { year: 'numeric' }, zone).format(at) === formatter('year', { year: 'numeric' }, zone).format(now)
  const date = formatter(
    sameYear ? 'day' : 'full day',
    { day: 'numeric', month: 'short', ...(sameYear ? {} : { year: 'numeric' }) },
    zone,
  ).format(at)
  return `${date} ${clockTime(at, zone)}`
}

/** `14:02` of today, else `20 Nov`, with the year where it is not this one: for places that have no room for both. */
export const shortDay = (at: number, now: number, zone = shownZone()): string => {
  const dayOf = (moment: number) => parts(moment, zone).date
  if (dayOf(at) === dayOf(now)) return clockTime(at, zone)
  const sameYear = dayOf(at).slice(0, 4) === dayOf(now).slice(0, 4)
  const date = { day: 'numeric', month: 'short' } as const
  return sameYear
    ? formatter('day', date, zone).format(at)
    : formatter('full day', { ...date, year: 'numeric' }, zone).format(at)
}

const parts = (at: number, zone: string, hourCycle = cycle()) => {
  const textByPart = Object.fromEntries(
    formatter(
      'exact',
      {
        year: 'numeric',
        month: '2-digit',
        day: '2-digit',
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
      },
      zone,
      hourCycle,
    )
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  return {
    date: `${textByPart.year ?? ''}-${textByPart.month ?? ''}-${textByPart.day ?? ''}`,
    time: `${textByPart.hour ?? ''}:${textByPart.minute ?? ''}:${textByPart.second ?? ''}${textByPart.dayPeriod ? ` ${textByPart.dayPeriod}` : ''}`,
  }
}

/** `2026-11-20 14:04:12 Europe/Berlin · 13:04:12 UTC`; the second date only where it differs. */
export const exactTime = (at: number, zone = shownZone()): string => {
  const here = parts(at, zone)
  if (zone === 'UTC') return `${here.date} ${here.time} UTC`
  const utc = parts(at, 'UTC')
  return `${here.date} ${here.time} ${zone} · ${utc.date === here.date ? '' : `${utc.date} `}${utc.time} UTC`
}

/** `2026-11-20T14:04:12`: how a field for a moment takes it, in the zone of the browser. */
export const localInput = (at: number, zone = browserZone): string => {
  const { date, time } = parts(at, zone, 'h23')
  return `${date}T${time}`
}

/** `14:40` of today, `tomorrow 11:04`, `yesterday 20:59`, else with the date: for the end of a ban. */
export const dayTime = (at: number, now: number, zone = shownZone()): string => {
  const t = textsOf(timeTexts)
  const dayOf = (moment: number) => parts(moment, zone).date
  const time = clockTime(at, zone)
  const date = dayOf(at)
  if (date === dayOf(now)) return time
  if (date === dayOf(now + day)) return t.tomorrow(time)
  if (date === dayOf(now - day)) return t.yesterday(time)
  return shortDate(at, now, zone)
}

/** A text in which the service wrote moments, such as `2026-11-20T13:04:12.000Z`, with each told as here. */
export const withLocalTimes = (text: string, now: number, zone = shownZone()): string =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z/g, found => {
    const at = Date.parse(found)
    return Number.isNaN(at) ? found : dayTime(at, now, zone)
  })

/** How long ago, for times of the last 24 hours; older ones by their date. The future counts as now: clocks differ. */
export const ago = (at: number, now: number, zone = shownZone()): string => {
  const t = textsOf(timeTexts)
  const passed = now - at
  if (passed < 2 * second) return t.justNow
  if (passed < minute) return t.secondsAgo(Math.floor(passed / second))
  if (passed < hour) return t.minutesAgo(Math.floor(passed / minute))
  if (passed < day) return t.hoursAgo(Math.floor(passed / hour))
  return shortDate(at, now, zone)
}

/** A length in one or two units: `59 s`, `10 min`, `1 h 30 min`, `3 d`. In seconds; -1 is permanent. */
export const duration = (seconds: number): string => {
  const t = textsOf(timeTexts)
  if (seconds < 0) return t.permanent
  const units = [
    [86_400, t.days],
    [3600, t.hours],
    [60, t.minutes],
    [1, t.seconds],
  ] as const
  const first = units.findIndex(([size]) => seconds >= size)
  const [size, word] = units[first] ?? units[3]
  const count = Math.floor(seconds / size)
  const next = units[first + 1]
  const rest = next ? Math.floor((seconds - count * size) / next[0]) : 0
  return next && rest > 0 && count < 10 ? `${word(count)} ${next[1](rest)}` : word(count)
}

export interface Ending {
  readonly active: boolean
  readonly banned_at: string
  readonly ban_duration: number | null
  readonly expires_at: string | null
  readonly unbanned_at: string | null
}
/** When a ban ends or ended, never negative: `59 min left`, `Permanent`, `Ended 14:02`, `End unknown`. */
export const ending = (ban: Ending, now: number, zone = shownZone()): string => {
  const t = textsOf(timeTexts)
  const end = ban.expires_at === null ? null : Date.parse(ban.expires_at)
  if (!ban.active) {
    const over = ban.unbanned_at === null ? end : Date.parse(ban.unbanned_at)
    if (over === null) return t.ended
    return t.endedAt(dayTime(over, now, zone))
  }
  if (ban.ban_duration === -1) return t.permanent
  if (end === null) return t.endUnknown
  const left = end - now
  return left <= 0 ? t.ending : t.left(duration(left < 2 * minute ? Math.ceil(left / second) : leftOf(left)))
}
/** Whole minutes, hours or days: what is left changes too often for a second unit to be read. */
const leftOf = (left: number) => {
  const size = left < 2 * hour ? minute : left < 2 * day ? hour : day
  return (Math.floor(left / size) * size) / second
}
