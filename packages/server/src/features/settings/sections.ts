import type { settings as contract } from '@stockade/contract'
import { entriesOf } from '@stockade/contract/records.ts'
import { isTimeZone, webAddress } from '../../core/checks.ts'
import { invalid } from '../../core/problem.ts'
import { defaults } from './fields.ts'
import type { SettingName, Settings } from './fields.ts'
import type { SettingsService } from './settings.service.ts'

type Get = SettingsService['get']
type Mutable<T> = { -readonly [K in keyof T]?: T[K] }

/**
 * What of the stored settings stands behind each field of `GET /settings`: one, or for `notifications.daily_summary` two,
 * which reads true when one of them is.
 */
const stored = {
  'service.site_name': ['service.site_name'],
  'service.site_url': ['service.site_url'],
  'service.timezone': ['service.timezone'],
  'security.session_timeout': ['security.session_timeout'],
  'security.mfa_required': ['security.mfa_required'],
  'security.passkey_required': ['security.passkey_required'],
  'security.password_min_length': ['security.password_min_length'],
  'security.refuse_common_passwords': ['security.refuse_common_passwords'],
  'security.own_unban': ['security.own_unban'],
  'security.self_tests': ['security.self_tests'],
  'notifications.chat_enabled': ['chat.enabled'],
  'notifications.email_enabled': ['email.enabled'],
  'notifications.daily_summary': ['chat.daily_summary', 'email.daily_summary'],
  'notifications.daily_summary_hour': ['notifications.daily_summary_hour'],
  'integrations.reputation_enabled': ['reputation.enabled'],
  'integrations.reputation_rate_limit': ['reputation.rate_limit'],
} as const satisfies Record<string, readonly SettingName[]>
const fields = entriesOf(stored)

/** The four sections as they are read. */
export const sectionsOf = (get: Get, baseUrl: () => string): contract.SystemSettings => ({
  service: {
    site_name: get('service.site_name'),
    site_url: get('service.site_url') ?? baseUrl(),
    timezone: get('service.timezone'),
  },
  security: {
    session_timeout: get('security.session_timeout'),
    mfa_required: get('security.mfa_required'),
    passkey_required: get('security.passkey_required'),
    password_min_length: get('security.password_min_length'),
    refuse_common_passwords: get('security.refuse_common_passwords'),
    own_unban: get('security.own_unban'),
    self_tests: get('security.self_tests'),
  },
  notifications: {
    chat_enabled: get('chat.enabled'),
    email_enabled: get('email.enabled'),
    daily_summary: get('chat.daily_summary') || get('email.daily_summary'),
    daily_summary_hour: get('notifications.daily_summary_hour'),
  },
  integrations: { reputation_enabled: get('reputation.enabled'), reputation_rate_limit: get('reputation.rate_limit') },
})

/** The address of the site in a change; null without one. @throws Problem 400 for it, and for a time zone that does not exist */
const checkedAddress = (
  { service: { site_url, timezone } = {} }: contract.SettingsChange,
  at: string,
): string | null => {
  const url = site_url === undefined ? null : webAddress(site_url)
  if (site_url !== undefined && url === null)
    throw invalid(`${at}service.site_url`, 'service.site_url must be an address that begins with http:// or https://.')
  if (timezone !== undefined && !isTimeZone(timezone))
    throw invalid(`${at}service.timezone`, 'service.timezone must be an IANA time zone, such as Europe/Vienna.')
  return url
}

/**
 * A change of the sections as what is to be stored; `at` is where the sections stand in the body, for refusals.
 * @throws Problem 400 naming the field
 */
export const storedOf = (
  change: contract.SettingsChange,
  now: { site_url: string; isOwnUrl: boolean },
  at = '',
): Partial<Settings> => {
  const url = checkedAddress(change, at)
  const fieldsBySection: Record<string, Record<string, unknown> | undefined> = change
  const values: Mutable<Record<SettingName, unknown>> = {}
  for (const [path, names] of fields) {
    const [section = '', field = ''] = path.split('.')
    const value = fieldsBySection[section]?.[field]
    if (value !== undefined) for (const name of names) values[name] = value
  }
  if (url !== null) {
    // Without a value the base URL is shown: sending it back stores none.
    if (!now.isOwnUrl && url === now.site_url) delete values['service.site_url']
    else values['service.site_url'] = url
  }
  return values as Partial<Settings>
}

/** Everything that the sections hold, as it is until somebody sets it. */
export const defaultsOfSections = (): Partial<Settings> =>
  Object.fromEntries(fields.flatMap(([, names]) => names.map(name => [name, defaults[name]])))

/** The dotted fields of the sections whose stored part changed. */
export const fieldsOf = (changed: readonly SettingName[]): string[] =>
  fields.flatMap(([path, names]) => (names.some(name => changed.includes(name)) ? [path] : []))
