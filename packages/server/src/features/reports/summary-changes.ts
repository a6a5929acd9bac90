import type { Clock } from '../../core/clock.ts'
import { wallOf } from '../../core/wall.ts'
import { summaryChannels } from '../channels/builtin.ts'
import type { SettingsWatcher } from '../settings/settings.service.ts'
import { addDays } from './periods.ts'
import { findSummary, updateSchedule } from './schedules.store.ts'

/**
 * What a change of the settings means for the daily summary. Switched on after its hour, the first one comes tomorrow; before or within it,
 * today, unless it was sent today.
 */
export const createSummaryWatcher =
  (clock: Clock): SettingsWatcher =>
  async ({ sql }, before, after) => {
    const hour = after['notifications.daily_summary_hour']
    if (summaryChannels(name => after[name]).length === 0) return
    const wasOn = summaryChannels(name => before[name]).length > 0
    if (wasOn && hour === before['notifications.daily_summary_hour']) return
    const row = await findSummary(sql)
    const zone = after['service.timezone']
    const wall = wallOf(clock(), zone)
    if (!row || (row.last_at !== null && wallOf(row.last_at, zone).date === wall.date)) return
    await updateSchedule(sql, row.id, { last_due: wall.hour > hour ? wall.date : addDays(wall.date, -1) })
  }
