import { siemTypes } from '@stockade/contract'
import type { SiemType, siem } from '@stockade/contract'
import { entriesOf, keysOf } from '@stockade/contract/records.ts'

type SiemSettings = siem.SiemSettings

/** A stored setting: its value until somebody sets it, and whether the audit log may show it. */
interface Field<T> {
  readonly usual: T
  /** `secret`: stored sealed, and shown as `***`. `silent`: stored beside a secret by the service itself, and not recorded. */
  readonly kind: 'plain' | 'secret' | 'silent'
}
const plain = <T>(usual: T): Field<T> => ({ usual, kind: 'plain' })
const secret = (): Field<string | null> => ({ usual: null, kind: 'secret' })
/** The target that the secret before it is for; see bound.ts. */
const target = (): Field<string | null> => ({ usual: null, kind: 'silent' })

/** Every setting by its dotted path. */
const fields = {
  'service.site_name': plain('Stockade'),
  /** Null: the base URL. */
  'service.site_url': plain<string | null>(null),
  'service.timezone': plain('UTC'),
  'security.session_timeout': plain(604_800),
  'security.mfa_required': plain(false),
  'security.passkey_required': plain<'off' | 'admins' | 'all'>('off'),
  'security.password_min_length': plain(8),
  'security.refuse_common_passwords': plain(false),
  'security.own_unban': plain(false),
  'security.self_tests': plain<'off' | 'enrolment' | 'daily'>('enrolment'),
  'reputation.enabled': plain(false),
  'reputation.api_key': secret(),
  /** Reports a day. */
  'reputation.rate_limit': plain(1000),
  /** An hour of the day in `service.timezone`, for chat and e-mail alike. */
  'notifications.daily_summary_hour': plain(8),
  'chat.enabled': plain(false),
  /** The address is a secret: knowing it is enough to write to the chat. */
  'chat.webhook_url': secret(),
  'chat.notify_bans': plain(true),
  'chat.notify_syncs': plain(false),
  'chat.notify_errors': plain(true),
  'chat.daily_summary': plain(false),
  'email.enabled': plain(false),
  'email.smtp_host': plain<string | null>(null),
  'email.smtp_port': plain(587),
  'email.smtp_user': plain<string | null>(null),
  'email.smtp_pass': secret(),
  'email.smtp_pass_target': target(),
  'email.smtp_tls': plain(true),
  'email.from_address': plain<string | null>(null),
  'email.recipients': plain<readonly string[]>([]),
  'email.notify_bans': plain(true),
  'email.notify_syncs': plain(false),
  'email.notify_errors': plain(true),
  'email.daily_summary': plain(false),
  'siem.enabled': plain(false),
  'siem.format': plain<SiemSettings['format']>('syslog'),
  'siem.host': plain<string | null>(null),
  'siem.port': plain(514),
  'siem.protocol': plain<SiemSettings['protocol']>('tcp'),
  'siem.tls_enabled': plain(false),
  'siem.framing': plain<SiemSettings['framing']>('octet-counting'),
  'siem.tls_verify': plain(true),
  'siem.ca_cert': plain<string | null>(null),
  'siem.path': plain<string | null>(null),
  'siem.token': secret(),
  'siem.token_target': target(),
  'siem.events': plain<readonly SiemType[]>(keysOf(siemTypes)),
  'siem.min_severity': plain(0),
  'siem.batch_size': plain(100),
  /** Seconds. */
  'siem.flush_interval': plain(5),
  'oauth.default_role': plain<'Admin' | 'Operator' | 'Viewer'>('Viewer'),
  'oauth.local_login_disabled': plain(false),
  'oauth.provider_a.enabled': plain(false),
  'oauth.provider_a.client_id': plain<string | null>(null),
  'oauth.provider_a.client_secret': secret(),
  'oauth.provider_a.allowed_users': plain<readonly string[]>([]),
  'oauth.provider_a.allowed_org': plain<string | null>(null),
  'oauth.provider_b.enabled': plain(false),
  'oauth.provider_b.client_id': plain<string | null>(null),
  'oauth.provider_b.client_secret': secret(),
  'oauth.provider_b.allowed_domains': plain<readonly string[]>([]),
}
type Fields = typeof fields
export type SettingName = keyof Fields
export type Settings = { readonly [K in SettingName]: Fields[K]['usual'] }

const entries = entriesOf(fields)
const namesOfKind = (kind: Field<unknown>['kind']): ReadonlySet<string> =>
  new Set(entries.flatMap(([name, field]) => (field.kind === kind ? [name] : [])))

/** The settings of a new installation. */
export const defaults = Object.fromEntries(entries.map(([name, { usual }]) => [name, usual])) as Settings
export const secretSettings = namesOfKind('secret')
export const silentSettings = namesOfKind('silent')
