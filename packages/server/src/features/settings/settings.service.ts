import { keysOf } from '@stockade/contract/records.ts'
import type { Author } from '../../core/author.ts'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../core/clock.ts'
import { createLatest } from '../../core/latest.ts'
import type { Change, EventInput, Events } from '../../events/events.ts'
import { defaults, secretSettings, silentSettings } from './fields.ts'
import type { SettingName, Settings } from './fields.ts'
import { allSettings, saveSetting } from './settings.store.ts'

export type { SettingName, Settings } from './fields.ts'

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
        await saveSetting(change.sql, key, JSON.stringify(value), at)
      }
    },
    watch: watcher => void watchers.push(watcher),
    async update(author, given, entry) {
      const names = keysOf(given).filter(name => JSON.stringify(given[name]) !== JSON.stringify(values[name]))
      if (names.length === 0 && !entry) return []
      const changed: Partial<Settings> = Object.fromEntries(names.map(name => [name, given[name]]))
      await events.change(async change => {
        await service.set(change, changed, clock())
        for (const watcher of watchers) await watcher(change, values, { ...values, ...changed })
        for (const name of names) {
          if (silentSettings.has(name)) continue
          const maskedValue = (value: unknown) => (secretSettings.has(name) && value !== null ? '***' : value)
          await change.record({
            name: 'settings.update',
            author,
            data: { field: name, old_value: maskedValue(values[name]), new_value: maskedValue(given[name]) },
          })
        }
        if (entry) await change.record(entry)
      })
      await service.reload()
      return names.filter(name => !silentSettings.has(name))
    },
    reload: () =>
      latest(
        () => allSettings(db.read),
        rows => {
          const stored = Object.fromEntries(rows.map(row => [row.key, JSON.parse(row.value)]))
          values = { ...defaults, ...stored }
        },
      ),
  }
  await service.reload()
  return service
}
