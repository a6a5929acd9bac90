import { Type } from 'typebox'
import { field, oneOf, resource } from './shapes.ts'

export const alertSeverities = ['info', 'warning', 'critical'] as const
export type AlertSeverity = (typeof alertSeverities)[number]
export const severity = oneOf(alertSeverities, { title: 'AlertSeverity' })

/** Conditions of servers and of this installation; each has a rule of its own that is on at first. */
export const conditionKinds = [
  'server-unprotected',
  'server-degraded',
  'server-silent',
  'engine-down',
  'whitelist-drift',
  'whitelist-failed',
  'whitelist-name',
  'shield-drift',
  'agent-cloned',
  'server-quarantined',
  'quota-used-up',
  'command-failed',
  'rollout-paused',
  'agent-not-moved',
  'password-guessed',
  'enrolment-token',
  'rule-stopped',
  'list-refused',
  'list-stale',
  'feed-cut',
  'own-unban',
  'notifications-stuck',
  'siem-stuck',
  'storage-slow',
  'storage-full',
  'backup-missing',
  'backup-failed',
  'backup-unusable',
  'licence-ending',
  'certificate-ending',
] as const
export type ConditionKind = (typeof conditionKinds)[number]
/** Conditions of bans, for rules of one's own. */
export const banKinds = ['bans-over', 'bans-unusual', 'new-jail', 'near-whitelist'] as const
export type BanKind = (typeof banKinds)[number]
export type AlertKind = ConditionKind | BanKind
export const kind = oneOf([...conditionKinds, ...banKinds], { title: 'AlertKind' })

export const ruleId = Type.String({
  pattern: '^(?:[a-z]+-[a-z-]+|[1-9][0-9]{0,14})$',
  errorMessage: 'must be the name of a built-in rule or the number of a rule',
})
const hour = Type.Integer({ minimum: 0, maximum: 23 })
export const hours = resource('AlertHours', {
  from: field(hour, 'First hour, in the time zone of the settings.'),
  to: field(hour, 'Hour at which it ends; smaller than `from` goes over midnight.'),
})
