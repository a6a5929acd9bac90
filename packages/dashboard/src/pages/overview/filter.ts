/** What the URL says of the overview. */
export interface OverviewSearch {
  readonly period?: 'week' | 'month' | undefined
}
/** A day unless the URL says otherwise. */
export const readOverviewSearch = (raw: Record<string, unknown>): OverviewSearch =>
  raw.period === 'week' || raw.period === 'month' ? { period: raw.period } : {}
