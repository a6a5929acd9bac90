import type { ReplyOf, channels as contract } from '@stockade/contract'
import { entriesOf } from '@stockade/contract/records.ts'
import { isoOrNull } from '../../core/clock.ts'
import { parseJson } from '../../core/json-text.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Database } from '../../db/database.ts'
import { openFields } from './channel.ts'
import type { Channel } from './channel.ts'
import type { ChannelRow } from './channels.store.ts'
import { presets } from './presets/index.ts'
import { stateOf } from './queue.store.ts'
import type { FieldValues } from './request.ts'

export type View = ReplyOf<typeof contract.getChannel>

export const presetViews = (): ReplyOf<typeof contract.channelPresets>['presets'] =>
  entriesOf(presets).map(([id, { name, guide, fields }]) => ({
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

/** What is stored of a channel; the plain values alone where its secrets can't be read. */
export const storedFields = (row: ChannelRow, secrets: Pick<Secrets, 'open'>): FieldValues => {
  try {
    return openFields(row, secrets)
  } catch {
    return parseJson(row.fields)
  }
}

/** A channel as the API shows it; secrets stay inside. `row` is null for the two of the settings. */
export const viewOf = async (
  needs: { db: Pick<Database, 'read'>; secrets: Pick<Secrets, 'open'> },
  { id, name, queue, isOn }: Channel,
  row: ChannelRow | null,
  waiting: ReadonlyMap<string, number>,
): Promise<View> => {
  const { last_sent, last_error, failing_since } = await stateOf(needs.db.read, queue)
  const values = row && storedFields(row, needs.secrets)
  return {
    id,
    name,
    preset: row?.preset ?? (id === 'email' ? 'email' : 'chat'),
    builtin: row === null,
    enabled: isOn,
    fields:
      row === null
        ? []
        : presets[row.preset].fields.map(({ name: field, secret }) => ({
            name: field,
            value: secret ? null : (values?.[field] ?? null),
            set: values?.[field] !== undefined,
          })),
    waiting: waiting.get(queue) ?? 0,
    last_sent: isoOrNull(last_sent),
    last_error,
    failing_since: isoOrNull(failing_since),
    created_at: isoOrNull(row?.created_at ?? null),
  }
}
