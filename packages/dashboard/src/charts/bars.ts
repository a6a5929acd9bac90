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
 */
export const barsOf = (series: readonly Point[], window: Window): readonly Bar[] => {
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
    bars.push({
      from: Math.max(start, from),
      // The clock of a host may be ahead of the end.
      to: start >= to ? end : Math.min(end, to),
      count: some.reduce((sum, { count }) => sum + count, 0),
      running: end > to,
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

/**
 * The bars that get a label below them: hours of the clock that are told by heart, or evenly spread days.
 * @param hourOf the hour on the clock of whoever reads
 */
export const labelled = (bars: readonly Bar[], room: number, hourOf: (at: number) => number): readonly number[] => {
  const [first, second] = bars
  if (!first) return []
  const length = second ? second.to - second.from : first.to - first.from
  if (length <= 12 * hour && bars.length * length <= 3 * day) {
    const every = [1, 2, 3, 6, 12, 24].find(hours => (bars.length * length) / hour / hours <= room) ?? 24
    return bars.flatMap(({ from }, index) => (index > 0 && hourOf(from) % every === 0 ? [index] : []))
  }
  const every = Math.ceil(bars.length / Math.max(1, room))
  return bars.flatMap((_, index) => ((bars.length - 1 - index) % every === 0 ? [index] : []))
}
