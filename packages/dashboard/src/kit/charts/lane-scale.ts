/** A part of the axis: a stretch of time and where it lies, from 0 to 1. */
interface Part {
  readonly from: number
  readonly to: number
  readonly start: number
  readonly end: number
}
export interface Scale {
  readonly from: number
  readonly to: number
  readonly parts: readonly Part[]
  /** Where the scale changes. */
  readonly breaks: readonly number[]
}

/** Where a moment lies, from 0 to 1; what is outside lies at the end. */
export const at = ({ parts, from, to }: Scale, moment: number): number => {
  if (moment <= from) return 0
  if (moment >= to) return 1
  const part = parts.find(one => moment < one.to) ?? parts.at(-1)
  if (!part) return 0
  const { from: first, to: last, start, end } = part
  // A moment in the gap of a break lies at its end.
  const inside = Math.max(0, (moment - first) / Math.max(1, last - first))
  return start + (end - start) * inside
}

export const linear = (from: number, to: number): Scale => ({
  from,
  to,
  parts: [{ from, to, start: 0, end: 1 }],
  breaks: [],
})

const minute = 60_000
const hour = 60 * minute
const week = 7 * 24 * hour

/** The latest attack: from its first moment on, as long as no pause is longer than six hours. Moments newest first. */
export const attackOf = (moments: readonly number[]): { from: number; to: number } | null => {
  const [newest] = moments
  if (newest === undefined) return null
  let first = newest
  for (const moment of moments) {
    if (first - moment > 6 * hour) break
    first = Math.min(first, moment)
  }
  return { from: first, to: newest }
}

/** Three scales with a visible break: the week before the attack, the attack, and the rest up to the last end. */
export const attackScale = (attack: { from: number; to: number }, now: number, lastEnd: number): Scale => {
  const length = Math.max(attack.to - attack.from, 10 * minute)
  const begins = attack.from - length * 0.12
  const isRunning = now - attack.from < 48 * hour
  const ends = isRunning ? Math.max(now, attack.to + minute) : attack.to + length * 0.5
  const end = Math.max(lastEnd, isRunning ? ends + length * 0.1 : now)
  const [before, after] = [0.16, 0.78]
  return {
    from: begins - week,
    to: end,
    parts: [
      { from: begins - week, to: begins, start: 0, end: before },
      { from: begins, to: ends, start: before + 0.012, end: after },
      { from: ends, to: end, start: after, end: 1 },
    ],
    breaks: [before, before + 0.012],
  }
}
