import { common, siemTypes } from '@stockade/contract'
import type { ReplyOf, siem as contract } from '@stockade/contract'
import { day, hour, iso, isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { createCanonical } from './canonical.ts'
import type { Destination } from './destination.ts'
import { countWaiting, countsSince, lastDeliveries, newestWaiting, readState, uptime } from './siem.store.ts'

/** How forwarding fares. */
export interface SiemFigures {
  status(): Promise<ReplyOf<typeof contract.siemStatus>>
  queue(limit: number): Promise<ReplyOf<typeof contract.siemQueue>>
  deliveries(): Promise<ReplyOf<typeof contract.siemDeliveries>>
  stats(period: keyof typeof common.periods): Promise<ReplyOf<typeof contract.siemStats>>
}

export const createSiemFigures = (needs: {
  db: Database
  clock: Clock
  settings: Pick<SettingsService, 'get'>
  destination: Pick<Destination, 'isOn' | 'hindrance'>
  canonical: Pick<ReturnType<typeof createCanonical>, 'idOf'>
}): SiemFigures => {
  const { db, clock, canonical } = needs
  const { isOn, hindrance } = needs.destination
  const get = needs.settings.get

  return {
    async status() {
      const now = clock()
      const state = await readState(db.read)
      const today = await countsSince(db.read, now - (now % day))
      const sum = (name: 'sent' | 'failed') => today.reduce((total, row) => total + row[name], 0)
      return {
        enabled: get('siem.enabled'),
        connected: isOn() && state.connected === 1,
        queue_size: await countWaiting(db.read),
        events_sent_today: sum('sent'),
        events_failed_today: sum('failed'),
        last_event: isoOrNull(state.last_sent_at),
        last_error: state.last_error ?? (isOn() ? hindrance() : null),
        uptime_percent: await uptime(db.read, now),
      }
    },
    async queue(limit) {
      const { size, rows } = await newestWaiting(db.read, limit)
      return {
        queue_size: size,
        events: rows.map(({ event_id, type, at, retry_count }) => ({
          id: canonical.idOf({ id: event_id, at }),
          type,
          created_at: iso(at),
          retry_count,
        })),
      }
    },
    async deliveries() {
      const rows = await lastDeliveries(db.read)
      return {
        deliveries: rows.map(({ at, events, bytes, ok, status, error, next_try }) => ({
          at: iso(at),
          events,
          bytes,
          ok: ok === 1,
          status,
          error,
          next_try: isoOrNull(next_try),
        })),
      }
    },
    async stats(period) {
      const now = clock()
      const hours = common.periods[period] / 3600
      // Whole hours, the present one included.
      const rows = await countsSince(db.read, now - (now % hour) - (hours - 1) * hour)
      const by_type: Record<string, number> = Object.fromEntries(Object.keys(siemTypes).map(type => [type, 0]))
      const by_hour = Array.from({ length: 24 }, (_, hour) => ({ hour, count: 0 }))
      const totals = { sent: 0, failed: 0, retried: 0 }
      for (const row of rows) {
        const n = row.sent + row.failed
        by_type[row.type] = (by_type[row.type] ?? 0) + n
        const bucket = by_hour[new Date(row.hour).getUTCHours()]
        if (bucket) bucket.count += n
        totals.sent += row.sent
        totals.failed += row.failed
        totals.retried += row.retried
      }
      const total_events = totals.sent + totals.failed
      const success_rate = total_events === 0 ? null : Math.round((totals.sent / total_events) * 10_000) / 100
      return { period, total_events, by_type, by_hour, delivery_stats: { ...totals, success_rate } }
    },
  }
}
