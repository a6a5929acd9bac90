import { day } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import { wallOf } from '../../core/wall.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import type { ChannelSettings } from './builtin.ts'
import { builtinIds } from './channel.ts'
import { addNotifications } from './queue.store.ts'
import { summaryOf } from './summary.ts'
import { claimSummary, forgetSummaries, summaryOfDate } from './summary.store.ts'

const summariesKept = 30 * day

/** Queues the daily summary when its hour has come. */
export const createDailySummary = (needs: {
  db: Database
  clock: Clock
  registry: Pick<Registry, 'all' | 'byNo'>
  settings: Pick<ChannelSettings, 'get' | 'ready'>
}) => {
  const { db, clock, registry, settings } = needs
  const { get, ready } = settings
  return {
    async run(): Promise<void> {
      const asked = builtinIds.filter(channel => ready()[channel] && get(`${channel}.daily_summary`))
      if (asked.length === 0) return
      const timezone = get('service.timezone')
      const { date, hour } = wallOf(clock(), timezone)
      if (hour < get('notifications.daily_summary_hour')) return
      if (await summaryOfDate(db.read, date)) return
      const message = await summaryOf({ db, registry }, date, timezone, clock())
      await db.write.transaction().execute(async sql => {
        // The first process that writes the date queues it, however many came this far.
        if (!(await claimSummary(sql, date, clock(), 0))) return
        const content = jsonText(message)
        const rows = asked.map(channel => ({ channel, category: 'summary' as const, content }))
        await addNotifications(sql, rows, clock())
      })
    },
    sweep: () => forgetSummaries(db.write, clock() - summariesKept),
  }
}
