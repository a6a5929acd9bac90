/* What the bars of a chart are: their bounds in time, and the numbers beside them. No drawing here. */

export interface Point {
  readonly start: string
  readonly count: number
}
/** Counts from `from` to `to`, in milliseconds, the end exclusive; `running` while its end is still to come. */
export interface Bar {
  readonly from: number
  readonly to: number
  readonly count: number
  readonly running: boolean
  /** Whether it began before the window did, so that it counts a part of its time. */
  readonly isCut: boolean
  /** The count by series, in the order of the legend; the last one is all others. Absent where there is one series. */
  readonly parts?: readonly number[]
}
export interface Window {
  readonly from: string
  readonly to: string
}

const hour = 3_600_000
const day = 24 * hour
/** More can't be told apart, nor hit with a finger. */
export const mostBars = 60

/**
 * A series of counts as bars. The first and the last are cut where the window begins and ends, so that what a bar counts
 * and what its bounds find are the same bans.
 * @param bySeries the counts of each named series, aligned with `series`
 */
export const barsOf = (
  series: readonly Point[],
  window: Window,
  bySeries: readonly (readonly number[])[] = [],
): readonly Bar[] => {
  const [first, second] = series
  if (!first) return []
  const length = second ? Date.parse(second.start) - Date.parse(first.start) : hour
  const [from, to] = [Date.parse(window.from), Date.parse(window.to)]
  const group = Math.ceil(series.length / mostBars)
  const bars: Bar[] = []
  for (let index = 0; index < series.length; index += group) {
    const some = series.slice(index, index + group)
    const start = Date.parse(some[0]?.start ?? '')
    const end = Date.parse(some.at(-1)?.start ?? '') + length
    const count = some.reduce((sum, { count }) => sum + count, 0)
    const parts = bySeries.map(counts => counts.slice(index, index + group).reduce((sum, part) => sum + part, 0))
    bars.push({
      from: Math.max(start, from),
      // The clock of a host may be ahead of the end.
      to: start >= to ? end : Math.min(end, to),
      count,
      running: end > to,
      isCut: start < from,
      ...(bySeries.length > 0
        ? { parts: [...parts, Math.max(0, count - parts.reduce((sum, part) => sum + part, 0))] }
        : {}),
    })
  }
  return bars
}

const lengths = [hour, 2 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day] as const
/** Moments, oldest first, as bars of one length between the first of them and the end. */
export const barsOfMoments = (moments: readonly number[], end: number): readonly Bar[] => {
  const first = moments[0]
  if (first === undefined) return []
  const length =
    lengths.find(length => end - first <= length * 40) ?? 28 * day * Math.ceil((end - first) / (28 * day * 40))
  const start = Math.floor(first / length) * length
  const series: { start: string; count: number }[] = []
  for (let at = start; at < end; at += length) series.push({ start: new Date(at).toISOString(), count: 0 })
  for (const moment of moments) {
    const point = series[Math.min(series.length - 1, Math.floor((moment - start) / length))]
    if (point) point.count += 1
  }
  return barsOf(series, { from: new Date(first).toISOString(), to: new Date(end).toISOString() })
}

/** Whole numbers from zero, each once, at most five of them; the last is at least the highest count. */
export const ticksOf = (most: number): readonly number[] => {
  const least = Math.max(1, most) / 4
  const power = 10 ** Math.floor(Math.log10(least))
  const step = Math.max(1, [1, 2, 5, 10].map(n => n * power).find(size => size >= least) ?? 1)
  const count = Math.max(1, Math.ceil(most / step))
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

/** A moment in the time zone of the viewer. */
export interface Local {
  hourOf(at: number): number
  /** Anything that is the same for all moments of a date. */
  dateOf(at: number): string
}
/** How long the bars are, but for the first and the last, which may be cut short. */
const lengthOf = (bars: readonly Bar[]): number => {
  const usual = bars[1] ?? bars[0]
  return usual ? usual.to - usual.from : hour
}
/** The date that a bar belongs to: a day of the service may begin at any hour here, its middle is within its date. */
export const momentOf = (bars: readonly Bar[], { from, to }: Bar): number =>
  lengthOf(bars) > 12 * hour ? (from + to) / 2 : from

/**
 * The bars that get a label below them, the clock's or the date's: hours that are told by heart where the bars span few
 * days, else the first bar of each date, as many as there is room for.
 */
export const labelled = (
  bars: readonly Bar[],
  room: number,
  local: Local,
): { by: 'hour' | 'date'; at: readonly number[] } => {
  const span = lengthOf(bars) * bars.length
  if (lengthOf(bars) <= 12 * hour && span <= 3 * day) {
    const every = [1, 2, 3, 6, 12, 24].find(hours => span / hour / hours <= room) ?? 24
    return {
      by: 'hour',
      at: bars.flatMap(({ from }, index) => (index > 0 && local.hourOf(from) % every === 0 ? [index] : [])),
    }
  }
  const dates = bars.map(bar => local.dateOf(momentOf(bars, bar)))
  const first = bars.flatMap((_, index) => (dates[index] !== dates[index - 1] ? [index] : []))
  const every = Math.ceil(first.length / Math.max(1, room))
  return { by: 'date', at: first.filter((_, index) => (first.length - 1 - index) % every === 0) }
}
