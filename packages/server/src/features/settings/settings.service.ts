import type { Database } from '../../db/database.ts'
import type { Change } from '../../events/events.ts'

/** Settings by their dotted path, with what they are until somebody sets them. */
const defaults = {
  'service.site_name': 'Stockade',
  /** Null: the base URL. */
  'service.site_url': null as string | null,
  'service.timezone': 'UTC',
  'security.session_timeout': 604_800,
  'security.mfa_required': false,
  'security.password_min_length': 8,
}
export type Settings = {
  readonly [K in keyof typeof defaults]: (typeof defaults)[K] extends boolean ? boolean : (typeof defaults)[K]
}
export type SettingName = keyof Settings

export interface SettingsService {
  get<K extends SettingName>(name: K): Settings[K]
  /** Writes inside the given change; call `reload` after its commit. */
  set(change: Change, values: Partial<Settings>, at: number): Promise<void>
  reload(): Promise<void>
}

export const createSettings = async (db: Database): Promise<SettingsService> => {
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
    async reload() {
      const rows = await db.read.selectFrom('settings').select(['key', 'value']).execute()
      const stored = Object.fromEntries(rows.map(row => [row.key, JSON.parse(row.value) as unknown]))
      values = { ...defaults, ...(stored as Partial<Settings>) }
    },
  }
  await service.reload()
  return service
}
