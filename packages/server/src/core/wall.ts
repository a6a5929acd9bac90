import { day, hour, minute } from './clock.ts'

/** Making one takes longer than a hundred uses of it. */
const formats = new Map<string, Intl.DateTimeFormat>()
const mostFormats = 50
const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const knownFormat = formats.get(timeZone)
  if (knownFormat) return knownFormat
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  if (formats.size >= mostFormats) formats.clear()
  formats.set(timeZone, format)
  return format
}

/** The clock on the wall of a time zone: its date, and the hour. */
export const wallOf = (at: number, timeZone: string): { date: string; hour: number; offset: number } => {
  const parts = formatOf(timeZone).formatToParts(at)
  const of = (type: string) => Number(parts.find(part => part.type === type)?.value)
  const wall = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return {
    date: new Date(wall).toISOString().slice(0, 10),
    hour: of('hour'),
    offset: wall - Math.floor(at / 1000) * 1000,
  }
}
/** When a date begins in a time zone; where the clock jumps over midnight, when it jumps. */
export const beginOf = (date: string, timeZone: string): number => {
  const wall = Date.parse(`${date}T00:00:00Z`)
  let low = wall - day
  // The first quarter of an hour at which that date is on the wall: clocks change at such moments.
  for (const step of [hour, 15 * minute]) {
    while (wallOf(low, timeZone).date < date) low += step
    if (step === hour) low -= hour
  }
  return low
}
