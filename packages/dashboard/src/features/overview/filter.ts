/** What the URL says of the overview. */
export interface OverviewSearch {
  readonly period?: 'week' | 'month' | undefined
  /** For a screen on the wall: nothing to click on around it. */
  readonly kiosk?: '1' | undefined
}
/** The search part of the URL for a period. */
export const searchOf = (period: 'day' | 'week' | 'month'): OverviewSearch => (period === 'day' ? {} : { period })
/** A day unless the URL says otherwise. */
export const readOverviewSearch = (raw: Record<string, unknown>): OverviewSearch => ({
  ...(raw.period === 'week' || raw.period === 'month' ? { period: raw.period } : {}),
  ...(raw.kiosk === '1' ? { kiosk: raw.kiosk } : {}),
})
