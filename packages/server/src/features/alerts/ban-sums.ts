import { day, hour } from '../../core/clock.ts'
import type { BanSeries } from './sums.store.ts'
import type { BanConditions } from '../../db/tables/stored.ts'

/** How far back the usual is read. */
export const usualFor = 7 * day
const at = ({ counts }: BanSeries, bucket: number) => counts.get(bucket) ?? 0

/** Bans of the last `length` milliseconds: whole buckets, and of the first one the share that lies in the window. */
export const recentBans = (series: BanSeries, now: number, length: number): number => {
  const { step } = series
  const last = Math.floor(now / step) * step
  const whole = Math.max(1, Math.round(length / step))
  let sum = at(series, last)
  for (let back = 1; back < whole; back++) sum += at(series, last - back * step)
  const share = 1 - (now - last) / step
  return Math.round(sum + at(series, last - whole * step) * share)
}

/** Mean of a bucket in the seven days before the running one; null while no ban is older than a day. */
export const usualBans = (series: BanSeries, now: number): number | null => {
  const { step } = series
  const last = Math.floor(now / step) * step
  let sum = 0
  let isKnown = false
  for (let bucket = last - usualFor; bucket < last; bucket += step) {
    const n = at(series, bucket)
    sum += n
    isKnown ||= n > 0 && bucket <= now - day
  }
  return isKnown ? sum / (usualFor / step) : null
}

export interface BanVerdict {
  readonly isOver: boolean
  readonly bans: number
  /** Null where there is nothing to compare with. */
  readonly limit: number | null
}
const defaults = { factor: 10, minimum: 20 } as const

/** Whether a rule of bans holds at a moment. */
export const judgeBans = (
  kind: 'bans-over' | 'bans-unusual',
  { threshold = 1, window_hours, factor = defaults.factor, minimum = defaults.minimum }: BanConditions,
  series: BanSeries,
  now: number,
): BanVerdict => {
  if (kind === 'bans-over') {
    const bans = recentBans(series, now, Math.max((window_hours ?? 1) * hour, series.step))
    return { isOver: bans >= threshold, bans, limit: threshold }
  }
  const usual = usualBans(series, now)
  const bans = recentBans(series, now, series.step)
  if (usual === null) return { isOver: false, bans, limit: null }
  const limit = Math.max(minimum, Math.ceil(usual * factor))
  return { isOver: bans >= limit, bans, limit }
}

/** When a rule would have held in the last seven days, by whole buckets. */
export const previewOf = (
  kind: 'bans-over' | 'bans-unusual',
  conditions: BanConditions,
  series: BanSeries,
  now: number,
): { from: number; to: number; highest: number }[] => {
  const { step } = series
  const times: { from: number; to: number; highest: number }[] = []
  for (let bucket = Math.ceil((now - usualFor) / step) * step; bucket < now; bucket += step) {
    const { isOver, bans } = judgeBans(kind, conditions, series, Math.min(bucket + step - 1, now))
    if (!isOver) continue
    const last = times.at(-1)
    if (last?.to === bucket) Object.assign(last, { to: bucket + step, highest: Math.max(last.highest, bans) })
    else times.push({ from: bucket, to: bucket + step, highest: bans })
  }
  return times
}
