import { readDuration } from '@stockade/contract/durations.ts'

const units = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
] as const
/** A length as it is typed: `7d`, `36h`, `90m`; seconds where no unit divides it. */
export const asTyped = (seconds: number): string => {
  const unit = units.find(([size]) => seconds % size === 0)
  return unit ? `${seconds / unit[0]}${unit[1]}` : `${seconds}s`
}
/** The bounds of a session: one minute to 90 days. */
export const readTimeout = (typed: string): number | null => {
  const seconds = readDuration(typed)
  return seconds !== null && seconds >= 60 && seconds <= 90 * 86_400 ? seconds : null
}
/** Names, one a line or parted by commas; each once, nothing empty. */
export const readNames = (typed: string): readonly string[] => [
  ...new Set(
    typed
      .split(/[\s,;]+/)
      .map(name => name.trim())
      .filter(Boolean),
  ),
]
/** An IANA time zone, as the browser knows them. */
export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return name !== ''
  } catch {
    return false
  }
}
/** A whole number within bounds; null for anything else. Thousands may be parted as the page shows them. */
export const readWhole = (typed: string, least: number, most: number): number | null => {
  const text = typed.trim()
  const isNumber = /^(\d{1,9}|\d{1,3}([\s,.’']\d{3})+)$/.test(text)
  const value = isNumber ? Number(text.replace(/\D/g, '')) : -1
  return value >= least && value <= most ? value : null
}
