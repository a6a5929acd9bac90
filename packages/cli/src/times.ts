import { InvalidArgumentError } from 'commander'

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
const longest = 31_536_000

/** `90`, `90s`, `30m`, `1h`, `2d`, `1w` in seconds; null for anything else. */
const secondsOf = (text: string): number | null => {
  const [, digits, unit = 's'] = /^(\d{1,9})([smhdw])?$/.exec(text) ?? []
  return digits === undefined ? null : Number(digits) * (units[unit] ?? 1)
}

/** How long a ban lasts: seconds, a number with a unit, or `perm` (-1). */
export const durationOf = (text: string): number => {
  if (['perm', 'permanent', '-1'].includes(text.toLowerCase())) return -1
  const seconds = secondsOf(text.toLowerCase())
  if (seconds === null || seconds < 1 || seconds > longest)
    throw new InvalidArgumentError(`Give seconds, or 30m, 1h, 7d, up to 365d, or "perm".`)
  return seconds
}

/** A moment: ISO 8601 with an offset or Z, a date (midnight, UTC), or `24h`: that long ago. */
export const momentOf = (text: string): string => {
  const ago = /[smhdw]$/.test(text) ? secondsOf(text) : null
  if (ago !== null) return new Date(Date.now() - ago * 1000).toISOString()
  const exact = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i.test(text)
  const at = exact ? Date.parse(text) : NaN
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Give a time such as 2026-11-20T09:30:00Z, a date, or 24h for that long ago.')
  return new Date(at).toISOString()
}

/** A time of the interface without its milliseconds. */
export const shown = (timestamp: string | null): string | null => timestamp?.replace(/\.\d+Z$/, 'Z') ?? null

/** A span in the largest units that say it: `1d 2h`. */
export const spanOf = (seconds: number): string => {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  const told = parts.filter(([n]) => n > 0).slice(0, 2)
  return told.map(([n, unit]) => `${n}${unit}`).join(' ') || '0s'
}

export const wholeOf = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1.')
  return Number(text)
}
