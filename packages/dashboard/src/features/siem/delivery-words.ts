import { number } from '../../lib/numbers.ts'
import type { Delivery, SiemStatus, Stats } from './queries.ts'

/** How forwarding does, in one word. */
export type Health = 'off' | 'connected' | 'failing' | 'waiting'
export const healthOf = ({ enabled, connected, last_error }: SiemStatus): Health => {
  if (!enabled) return 'off'
  if (connected) return 'connected'
  return last_error === null ? 'waiting' : 'failing'
}

const minute = 60_000
const hour = 60 * minute

/** Since when every attempt has failed, as far back as the attempts are known; null where the newest went well. */
export const failingSince = (
  deliveries: readonly Delivery[],
): { readonly at: string; readonly longer: boolean } | null => {
  const good = deliveries.findIndex(({ ok }) => ok)
  const first = deliveries[good === -1 ? deliveries.length - 1 : good - 1]
  return first ? { at: first.at, longer: good === -1 && deliveries.length >= 100 } : null
}

/**
 * Events a minute that were taken in the last five, or since the oldest attempt that is known where that is younger.
 * Newest first.
 */
export const ratePerMinute = (deliveries: readonly Delivery[], now: number): number => {
  const oldest = Date.parse(deliveries.at(-1)?.at ?? '')
  const from = deliveries.length >= 100 ? Math.max(now - 5 * minute, oldest) : now - 5 * minute
  const deliveredEvents = deliveries
    .filter(({ ok, at }) => ok && Date.parse(at) >= from)
    .reduce((total, { events }) => total + events, 0)
  // Never by less than a second: a burst has just begun.
  return deliveredEvents / (Math.max(now - from, 1000) / minute)
}

/** The last 24 hours as a series: the API names the hours of a day by their number (UTC), the present one is the last. */
export const lastHours = (
  byHour: Stats['by_hour'],
  now: number,
): readonly { readonly start: string; readonly count: number }[] => {
  const present = now - (now % hour)
  return Array.from({ length: 24 }, (_, index) => {
    const start = new Date(present - (23 - index) * hour)
    const count = byHour.find(bucket => bucket.hour === start.getUTCHours())?.count ?? 0
    return { start: start.toISOString(), count }
  })
}

/** A rate as a person would say it: `0.2`, `3`, `1,204`. */
export const rateOf = (rate: number): string => (rate > 0 && rate < 10 ? rate.toFixed(1) : number(Math.round(rate)))
