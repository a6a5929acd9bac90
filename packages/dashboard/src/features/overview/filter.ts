/** What the URL says of the overview. */
export interface OverviewSearch {
  /** A day is what the overview shows without it; on a wall it keeps to the day. */
  readonly period?: 'day' | 'week' | 'month' | undefined
  /** For a screen on the wall: nothing to click on around it. */
  readonly kiosk?: '1' | undefined
}
/** The search part of the URL for a period. */
export const searchOf = (period: 'day' | 'week' | 'month'): OverviewSearch => (period === 'day' ? {} : { period })
/** A day unless the URL says otherwise. */
export const readOverviewSearch = (raw: Record<string, unknown>): OverviewSearch => ({
  ...(raw.period === 'week' || raw.period === 'month' || (raw.period === 'day' && raw.kiosk === '1')
    ? { period: raw.period }
    : {}),
  ...(raw.kiosk === '1' ? { kiosk: raw.kiosk } : {}),
})
