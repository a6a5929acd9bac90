import type { Database } from '../../db/database.ts'
import type { Clock } from '../../core/clock.ts'
import type { Author, Change, Events } from '../../events/events.ts'

/** Settings by their dotted path, with what they are until somebody sets them. */
const defaults = {
  'service.site_name': 'Stockade',
  /** Null: the base URL. */
  'service.site_url': null as string | null,
  'service.timezone': 'UTC',
  'security.session_timeout': 604_800,
  'security.mfa_required': false,
  'security.password_min_length': 8,
  'reputation.enabled': false,
  /** Sealed. */
  'reputation.api_key': null as string | null,
  /** Reports a day. */
  'reputation.rate_limit': 1000 as number,
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
/** Never shown, not even to the audit log. */
const secret = new Set<string>([
  'reputation.api_key',
  'oauth.provider_a.client_secret',
  'oauth.provider_b.client_secret',
])
export type Settings = {
  readonly [K in keyof typeof defaults]: (typeof defaults)[K] extends boolean ? boolean : (typeof defaults)[K]
}
export type SettingName = keyof Settings

export interface SettingsService {
  get<K extends SettingName>(name: K): Settings[K]
  /** Writes inside the given change; call `reload` after its commit. */
  set(change: Change, values: Partial<Settings>, at: number): Promise<void>
  /** Writes what is different, with an entry for each field, and takes it over. Answers the names that changed. */
  update(author: Author, values: Partial<Settings>): Promise<SettingName[]>
  reload(): Promise<void>
}

export const createSettings = async (db: Database, clock: Clock, events: Events): Promise<SettingsService> => {
  let values: Settings = defaults
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
    async update(author, given) {
      const names = (Object.keys(given) as SettingName[]).filter(
        name => JSON.stringify(given[name]) !== JSON.stringify(values[name]),
      )
      if (names.length === 0) return []
      await events.change(async change => {
        await service.set(change, Object.fromEntries(names.map(name => [name, given[name]])), clock())
        for (const name of names) {
          const shown = (value: unknown) => (secret.has(name) && value !== null ? '***' : value)
          await change.record({
            name: 'settings.update',
            author,
            data: { field: name, old_value: shown(values[name]), new_value: shown(given[name]) },
          })
        }
      })
      await service.reload()
      return names
    },
    async reload() {
      const rows = await db.read.selectFrom('settings').select(['key', 'value']).execute()
      const stored = Object.fromEntries(rows.map(row => [row.key, JSON.parse(row.value) as unknown]))
      values = { ...defaults, ...(stored as Partial<Settings>) }
    },
  }
  await service.reload()
  return service
}
