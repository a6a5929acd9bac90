import type { Period } from '../fleet/queries.ts'
import { beginning } from './filter.ts'
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
