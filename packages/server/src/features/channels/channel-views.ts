import type { ReplyOf, channels as contract } from '@stockade/contract'
import { iso, isoOrNull } from '../../core/clock.ts'
import { parseJson } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { NotificationsService } from '../notifications/notifications.service.ts'
import { channelRow } from '../notifications/notifications.store.ts'
import type { Channel } from '../notifications/notifications.store.ts'
import type { ChannelRow } from './channels.store.ts'
import { presets } from './presets/index.ts'
import type { FieldValues } from './request.ts'
import type { Sending } from './sending.ts'

export type View = ReplyOf<typeof contract.getChannel>

const builtinNames = { chat: 'Chat', email: 'E-mail' } as const
export const isBuiltin = (id: string): id is Channel => id in builtinNames

export const presetViews = (): ReplyOf<typeof contract.channelPresets>['presets'] =>
  Object.values(presets).map(({ id, name, guide, fields }) => ({
    id,
    name,
    guide,
    fields: fields.map(field => ({
      name: field.name,
      secret: field.secret ?? false,
      required: field.required ?? false,
      multiline: field.kind === 'template',
      example: field.example,
      default: field.default ?? null,
    })),
  }))

/** Channels as the API shows them; secrets stay inside. */
export const createChannelViews = (needs: {
  db: Pick<Database, 'read'>
  sending: Pick<Sending, 'fieldsOf'>
  notifications: Pick<NotificationsService, 'isReady' | 'state'>
}) => {
  const { db, sending, notifications } = needs

  const openFields = (row: ChannelRow): FieldValues => {
    try {
      return sending.fieldsOf(row)
    } catch {
      return parseJson(row.fields)
    }
  }
  const viewOf = async (row: ChannelRow, waiting: ReadonlyMap<string, number>): Promise<View> => {
    const queue = `channel:${row.id}` as const
    const { last_sent, last_error, failing_since } = await channelRow(db.read, queue)
    const values = openFields(row)
    return {
      id: String(row.id),
      name: row.name,
      preset: row.preset,
      builtin: false,
      enabled: row.enabled === 1,
      fields: presets[row.preset].fields.map(({ name, secret }) => ({
        name,
        value: secret ? null : (values[name] ?? null),
        set: values[name] !== undefined,
      })),
      waiting: waiting.get(queue) ?? 0,
      last_sent: isoOrNull(last_sent),
      last_error,
      failing_since: isoOrNull(failing_since),
      created_at: iso(row.created_at),
    }
  }
  const builtinView = async (id: Channel, waiting: ReadonlyMap<string, number>): Promise<View> => {
    const { last_sent, last_error, failing_since } = await notifications.state(id)
    return {
      id,
      name: builtinNames[id],
      preset: id,
      builtin: true,
      enabled: notifications.isReady(id),
      fields: [],
      waiting: waiting.get(id) ?? 0,
      last_sent: isoOrNull(last_sent),
      last_error,
      failing_since: isoOrNull(failing_since),
      created_at: null,
    }
  }
  return { openFields, viewOf, builtinView }
}
