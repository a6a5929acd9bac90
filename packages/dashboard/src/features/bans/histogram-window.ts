import type { Period } from '../fleet/queries.ts'
import { beginning } from '../../lib/ranges.ts'
import type { BansSearch } from './filter.ts'

const day = 86_400_000
/**
 * The window of the statistics that the list lies in; null where they do not count what the list shows: the service counts
 * by time and server alone, up to now and 30 days back.
 */
export const windowOf = (search: BansSearch, now: number): Period | null => {
  const { q, jail, ip, country, active, asn, from } = search
  if (q ?? jail ?? ip ?? country ?? active ?? asn) return null
  if (from === undefined) return 'month'
  const back = now - Date.parse(beginning(from, now))
  // A little more: the window of the statistics moves on while it is looked at.
  const slack = 3_600_000
  return back <= day + slack ? 'day' : back <= 7 * day + slack ? 'week' : back <= 30 * day + slack ? 'month' : null
}

/** Bars of the histogram that lie beside each other. */
export interface Span {
  readonly first: number
  /** Exclusive. */
  readonly end: number
}
/** The bars as a scale of time. */
export interface Scale {
  readonly bars: readonly { readonly start: string; readonly count: number }[]
  /** The time at which a bar begins, also of one beyond the last. */
  readonly startOf: (index: number) => number
  readonly barAt: (time: number) => number
}
/** Null where there are too few bars to know how long one is. */
export const scaleOf = (bars: Scale['bars']): Scale | null => {
  const [first, second] = bars
  if (!first || !second) return null
  const begin = Date.parse(first.start)
  const size = Date.parse(second.start) - begin
  return { bars, startOf: index => begin + index * size, barAt: time => (time - begin) / size }
}

/** The bars that the filter of the list means. */
export const spanOf = ({ from, to }: BansSearch, { bars, barAt }: Scale): Span => {
  // Only absolute ends were drawn or moved here; a named range is the whole window.
  if (from?.includes('T') !== true) return { first: 0, end: bars.length }
  return {
    first: Math.max(0, Math.floor(barAt(Date.parse(from)))),
    end: to ? Math.min(bars.length, Math.ceil(barAt(Date.parse(to)))) : bars.length,
  }
}
/** The filter that means these bars. */
export const filterOf = (
  { first, end }: Span,
  { bars, startOf }: Scale,
  period: Period,
): Pick<BansSearch, 'from' | 'to'> =>
  first <= 0 && end >= bars.length
    ? { from: { day: 'now-24h', week: 'now-7d', month: 'now-30d' }[period], to: undefined }
    : {
        from: new Date(startOf(Math.max(0, first))).toISOString(),
        to: end >= bars.length ? undefined : new Date(startOf(end)).toISOString(),
      }
