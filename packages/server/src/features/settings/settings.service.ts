import { siemTypes } from '@stockade/contract'
import type { SiemType, siem } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../core/clock.ts'
import { createLatest } from '../../core/latest.ts'
import type { Change, EventInput, Events } from '../../events/events.ts'

type SiemSettings = siem.SiemSettings

/** Settings by their dotted path, with what they are until somebody sets them. */
export const defaults = {
  'service.site_name': 'Stockade',
  /** Null: the base URL. */
  'service.site_url': null as string | null,
  'service.timezone': 'UTC',
  'security.session_timeout': 604_800,
  'security.mfa_required': false,
  'security.passkey_required': 'off' as 'off' | 'admins' | 'all',
  'security.password_min_length': 8,
  'security.refuse_common_passwords': false,
  'reputation.enabled': false,
  /** Sealed. */
  'reputation.api_key': null as string | null,
  /** Reports a day. */
  'reputation.rate_limit': 1000 as number,
  /** An hour of the day in `service.timezone`, for chat and e-mail alike. */
  'notifications.daily_summary_hour': 8 as number,
  'chat.enabled': false,
  /** Sealed: whoever has the address may write there. */
  'chat.webhook_url': null as string | null,
  'chat.notify_bans': true,
  'chat.notify_syncs': false,
  'chat.notify_errors': true,
  'chat.daily_summary': false,
  'email.enabled': false,
  'email.smtp_host': null as string | null,
  'email.smtp_port': 587 as number,
  'email.smtp_user': null as string | null,
  /** Sealed. */
  'email.smtp_pass': null as string | null,
  /** The target that the password is for; see bound.ts. */
  'email.smtp_pass_target': null as string | null,
  'email.smtp_tls': true,
  'email.from_address': null as string | null,
  'email.recipients': [] as readonly string[],
  'email.notify_bans': true,
  'email.notify_syncs': false,
  'email.notify_errors': true,
  'email.daily_summary': false,
  'siem.enabled': false,
  'siem.format': 'syslog' as SiemSettings['format'],
  'siem.host': null as string | null,
  'siem.port': 514 as number,
  'siem.protocol': 'tcp' as SiemSettings['protocol'],
  'siem.tls_enabled': false,
  'siem.tls_verify': true,
  'siem.ca_cert': null as string | null,
  'siem.path': null as string | null,
  /** Sealed. */
  'siem.token': null as string | null,
  'siem.token_target': null as string | null,
  'siem.events': Object.keys(siemTypes) as readonly SiemType[],
  'siem.min_severity': 0 as number,
  'siem.batch_size': 100 as number,
  /** Seconds. */
  'siem.flush_interval': 5 as number,
  'oauth.default_role': 'Viewer' as 'Admin' | 'Operator' | 'Viewer',
  'oauth.local_login_disabled': false,
  'oauth.provider_a.enabled': false,
  'oauth.provider_a.client_id': null as string | null,
  /** Sealed. */
  'oauth.provider_a.client_secret': null as string | null,
  'oauth.provider_a.allowed_users': [] as readonly string[],
  'oauth.provider_a.allowed_org': null as string | null,
  'oauth.provider_b.enabled': false,
  'oauth.provider_b.client_id': null as string | null,
  /** Sealed. */
  'oauth.provider_b.client_secret': null as string | null,
  'oauth.provider_b.allowed_domains': [] as readonly string[],
}
/** Kept beside a secret; nobody set it, so the audit log does not tell of it. */
const silent = new Set<string>(['email.smtp_pass_target', 'siem.token_target'])
/** Never shown, not even to the audit log. */
const secret = new Set<string>([
  'reputation.api_key',
  'chat.webhook_url',
  'email.smtp_pass',
  'oauth.provider_a.client_secret',
  'oauth.provider_b.client_secret',
])
export type Settings = {
  readonly [K in keyof typeof defaults]: (typeof defaults)[K] extends boolean ? boolean : (typeof defaults)[K]
}
export type SettingName = keyof Settings

export type SettingsWatcher = (change: Change, before: Settings, after: Settings) => Promise<void>

export interface SettingsService {
  get<K extends SettingName>(name: K): Settings[K]
  /** Writes inside the given change; call `reload` after its commit. */
  set(change: Change, values: Partial<Settings>, at: number): Promise<void>
  /**
   * Writes what is different, with an entry for each field and `entry` if given, in one transaction, and takes it over.
   * Answers the names that changed.
   */
  update(author: Author, values: Partial<Settings>, entry?: EventInput): Promise<SettingName[]>
  /** Called in the transaction of each update, for what has to change along with the settings. */
  watch(watcher: SettingsWatcher): void
  reload(): Promise<void>
}

export const createSettings = async (db: Database, clock: Clock, events: Events): Promise<SettingsService> => {
  const latest = createLatest()
  let values: Settings = defaults
  const watchers: SettingsWatcher[] = []
  const service: SettingsService = {
    get: name => values[name],
    async set(change, given, at) {
      for (const [key, value] of Object.entries(given)) {
        const row = { value: JSON.stringify(value), updated_at: at }
        await change.sql
          .insertInto('settings')
          .values({ key, ...row })
          .onConflict(on => on.column('key').doUpdateSet(row))
          .execute()
      }
    },
    watch: watcher => void watchers.push(watcher),
    async update(author, given, entry) {
      const names = (Object.keys(given) as SettingName[]).filter(
        name => JSON.stringify(given[name]) !== JSON.stringify(values[name]),
      )
      if (names.length === 0 && !entry) return []
      const changed: Partial<Settings> = Object.fromEntries(names.map(name => [name, given[name]]))
      await events.change(async change => {
        await service.set(change, changed, clock())
        for (const watcher of watchers) await watcher(change, values, { ...values, ...changed })
        for (const name of names) {
          if (silent.has(name)) continue
          const shown = (value: unknown) => (secret.has(name) && value !== null ? '***' : value)
          await change.record({
            name: 'settings.update',
            author,
            data: { field: name, old_value: shown(values[name]), new_value: shown(given[name]) },
          })
        }
        if (entry) await change.record(entry)
      })
      await service.reload()
      return names.filter(name => !silent.has(name))
    },
    reload: () =>
      latest(
        () => db.read.selectFrom('settings').select(['key', 'value']).execute(),
        rows => {
          const stored = Object.fromEntries(rows.map(row => [row.key, JSON.parse(row.value) as unknown]))
          values = { ...defaults, ...(stored as Partial<Settings>) }
        },
      ),
  }
  await service.reload()
  return service
}
