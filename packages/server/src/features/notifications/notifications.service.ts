import type { FastifyBaseLogger } from 'fastify'
import type { Author } from '../../core/author.ts'
import { day } from '../../core/clock.ts'
import { wallOf } from '../../core/wall.ts'
import type { Clock } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Database } from '../../db/database.ts'
import type { Message } from '../../db/tables/message.ts'
import type { Change } from '../../events/events.ts'
import { createReader } from '../../events/reader.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Note, Step } from '../../outgoing/steps.ts'
import type { Registry } from '../servers/registry.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { createChannelWatcher } from './channel-changes.ts'
import { createCollection, oldest } from './collection.ts'
import {
  addNotifications,
  channelRow,
  claimSummary,
  forgetBefore,
  forgetSummaries,
  summaryOfDate,
} from './notifications.store.ts'
import type { Channel, ChannelRow } from './notifications.store.ts'
import type { Refusal } from './mail.ts'
import type { Site } from './message.ts'
import { createDeliver, createSending } from './sending.ts'
import { channels, createChannelSettings } from './settings.ts'
import type { ChatChange, EmailChange } from './settings.ts'
import { summaryOf } from './summary.ts'
import { createChannelTests } from './channel-tests.ts'

export type DeliveryState = Pick<ChannelRow, 'last_sent' | 'last_error' | 'failing_since'>

export interface NotificationsService {
  webhookUrl(): string | null
  state(channel: Channel): Promise<DeliveryState>
  /** Returns whether anything changed. @throws Problem 400 naming the field */
  changeChat(author: Author, change: ChatChange): Promise<boolean>
  changeEmail(author: Author, change: EmailChange): Promise<boolean>
  /**
   * Sends a message at once and reports each step.
   * @throws Problem 409 if the channel is off or not configured, 502 with the steps and what the remote party answered
   */
  testChat(): Promise<Step[]>
  testEmail(recipient?: string): Promise<{ message: string; steps: Step[] }>
  /** Reads new events and queues notifications. */
  collect(): Promise<void>
  /** Sends what is due on a channel, in order. */
  send(channel: Channel): Promise<void>
  /** Queues the daily summary when its hour has come. */
  summarize(): Promise<void>
  sweep(): Promise<void>
  /** Whether a channel is on and configured. */
  isReady(channel: Channel): boolean
  /** Queues a message of the alert rules for chat or e-mail. */
  queueAlert(change: Pick<Change, 'sql'>, channel: Channel, message: Message): Promise<void>
  /** Queues a mail in the transaction of what it is about. Null: to the recipients of the settings. */
  queueMail(change: Pick<Change, 'sql'>, recipients: readonly string[] | null, message: Message): Promise<void>
  /** Sends one mail by the mail server of the settings. @throws DeliveryFailure */
  mailTo(recipients: readonly string[], message: Message, note?: Note): Promise<readonly Refusal[]>
  site(): Site
  /** Stops waiting for remote parties. */
  close(): void
}

const summariesKept = 30 * day

export const createNotifications = (needs: {
  db: Database
  clock: Clock
  settings: Pick<SettingsService, 'get' | 'update' | 'watch'>
  secrets: Pick<Secrets, 'open' | 'seal'>
  outgoing: Outgoing
  registry: Pick<Registry, 'all' | 'byNo'>
  baseUrl: () => string
  smtpName: string | null
  log: Pick<FastifyBaseLogger, 'warn'>
}): NotificationsService => {
  const { db, clock, registry } = needs
  const settings = createChannelSettings(needs)
  const { get } = settings
  const reader = createReader(db, 'notifications')
  const closing = Promise.withResolvers<'closing'>()
  /** Shutting down does not wait for a remote party, so a message that was being sent may be sent twice. */
  const unlessClosing = <T>(work: Promise<T>): Promise<T | 'closing'> => {
    // Nobody awaits this after shutdown, so swallow the rejection.
    work.catch(() => {})
    return Promise.race([work, closing.promise])
  }
  const parts = { ...needs, settings, unlessClosing, deliver: createDeliver({ ...needs, settings }) }
  needs.settings.watch(createChannelWatcher({ clock, reader }))

  return {
    webhookUrl: settings.webhookUrl,
    changeChat: settings.changeChat,
    changeEmail: settings.changeEmail,
    ...createChannelTests(parts),
    collect: createCollection({ ...needs, reader, settings }),
    send: createSending(parts),
    async state(channel) {
      const { last_sent, last_error, failing_since } = await channelRow(db.read, channel)
      return { last_sent, last_error, failing_since }
    },
    async summarize() {
      const asked = channels.filter(channel => settings.ready()[channel] && get(`${channel}.daily_summary`))
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
        await addNotifications(
          sql,
          asked.map(channel => ({ channel, category: 'summary' as const, content })),
          clock(),
        )
      })
    },
    isReady: channel => settings.ready()[channel],
    site: settings.site,
    queueAlert: ({ sql }, channel, message) =>
      addNotifications(sql, [{ channel, category: 'alert', content: jsonText(message) }], clock()),
    queueMail: ({ sql }, recipients, message) =>
      addNotifications(
        sql,
        // Recipients of its own that are refused hold up nobody else.
        [
          {
            channel: 'email',
            category: recipients === null ? 'alert' : 'rest',
            content: jsonText(message),
            recipients: recipients === null ? null : jsonText(recipients),
          },
        ],
        clock(),
      ),
    mailTo: (recipients, message, note) => parts.deliver('email', message, recipients, note),
    close: () => closing.resolve('closing'),
    async sweep() {
      await forgetBefore(db.write, clock() - oldest)
      await forgetSummaries(db.write, clock() - summariesKept)
    },
  }
}
