import type { Clock } from '../../core/clock.ts'
import { minute } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Notice } from '../../db/tables/message.ts'
import type { StockadeEvent } from '../../events/events.ts'
import type { createReader } from '../../events/reader.ts'
import { bansById } from '../bans/bans.store.ts'
import type { Registry } from '../servers/registry.ts'
import type { Burst } from './message.ts'
import { categoryOf, noticeOf, noticeOfBan } from './notices.ts'
import type { ChannelSettings } from './builtin.ts'
import { builtinIds } from './channel.ts'
import type { BuiltinId } from './channel.ts'
import { addNotifications, addOverflow, nextDue, stateOf, waitingOn } from './queue.store.ts'
import type { NewNotification } from './queue.store.ts'
import { oldest } from './sending.ts'

/** How many notifications of one category wait on a channel at most; further ones are only counted. */
const mostWaiting = 500
/** How far beyond that one of each round is kept all the same. */
const spare = 100
/** How long the first change of protection waits for those of other servers, which join it. */
const held = minute
const categories = ['bans', 'errors', 'syncs'] as const

interface DatedNotice {
  /** When the event was recorded; a ban may be older than its report. */
  readonly at: number
  readonly notice: Notice
  /** Waits for more of its kind, so that a fleet that changes at once is one message. */
  readonly isHeld?: boolean
}
interface Queued {
  readonly rows: readonly NewNotification[]
  /** How many more were only counted. */
  readonly counted: readonly { readonly channel: BuiltinId; readonly category: Burst; readonly n: number }[]
}

/** Reads the stream of events and queues what the channels want to hear of. */
export const createNews = (needs: {
  db: Database
  clock: Clock
  registry: Pick<Registry, 'byNo'>
  reader: ReturnType<typeof createReader>
  settings: Pick<ChannelSettings, 'ready' | 'wants'>
}): (() => Promise<void>) => {
  const { db, clock, registry, reader, settings } = needs

  const sortByCategory = (events: readonly StockadeEvent[]): Record<Burst, StockadeEvent[]> => {
    const sorted: Record<Burst, StockadeEvent[]> = { bans: [], errors: [], syncs: [] }
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
  const otherNotices = (events: readonly StockadeEvent[], category: Burst): DatedNotice[] =>
    events.flatMap(event => {
      if (event.name === 'ban.report') return []
      const server = event.serverNo === null ? undefined : registry.byNo(event.serverNo)?.row
      const notice = noticeOf(event, category, server)
      return notice === null ? [] : [{ at: event.at, notice, isHeld: event.name === 'server.protection' }]
    })
  const queueFor = async (
    channel: BuiltinId,
    notices: Readonly<Record<Burst, readonly DatedNotice[]>>,
    now: number,
  ): Promise<Queued> => {
    const rows: NewNotification[] = []
    const counted: { channel: BuiltinId; category: Burst; n: number }[] = []
    const waiting = await waitingOn(db.read, channel, now)
    const { since } = await stateOf(db.read, channel)
    for (const category of categories) {
      if (!settings.wants(channel, category)) continue
      const n = waiting.find(row => row.category === category)?.n ?? 0
      // The count is sent with a row, so there has to be one that is not being sent already.
      const room = Math.max(n < mostWaiting + spare ? 1 : 0, mostWaiting - n)
      const wanted = notices[category].filter(({ at }) => at >= since)
      const firstHeld = wanted.find(({ isHeld }) => isHeld)
      const due = firstHeld ? ((await nextDue(db.read, channel, category, now)) ?? firstHeld.at + held) : 0
      for (const { notice, isHeld } of wanted.slice(0, room))
        rows.push({ channel, category, content: jsonText(notice), due_at: isHeld ? due : 0 })
      if (wanted.length > room) counted.push({ channel, category, n: wanted.length - room })
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
        errors: otherNotices(sorted.errors, 'errors'),
        syncs: otherNotices(sorted.syncs, 'syncs'),
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
