import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { severity } from './alert-fields.ts'
import type { AlertSeverity } from './alert-fields.ts'
import { deliverySteps } from './settings.ts'
import { count, id, message, timestamp } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

/* Where alerts go. docs/guides/channels.md describes each kind. */

export const presetIds = [
  'email',
  'slack',
  'discord',
  'teams',
  'telegram',
  'ntfy',
  'gotify',
  'matrix',
  'pagerduty',
  'opsgenie',
  'apprise',
  'webhook',
] as const
export type PresetId = (typeof presetIds)[number]

const admin = { tag: 'Channels', scope: 'settings', access: 'admin', fleet: true } as const
const channelId = Type.String({
  pattern: '^(?:chat|email|[1-9][0-9]{0,14})$',
  errorMessage: 'must be chat, email or the number of a channel',
})
const params = shape({ id: field(channelId, 'Id of the channel: `chat`, `email`, or a number as text.') })

const channelField = resource('ChannelField', {
  name: field(Type.String(), 'Name of the field, from the preset.'),
  value: field(nullable(Type.String()), 'Its value; null for a secret, which is never returned.'),
  set: field(Type.Boolean(), 'Whether a value is stored.'),
})

export const channel = resource('Channel', {
  id: field(Type.String(), 'Id of the channel: `chat` and `email` are the ones of the settings.'),
  name: field(Type.String(), 'Name of the channel.'),
  preset: field(
    oneOf(['chat', ...presetIds], { title: 'ChannelKind' }),
    'Kind of the channel; `chat` is the one of the settings.',
  ),
  builtin: field(Type.Boolean(), 'True for the two that `/settings/chat` and `/settings/email` configure.'),
  enabled: Type.Boolean(),
  fields: field(Type.Array(channelField), 'What is configured, by the fields of the preset.'),
  waiting: field(count, 'Messages that wait to be delivered.'),
  last_sent: nullable(timestamp),
  last_error: nullable(Type.String()),
  failing_since: nullable(timestamp),
  created_at: field(nullable(timestamp), 'Time of creation; null for the two of the settings.'),
})
export type Channel = Static<typeof channel>

const fieldsInput = field(
  Type.Array(
    resource('ChannelFieldInput', {
      name: field(text(1, 40), 'Name of the field, from the preset.'),
      value: field(nullable(text(0, bounds.channelField)), 'New value; null or an empty text removes it.'),
    }),
    { maxItems: 20 },
  ),
  'Values by field. A secret that is left out stays as it is, unless the target changes.',
)
const nameInput = field(text(1, bounds.name), 'Name of the channel; no two have the same.')

/** The alerts that a new channel gets unless somebody says otherwise. */
export const usualSeverities: readonly AlertSeverity[] = ['critical', 'warning']

export const listChannels = endpoint('GET /channels', {
  ...admin,
  summary: 'List the channels that alerts can go to',
  reply: shape({ channels: field(Type.Array(channel), 'The two of the settings first, then by name.'), total: count }),
})

export const createChannel = endpoint('POST /channels', {
  ...admin,
  lasts: true,
  leaves: { what: 'channels', most: bounds.channels, per: 'fleet' },
  summary: 'Add a channel',
  description: 'A route of its own sends it the alerts of `severities`. More about routes: `PUT /alerts/routes`.',
  body: shape({
    name: nameInput,
    preset: field(oneOf(presetIds, { title: 'PresetId' }), 'Kind of the channel.'),
    enabled: field(Type.Optional(Type.Boolean()), 'Whether it is switched on; true unless given.'),
    fields: fieldsInput,
    severities: field(
      Type.Optional(Type.Array(severity, { maxItems: 3 })),
      'Alerts that it gets: critical ones and warnings unless given; none where it is empty.',
    ),
  }),
  status: 201,
  reply: channel,
  refusals: [409],
})

export const getChannel = endpoint('GET /channels/{id}', {
  ...admin,
  summary: 'Read a channel',
  params,
  reply: channel,
  refusals: [404],
})

export const updateChannel = endpoint('PATCH /channels/{id}', {
  ...admin,
  lasts: true,
  summary: 'Change a channel',
  description: 'The two of the settings are changed there: 409.',
  params,
  body: shape({
    name: Type.Optional(nameInput),
    enabled: Type.Optional(Type.Boolean()),
    fields: Type.Optional(fieldsInput),
  }),
  reply: channel,
  refusals: [404, 409],
})

export const deleteChannel = endpoint('DELETE /channels/{id}', {
  ...admin,
  lasts: true,
  summary: 'Delete a channel',
  description: 'Messages that wait for it are dropped.',
  params,
  reply: message,
  refusals: [404, 409],
})

export const testChannel = endpoint('POST /channels/{id}/test', {
  ...admin,
  lasts: false,
  leaves: null,
  summary: 'Send a test message to a channel',
  description:
    '502 with the words of the other side when it does not take the message. `steps` has each step with its time; the body of that 502 has it, too.',
  params,
  reply: shape({ message: Type.String(), steps: deliverySteps }),
  refusals: [404, 409, 502],
})

export const channelDelivery = resource('ChannelDelivery', {
  id,
  at: field(timestamp, 'Time at which the attempt ended.'),
  outcome: field(
    oneOf(['sent', 'retry', 'dropped'], { title: 'DeliveryOutcome' }),
    '`retry`: not taken, it is tried again. `dropped`: given up.',
  ),
  title: field(Type.String(), 'Title of the message.'),
  attempt: field(count, 'Number of the attempt, from 1.'),
  ms: field(count, 'Milliseconds that the attempt took.'),
  detail: field(Type.String(), 'Answer of the other side, or why there was none; without secrets.'),
})
export type ChannelDelivery = Static<typeof channelDelivery>

export const channelDeliveries = endpoint('GET /channels/{id}/deliveries', {
  ...admin,
  summary: 'List the last deliveries of a channel',
  description: 'Newest first, the last 100.',
  params,
  reply: shape({ deliveries: field(Type.Array(channelDelivery), 'The deliveries.'), total: count }),
  refusals: [404],
})

export const channelPresets = endpoint('GET /channels/presets', {
  ...admin,
  summary: 'List the kinds of channels and their fields',
  reply: shape({
    presets: field(
      Type.Array(
        resource('ChannelPreset', {
          id: field(oneOf(presetIds), 'Id of the preset.'),
          name: field(Type.String(), 'Name of the service.'),
          guide: field(Type.String(), 'How to set it up at the service.'),
          fields: field(
            Type.Array(
              resource('PresetField', {
                name: field(Type.String(), 'Name of the field.'),
                secret: field(Type.Boolean(), 'Whether its value is never returned.'),
                required: field(Type.Boolean(), 'Whether a value must be given.'),
                multiline: field(Type.Boolean(), 'Whether its value may have several lines.'),
                example: field(Type.String(), 'Example of a value.'),
                default: field(nullable(Type.String()), 'Value that applies when none is given.'),
              }),
            ),
            'What has to be entered.',
          ),
        }),
      ),
      'The presets.',
    ),
  }),
})
