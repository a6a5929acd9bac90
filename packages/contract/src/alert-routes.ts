import { Type } from 'typebox'
import type { Static } from 'typebox'
import { severity, ruleId, hours } from './alert-fields.ts'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { count, id, message, timestamp } from './common.ts'
import { field, nullable, resource, shape, text } from './shapes.ts'
import { target, targetInput } from './targets.ts'

const family = { tag: 'Alerts', scope: 'servers' } as const

const route = {
  severities: field(Type.Array(severity, { maxItems: 3 }), 'Only alerts of these severities; empty for all.'),
  rules: field(Type.Array(ruleId, { maxItems: 100 }), 'Only alerts of these rules; empty for all.'),
  hours: field(nullable(hours), 'Only in these hours; null for always.'),
  channels: field(
    Type.Array(Type.String({ pattern: '^(?:chat|email|[1-9][0-9]{0,14})$' }), { minItems: 1, maxItems: 20 }),
    'Ids of the channels that get them.',
  ),
}
export const alertRoute = resource('AlertRoute', {
  ...route,
  target: field(target, 'Only alerts of these servers; alerts of the installation where it is all.'),
})
export type AlertRoute = Static<typeof alertRoute>
const routesReply = shape({
  routes: field(Type.Array(alertRoute), 'Every one that fits adds its channels.'),
  switches: field(
    Type.Array(alertRoute),
    'What the switches of chat and e-mail add: changed by `/settings/chat` and `/settings/email`.',
  ),
})

export const getAlertRoutes = endpoint('GET /alerts/routes', {
  ...family,
  fleet: true,
  summary: 'Read which alerts go to which channels',
  access: 'admin',
  reply: routesReply,
})

export const putAlertRoutes = endpoint('PUT /alerts/routes', {
  ...family,
  fleet: true,
  summary: 'Set which alerts go to which channels',
  description: 'Without routes and switches, alerts are in the dashboard only.',
  access: 'admin',
  lasts: true,
  leaves: null,
  body: shape({
    routes: field(
      Type.Array(
        resource('AlertRouteInput', {
          ...route,
          target: field(Type.Optional(targetInput), 'Only alerts of these servers; all unless given.'),
        }),
        { maxItems: 50 },
      ),
      'All of them, in their order.',
    ),
  }),
  reply: routesReply,
})

export const alertSilence = resource('AlertSilence', {
  id,
  rule: field(nullable(Type.String()), 'Id of the rule that is silent; null for all.'),
  target: field(target, 'Servers whose alerts are silent.'),
  reason: field(Type.String(), 'Why.'),
  ends_at: field(timestamp, 'Time at which it ends.'),
  created_by: field(Type.String(), 'Name of the user or API key.'),
  created_at: timestamp,
})
export type AlertSilence = Static<typeof alertSilence>

export const listAlertSilences = endpoint('GET /alerts/silences', {
  ...family,
  summary: 'List the silences of alerts',
  access: 'read',
  forServerKeys: false,
  reply: shape({ silences: field(Type.Array(alertSilence), 'Those that have not ended.'), total: count }),
})

export const createAlertSilence = endpoint('POST /alerts/silences', {
  ...family,
  summary: 'Silence alerts for a while',
  description: 'They are shown, and not told. What still fires at its end is told then.',
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'silences', most: bounds.alertSilences, per: 'fleet' },
  body: shape({
    rule: field(Type.Optional(ruleId), 'Rule that is silent; all unless given.'),
    target: field(targetInput, 'Servers whose alerts are silent.'),
    reason: field(text(1, bounds.reason), 'Why.'),
    ends_at: field(timestamp, 'Time at which it ends; at most a year ahead.'),
  }),
  status: 201,
  reply: alertSilence,
  refusals: [404, 409],
})

export const deleteAlertSilence = endpoint('DELETE /alerts/silences/{id}', {
  ...family,
  summary: 'End a silence of alerts',
  access: 'write',
  lasts: false,
  params: shape({ id }),
  reply: message,
  refusals: [404],
})
