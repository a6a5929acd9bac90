import type { FastifyBaseLogger } from 'fastify'
import { isRecord } from '@stockade/contract/untrusted.ts'
import { day } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseJson } from '../../core/json-text.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Database } from '../../db/database.ts'
import type { Message } from '../../db/tables/message.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Note } from '../../outgoing/steps.ts'
import { DeliveryFailure, retryDelay } from '../notifications/delivery.ts'
import { channelRow, dropTold, firstOf, saveChannel } from '../notifications/notifications.store.ts'
import type { NotificationsService } from '../notifications/notifications.service.ts'
import { addDelivery, dueChannels, findChannel } from './channels.store.ts'
import type { ChannelRow } from './channels.store.ts'
import { recipientsOf, withDefaults } from './fields.ts'
import { sendRequest } from './http-sender.ts'
import { presets } from './presets/index.ts'
import { requestOf } from './request.ts'
import type { FieldValues } from './request.ts'

/** Attempts before a message that is refused for its content is given up. */
const mostTries = 5
/** Messages of one channel in one run. */
const perRun = 20
/** What could not be delivered for so long is dropped. */
const oldest = day

/** Sealed for one channel: its secrets can't be moved to another one. */
export const secretsPlace = ({ created_at }: Pick<ChannelRow, 'created_at'>): string => `channels.secrets:${created_at}`

export interface Sending {
  /** Starts to send what is due, each channel beside the others; a slow one holds up none of them. */
  run(): Promise<void>
  /** One message at once. @throws DeliveryFailure */
  deliver(row: ChannelRow, message: Message, delivery: string, note?: Note): Promise<string>
  /** Plain values and secrets of a channel. @throws DeliveryFailure where the secrets were sealed with another key */
  fieldsOf(row: ChannelRow): FieldValues
  close(): void
}

const areTexts = (values: unknown): values is FieldValues =>
  isRecord(values) && Object.values(values).every(value => typeof value === 'string')

export const createSending = (needs: {
  db: Database
  clock: Clock
  secrets: Pick<Secrets, 'open'>
  outgoing: Outgoing
  notifications: Pick<NotificationsService, 'mailTo' | 'site'>
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>
}): Sending => {
  const { db, clock, secrets, outgoing, notifications, log } = needs
  const busy = new Set<number>()
  const closing = Promise.withResolvers<'closing'>()
  let isClosing = false

  const fieldsOf = (row: ChannelRow): FieldValues => {
    try {
      const values: unknown = JSON.parse(secrets.open(row.secrets, secretsPlace(row)))
      if (!areTexts(values)) throw new TypeError('the secrets are no texts')
      return { ...parseJson(row.fields), ...values }
    } catch {
      throw new DeliveryFailure(
        'failure',
        "The secrets of this channel were stored with another secret key and can't be read. Enter them again.",
      )
    }
  }
  const deliver: Sending['deliver'] = async (row, message, delivery, note) => {
    const preset = presets[row.preset]
    const fields = withDefaults(preset, fieldsOf(row))
    const { call } = preset
    if (call === null) {
      const refused = await notifications.mailTo(recipientsOf(fields.recipients ?? ''), message, note)
      return refused.length === 0
        ? 'taken by the mail server'
        : `Taken, but not for ${refused.map(({ address, words }) => `${address} (${words})`).join(', ')}`.slice(0, 500)
    }
    const content = { content: message, site: notifications.site(), delivery }
    const request = requestOf({ ...preset, call }, fields, content, clock())
    return sendRequest(outgoing, preset, fields, request, clock(), note)
  }
  const unlessClosing = <T>(work: Promise<T>): Promise<T | 'closing'> => {
    // Nobody awaits this after shutdown, so the rejection is swallowed.
    work.catch(() => {})
    return Promise.race([work, closing.promise])
  }

  /** One message of a channel; false when nothing more is to be done now. */
  const sendNext = async (row: ChannelRow): Promise<boolean> => {
    const queue = `channel:${row.id}` as const
    const state = await channelRow(db.read, queue)
    const now = clock()
    if (now < state.retry_at) return false
    const [next] = await firstOf(db.read, queue, 'alert', 1, now)
    if (!next) return false
    const message = parseJson(next.content)
    const note = { channel_id: row.id, title: message.title.slice(0, 300), attempt: state.attempts + 1 }
    try {
      if (now - next.created_at > oldest) throw new DeliveryFailure('refused', 'It waited for more than a day.')
      // The same for each attempt, so that a service that knows it takes the message once.
      const delivery = `${next.created_at.toString(36)}-${next.id}`
      const detail = await unlessClosing(deliver(row, message, delivery))
      if (detail === 'closing') return false
      const at = clock()
      await db.write.transaction().execute(async sql => {
        await dropTold(sql, queue, 'alert', next.id, null, at)
        await addDelivery(sql, { ...note, at, outcome: 'sent', ms: Math.max(0, at - now), detail })
        const last_error = detail.startsWith('Taken, but') ? detail : null
        await saveChannel(sql, queue, { last_sent: at, last_error, failing_since: null, attempts: 0, retry_at: 0 })
      })
      return true
    } catch (error) {
      if (!(error instanceof DeliveryFailure)) throw error
      const at = clock()
      const isGivenUp = error.kind === 'refused' || (error.kind === 'content' && note.attempt >= mostTries)
      log.warn({ channel: row.id, attempt: note.attempt, isGivenUp }, `an alert was not accepted: ${error.message}`)
      await db.write.transaction().execute(async sql => {
        if (isGivenUp) await dropTold(sql, queue, 'alert', next.id, null, at)
        const outcome = isGivenUp ? 'dropped' : 'retry'
        await addDelivery(sql, { ...note, at, outcome, ms: Math.max(0, at - now), detail: error.message })
        await saveChannel(sql, queue, {
          last_error: error.message,
          failing_since: state.failing_since ?? at,
          attempts: isGivenUp ? 0 : note.attempt,
          retry_at: isGivenUp ? 0 : at + (error.retryAfter ?? retryDelay(state.attempts)),
        })
      })
      return isGivenUp
    }
  }
  const sendAll = async (id: number): Promise<void> => {
    for (let sent = 0; sent < perRun && !isClosing; sent++) {
      const row = await findChannel(db.read, id)
      if (!row || row.enabled === 0 || !(await sendNext(row))) return
    }
  }

  return {
    deliver,
    fieldsOf,
    async run() {
      for (const id of await dueChannels(db.read, clock())) {
        if (busy.has(id) || isClosing) continue
        busy.add(id)
        void sendAll(id)
          .catch((error: unknown) => {
            if (!isClosing) log.error({ err: error, channel: id }, 'sending to a channel failed; it is tried again')
          })
          .finally(() => busy.delete(id))
      }
    },
    close() {
      isClosing = true
      closing.resolve('closing')
    },
  }
}
