/* Readers of what a URL says. Each gives undefined for what means nothing. */

/** A whole number, not below the least. */
export const whole = (value: unknown, least: number): number | undefined => {
  const number = Number(value)
  return Number.isSafeInteger(number) && number >= least ? number : undefined
}
/** The page number of a list, from 2; the first page has no parameter. */
export const pageOf = (raw: Record<string, unknown>): number | undefined => whole(raw.page, 2)
/** A text without the space around it; undefined where it is empty. */
export const words = (value: unknown, most: number): string | undefined =>
  (typeof value === 'string' && value.trim().slice(0, most)) || undefined
/** A text of a form, without the space around it. */
export const matching = (value: unknown, pattern: RegExp): string | undefined => {
  const typed = typeof value === 'string' ? value.trim() : ''
  return pattern.test(typed) ? typed : undefined
}
export const serverIdOf = (value: unknown): string | undefined => matching(value, /^[0-9a-f-]{36}$/i)
/** A moment with its time zone. */
export const moment = (value: unknown): string | undefined => {
  const timestamp = matching(value, /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/)
  return timestamp === undefined || Number.isNaN(Date.parse(timestamp)) ? undefined : timestamp
}

/** Without what means nothing. */
export const withoutEmpty = <T extends object>(found: T): Partial<T> => {
  const filled: Partial<T> = {}
  for (const name in found) if (found[name] !== undefined) filled[name] = found[name]
  return filled
}
