import type { BodyOf, PresetId, ReplyOf } from '@stockade/contract'
import { channels as contract } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import { iso } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { Problem, conflict, invalid, notFound } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Message } from '../../db/tables/message.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Step } from '../../outgoing/steps.ts'
import { DeliveryFailure } from '../notifications/delivery.ts'
import type { NotificationsService } from '../notifications/notifications.service.ts'
import {
  addNotifications,
  forgetChannel,
  forgetChannelState,
  saveChannel,
} from '../notifications/notifications.store.ts'
import { createChannelViews, isBuiltin, presetViews } from './channel-views.ts'
import type { View } from './channel-views.ts'
import {
  allChannels,
  deleteChannelRow,
  deliveriesOf,
  findChannel,
  idOfChannelName,
  insertChannel,
  saveChannelRow,
  waitingByChannel,
} from './channels.store.ts'
import type { ChannelRow } from './channels.store.ts'
import { changedFields, checkTargets } from './fields.ts'
import { presets } from './presets/index.ts'
import type { FieldValues } from './request.ts'
import { secretsPlace } from './sending.ts'
import type { Sending } from './sending.ts'

/** Messages that wait for one channel at most; further ones are dropped. */
const mostWaiting = 500

export interface ChannelsService {
  list(): Promise<ReplyOf<typeof contract.listChannels>>
  presets(): Promise<ReplyOf<typeof contract.channelPresets>>
  /** @throws Problem 404 */
  read(id: string): Promise<View>
  /** @throws Problem 400 naming the field, 409 where the name is taken or there are too many */
  create(author: Author, body: BodyOf<typeof contract.createChannel>): Promise<View>
  change(author: Author, id: string, body: BodyOf<typeof contract.updateChannel>): Promise<View>
  remove(author: Author, id: string): Promise<{ message: string }>
  /** @throws Problem 502 with the steps and what the other side answered */
  test(id: string): Promise<ReplyOf<typeof contract.testChannel>>
  deliveries(id: string): Promise<ReplyOf<typeof contract.channelDeliveries>>
  /** Ids that exist. */
  ids(): Promise<ReadonlySet<string>>
  /** Queues a message for channels in the transaction of the change it reports. Channels that are off or deleted are skipped. */
  queue(change: Pick<Change, 'sql'>, ids: readonly string[], message: Message): Promise<void>
}

const testMessage = (site: string, at: number): Message => ({
  category: 'test',
  level: 'info',
  title: 'Test message',
  text: `${site} can reach you here.`,
  facts: [],
  tables: [],
  path: '/settings/channels',
  label: 'Open the channels',
  at,
})

export const createChannels = (
  needs: StoreAccess & {
    secrets: Pick<Secrets, 'seal'>
    outgoing: Outgoing
    sending: Pick<Sending, 'deliver' | 'fieldsOf'>
    notifications: Pick<NotificationsService, 'isReady' | 'queueAlert' | 'state' | 'testChat' | 'testEmail' | 'site'>
  },
): ChannelsService => {
  const { db, clock, secrets, events, outgoing, sending, notifications } = needs

  const { openFields, viewOf, builtinView } = createChannelViews(needs)
  const gone = (id: string) => notFound(`There is no channel ${id}.`)
  const rowOf = async (id: string): Promise<ChannelRow> => {
    const row = isBuiltin(id) ? undefined : await findChannel(db.read, Number(id))
    if (!row) throw gone(id)
    return row
  }
  const sealed = (preset: PresetId, values: FieldValues, created_at: number) => {
    const isSecret = new Set(presets[preset].fields.flatMap(({ name, secret }) => (secret ? [name] : [])))
    const part = (wanted: boolean) =>
      jsonText(Object.fromEntries(Object.entries(values).filter(([name]) => isSecret.has(name) === wanted)))
    return { fields: part(false), secrets: secrets.seal(part(true), secretsPlace({ created_at })) }
  }
  const checkName = async (name: string, own: number | null): Promise<string> => {
    const plain = name.replace(/\s+/g, ' ').trim()
    if (plain === '' || /\p{Cc}/u.test(plain)) throw invalid('name', 'name must be one line of text.')
    const owner = await idOfChannelName(db.read, plain.toLowerCase())
    const isTaken = owner !== null && owner !== own
    if (isTaken || isBuiltin(plain.toLowerCase())) throw conflict(`Another channel has the name ${plain}.`)
    return plain
  }

  return {
    async list() {
      const waiting = await waitingByChannel(db.read)
      const channels = [await builtinView('chat', waiting), await builtinView('email', waiting)]
      for (const row of await allChannels(db.read)) channels.push(await viewOf(row, waiting))
      return { channels, total: channels.length }
    },
    presets: async () => ({ presets: presetViews() }),
    async read(id) {
      const waiting = await waitingByChannel(db.read)
      return isBuiltin(id) ? builtinView(id, waiting) : viewOf(await rowOf(id), waiting)
    },
    async create(author, { name, preset, enabled = true, fields }) {
      const plain = await checkName(name, null)
      const values = changedFields(presets[preset], {}, fields)
      await checkTargets(outgoing, presets[preset], values)
      const at = clock()
      const head = { name: plain, name_key: plain.toLowerCase(), preset, enabled: enabled ? 1 : 0 }
      const row = await events.change(async change => {
        admit(contract.createChannel.leaves, { all: (await allChannels(change.sql)).length })
        const made = await insertChannel(change.sql, {
          ...head,
          ...sealed(preset, values, at),
          created_at: at,
          updated_at: at,
        })
        if (!made) throw conflict(`Another channel has the name ${plain}.`)
        await change.record({ name: 'channel.create', author, data: { name: plain, preset } })
        return made
      })
      return viewOf(row, new Map())
    },
    async change(author, id, body) {
      if (isBuiltin(id)) throw conflict(`This channel is changed by PATCH /api/v1/settings/${id}.`)
      const row = await rowOf(id)
      const preset = row.preset
      const name = body.name === undefined ? row.name : await checkName(body.name, row.id)
      const before = openFields(row)
      const values = body.fields ? changedFields(presets[preset], before, body.fields) : before
      if (body.fields) await checkTargets(outgoing, presets[preset], values)
      const names = [...new Set([...Object.keys(before), ...Object.keys(values)])].filter(
        field => before[field] !== values[field],
      )
      const enabled = body.enabled ?? row.enabled === 1
      const saved = await events.change(async change => {
        const after = await saveChannelRow(change.sql, row.id, {
          name,
          name_key: name.toLowerCase(),
          enabled: enabled ? 1 : 0,
          ...(names.length > 0 ? sealed(preset, values, row.created_at) : {}),
          updated_at: clock(),
        })
        if (!after) throw gone(id)
        // With other settings, the next attempt is made at once.
        await saveChannel(change.sql, `channel:${row.id}`, {
          attempts: 0,
          retry_at: 0,
          last_error: null,
          failing_since: null,
        })
        if (!enabled) await forgetChannel(change.sql, `channel:${row.id}`)
        await change.record({ name: 'channel.update', author, data: { name, preset, enabled, fields: names } })
        return after
      })
      return viewOf(saved, await waitingByChannel(db.read))
    },
    async remove(author, id) {
      if (isBuiltin(id)) throw conflict(`This channel is switched off by PATCH /api/v1/settings/${id}.`)
      await events.change(async change => {
        const row = await deleteChannelRow(change.sql, Number(id))
        if (!row) throw gone(id)
        await forgetChannel(change.sql, `channel:${row.id}`)
        await forgetChannelState(change.sql, `channel:${row.id}`)
        await change.record({ name: 'channel.delete', author, data: { name: row.name, preset: row.preset } })
      })
      return { message: 'The channel is deleted.' }
    },
    async test(id) {
      if (isBuiltin(id)) {
        if (id === 'email') return notifications.testEmail()
        return { message: 'The chat took the test message.', steps: await notifications.testChat() }
      }
      const row = await rowOf(id)
      const steps: Step[] = []
      const at = clock()
      try {
        const message = testMessage(notifications.site().name, at)
        await sending.deliver(row, message, `test-${at.toString(36)}-${row.id}`, step => steps.push(step))
        const state = { last_sent: clock(), last_error: null, failing_since: null, attempts: 0, retry_at: 0 }
        await saveChannel(db.write, `channel:${row.id}`, state)
        return { message: `${row.name} took the test message.`, steps }
      } catch (error) {
        if (!(error instanceof DeliveryFailure)) throw error
        await saveChannel(db.write, `channel:${row.id}`, { last_error: error.message })
        throw new Problem(502, 'Bad Gateway', `${row.name} did not take the message: ${error.message}`, {
          extra: { steps },
        })
      }
    },
    async deliveries(id) {
      if (isBuiltin(id)) return { deliveries: [], total: 0 }
      const rows = await deliveriesOf(db.read, (await rowOf(id)).id)
      const deliveries = rows.map(({ id: no, at, outcome, title, attempt, ms, detail }) => ({
        id: no,
        at: iso(at),
        outcome,
        title,
        attempt,
        ms,
        detail,
      }))
      return { deliveries, total: deliveries.length }
    },
    async ids() {
      return new Set(['chat', 'email', ...(await allChannels(db.read)).map(({ id }) => String(id))])
    },
    async queue(change, ids, message) {
      const waiting = await waitingByChannel(change.sql)
      const now = clock()
      for (const id of new Set(ids)) {
        if (isBuiltin(id)) {
          if (notifications.isReady(id)) await notifications.queueAlert(change, id, message)
          continue
        }
        const row = await findChannel(change.sql, Number(id))
        const channel = `channel:${Number(id)}` as const
        if (!row || row.enabled === 0 || (waiting.get(channel) ?? 0) >= mostWaiting) continue
        await addNotifications(change.sql, [{ channel, category: 'alert', content: jsonText(message) }], now)
      }
    },
  }
}
