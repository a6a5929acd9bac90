import type { Clock } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Notice } from '../../db/tables/message.ts'
import type { StockadeEvent } from '../../events/events.ts'
import type { createReader } from '../../events/reader.ts'
import { bansById } from '../bans/bans.store.ts'
import { categoryOf, newsCategories, noticeOf, noticeOfBan } from './notices.ts'
import type { News } from './notices.ts'
import type { ChannelSettings } from './builtin.ts'
import { builtinIds } from './channel.ts'
import type { BuiltinId } from './channel.ts'
import { addNotifications, addOverflow, stateOf, waitingOn } from './queue.store.ts'
import type { NewNotification } from './queue.store.ts'
import { oldest } from './sending.ts'

/** How many notifications of one category wait on a channel at most; further ones are only counted. */
const mostWaiting = 500
/** How far beyond that one of each round is kept all the same. */
const spare = 100

interface DatedNotice {
  /** When the event was recorded; a ban may be older than its report. */
  readonly at: number
  readonly notice: Notice
}
interface Queued {
  readonly rows: readonly NewNotification[]
  /** How many more were only counted. */
  readonly counted: readonly { readonly channel: BuiltinId; readonly category: News; readonly n: number }[]
}

/** Reads the stream of events, and queues bans and changes of the whitelist for chat and e-mail where their switches ask for them. */
export const createNews = (needs: {
  db: Database
  clock: Clock
  reader: ReturnType<typeof createReader>
  settings: Pick<ChannelSettings, 'ready' | 'wants'>
}): (() => Promise<void>) => {
  const { db, clock, reader, settings } = needs

  const sortByCategory = (events: readonly StockadeEvent[]): Record<News, StockadeEvent[]> => {
    const sorted: Record<News, StockadeEvent[]> = { bans: [], syncs: [] }
    for (const event of events) {
      const category = categoryOf(event)
      if (category !== null && builtinIds.some(channel => settings.wants(channel, category)))
        sorted[category].push(event)
    }
    return sorted
  }
  const banNotices = async (events: readonly StockadeEvent[], now: number): Promise<DatedNotice[]> => {
    const reportedAt = new Map(events.flatMap(({ banId, at }) => (banId === null ? [] : [[banId, at] as const])))
    const bans = await bansById(
      db.read,
      events.flatMap(({ banId }) => banId ?? []),
    )
    return bans
      .filter(ban => ban.banned_at >= now - oldest)
      .sort((a, b) => a.id - b.id)
      .map(ban => ({ at: reportedAt.get(ban.id) ?? 0, notice: noticeOfBan(ban) }))
  }
  const syncNotices = (events: readonly StockadeEvent[]): DatedNotice[] =>
    events.flatMap(event => {
      const notice = noticeOf(event)
      return notice === null ? [] : [{ at: event.at, notice }]
    })
  const queueFor = async (
    channel: BuiltinId,
    notices: Readonly<Record<News, readonly DatedNotice[]>>,
    now: number,
  ): Promise<Queued> => {
    const rows: NewNotification[] = []
    const counted: { channel: BuiltinId; category: News; n: number }[] = []
    const waiting = await waitingOn(db.read, channel, now)
    const { since } = await stateOf(db.read, channel)
    for (const category of newsCategories) {
      if (!settings.wants(channel, category)) continue
      const n = waiting.find(row => row.category === category)?.n ?? 0
      // The count is sent with a row, so there has to be one that is not being sent already.
      const room = Math.max(n < mostWaiting + spare ? 1 : 0, mostWaiting - n)
      const recentNotices = notices[category].filter(({ at }) => at >= since)
      for (const { notice } of recentNotices.slice(0, room)) rows.push({ channel, category, content: jsonText(notice) })
      if (recentNotices.length > room) counted.push({ channel, category, n: recentNotices.length - room })
    }
    return { rows, counted }
  }
  return async () => {
    const ready = settings.ready()
    if (!ready.chat && !ready.email) return
    for (;;) {
      const { events, position, more } = await reader.read(500)
      if (events.length === 0) return
      const now = clock()
      const sorted = sortByCategory(events)
      const notices = {
        bans: await banNotices(sorted.bans, now),
        syncs: syncNotices(sorted.syncs),
      }
      const queued: Queued[] = []
      for (const channel of builtinIds) if (ready[channel]) queued.push(await queueFor(channel, notices, now))
      await db.write.transaction().execute(async sql => {
        await addNotifications(
          sql,
          queued.flatMap(({ rows }) => rows),
          now,
        )
        for (const { channel, category, n } of queued.flatMap(({ counted }) => counted))
          await addOverflow(sql, channel, category, n)
        await reader.keep({ sql }, position)
      })
      if (!more) return
    }
  }
}
