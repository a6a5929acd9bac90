import { readDuration } from '../../words/time.ts'

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
