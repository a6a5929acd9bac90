import type { BodyOf, PresetId, ReplyOf } from '@stockade/contract'
import { channels as contract } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import { iso } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { conflict, invalid, notFound } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { ChannelSettings } from './builtin.ts'
import { builtinIds, channelOfRow, isBuiltin, secretsPlace } from './channel.ts'
import type { Channel } from './channel.ts'
import { presetViews, storedFields, viewOf } from './channel-views.ts'
import type { View } from './channel-views.ts'
import {
  allChannels,
  deleteChannelRow,
  deliveriesOf,
  findChannel,
  idOfChannelName,
  insertChannel,
  saveChannelRow,
  waitingByQueue,
} from './channels.store.ts'
import type { ChannelRow } from './channels.store.ts'
import { changedFields, checkTargets } from './fields.ts'
import { presets } from './presets/index.ts'
import { forgetState, forgetWaiting, freshState, saveState } from './queue.store.ts'
import type { FieldValues } from './request.ts'
import { allRoutes, replaceRoutes, withoutChannel } from './routes.store.ts'
import type { ChannelTests } from './settings-tests.ts'
import type { Sending } from './sending.ts'

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
}

export const createChannels = (
  needs: StoreAccess & {
    secrets: Pick<Secrets, 'seal' | 'open'>
    outgoing: Outgoing
    settings: Pick<ChannelSettings, 'channel'>
    sending: Pick<Sending, 'find'>
    tests: ChannelTests
  },
): ChannelsService => {
  const { db, clock, secrets, events, outgoing, settings, sending, tests } = needs

  const gone = (id: string) => notFound(`There is no channel ${id}.`)
  const rowOf = async (id: string): Promise<ChannelRow> => {
    const row = isBuiltin(id) ? undefined : await findChannel(db.read, Number(id))
    if (!row) throw gone(id)
    return row
  }
  const rowView = (row: ChannelRow, waiting: ReadonlyMap<string, number>): Promise<View> =>
    viewOf(needs, channelOfRow(row, secrets), row, waiting)
  /** @throws Problem 404 */
  const channelAt = async (id: string): Promise<Channel> => {
    const channel = await sending.find(id)
    if (!channel) throw gone(id)
    return channel
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
      const waiting = await waitingByQueue(db.read)
      const channels: View[] = []
      for (const id of builtinIds) channels.push(await viewOf(needs, settings.channel(id), null, waiting))
      for (const row of await allChannels(db.read)) channels.push(await rowView(row, waiting))
      return { channels, total: channels.length }
    },
    presets: async () => ({ presets: presetViews() }),
    async read(id) {
      const waiting = await waitingByQueue(db.read)
      return isBuiltin(id) ? viewOf(needs, settings.channel(id), null, waiting) : rowView(await rowOf(id), waiting)
    },
    async create(author, { name, preset, enabled = true, fields, severities = contract.usualSeverities }) {
      const plain = await checkName(name, null)
      const values = changedFields(presets[preset], {}, fields)
      await checkTargets(outgoing, presets[preset], values)
      const at = clock()
      const head = { name: plain, name_key: plain.toLowerCase(), preset, enabled: enabled ? 1 : 0 }
      const row = await events.change(async change => {
        admit(contract.createChannel.leaves, { all: (await allChannels(change.sql)).length })
        const newChannel = await insertChannel(change.sql, {
          ...head,
          ...sealed(preset, values, at),
          created_at: at,
          updated_at: at,
        })
        if (!newChannel) throw conflict(`Another channel has the name ${plain}.`)
        if (severities.length > 0) {
          const route = { severities, rules: [], hours: null, channels: [String(newChannel.id)], target: 'all' }
          await replaceRoutes(change.sql, [...(await allRoutes(change.sql)), route])
        }
        await change.record({ name: 'channel.create', author, data: { name: plain, preset, severities } })
        return newChannel
      })
      return rowView(row, new Map())
    },
    async change(author, id, body) {
      if (isBuiltin(id)) throw conflict(`This channel is changed by PATCH /api/v1/settings/${id}.`)
      const row = await rowOf(id)
      const preset = row.preset
      const name = body.name === undefined ? row.name : await checkName(body.name, row.id)
      const before = storedFields(row, secrets)
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
        await saveState(change.sql, `channel:${row.id}`, freshState)
        if (!enabled) await forgetWaiting(change.sql, `channel:${row.id}`)
        await change.record({ name: 'channel.update', author, data: { name, preset, enabled, fields: names } })
        return after
      })
      return rowView(saved, await waitingByQueue(db.read))
    },
    async remove(author, id) {
      if (isBuiltin(id)) throw conflict(`This channel is switched off by PATCH /api/v1/settings/${id}.`)
      await events.change(async change => {
        const row = await deleteChannelRow(change.sql, Number(id))
        if (!row) throw gone(id)
        await forgetWaiting(change.sql, `channel:${row.id}`)
        await forgetState(change.sql, `channel:${row.id}`)
        await replaceRoutes(change.sql, withoutChannel(await allRoutes(change.sql), String(row.id)))
        await change.record({ name: 'channel.delete', author, data: { name: row.name, preset: row.preset } })
      })
      return { message: 'The channel is deleted.' }
    },
    async test(id) {
      if (id === 'chat') return tests.testChat()
      if (id === 'email') return tests.testEmail()
      const channel = await channelAt(id)
      const { steps } = await tests.test(channel, channel.name)
      return { message: `${channel.name} took the test message.`, steps }
    },
    async deliveries(id) {
      const rows = await deliveriesOf(db.read, (await channelAt(id)).queue)
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
  }
}
