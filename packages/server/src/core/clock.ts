/** Epoch milliseconds. Passed in wherever time matters, so that tests can move it. */
export interface Clock {
  (): number
  /** Of a clock that tests move: calls `listener` after each move, as timers know nothing of it. */
  readonly onMove?: (listener: () => void) => void
}

/** `2026-11-20T09:30:00.000Z`, or null. */
export const iso = (at: number): string => new Date(at).toISOString()
export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** The beginning of the UTC hour, or day, of a moment. */
export const hourOf = (at: number): number => Math.floor(at / hour) * hour
export const dayOf = (at: number): number => Math.floor(at / day) * day
