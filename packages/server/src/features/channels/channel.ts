import { isRecord } from '@stockade/contract/untrusted.ts'
import { parseJson } from '../../core/json-text.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { ChannelRow } from './channels.store.ts'
import { DeliveryFailure } from './delivery.ts'
import { withDefaults } from './fields.ts'
import { presets } from './presets/index.ts'
import type { Preset } from './presets/preset.ts'
import type { QueueName } from './queue.store.ts'
import type { FieldValues } from './request.ts'

/** Where messages go: the chat or the e-mail of the settings, or one of the others. */
export interface Channel {
  /** `chat`, `email`, or a number as text. */
  readonly id: string
  readonly queue: QueueName
  readonly name: string
  /** Switched on, and with all that a message needs. */
  readonly isOn: boolean
  readonly preset: Preset
  /** Values by field, with the defaults. @throws DeliveryFailure where its secrets were sealed with another key */
  values(): FieldValues
}

/** The two that the settings of the interface configure. */
export const builtinIds = ['chat', 'email'] as const
export type BuiltinId = (typeof builtinIds)[number]
export const isBuiltin = (id: string): id is BuiltinId => builtinIds.some(builtin => builtin === id)

/** Sealed for one channel: its secrets can't be moved to another one. */
export const secretsPlace = ({ created_at }: Pick<ChannelRow, 'created_at'>): string => `channels.secrets:${created_at}`

const areTexts = (values: unknown): values is FieldValues =>
  isRecord(values) && Object.values(values).every(value => typeof value === 'string')

/** Plain values and secrets of a row. @throws DeliveryFailure where the secrets were sealed with another key */
export const openFields = (row: ChannelRow, secrets: Pick<Secrets, 'open'>): FieldValues => {
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

export const channelOfRow = (row: ChannelRow, secrets: Pick<Secrets, 'open'>): Channel => {
  const preset = presets[row.preset]
  return {
    id: String(row.id),
    queue: `channel:${row.id}`,
    name: row.name,
    isOn: row.enabled === 1,
    preset,
    values: () => withDefaults(preset, openFields(row, secrets)),
  }
}
