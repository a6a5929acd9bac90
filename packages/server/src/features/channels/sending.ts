import type { FastifyBaseLogger } from 'fastify'
import { day, minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Database } from '../../db/database.ts'
import type { Message } from '../../db/tables/message.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Note } from '../../outgoing/steps.ts'
import type { ChannelSettings } from './builtin.ts'
import { channelOfRow, isBuiltin } from './channel.ts'
import type { Channel } from './channel.ts'
import { addDelivery, dueQueues, findChannel } from './channels.store.ts'
import { DeliveryFailure, retryDelay } from './delivery.ts'
import { recipientsOf } from './fields.ts'
import { sendRequest } from './http-sender.ts'
import type { Refusal } from './mail.ts'
import { createNextMessage, recentAfter } from './next-message.ts'
import type { NextMessage } from './next-message.ts'
import { addNotifications, dropTold, forgetBefore, freshState, putOffRow, saveState, stateOf } from './queue.store.ts'
import type { DeliveryState, QueueName } from './queue.store.ts'
import { requestOf } from './request.ts'

/** Attempts before a message that is refused for its content is given up. */
const mostTries = 5
/** Messages of one channel in one run. */
const perRun = 20
/** What could not be delivered for so long is dropped. */
export const oldest = day

/** What the other side said when it took a message. */
export interface Acceptance {
  readonly words: string
  /** Recipients of a mail that were refused while others were taken. */
  readonly refused: readonly Refusal[]
}
/** What is stored and told of recipients that were refused; null if none was. */
export const refusalText = (refused: readonly Refusal[]): string | null =>
  refused.length === 0
    ? null
    : `Taken, but not for ${refused.map(({ address, words }) => `${address} (${words})`).join(', ')}`.slice(0, 500)

export interface Delivery {
  readonly message: Message
  /** The same for each attempt, so that a service that knows it takes the message once. */
  readonly id: string
  /** Of a mail, instead of those of the channel. */
  readonly recipients?: readonly string[] | null
}
export interface Sending {
  /** Starts to send what is due, each channel beside the others; a slow one holds up none of them. */
  run(): Promise<void>
  /** One message at once. @throws DeliveryFailure */
  deliver(channel: Channel, delivery: Delivery, note?: Note): Promise<Acceptance>
  /** The same; 'closing' where the server closes meanwhile. */
  deliverUnlessClosing(channel: Channel, delivery: Delivery, note?: Note): Promise<Acceptance | 'closing'>
  /** By its id; undefined where there is none. */
  find(id: string): Promise<Channel | undefined>
  /** Drops what waits for too long. */
  sweep(): Promise<void>
  /** Stops waiting for other sides. */
  close(): void
}

const idOfQueue = (queue: QueueName): string => queue.replace(/^channel:/, '')

export const createSending = (needs: {
  db: Database
  clock: Clock
  secrets: Pick<Secrets, 'open'>
  outgoing: Outgoing
  settings: Pick<ChannelSettings, 'channel' | 'mailTo' | 'site'>
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>
}): Sending => {
  const { db, clock, secrets, outgoing, settings, log } = needs
  const nextOf = createNextMessage({ db, clock, site: settings.site })
  const busy = new Set<QueueName>()
  const closing = Promise.withResolvers<'closing'>()
  let isClosing = false

  const find: Sending['find'] = async id => {
    if (isBuiltin(id)) return settings.channel(id)
    const row = await findChannel(db.read, Number(id))
    return row && channelOfRow(row, secrets)
  }
  const deliver: Sending['deliver'] = async ({ preset, values }, { message, id, recipients }, note) => {
    const fields = values()
    const { call } = preset
    if (call === null) {
      const refused = await settings.mailTo(recipients ?? recipientsOf(fields.recipients ?? ''), message, note)
      return { words: refusalText(refused) ?? 'taken by the mail server', refused }
    }
    const content = { content: message, site: settings.site(), delivery: id }
    const request = requestOf({ ...preset, call }, fields, content, clock())
    return { words: await sendRequest(outgoing, preset, fields, request, clock(), note), refused: [] }
  }
  /** Shutting down does not wait for the other side, so a message that was being sent may be sent twice. */
  const deliverUnlessClosing: Sending['deliverUnlessClosing'] = (...delivery) => {
    const work = deliver(...delivery)
    // Nobody awaits this after shutdown, so the rejection is swallowed.
    work.catch(() => {})
    return Promise.race([work, closing.promise])
  }

  /** `now` is when sending began, because the other side may take its time. */
  const noteSent = async (
    { queue }: Channel,
    state: DeliveryState,
    next: NextMessage,
    acceptance: Acceptance,
    now: number,
  ): Promise<void> => {
    const at = clock()
    const later = acceptance.refused.filter(({ temporary }) => temporary).map(({ address }) => address)
    await db.write.transaction().execute(async sql => {
      await dropTold(sql, queue, next.waiting.category, next.id, next.counted, now)
      if (later.length > 0) {
        const rest = { channel: queue, category: 'rest', content: jsonText(next.message) } as const
        await addNotifications(sql, [{ ...rest, recipients: jsonText(later), due_at: now + 5 * minute }], now)
      }
      const note = { ...attemptOf(queue, state, next), ms: Math.max(0, at - now), detail: acceptance.words }
      await addDelivery(sql, { ...note, at, outcome: 'sent' })
      await saveState(sql, queue, {
        ...freshState,
        last_sent: at,
        last_error: refusalText(acceptance.refused),
        recent: jsonText(recentAfter(state, next, now)),
      })
    })
  }
  /** Answers whether the message was given up. */
  const noteFailure = async (
    { queue }: Channel,
    state: DeliveryState,
    next: NextMessage,
    error: DeliveryFailure,
    now: number,
  ): Promise<boolean> => {
    const at = clock()
    const { category } = next.waiting
    const isOld = next.counted === null && now - next.createdAt > oldest
    // A few remaining recipients must not hold up everyone else.
    if (category === 'rest' && error.kind === 'refused' && !isOld) {
      await putOffRow(db.write, next.id, at + 15 * minute)
      return true
    }
    const attempt = attemptOf(queue, state, next)
    const isGivenUp = isOld || (error.kind === 'content' && attempt.attempt >= mostTries)
    log.warn({ channel: queue, attempt: attempt.attempt, isGivenUp }, `a message was not accepted: ${error.message}`)
    await db.write.transaction().execute(async sql => {
      if (isGivenUp) await dropTold(sql, queue, category, next.id, next.counted, at)
      const outcome = isGivenUp ? 'dropped' : 'retry'
      await addDelivery(sql, { ...attempt, at, outcome, ms: Math.max(0, at - now), detail: error.message })
      await saveState(sql, queue, {
        last_error: error.message,
        failing_since: state.failing_since ?? at,
        attempts: isGivenUp ? 0 : attempt.attempt,
        retry_at: isGivenUp ? 0 : at + (error.retryAfter ?? retryDelay(state.attempts)),
      })
    })
    return isGivenUp
  }

  /** One message of a channel; false when nothing more is to be done now. */
  const sendNext = async (channel: Channel): Promise<boolean> => {
    const state = await stateOf(db.read, channel.queue)
    const now = clock()
    if (now < state.retry_at) return false
    const next = await nextOf(channel.queue, state)
    if (next === null) return false
    try {
      if (next.counted === null && now - next.createdAt > oldest)
        throw new DeliveryFailure('failure', 'It waited for more than a day.')
      const id = `${next.createdAt.toString(36)}-${next.id}`
      const acceptance = await deliverUnlessClosing(channel, { message: next.message, id, recipients: next.recipients })
      if (acceptance === 'closing') return false
      await noteSent(channel, state, next, acceptance, now)
      return true
    } catch (error) {
      if (!(error instanceof DeliveryFailure)) throw error
      return noteFailure(channel, state, next, error, now)
    }
  }
  const sendAll = async (queue: QueueName): Promise<void> => {
    for (let sent = 0; sent < perRun && !isClosing; sent++) {
      const channel = await find(idOfQueue(queue))
      if (!channel?.isOn || !(await sendNext(channel))) return
    }
  }

  return {
    deliver,
    deliverUnlessClosing,
    find,
    async run() {
      for (const queue of await dueQueues(db.read, clock())) {
        if (busy.has(queue) || isClosing) continue
        busy.add(queue)
        void sendAll(queue)
          .catch((error: unknown) => {
            if (!isClosing) log.error({ err: error, channel: queue }, 'sending to a channel failed; it is tried again')
          })
          .finally(() => busy.delete(queue))
      }
    },
    sweep: () => forgetBefore(db.write, clock() - oldest),
    close() {
      isClosing = true
      closing.resolve('closing')
    },
  }
}

const attemptOf = (queue: QueueName, state: DeliveryState, { message }: NextMessage) => ({
  channel: queue,
  title: message.title.slice(0, 300),
  attempt: state.attempts + 1,
})
