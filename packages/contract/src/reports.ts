import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { count, id, message, period, serverRef, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'
import { serverTag, target, targetInput } from './targets.ts'

/* Reports of a day, a week or a month, and schedules that send them. docs/guides/reports.md describes both. */

const tag = 'Reports'
const scope = 'servers'
const params = shape({ id })

export const reportAttentions = [
  'unprotected',
  'degraded',
  'offline',
  'quarantined',
  'cloned',
  'old_agent',
  'failed_commands',
] as const
export type ReportAttention = (typeof reportAttentions)[number]

const date = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  examples: ['2026-11-01'],
  errorMessage: 'must be a date such as 2026-11-01',
})
const timezone = Type.String({ minLength: 1, maxLength: 64, examples: ['Europe/Vienna'] })
const before = field(count, 'The same in the period before.')
const bans = field(count, 'Bans in the period.')
const nullableList = <T extends Parameters<typeof Type.Array>[0]>(row: T, description: string) =>
  field(nullable(Type.Array(row)), description)

const attacks = resource('ReportAttacks', {
  bans,
  bans_before: before,
  attackers: field(nullable(count), 'Addresses with at least one ban; null while they are being counted.'),
  attackers_before: field(nullable(count), 'The same in the period before; null while they are being counted.'),
  series: field(
    Type.Array(
      resource('ReportStep', {
        start: field(timestamp, 'Begin of the hour or day in the time zone of the report.'),
        bans,
      }),
    ),
    'Bans by hour for a day, else by day.',
  ),
  jails: field(
    Type.Array(resource('ReportJail', { jail: field(Type.String(), 'Name of the jail.'), bans, before })),
    'The ten jails with the most bans.',
  ),
  countries: field(
    Type.Array(
      resource('ReportCountry', {
        code: field(Type.String(), 'Code of the country; ZZ where it is not known.'),
        name: field(Type.String(), 'English name of the country.'),
        bans,
        before,
      }),
    ),
    'The ten countries with the most bans.',
  ),
  servers: field(
    Type.Array(resource('ReportServer', { server: field(serverRef, 'The server.'), bans, before })),
    'The ten servers with the most bans.',
  ),
  networks: nullableList(
    resource('ReportNetwork', {
      asn: field(nullable(Type.String()), 'Number of the network; null where it is not known.'),
      asn_org: field(nullable(Type.String()), 'Name of the network; null where it is not known.'),
      bans,
    }),
    'The ten networks with the most bans; null while they are being counted.',
  ),
  addresses: nullableList(
    resource('ReportAddress', { ip: field(Type.String(), 'The address.'), bans }),
    'The ten addresses with the most bans; null while they are being counted.',
  ),
})
const work = resource('ReportWork', {
  rules: field(
    Type.Array(
      resource('ReportRule', {
        name: field(Type.String(), 'Name of the sharing rule.'),
        banned: field(count, 'Addresses that it banned.'),
        refused: field(count, 'Matches that were never banned.'),
      }),
    ),
    'Sharing rules with a match in the period.',
  ),
  fleet_bans: resource('ReportFleetBans', {
    created: field(count, 'Fleet bans that began in the period.'),
    ended: field(count, 'Fleet bans that ended in the period.'),
    standing: field(count, 'Fleet bans that stand now.'),
  }),
  lists: field(
    Type.Array(
      resource('ReportList', {
        name: field(Type.String(), 'Name of the blocklist.'),
        mode: field(Type.String(), 'Whether it drops, counts or is off.'),
        entries: field(count, 'Entries of the version in force.'),
        packets: field(count, 'Packets that hit it in the period.'),
        stale: field(Type.Boolean(), 'Whether no look at its source succeeds.'),
      }),
    ),
    'Blocklists.',
  ),
})

export const report = resource('Report', {
  period,
  first_day: field(date, 'First date of the period.'),
  last_day: field(date, 'Last date of the period.'),
  timezone: field(timezone, 'Time zone in which the period counts days.'),
  from: field(timestamp, 'Begin of the period.'),
  to: field(timestamp, 'End of the period; not part of it.'),
  complete: field(Type.Boolean(), 'Whether the period is over.'),
  counting: field(
    Type.Boolean(),
    'Whether attackers, networks and addresses are still being counted. Ask again in 2 s.',
  ),
  generated_at: field(timestamp, 'Time of these figures.'),
  servers: field(count, 'Servers that the report is about.'),
  attacks: field(attacks, 'Bans of the period, compared with the period before.'),
  changes: nullableList(
    resource('ReportChange', {
      action: field(Type.String(), 'Name of the action, as in the audit log.'),
      count: field(count, 'How often it was done in the period.'),
    }),
    'What was changed, from the audit log; null for callers who may not read it, and for reports of some servers.',
  ),
  attention: field(
    Type.Array(
      resource('ReportAttentionLine', {
        server: field(serverRef, 'The server.'),
        kind: oneOf(reportAttentions, { title: 'ReportAttention' }),
        detail: field(Type.String(), 'More words, such as the version of the agent; may be empty.'),
      }),
    ),
    'Servers to look at now, the worst first; at most 50.',
  ),
  attention_total: field(count, 'How many there are in all.'),
  work: field(nullable(work), 'What rules, lists and fleet bans did; null for callers with access to some servers.'),
  alerts: field(
    Type.Array(
      resource('ReportAlert', {
        title: field(Type.String(), 'What it was, in one line.'),
        severity: field(Type.String(), '`critical`, `warning` or `info`.'),
        fired_at: field(timestamp, 'Time at which it fired last.'),
        firing: field(Type.Boolean(), 'Whether it still fires.'),
      }),
    ),
    'The newest 20 alerts that fired in the period. Alerts are kept for 7 days after their end.',
  ),
  alerts_total: field(count, 'How many there are in all.'),
})
export type Report = Static<typeof report>

export const getReport = endpoint('GET /reports', {
  tag,
  scope,
  summary: 'Get a report',
  description:
    'Of the last complete period unless `at` names a date in another one. Bans, jails, countries and servers are sums. Attackers, networks and addresses are counted beside it where that takes longer than a moment: then `counting` is true, and they are null.',
  access: 'read',
  query: shape({
    period: Type.Optional(period),
    at: field(Type.Optional(date), 'A date in the period.'),
    timezone: field(Type.Optional(timezone), 'Time zone in which days are counted; that of the settings unless given.'),
    tag: field(Type.Optional(serverTag), 'Only servers with this tag.'),
    server_id: field(Type.Optional(uuid), 'Only this server.'),
  }),
  reply: report,
  refusals: [404],
})

const hour = Type.Integer({ minimum: 0, maximum: 23 })
const weekday = Type.Integer({ minimum: 1, maximum: 7 })
const monthDay = Type.Integer({ minimum: 1, maximum: 28 })
const recipient = Type.String({ format: 'email', maxLength: 254 })
const channelIds = Type.Array(Type.String({ minLength: 1, maxLength: 20 }), { maxItems: 20 })
const name = text(1, bounds.name)

export const reportSchedule = resource('ReportSchedule', {
  id,
  builtin: field(
    Type.Boolean(),
    'True for the daily summary of chat and e-mail, which `/settings/chat` and `/settings/email` switch.',
  ),
  name,
  period,
  hour: field(hour, 'Hour of the day at which it is sent.'),
  weekday: field(weekday, 'Day of the week on which a weekly report is sent; 1 is Monday.'),
  day: field(monthDay, 'Day of the month on which a monthly report is sent.'),
  timezone: field(nullable(timezone), 'Its time zone; null for that of the settings.'),
  target: field(target, 'Servers that it is about.'),
  recipients: field(Type.Array(Type.String()), 'E-mail addresses.'),
  channels: field(Type.Array(Type.String()), 'Ids of channels.'),
  enabled: field(Type.Boolean(), 'Whether it is sent.'),
  next_at: field(nullable(timestamp), 'Time at which it is sent next; null while it is off.'),
  last_at: field(nullable(timestamp), 'Time at which it was last queued; null before the first time.'),
  last_error: field(nullable(Type.String()), 'Why the last report could not be queued; null when it was.'),
  created_by: field(Type.String(), 'Name of the user or API key that made it.'),
})
export type ReportSchedule = Static<typeof reportSchedule>
const scheduleInput = {
  hour: field(Type.Optional(hour), 'Hour of the day at which it is sent; 7 unless given.'),
  weekday: field(Type.Optional(weekday), 'Day of the week of a weekly report; 1, Monday, unless given.'),
  day: field(Type.Optional(monthDay), 'Day of the month of a monthly report; 1 unless given.'),
  timezone: field(Type.Optional(nullable(timezone)), 'Its time zone; that of the settings unless given.'),
  target: field(Type.Optional(targetInput), 'The servers that it is about; all unless given.'),
  recipients: field(
    Type.Optional(Type.Array(recipient, { maxItems: 20 })),
    'E-mail addresses; without addresses and channels it goes to the recipients of the e-mail settings.',
  ),
  channels: field(Type.Optional(channelIds), 'Ids of channels.'),
  enabled: field(Type.Optional(Type.Boolean()), 'Whether it is sent; true unless given.'),
} as const

export const listReportSchedules = endpoint('GET /reports/schedules', {
  tag,
  scope: 'settings',
  fleet: true,
  summary: 'List the schedules of reports',
  access: 'admin',
  reply: shape({
    schedules: field(
      Type.Array(reportSchedule),
      'The schedules, by name: the daily summary, and at most 50 of one’s own.',
    ),
    total: count,
  }),
})
export const createReportSchedule = endpoint('POST /reports/schedules', {
  tag,
  scope: 'settings',
  fleet: true,
  summary: 'Create a schedule of reports',
  description: 'The first report is sent at the next time that the schedule names.',
  access: 'admin',
  lasts: true,
  leaves: { what: 'report schedules', most: bounds.reportSchedules, per: 'fleet' },
  body: shape({ name, period, ...scheduleInput }),
  status: 201,
  reply: reportSchedule,
  refusals: [409],
})
export const updateReportSchedule = endpoint('PATCH /reports/schedules/{id}', {
  tag,
  scope: 'settings',
  fleet: true,
  summary: 'Change a schedule of reports',
  description: 'The daily summary is changed by its settings: 409.',
  access: 'admin',
  lasts: true,
  params,
  body: shape({ name: Type.Optional(name), period: Type.Optional(period), ...scheduleInput }),
  reply: reportSchedule,
  refusals: [404, 409],
})
export const deleteReportSchedule = endpoint('DELETE /reports/schedules/{id}', {
  tag,
  scope: 'settings',
  fleet: true,
  summary: 'Delete a schedule of reports',
  description: 'The daily summary is switched off by its settings: 409.',
  access: 'admin',
  lasts: true,
  params,
  reply: message,
  refusals: [404, 409],
})
export const testReportSchedule = endpoint('POST /reports/schedules/{id}/test', {
  tag,
  scope: 'settings',
  fleet: true,
  summary: 'Send a report now',
  description:
    'Queues the report of the last complete period for the recipients of the schedule. The schedule goes on as before.',
  access: 'admin',
  lasts: false,
  leaves: null,
  params,
  reply: message,
  refusals: [404, 409],
})
