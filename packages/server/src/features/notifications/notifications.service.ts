import { isIP } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Author } from '../../core/author.ts'
import { hasControls, isHost, isMailAddress, isWebhook } from '../../core/checks.ts'
import { Problem, conflict, invalid, unavailable } from '../../core/problem.ts'
import { day, minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Database } from '../../db/database.ts'
import type { StockadeEvent } from '../../events/events.ts'
import { createReader } from '../../events/reader.ts'
import { Refused } from '../../outgoing/outgoing.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Note, Step } from '../../outgoing/steps.ts'
import { bansById } from '../bans/bans.store.ts'
import type { Registry } from '../servers/registry.ts'
import { boundTarget } from '../settings/bound.ts'
import type { Settings, SettingsService } from '../settings/settings.service.ts'
import { postToChat } from './chat.ts'
import { DeliveryFailure, retryDelay } from './delivery.ts'
import { sendMail } from './mail.ts'
import type { MailTarget, Refusal } from './mail.ts'
import { digestOf, isBurst } from './message.ts'
import type { Burst, Message, Notice, Site } from './message.ts'
import { categoryOf, noticeOf, noticeOfBan } from './notices.ts'
import {
  addNotifications,
  addOverflow,
  channelRow,
  claimSummary,
  dropTold,
  firstOf,
  forgetBefore,
  forgetChannel,
  forgetSummaries,
  overflowOf,
  putOffRow,
  saveChannel,
  summaryOfDate,
  unskipSummary,
  waitingOn,
} from './notifications.store.ts'
import type { Channel, ChannelRow, NewNotification, Waiting } from './notifications.store.ts'
import { summaryOf, wallOf } from './summary.ts'

export interface ChatChange {
  readonly enabled?: boolean
  readonly notify_bans?: boolean
  readonly notify_syncs?: boolean
  readonly notify_errors?: boolean
  readonly daily_summary?: boolean
  readonly daily_summary_hour?: number
  readonly webhook_url?: string | null
}
export interface EmailChange extends Omit<ChatChange, 'webhook_url'> {
  readonly smtp_host?: string | null
  readonly smtp_port?: number
  readonly smtp_user?: string | null
  readonly smtp_pass?: string | null
  readonly smtp_tls?: boolean
  readonly from_address?: string | null
  readonly recipients?: readonly string[]
}
export type DeliveryState = Pick<ChannelRow, 'last_sent' | 'last_error' | 'failing_since'>

export interface NotificationsService {
  webhookUrl(): string | null
  state(channel: Channel): Promise<DeliveryState>
  /** Answers whether anything changed. @throws Problem 400 naming the field */
  changeChat(author: Author, change: ChatChange): Promise<boolean>
  changeEmail(author: Author, change: EmailChange): Promise<boolean>
  /**
   * Sends a message at once and tells of each step on the way.
   * @throws Problem 409 when off or not configured, 502 with the steps and the other side's words
   */
  testChat(): Promise<Step[]>
  testEmail(recipient?: string): Promise<{ message: string; steps: Step[] }>
  /** Takes over what the events bring: queues what is to be told. */
  collect(): Promise<void>
  /** Tells what is due on a channel, in order. */
  send(channel: Channel): Promise<void>
  /** Queues the daily summary when its hour has come. */
  summarize(): Promise<void>
  sweep(): Promise<void>
  /** Waits for no other side any more. */
  close(): void
}

/** More than this in a while is told in one message. */
const burst = { most: 5, within: 10 * minute } as const
/** What waits of one kind on a channel at most; more is only counted. */
const mostWaiting = 500
/** Of how many more it may keep one in each round. */
const spare = 100
const shownInDigest = 25
/** A message that is refused for its content is given up after so many tries. */
const mostTries = 5
/** What could not be told for so long is no news. */
const oldest = day

interface Tested {
  readonly refused: readonly Refusal[]
  readonly steps: Step[]
}
interface Told {
  /** When the event was recorded; a ban may be older than its report. */
  readonly at: number
  readonly notice: Notice
}
interface Recent {
  /** When single messages of a kind were told. */
  readonly singles: readonly number[]
  /** When many were last told together. */
  readonly digest: number
}
interface Next {
  readonly waiting: Waiting
  readonly message: Message
  /** The row, or the last one of many. */
  readonly id: number
  /** Null for a single one; else how many were only counted. */
  readonly counted: number | null
  readonly recipients: readonly string[] | null
}

export const createNotifications = (needs: {
  db: Database
  clock: Clock
  settings: Pick<SettingsService, 'get' | 'update' | 'watch'>
  secrets: Pick<Secrets, 'open' | 'seal'>
  outgoing: Outgoing
  registry: Pick<Registry, 'all' | 'byNo'>
  baseUrl: () => string
  log: Pick<FastifyBaseLogger, 'warn'>
}): NotificationsService => {
  const { db, clock, settings, secrets, outgoing, registry, log } = needs
  const { get } = settings
  const reader = createReader(db, 'notifications')

  const site = (): Site => ({
    name: get('service.site_name'),
    url: needs.baseUrl(),
    timezone: get('service.timezone'),
  })
  /** Null where there is none, or where it was sealed with another key (a restored copy without its secret). */
  const opened = (name: 'chat.webhook_url' | 'email.smtp_pass', sealed = get(name)): string | null => {
    if (sealed === null) return null
    try {
      return secrets.open(sealed, name)
    } catch {
      return null
    }
  }
  const webhookUrl = () => opened('chat.webhook_url')
  const closing = Promise.withResolvers<'closing'>()
  /** Whatever the other side does, shutting down does not wait for it: a message that was under way may come twice. */
  const unlessClosing = <T>(work: Promise<T>): Promise<T | 'closing'> => {
    // Its failure after that is nobody's.
    work.catch(() => {})
    return Promise.race([work, closing.promise])
  }
  const readyOf = (of: SettingsService['get']): Record<Channel, boolean> => ({
    chat: of('chat.enabled') && of('chat.webhook_url') !== null,
    email: of('email.enabled') && of('email.smtp_host') !== null && of('email.recipients').length > 0,
  })
  const channels = ['chat', 'email'] as const
  const wants = (channel: Channel, category: Burst) => readyOf(get)[channel] && get(`${channel}.notify_${category}`)
  const mailTarget = (recipients: readonly string[]): MailTarget | null => {
    const host = get('email.smtp_host')
    if (host === null) return null
    const user = get('email.smtp_user')
    const pass = get('email.smtp_pass')
    const own = user !== null && isMailAddress(user) ? user : `stockade@${new URL(needs.baseUrl()).hostname}`
    return {
      host,
      port: get('email.smtp_port'),
      user,
      pass: opened('email.smtp_pass', pass),
      tls: get('email.smtp_tls'),
      from: get('email.from_address') ?? own,
      recipients,
    }
  }

  settings.watch(async (change, before, after) => {
    const [was, is] = [readyOf(name => before[name]), readyOf(name => after[name])]
    // What happened while nobody was to be told is never told.
    if (!was.chat && !was.email && (is.chat || is.email)) await reader.skip(change)
    for (const channel of channels) {
      const names = (Object.keys(after) as (keyof Settings)[]).filter(name => name.startsWith(`${channel}.`))
      if (names.every(name => JSON.stringify(before[name]) === JSON.stringify(after[name]))) continue
      if (!is[channel]) await forgetChannel(change.sql, channel)
      // Other settings deserve another try at once.
      const fresh = { attempts: 0, retry_at: 0, last_error: null, failing_since: null }
      // The reader's place alone is not exact: with PostgreSQL it can lie before what was committed a moment ago.
      await saveChannel(change.sql, channel, { ...fresh, ...(is[channel] && !was[channel] ? { since: clock() } : {}) })
    }
    const summaryOn = (values: Settings, ready: Record<Channel, boolean>) =>
      channels.some(channel => ready[channel] && values[`${channel}.daily_summary`])
    const hour = after['notifications.daily_summary_hour']
    if (!summaryOn(after, is)) return
    if (summaryOn(before, was) && hour === before['notifications.daily_summary_hour']) return
    const wall = wallOf(clock(), after['service.timezone'])
    // Switched on after its hour, the first one comes tomorrow; within the hour or before it, today.
    if (wall.hour > hour) await claimSummary(change.sql, wall.date, clock(), 1)
    else await unskipSummary(change.sql, wall.date)
  })

  /** An address that is typed as such is checked at once; names are when they are used. */
  const checkTarget = async (field: string, host: string, port: number) => {
    if (!isIP(host.replace(/^\[|\]$/g, ''))) return
    try {
      await outgoing.reach(host, port)
    } catch (error) {
      if (error instanceof Refused) throw invalid(field, `${field} can't be used: ${error.message}`)
      throw error
    }
  }
  const taken = <T>(value: T | null | undefined): T | null => (value === '' || value === undefined ? null : value)
  /** A secret that is given again as it was stays sealed as it is. */
  const sealedOf = (name: Parameters<typeof opened>[0], given: string | null | undefined) => {
    const before = get(name)
    const plain = taken(given)
    if (plain === null) return null
    return before !== null && opened(name) === plain ? before : secrets.seal(plain, name)
  }
  const togglesOf = (channel: Channel, change: ChatChange | EmailChange) => {
    const values: Record<string, unknown> = {}
    for (const name of ['enabled', 'notify_bans', 'notify_syncs', 'notify_errors', 'daily_summary'] as const)
      if (change[name] !== undefined) values[`${channel}.${name}`] = change[name]
    if (change.daily_summary_hour !== undefined) values['notifications.daily_summary_hour'] = change.daily_summary_hour
    return values as Partial<Settings>
  }

  const unreadable = (field: string) =>
    `${field} was stored with another secret key and can't be read. Enter it in the settings again`
  const deliver = async (
    channel: Channel,
    message: Message,
    recipients: readonly string[] | null,
    note?: Note,
  ): Promise<readonly Refusal[]> => {
    if (channel === 'chat') {
      const address = webhookUrl()
      if (address === null) throw new DeliveryFailure('failure', unreadable('webhook_url'))
      await postToChat(outgoing, address, message, site(), clock(), note)
      return []
    }
    if (get('email.smtp_pass') !== null && opened('email.smtp_pass') === null)
      throw new DeliveryFailure('failure', unreadable('smtp_pass'))
    const target = mailTarget(recipients ?? get('email.recipients'))
    return target === null ? [] : sendMail(outgoing, target, message, site(), note)
  }
  const wordsOf = (refused: readonly Refusal[]) =>
    refused.length === 0
      ? null
      : `Taken, but not for ${refused.map(({ address, words }) => `${address} (${words})`).join(', ')}`.slice(0, 500)

  const recentOf = (state: ChannelRow, category: Burst): Recent => {
    const all = JSON.parse(state.recent) as Partial<Record<Burst, Recent>>
    const recent = all[category] ?? { singles: [], digest: 0 }
    const since = clock() - burst.within
    return { singles: recent.singles.filter(at => at > since), digest: recent.digest > since ? recent.digest : 0 }
  }
  /** One by one while they are few, together when they are many, and not before the time of a burst is over. */
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
      const notices = rows.map(row => JSON.parse(row.content) as Notice)
      const [notice] = notices
      if (!notice) continue
      if (way === 'single' || !isBurst(category)) {
        const recipients = first.recipients === null ? null : (JSON.parse(first.recipients) as string[])
        return { waiting, message: notice, id: first.id, counted: null, recipients }
      }
      const message = digestOf(category, notices, waiting.n + overflow, site())
      // Rows that came since the count are for the next one; ids rise, since one process at a time queues.
      return { waiting, message, id: waiting.last, counted: overflow, recipients: null }
    }
    return null
  }
  /** `now`: when it was sent, before the other side took its time. */
  const told = async (channel: Channel, state: ChannelRow, next: Next, refused: readonly Refusal[], now: number) => {
    const { category } = next.waiting
    const later = refused.filter(({ temporary }) => temporary).map(({ address }) => address)
    const recent = JSON.parse(state.recent) as Partial<Record<Burst, Recent>>
    if (isBurst(category)) {
      const before = recentOf(state, category)
      recent[category] =
        next.counted === null ? { ...before, singles: [...before.singles, now] } : { ...before, digest: now }
    }
    await db.write.transaction().execute(async sql => {
      await dropTold(sql, channel, category, next.id, next.counted)
      if (later.length > 0) {
        const rest = { channel, category: 'rest', content: JSON.stringify(next.message) } as const
        await addNotifications(sql, [{ ...rest, recipients: JSON.stringify(later), due_at: now + 5 * minute }], now)
      }
      await saveChannel(sql, channel, {
        last_sent: now,
        last_error: wordsOf(refused),
        failing_since: null,
        attempts: 0,
        retry_at: 0,
        recent: JSON.stringify(recent),
      })
    })
  }
  const failed = async (channel: Channel, state: ChannelRow, next: Next, error: DeliveryFailure) => {
    const now = clock()
    // The few that are left must not keep the others waiting.
    if (next.waiting.category === 'rest' && error.kind === 'refused')
      return putOffRow(db.write, next.id, now + 15 * minute)
    const attempts = state.attempts + 1
    const gaveUp = error.kind === 'content' && attempts >= mostTries
    log.warn({ channel, attempts, gaveUp }, `a notification was not taken: ${error.message}`)
    await db.write.transaction().execute(async sql => {
      if (gaveUp) await dropTold(sql, channel, next.waiting.category, next.id, next.counted)
      await forgetBefore(sql, now - oldest)
      await saveChannel(sql, channel, {
        last_error: error.message,
        failing_since: state.failing_since ?? now,
        attempts: gaveUp ? 0 : attempts,
        retry_at: now + (error.retryAfter ?? retryDelay(attempts - 1)),
      })
    })
  }

  const test = async (channel: Channel, recipients: readonly string[] | null): Promise<Tested> => {
    const steps: Step[] = []
    const message: Message = {
      category: 'test',
      level: 'info',
      title: 'Test message',
      text: `${site().name} can reach you here.`,
      facts: [],
      tables: [],
      path: '/',
      label: 'Open the overview',
      at: clock(),
    }
    try {
      const refused = await unlessClosing(deliver(channel, message, recipients, step => steps.push(step)))
      if (refused === 'closing') throw unavailable('The server is shutting down.')
      const last_error = wordsOf(refused)
      await saveChannel(db.write, channel, {
        last_sent: clock(),
        last_error,
        failing_since: null,
        attempts: 0,
        retry_at: 0,
      })
      return { refused, steps }
    } catch (error) {
      if (!(error instanceof DeliveryFailure)) throw error
      await saveChannel(db.write, channel, { last_error: error.message })
      const who = channel === 'chat' ? 'The chat' : 'The mail server'
      throw new Problem(502, 'Bad Gateway', `${who} did not take the message: ${error.message}`, { extra: { steps } })
    }
  }

  /** Everything but bans: those are looked up together. */
  const toldOf = (found: readonly StockadeEvent[], category: Burst): Told[] =>
    found.flatMap(event => {
      if (event.name === 'ban.report') return []
      const server = event.serverNo === null ? undefined : registry.byNo(event.serverNo)?.row
      const notice = noticeOf(event, category, server)
      return notice === null ? [] : [{ at: event.at, notice }]
    })

  return {
    webhookUrl,
    async state(channel) {
      const { last_sent, last_error, failing_since } = await channelRow(db.read, channel)
      return { last_sent, last_error, failing_since }
    },
    async changeChat(author, change) {
      const url = taken(change.webhook_url)
      if (url !== null) {
        if (!isWebhook(url))
          throw invalid(
            'webhook_url',
            'webhook_url must be an address that begins with http:// or https://, without a user name.',
          )
        const { hostname, port, protocol } = new URL(url)
        await checkTarget('webhook_url', hostname, Number(port) || (protocol === 'https:' ? 443 : 80))
      }
      const webhook = sealedOf('chat.webhook_url', url)
      const names = await settings.update(author, {
        ...togglesOf('chat', change),
        ...(change.webhook_url === undefined ? {} : { 'chat.webhook_url': webhook }),
      })
      return names.length > 0
    },
    async changeEmail(author, change) {
      const values: Record<string, unknown> = togglesOf('email', change)
      const host = taken(change.smtp_host)
      if (host !== null) {
        if (!isHost(host)) throw invalid('smtp_host', 'smtp_host must be a host name or an address, without a port.')
        await checkTarget('smtp_host', host, change.smtp_port ?? get('email.smtp_port'))
      }
      const user = taken(change.smtp_user)
      if (user !== null && hasControls(user))
        throw invalid('smtp_user', 'smtp_user must not hold control characters or line breaks.')
      const pass = taken(change.smtp_pass)
      if (pass !== null && hasControls(pass))
        throw invalid('smtp_pass', 'smtp_pass must not hold control characters or line breaks.')
      const from = taken(change.from_address)
      if (from !== null && !isMailAddress(from))
        throw invalid('from_address', 'from_address must be an e-mail address, such as stockade@corp.example.')
      change.recipients?.forEach((address, index) => {
        if (!isMailAddress(address))
          throw invalid(`recipients.${index}`, `recipients.${index} must be an e-mail address.`)
      })
      if (change.smtp_host !== undefined) values['email.smtp_host'] = host
      if (change.smtp_user !== undefined) values['email.smtp_user'] = user
      if (change.smtp_pass !== undefined) values['email.smtp_pass'] = sealedOf('email.smtp_pass', pass)
      if (change.from_address !== undefined) values['email.from_address'] = from
      if (change.smtp_port !== undefined) values['email.smtp_port'] = change.smtp_port
      if (change.smtp_tls !== undefined) values['email.smtp_tls'] = change.smtp_tls
      const target = (smtp: { host: string | null; port: number; tls: boolean }) =>
        [smtp.host, smtp.port, smtp.tls] as const
      const before = { host: get('email.smtp_host'), port: get('email.smtp_port'), tls: get('email.smtp_tls') }
      values['email.smtp_pass_target'] = boundTarget(
        'smtp_pass',
        {
          stored: get('email.smtp_pass') !== null,
          given: change.smtp_pass,
          noted: get('email.smtp_pass_target'),
        },
        target(before),
        target({
          host: change.smtp_host === undefined ? before.host : host,
          port: change.smtp_port ?? before.port,
          tls: change.smtp_tls ?? before.tls,
        }),
      )
      if (change.recipients !== undefined) values['email.recipients'] = [...new Set(change.recipients)]
      return (await settings.update(author, values as Partial<Settings>)).length > 0
    },
    async testChat() {
      if (!get('chat.enabled')) throw conflict('Chat is disabled. Enable it in its settings first.')
      if (get('chat.webhook_url') === null) throw conflict('Chat has no webhook_url. Enter one in its settings first.')
      return (await test('chat', null)).steps
    },
    async testEmail(recipient) {
      if (recipient !== undefined && !isMailAddress(recipient))
        throw invalid('recipient', 'recipient must be an e-mail address.')
      if (!get('email.enabled')) throw conflict('E-mail is disabled. Enable it in its settings first.')
      if (get('email.smtp_host') === null) throw conflict('E-mail has no smtp_host. Enter one in its settings first.')
      const recipients = recipient === undefined ? get('email.recipients') : [recipient]
      if (recipients.length === 0) throw conflict('E-mail has no recipients. Enter some in its settings, or name one.')
      const { refused, steps } = await test('email', recipients)
      const words = wordsOf(refused)
      return {
        message: words === null ? `The test e-mail is on its way to ${recipients.join(', ')}.` : `${words}.`,
        steps,
      }
    },
    async collect() {
      const ready = readyOf(get)
      if (!ready.chat && !ready.email) return
      for (;;) {
        const { events: found, position, more } = await reader.read(500)
        if (found.length === 0) return
        const now = clock()
        const sorted: Record<Burst, StockadeEvent[]> = { bans: [], errors: [], syncs: [] }
        for (const event of found) {
          const category = categoryOf(event)
          if (category !== null && channels.some(channel => wants(channel, category))) sorted[category].push(event)
        }
        const ids = sorted.bans.flatMap(({ banId }) => banId ?? [])
        const bans = (await bansById(db.read, ids)).filter(ban => ban.banned_at >= now - oldest)
        const reported = new Map(sorted.bans.flatMap(({ banId, at }) => (banId === null ? [] : [[banId, at] as const])))
        const told: Record<Burst, Told[]> = {
          bans: bans
            .sort((a, b) => a.id - b.id)
            .map(ban => ({ at: reported.get(ban.id) ?? 0, notice: noticeOfBan(ban) })),
          errors: toldOf(sorted.errors, 'errors'),
          syncs: toldOf(sorted.syncs, 'syncs'),
        }
        const rows: NewNotification[] = []
        const over: { channel: Channel; category: Burst; n: number }[] = []
        for (const channel of channels) {
          if (!ready[channel]) continue
          const waiting = await waitingOn(db.read, channel, now)
          const { since } = await channelRow(db.read, channel)
          for (const category of ['bans', 'errors', 'syncs'] as const) {
            if (!wants(channel, category)) continue
            const n = waiting.find(row => row.category === category)?.n ?? 0
            // What is only counted is told with a row: there has to be one that is not on its way out already.
            const room = Math.max(n < mostWaiting + spare ? 1 : 0, mostWaiting - n)
            const all = told[category].filter(({ at }) => at >= since)
            for (const { notice } of all.slice(0, room))
              rows.push({ channel, category, content: JSON.stringify(notice) })
            if (all.length > room) over.push({ channel, category, n: all.length - room })
          }
        }
        await db.write.transaction().execute(async sql => {
          await addNotifications(sql, rows, now)
          for (const { channel, category, n } of over) await addOverflow(sql, channel, category, n)
          await reader.keep({ sql }, position)
        })
        if (!more) return
      }
    },
    async send(channel) {
      for (let sent = 0; sent < 20; sent++) {
        if (!readyOf(get)[channel]) return
        const state = await channelRow(db.read, channel)
        if (clock() < state.retry_at) return
        const next = await nextOn(channel, state)
        if (next === null) return
        const now = clock()
        try {
          const refused = await unlessClosing(deliver(channel, next.message, next.recipients))
          if (refused === 'closing') return
          await told(channel, state, next, refused, now)
        } catch (error) {
          if (!(error instanceof DeliveryFailure)) throw error
          await failed(channel, state, next, error)
          return
        }
      }
    },
    async summarize() {
      const asked = channels.filter(channel => readyOf(get)[channel] && get(`${channel}.daily_summary`))
      if (asked.length === 0) return
      const timezone = get('service.timezone')
      const { date, hour } = wallOf(clock(), timezone)
      if (hour < get('notifications.daily_summary_hour')) return
      if (await summaryOfDate(db.read, date)) return
      const message = await summaryOf({ db, registry }, date, timezone, clock())
      await db.write.transaction().execute(async sql => {
        // Whoever writes the date first queues it, however many processes have come so far.
        if (!(await claimSummary(sql, date, clock(), 0))) return
        const content = JSON.stringify(message)
        await addNotifications(
          sql,
          asked.map(channel => ({ channel, category: 'summary' as const, content })),
          clock(),
        )
      })
    },
    close: () => closing.resolve('closing'),
    async sweep() {
      await forgetBefore(db.write, clock() - oldest)
      await forgetSummaries(db.write, clock() - 30 * day)
    },
  }
}
