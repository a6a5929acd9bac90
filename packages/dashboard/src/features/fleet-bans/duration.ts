import { readDuration } from '@stockade/contract/durations.ts'

/** The API takes ten years at most. */
const longest = 3650 * 86_400

/** The length of a fleet ban in seconds, -1 for a permanent one; null for anything else. */
export const readLength = (typed: string): number | null => readDuration(typed, longest)
