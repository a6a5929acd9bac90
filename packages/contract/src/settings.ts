import { Type } from 'typebox'
import type { Static } from 'typebox'
import { email } from './auth.ts'
import { partly } from './changes.ts'
import { endpoint } from './endpoint.ts'
import { bounds, times } from './limits.ts'
import { count, message, role, roleInput, steps, timestamp } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

export * from './license.ts'
export * from './audit.ts'

/** All of it is an administrator's, and nothing for a key that is bound to one server. */
const admin = { tag: 'Settings', access: 'admin', fleet: true } as const

/** A secret goes in and never comes out; null or an empty text takes it away. */
const secret = nullable(text(0, 1024))
/** A text that can be taken away with null or an empty text; reads show null then. */
const clearable = (maxLength: number) => nullable(text(0, maxLength))
const hourOfDay = Type.Integer({ minimum: 0, maximum: 23 })
const reportsPerDay = Type.Integer({ minimum: 0, maximum: 1_000_000 })
const port = Type.Integer({ minimum: 1, maximum: 65_535 })

const sections = {
  service: {
    site_name: text(1, bounds.name),
    site_url: text(1, 2048),
    timezone: text(1, 64, { examples: ['Europe/Vienna'] }),
  },
  security: {
    session_timeout: field(
      Type.Integer({ minimum: 60, maximum: times.sessionMaximum }),
      'Seconds without use after which a session ends.',
    ),
    mfa_required: Type.Boolean(),
    passkey_required: field(
      oneOf(['off', 'admins', 'all']),
      'Who must sign in with a passkey: nobody, administrators, or everybody without a provider.',
    ),
    password_min_length: field(
      Type.Integer({ minimum: bounds.password.minimum, maximum: 128 }),
      'Minimum length of new passwords.',
    ),
    refuse_common_passwords: field(
      Type.Boolean(),
      'Whether new passwords that are among the most common ones are refused.',
    ),
    own_unban: field(
      Type.Boolean(),
      'Whether users with access to all servers may lift the ban of the address that they come from.',
    ),
    self_tests: field(
      oneOf(['off', 'enrolment', 'daily']),
      'When a server tests by itself that a ban stops packets: never, after its enrolment and each upgrade of its agent, or every day as well.',
    ),
  },
  notifications: {
    chat_enabled: field(Type.Boolean(), 'Whether chat notifications are switched on.'),
    email_enabled: field(Type.Boolean(), 'Whether e-mail notifications are switched on.'),
    daily_summary: Type.Boolean(),
    daily_summary_hour: hourOfDay,
  },
  integrations: {
    reputation_enabled: field(Type.Boolean(), 'Whether reports to the reputation database are switched on.'),
    reputation_rate_limit: field(reportsPerDay, 'Maximum number of reports to the reputation database a day.'),
  },
}
export const sectionNames = ['service', 'security', 'notifications', 'integrations'] as const
export const systemSettings = resource('SystemSettings', {
  service: resource('ServiceSettings', sections.service),
  security: resource('SecuritySettings', sections.security),
  notifications: resource('NotificationSettings', sections.notifications),
  integrations: resource('IntegrationSettings', sections.integrations),
})
export type SystemSettings = Static<typeof systemSettings>
export const settingsChange = partly(
  {
    service: partly(sections.service, 'ServiceSettingsChange'),
    security: partly(sections.security, 'SecuritySettingsChange'),
    notifications: partly(sections.notifications, 'NotificationSettingsChange'),
    integrations: partly(sections.integrations, 'IntegrationSettingsChange'),
  },
  'SystemSettingsChange',
)
export type SettingsChange = Static<typeof settingsChange>

export const getSettings = endpoint('GET /settings', {
  ...admin,
  summary: 'Read the settings',
  description:
    '`notifications` and `integrations` are views of the chat, e-mail and reputation sections: changing one changes the other.',
  reply: systemSettings,
})

export const updateSettings = endpoint('PATCH /settings', {
  ...admin,
  lasts: true,
  summary: 'Change settings',
  description:
    'Only the fields that are sent. `updated_fields` names those whose value changed, as in `security.mfa_required`. `daily_summary_hour` is an hour in `timezone`.',
  body: settingsChange,
  reply: shape({
    message: Type.String(),
    updated_fields: field(Type.Array(Type.String()), 'Fields whose value changed, such as `security.mfa_required`.'),
  }),
})

const toggles = {
  enabled: Type.Boolean(),
  notify_bans: Type.Boolean(),
  notify_syncs: Type.Boolean(),
  notify_errors: Type.Boolean(),
  daily_summary: Type.Boolean(),
  daily_summary_hour: hourOfDay,
}

export const deliverySteps = steps('DeliveryStep', ['resolve', 'connect', 'tls', 'authenticate', 'write', 'answer'])
/** How delivery goes: additive, read only. */
const delivery = {
  last_sent: nullable(timestamp),
  last_error: nullable(Type.String()),
  failing_since: nullable(timestamp),
}
const deliveryWords =
  '`last_sent` is when a message was last taken; `last_error` and `failing_since` tell of a delivery that fails since, and are null once one goes through.'

export const getChat = endpoint('GET /settings/chat', {
  ...admin,
  summary: 'Read the chat settings',
  description: `\`webhook_url\` is a secret: whoever has it may write to the chat. ${deliveryWords}`,
  reply: shape({ ...toggles, webhook_url: nullable(Type.String()), ...delivery }),
})

export const updateChat = endpoint('PATCH /settings/chat', {
  ...admin,
  lasts: true,
  summary: 'Change the chat settings',
  description:
    'Which kind of webhook it is shows in its URL: Discord at discord.com and discordapp.com; Slack and compatible ones at hooks.slack.com, hooks.slack-gov.com, at any path with `/services/`, `/slack` at the end, or as Mattermost and Rocket.Chat make them (`/hooks/` with their tokens); generic JSON anywhere else. With `enabled` and no URL the settings are kept and nothing is sent.',
  body: partly({ ...toggles, webhook_url: clearable(2048) }),
  reply: message,
})

export const testChat = endpoint('POST /settings/chat/test', {
  ...admin,
  lasts: false,
  leaves: null,
  summary: 'Send a test message to the chat',
  description:
    '409 while the chat is disabled or has no URL; 502 with the other side’s words when it does not take the message. `steps` tells of each step with its time; the body of that 502 has it, too.',
  reply: shape({ message: Type.String(), steps: deliverySteps }),
  refusals: [409, 502],
})

const mail = { ...toggles, smtp_port: port, smtp_tls: Type.Boolean() }
export const getEmail = endpoint('GET /settings/email', {
  ...admin,
  summary: 'Read the e-mail settings',
  description: `The password is never returned; \`smtp_pass_set\` says whether there is one. ${deliveryWords}`,
  reply: shape({
    ...mail,
    ...delivery,
    smtp_host: nullable(Type.String()),
    smtp_user: nullable(Type.String()),
    smtp_pass_set: field(Type.Boolean(), 'Whether a password is stored.'),
    from_address: nullable(Type.String()),
    recipients: Type.Array(Type.String()),
  }),
})

export const updateEmail = endpoint('PATCH /settings/email', {
  ...admin,
  lasts: true,
  summary: 'Change the e-mail settings',
  description:
    'With `enabled` and no host or no recipient the settings are kept and nothing is sent. Port 465 is TLS from the first byte; on other ports `smtp_tls: true` (the default) demands STARTTLS. With `smtp_tls: true` the certificate is checked; `false` encrypts where the mail server offers it and checks nothing. Without `from_address` mail comes from `smtp_user`, if that is an address, else from `stockade@` and the host of the base URL.',
  body: partly({
    ...mail,
    smtp_host: clearable(bounds.hostname),
    smtp_user: clearable(254),
    smtp_pass: field(secret, 'Password for the mail server; null or empty removes it. It is never returned.'),
    from_address: clearable(254),
    recipients: Type.Array(email, { maxItems: 100 }),
  }),
  reply: message,
})

export const testEmail = endpoint('POST /settings/email/test', {
  ...admin,
  lasts: false,
  leaves: null,
  summary: 'Send a test e-mail',
  description:
    "To `recipient`, or without it to the configured recipients. A refusal (502) tells the mail server's own words. `steps` tells of each step with its time; the body of that 502 has it, too.",
  body: shape({
    recipient: field(Type.Optional(email), 'Address to send to; the configured recipients when it is left out.'),
  }),
  reply: shape({ message: Type.String(), steps: deliverySteps }),
  refusals: [409, 502],
})

export const getReputation = endpoint('GET /settings/reputation', {
  ...admin,
  summary: 'Read the reputation settings',
  reply: shape({
    enabled: Type.Boolean(),
    api_key_set: field(Type.Boolean(), 'Whether an API key is stored.'),
    rate_limit: field(count, 'Maximum number of reports a day.'),
    reports_today: field(count, 'Number of reports today (UTC).'),
    last_report: field(nullable(timestamp), 'Time of the last report; null when there was none.'),
    paused_until: field(
      nullable(timestamp),
      'Until when no reports are sent, because the service refused the account or failed; null while they are.',
    ),
    paused_because: field(
      nullable(Type.String()),
      'Why no reports are sent, in the words of the service; null while they are.',
    ),
  }),
})

export const updateReputation = endpoint('PATCH /settings/reputation', {
  ...admin,
  lasts: true,
  summary: 'Change the reputation settings',
  description: '`rate_limit` is the number of reports a day.',
  body: partly({
    enabled: Type.Boolean(),
    api_key: field(secret, 'API key of the reputation database; null or empty removes it. It is never returned.'),
    rate_limit: field(reportsPerDay, 'Maximum number of reports a day.'),
  }),
  reply: message,
})

const allowed = (maxLength: number) => Type.Array(text(1, maxLength), { maxItems: 1000 })
const providerInput = { enabled: Type.Boolean(), client_id: clearable(512), client_secret: secret }
const providerReply = { enabled: Type.Boolean(), client_id_set: Type.Boolean(), client_secret_set: Type.Boolean() }

export const getOauth = endpoint('GET /settings/oauth', {
  ...admin,
  summary: 'Read the sign-in providers',
  reply: shape({
    provider_a: resource('ProviderA', {
      ...providerReply,
      allowed_users: Type.Array(Type.String()),
      allowed_org: nullable(Type.String()),
    }),
    provider_b: resource('ProviderB', { ...providerReply, allowed_domains: Type.Array(Type.String()) }),
    default_role: role,
    local_login_disabled: Type.Boolean(),
  }),
})

export const updateOauth = endpoint('PATCH /settings/oauth', {
  ...admin,
  lasts: true,
  summary: 'Change the sign-in providers',
  description:
    'Empty allow-lists admit nobody. `local_login_disabled` is refused as long as no administrator signs in through a provider.',
  body: partly({
    provider_a: partly(
      { ...providerInput, allowed_users: allowed(bounds.name), allowed_org: clearable(bounds.name) },
      'ProviderAChange',
    ),
    provider_b: partly({ ...providerInput, allowed_domains: allowed(bounds.hostname) }, 'ProviderBChange'),
    default_role: roleInput,
    local_login_disabled: Type.Boolean(),
  }),
  reply: message,
  refusals: [409],
})

export const exportVersion = '1'
export const exportSettings = endpoint('GET /settings/export', {
  ...admin,
  summary: 'Export the settings',
  description: 'Without secrets.',
  reply: shape({
    version: field(Type.String(), 'Version of the export format.'),
    exported_at: timestamp,
    settings: field(systemSettings, 'The settings, without secrets.'),
  }),
})

export const importSettings = endpoint('POST /settings/import', {
  ...admin,
  lasts: true,
  leaves: null,
  summary: 'Import settings',
  description:
    'Takes an export of this version as it is. Everything is checked before anything changes. `merge: true` changes what is given; `merge: false` sets all else to its default, and keeps stored secrets.',
  body: shape({
    settings: field(settingsChange, 'The settings to import.'),
    merge: field(
      Type.Optional(Type.Boolean({ default: true })),
      'Whether to keep settings that are left out; false resets them to their defaults.',
    ),
    version: field(Type.Optional(oneOf([exportVersion])), 'Version of the export format.'),
    exported_at: Type.Optional(timestamp),
  }),
  reply: shape({
    message: Type.String(),
    updated_sections: field(Type.Array(oneOf(sectionNames)), 'Sections that changed.'),
  }),
})
