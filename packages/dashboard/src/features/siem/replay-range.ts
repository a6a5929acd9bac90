/** What the URL says of a replay: the one that is watched. */
export interface ReplaySearch {
  readonly job?: string | undefined
}
export const readReplaySearch = (raw: Record<string, unknown>): ReplaySearch =>
  typeof raw.job === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(raw.job) ? { job: raw.job } : {}

const hour = 3_600_000
const presets = { hour: hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour } as const
export type Range = keyof typeof presets | 'between'

/** The moments of a range at this one; null where what is typed is none. */
export const rangeOf = (
  range: Range,
  typed: { readonly from: string; readonly to: string },
  now: number,
): { readonly from: string; readonly to: string } | null => {
  const iso = (at: number) => new Date(at).toISOString()
  if (range !== 'between') return { from: iso(now - presets[range]), to: iso(now) }
  const [from, to] = [Date.parse(typed.from), Date.parse(typed.to)]
  return from < to ? { from: iso(from), to: iso(to) } : null
}
