import { readDuration } from '../../lib/time.ts'

/** The API takes ten years at most. */
const longest = 3650 * 86_400

/** The length of a fleet ban in seconds, -1 for a permanent one; null for anything else. */
export const readLength = (typed: string): number | null => {
  const days = /^\s*(\d{1,4})\s*d\s*$/i.exec(typed)?.[1]
  const seconds = days === undefined ? readDuration(typed) : Number(days) * 86_400
  return seconds !== null && (seconds === -1 || (seconds > 0 && seconds <= longest)) ? seconds : null
}
