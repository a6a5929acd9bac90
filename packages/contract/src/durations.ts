import { bounds } from './limits.ts'

const day = 86_400
/** fail2ban's month and year: a year has 365.25 days, and a month is a twelfth of it. */
const year = 365.25 * day
const units: readonly (readonly [names: RegExp, seconds: number])[] = [
  [/^(s|secs?|seconds?|)$/, 1],
  [/^(m|mins?|minutes?)$/, 60],
  [/^(h|hrs?|hours?)$/, 3600],
  [/^(d|days?)$/, day],
  [/^(w|weeks?)$/, 7 * day],
  [/^(mo|mon|months?)$/, year / 12],
  [/^(y|years?)$/, year],
]

/**
 * Seconds of a duration as people write it: `90`, `90s`, `30m`, `1 week`, `a day`, `an hour`, and -1 for `perm`, `permanent` and `forever`. Null
 * for anything else, and outside of 1 to `most` seconds.
 */
export const readDuration = (typed: string, most: number = bounds.seconds): number | null => {
  const text = typed.trim().toLowerCase()
  if (/^(perm(anent(ly)?)?|forever|-1)$/.test(text)) return -1
  const [, count, name = ''] = /^(\d{1,9}|an?(?= ))\s*([a-z]*)$/.exec(text) ?? []
  const unit = units.find(([names]) => names.test(name))
  if (count === undefined || unit === undefined) return null
  const seconds = (/^\d/.test(count) ? Number(count) : 1) * unit[1]
  return seconds >= 1 && seconds <= most ? seconds : null
}
