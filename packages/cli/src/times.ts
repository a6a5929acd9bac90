import { readDuration } from '@stockade/contract/durations.ts'
import { InvalidArgumentError } from 'commander'

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** `90`, `90s`, `30m`, `1h`, `2d`, `1w` in seconds; null for anything else. */
const secondsOf = (text: string): number | null => {
  const [, digits, unit = 's'] = /^(\d{1,9})([smhdw])?$/.exec(text) ?? []
  return digits === undefined ? null : Number(digits) * (units[unit] ?? 1)
}

/** How long a ban lasts, in seconds; -1 for `perm`. */
export const durationOf = (text: string): number => {
  const seconds = readDuration(text)
  if (seconds === null) throw new InvalidArgumentError(`Give seconds, or 30m, 1h, 7d, "1 week", up to 1y, or "perm".`)
  return seconds
}

/** `24h` from now, in the direction of the sign; else ISO 8601 with an offset or Z, or a date (midnight, UTC). Null for what is neither. */
const timeOf = (text: string, sign: 1 | -1): Date | null => {
  const span = /[smhdw]$/.test(text) ? secondsOf(text) : null
  const exact = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i.test(text)
  const at = new Date(span === null ? (exact ? Date.parse(text) : NaN) : Date.now() + sign * span * 1000)
  // NaN for what is no time, and beyond what the API takes as one.
  const year = at.getUTCFullYear()
  return year >= 0 && year <= 9999 ? at : null
}

/** A moment: ISO 8601 with an offset or Z, a date (midnight, UTC), or `24h`: that long ago. */
export const momentOf = (text: string): string => {
  const at = timeOf(text, -1)
  if (!at) throw new InvalidArgumentError('Give a time such as 2026-11-20T09:30:00Z, a date, or 24h for that long ago.')
  return at.toISOString()
}
/** An end: as a moment, but `90d` from now; or `none`. */
export const endOf = (text: string): string => {
  if (text.toLowerCase() === 'none') return 'none'
  const at = timeOf(text, 1)
  if (!at)
    throw new InvalidArgumentError(
      'Give a time such as 2027-02-20T09:30:00Z, a date, 90d for so long from now, or none.',
    )
  return at.toISOString()
}

/** A time of the interface without its milliseconds. */
export const timeText = (timestamp: string | null): string | null => timestamp?.replace(/\.\d+Z$/, 'Z') ?? null

/** A span in the largest units that say it: `1d 2h`. */
export const spanOf = (seconds: number): string => {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  const longestParts = parts.filter(([n]) => n > 0).slice(0, 2)
  return longestParts.map(([n, unit]) => `${n}${unit}`).join(' ') || '0s'
}

export const wholeOf = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1.')
  return Number(text)
}
