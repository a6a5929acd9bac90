import type { FastifyBaseLogger } from 'fastify'
import { minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { jsonText, parseJson, parseJsonOrNull } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Message, Notice, RecentlyTold } from '../../db/tables/message.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Note } from '../../outgoing/steps.ts'
import { postToChat } from './chat.ts'
import { oldest } from './collection.ts'
import { DeliveryFailure, retryDelay } from './delivery.ts'
import { sendMail } from './mail.ts'
import type { Refusal } from './mail.ts'
import { digestOf, isBurst } from './message.ts'
import type { Burst } from './message.ts'
import {
  addNotifications,
  channelRow,
  dropTold,
  firstOf,
  forgetBefore,
  overflowOf,
  putOffRow,
  saveChannel,
  waitingOn,
} from './notifications.store.ts'
import type { Channel, ChannelRow, Waiting } from './notifications.store.ts'
import type { ChannelSettings } from './settings.ts'

/** More messages than this within this time are sent as one digest. */
const burst = { most: 5, within: 10 * minute } as const
const shownInDigest = 25
/** Attempts before a message that is refused for its content is given up. */
const mostTries = 5
/** Messages sent in one run. */
const perRun = 20

interface Next {
  readonly waiting: Waiting
  readonly message: Message
  /** The row, or the last one of many. */
  readonly id: number
  /** Null for a single message; else how many notices of the digest were only counted. */
  readonly counted: number | null
  readonly recipients: readonly string[] | null
}

/** What is stored and shown of recipients that were refused; null if none was. */
export const refusalText = (refused: readonly Refusal[]): string | null =>
  refused.length === 0
    ? null
    : `Taken, but not for ${refused.map(({ address, words }) => `${address} (${words})`).join(', ')}`.slice(0, 500)

const unreadable = (field: string) =>
  `${field} was stored with another secret key and can't be read. Enter it in the settings again`

/** Delivers one message to a channel. @throws DeliveryFailure */
export const createDeliver =
  ({ clock, outgoing, settings }: { clock: Clock; outgoing: Outgoing; settings: ChannelSettings }) =>
  async (
    channel: Channel,
    message: Message,
    recipients: readonly string[] | null,
    note?: Note,
  ): Promise<readonly Refusal[]> => {
    const { get, opened, webhookUrl, mailTarget, site } = settings
    if (channel === 'chat') {
      const address = webhookUrl()
      if (address === null) throw new DeliveryFailure('failure', unreadable('webhook_url'))
      await postToChat(outgoing, address, message, site(), clock(), note)
      return []
    }
    if (get('email.smtp_pass') !== null && opened('email.smtp_pass') === null)
      throw new DeliveryFailure('failure', unreadable('smtp_pass'))
    const target = mailTarget(recipients ?? get('email.recipients'))
    if (target === null && recipients !== null)
      throw new DeliveryFailure('failure', 'There is no mail server. Enter smtp_host in the e-mail settings')
    return target === null ? [] : sendMail(outgoing, target, message, site(), note)
  }
export type Deliver = ReturnType<typeof createDeliver>

/** Those of one event; the others are never sent together. */
const isNotice = (message: Message): message is Notice => 'row' in message

export interface DeliveryNeeds {
  readonly db: Database
  readonly clock: Clock
  readonly settings: ChannelSettings
  readonly deliver: Deliver
  /** Resolves to 'closing' if the server closes before the work ends. */
  readonly unlessClosing: <T>(work: Promise<T>) => Promise<T | 'closing'>
}

/** Sends what is due on a channel, in order. */
export const createSending = (needs: DeliveryNeeds & { log: Pick<FastifyBaseLogger, 'warn'> }) => {
  const { db, clock, settings, deliver, unlessClosing, log } = needs

  const recentOf = (state: ChannelRow, category: Burst): RecentlyTold => {
    const all = parseJson(state.recent)
    const recent = all[category] ?? { singles: [], digest: 0 }
    const since = clock() - burst.within
    return { singles: recent.singles.filter(at => at > since), digest: recent.digest > since ? recent.digest : 0 }
  }
  /** One by one while they are few. Many are sent together, and not before the time of the burst is over. */
  const wayOf = (state: ChannelRow, waiting: Waiting, counted: number): 'single' | 'digest' | 'wait' => {
    if (!isBurst(waiting.category)) return 'single'
    const { singles, digest } = recentOf(state, waiting.category)
    const n = waiting.n + counted
    if (digest === 0 && singles.length + n <= burst.most) return 'single'
    if (digest === 0 && n > burst.most) return 'digest'
    if (clock() - waiting.oldest < burst.within) return 'wait'
    return n === 1 ? 'single' : 'digest'
  }
  const nextOn = async (channel: Channel, state: ChannelRow): Promise<Next | null> => {
    const now = clock()
    for (const waiting of (await waitingOn(db.read, channel, now)).sort((a, b) => a.first - b.first)) {
      const { category } = waiting
      const overflow = isBurst(category) ? await overflowOf(db.read, channel, category) : 0
      const way = wayOf(state, waiting, overflow)
      if (way === 'wait') continue
      const rows = await firstOf(db.read, channel, category, way === 'single' ? 1 : shownInDigest, now)
      const [first] = rows
      if (!first) continue
      const messages = rows.map(row => parseJson(row.content))
      const [single] = messages
      if (!single) continue
      if (way === 'single' || !isBurst(category)) {
        const recipients = parseJsonOrNull(first.recipients)
        return { waiting, message: single, id: first.id, counted: null, recipients }
      }
      const message = digestOf(category, messages.filter(isNotice), waiting.n + overflow, settings.site())
      // Rows added since the count belong to the next digest; ids rise, because one process at a time queues.
      return { waiting, message, id: waiting.last, counted: overflow, recipients: null }
    }
    return null
  }
  /** `now` is when sending began, because the remote party may take its time. */
  const noteSent = async (
    channel: Channel,
    state: ChannelRow,
    next: Next,
    refused: readonly Refusal[],
    now: number,
  ) => {
    const { category } = next.waiting
    const later = refused.filter(({ temporary }) => temporary).map(({ address }) => address)
    const recent = { ...parseJson(state.recent) }
    if (isBurst(category)) {
      const before = recentOf(state, category)
      recent[category] =
        next.counted === null ? { ...before, singles: [...before.singles, now] } : { ...before, digest: now }
    }
    await db.write.transaction().execute(async sql => {
      await dropTold(sql, channel, category, next.id, next.counted, now)
      if (later.length > 0) {
        const rest = { channel, category: 'rest', content: jsonText(next.message) } as const
        await addNotifications(sql, [{ ...rest, recipients: jsonText(later), due_at: now + 5 * minute }], now)
      }
      await saveChannel(sql, channel, {
        last_sent: now,
        last_error: refusalText(refused),
        failing_since: null,
        attempts: 0,
        retry_at: 0,
        recent: jsonText(recent),
      })
    })
  }
  const noteFailure = async (channel: Channel, state: ChannelRow, next: Next, error: DeliveryFailure) => {
    const now = clock()
    // A few remaining recipients must not hold up everyone else.
    if (next.waiting.category === 'rest' && error.kind === 'refused')
      return putOffRow(db.write, next.id, now + 15 * minute)
    const attempts = state.attempts + 1
    const gaveUp = error.kind === 'content' && attempts >= mostTries
    log.warn({ channel, attempts, gaveUp }, `a notification was not accepted: ${error.message}`)
    await db.write.transaction().execute(async sql => {
      if (gaveUp) await dropTold(sql, channel, next.waiting.category, next.id, next.counted, now)
      await forgetBefore(sql, now - oldest)
      await saveChannel(sql, channel, {
        last_error: error.message,
        failing_since: state.failing_since ?? now,
        attempts: gaveUp ? 0 : attempts,
        retry_at: now + (error.retryAfter ?? retryDelay(attempts - 1)),
      })
    })
  }

  return async (channel: Channel): Promise<void> => {
    for (let sent = 0; sent < perRun; sent++) {
      if (!settings.ready()[channel]) return
      const state = await channelRow(db.read, channel)
      if (clock() < state.retry_at) return
      const next = await nextOn(channel, state)
      if (next === null) return
      const now = clock()
      try {
        const refused = await unlessClosing(deliver(channel, next.message, next.recipients))
        if (refused === 'closing') return
        await noteSent(channel, state, next, refused, now)
      } catch (error) {
        if (!(error instanceof DeliveryFailure)) throw error
        return noteFailure(channel, state, next, error)
      }
    }
  }
}
