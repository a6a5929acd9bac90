import { Type } from 'typebox'
import type { Static } from 'typebox'
import { severity, kind, ruleId, hours } from './alert-fields.ts'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { count, id, listOf, message, paging, reportedJail, serverRef, timestamp } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'
import { target, targetInput } from './targets.ts'

export * from './alert-fields.ts'
export * from './alert-routes.ts'

/* Which states alert, and whom. docs/guides/alerts.md describes it. */

const family = { tag: 'Alerts', scope: 'servers' } as const

export const alert = resource('Alert', {
  id,
  rule: field(Type.String(), 'Id of the rule.'),
  rule_name: field(Type.String(), 'Name of the rule.'),
  kind,
  severity,
  state: field(
    oneOf(['pending', 'firing', 'resolved'], { title: 'AlertState' }),
    '`pending`: not for long enough yet. `resolved`: over.',
  ),
  flapping: field(Type.Boolean(), 'Whether it comes and goes; then it is told once.'),
  server: field(nullable(serverRef), 'The server concerned; null for the installation or the whole fleet.'),
  title: field(Type.String(), 'What it is, in one line.'),
  detail: field(Type.String(), 'More words; may be empty.'),
  since: field(timestamp, 'Time at which the condition began.'),
  fired_at: field(nullable(timestamp), 'Time at which it fired; null while it is pending.'),
  resolved_at: field(nullable(timestamp), 'Time at which it was over; null while it is not.'),
  told_at: field(nullable(timestamp), 'Time at which its message was queued; null while there is none.'),
  channels: field(Type.Array(Type.String()), 'Ids of the channels that it was told on.'),
  covered_by: field(
    nullable(id),
    'Id of a graver alert of the same server that has the same cause; null for none. A covered alert is not told.',
  ),
  silenced: field(Type.Boolean(), 'Whether a silence covers it now.'),
  acknowledged: field(
    nullable(
      resource('AlertAcknowledgement', {
        by: field(Type.String(), 'Name of the user or API key.'),
        at: field(timestamp, 'Time of the acknowledgement.'),
        note: field(Type.String(), 'What they said; may be empty.'),
      }),
    ),
    'Who takes care of it; null for nobody.',
  ),
})
export type Alert = Static<typeof alert>

export const listAlerts = endpoint('GET /alerts', {
  ...family,
  summary: 'List alerts',
  description:
    'Those that fire first, the gravest before the others, then pending ones, then those that were resolved within 7 days, newest first. Callers with access to some servers see the alerts of these.',
  access: 'read',
  forServerKeys: false,
  query: shape({
    state: field(Type.Optional(oneOf(['pending', 'firing', 'resolved'])), 'Only alerts in this state.'),
    severity: field(Type.Optional(severity), 'Only alerts of this severity.'),
    ...paging(pages.alerts),
  }),
  reply: Type.Object(
    {
      ...listOf('alerts', alert).properties,
      firing: field(
        resource('AlertCounts', {
          critical: field(count, 'Critical alerts.'),
          warning: field(count, 'Warnings.'),
          info: field(count, 'Alerts for information.'),
        }),
        'How many fire now, are not covered by another one, and nobody acknowledged, whatever the filters.',
      ),
      unheard: field(
        count,
        'How many critical alerts and warnings of these no channel gets: no route or switch sends them to one that is on. Silenced ones are not counted.',
      ),
    },
    { additionalProperties: false },
  ),
})

export const ackAlert = endpoint('POST /alerts/{id}/ack', {
  ...family,
  summary: 'Acknowledge an alert',
  description: 'It is told no more until it is resolved. The recovery is told.',
  access: 'write',
  lasts: false,
  leaves: null,
  params: shape({ id }),
  body: shape({ note: field(Type.Optional(text(0, bounds.reason)), 'Words for the others.') }),
  reply: alert,
  refusals: [404, 409],
})

const conditions = {
  threshold: field(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
    'For `bans-over`: fires at so many bans within the window.',
  ),
  window_hours: field(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 168 })),
    'For `bans-over`: hours that are counted; 1 unless given.',
  ),
  factor: field(
    Type.Optional(Type.Number({ minimum: 1.5, maximum: 1000 })),
    'For `bans-unusual`: fires at so many times the usual of the last 7 days; 10 unless given.',
  ),
  minimum: field(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
    'For `bans-unusual`: fewer bans than this never fire; 20 unless given.',
  ),
  jail: field(Type.Optional(reportedJail), 'For rules of bans: only bans of this jail.'),
  country: field(
    Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', errorMessage: 'must be two capital letters' })),
    'For rules of bans: only bans of this country.',
  ),
  asn: field(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 4_294_967_295 })),
    'For rules of bans: only bans of this network, by its AS number.',
  ),
}
const input = {
  name: field(text(1, bounds.name), 'Name of the rule.'),
  severity,
  target: field(targetInput, 'Servers that it watches.'),
  for_seconds: field(
    Type.Integer({ minimum: 0, maximum: 86_400 }),
    'How long a condition must hold before the alert fires.',
  ),
  enabled: Type.Boolean(),
  recovery: field(Type.Boolean(), 'Whether its end is told, too.'),
  quiet_hours: field(nullable(hours), 'Hours in which it is not told; what still fires is told afterwards.'),
}
const conditionsInput = field(resource('AlertConditions', conditions), 'What the rule compares.')

export const alertRule = resource('AlertRule', {
  id: field(Type.String(), 'Name of a built-in rule, or number as text.'),
  builtin: field(Type.Boolean(), 'Built-in rules can be changed and switched off, not deleted.'),
  name: input.name,
  kind,
  severity,
  target: field(target, 'Servers that it watches.'),
  for_seconds: input.for_seconds,
  enabled: input.enabled,
  recovery: input.recovery,
  quiet_hours: input.quiet_hours,
  conditions: conditionsInput,
  state: field(
    oneOf(['off', 'calm', 'pending', 'firing', 'no_data'], { title: 'AlertRuleState' }),
    '`no_data`: there is nothing to compare, such as a jail that no server has any more.',
  ),
  firing: field(count, 'Alerts of it that fire now and that the caller sees.'),
})
export type AlertRule = Static<typeof alertRule>

export const listAlertRules = endpoint('GET /alerts/rules', {
  ...family,
  summary: 'List the rules of alerts',
  access: 'read',
  forServerKeys: false,
  reply: shape({ rules: field(Type.Array(alertRule), 'The built-in ones first.'), total: count }),
})

const ruleBody = shape({
  name: input.name,
  kind,
  severity: field(Type.Optional(severity), 'The one of the kind unless given.'),
  target: field(Type.Optional(targetInput), 'Servers that it watches; all unless given.'),
  for_seconds: field(Type.Optional(input.for_seconds), 'Grace in seconds; the one of the kind unless given.'),
  enabled: field(Type.Optional(Type.Boolean()), 'Whether it is switched on; true unless given.'),
  recovery: field(Type.Optional(Type.Boolean()), 'Whether its end is told, too; true unless given.'),
  quiet_hours: Type.Optional(input.quiet_hours),
  conditions: Type.Optional(conditionsInput),
})

export const createAlertRule = endpoint('POST /alerts/rules', {
  ...family,
  fleet: true,
  summary: 'Add a rule of alerts',
  access: 'admin',
  lasts: true,
  leaves: { what: 'alert rules', most: bounds.alertRules, per: 'fleet' },
  body: ruleBody,
  status: 201,
  reply: alertRule,
  refusals: [409],
})

export const updateAlertRule = endpoint('PATCH /alerts/rules/{id}', {
  ...family,
  fleet: true,
  summary: 'Change a rule of alerts',
  description: 'Name and conditions of built-in rules stay as they are: 409.',
  access: 'admin',
  lasts: true,
  params: shape({ id: field(ruleId, 'Id of the rule.') }),
  body: shape({
    name: Type.Optional(input.name),
    severity: Type.Optional(severity),
    target: Type.Optional(input.target),
    for_seconds: Type.Optional(input.for_seconds),
    enabled: Type.Optional(Type.Boolean()),
    recovery: Type.Optional(input.recovery),
    quiet_hours: Type.Optional(input.quiet_hours),
    conditions: Type.Optional(conditionsInput),
  }),
  reply: alertRule,
  refusals: [404, 409],
})

export const deleteAlertRule = endpoint('DELETE /alerts/rules/{id}', {
  ...family,
  fleet: true,
  summary: 'Delete a rule of alerts',
  access: 'admin',
  lasts: true,
  params: shape({ id: field(ruleId, 'Id of the rule.') }),
  reply: message,
  refusals: [404, 409],
})

export const previewAlertRule = endpoint('POST /alerts/rules/preview', {
  ...family,
  fleet: true,
  summary: 'Try a rule of bans on the last 7 days',
  description: 'By the sums of each hour, or of each UTC day where a jail or a country is asked of some servers only.',
  access: 'admin',
  lasts: false,
  leaves: null,
  body: ruleBody,
  reply: shape({
    supported: field(Type.Boolean(), 'False for conditions of which no sums are kept.'),
    times: field(
      Type.Array(
        resource('AlertPreview', {
          from: field(timestamp, 'Begin of the hour or day.'),
          to: field(timestamp, 'End of the last hour or day in a row.'),
          highest: field(count, 'Highest number of bans in the window.'),
        }),
      ),
      'When it would have fired.',
    ),
  }),
})
