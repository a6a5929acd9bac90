import { ConfigError } from '../config.ts'
import { version } from '../core/places.ts'
import type { Database } from './database.ts'
import { knownMigrations, migrate } from './migrate.ts'
import { stateOf, storedSchema } from './schema-state.ts'
import type { StoredSchema } from './schema-state.ts'

const refuseNewer = ({ done, version: writer }: StoredSchema, known: readonly string[]): never => {
  const schema = done.findLast(name => !known.includes(name)) ?? ''
  throw new ConfigError(
    `the data is from ${writer === null ? 'a newer Stockade' : `Stockade ${writer}`} (schema ${schema}), and this is the older version ${version}. ` +
      'Run that version, or restore a backup that was made before the upgrade.',
  )
}

/**
 * Opens the storage and brings its schema up to date, where that is safe.
 * @throws ConfigError with a sentence where it is not; the data is as it was then
 */
export const openUpgraded = async <D extends Database>(open: () => Promise<D>): Promise<D> => {
  const db = await open()
  try {
    const known = knownMigrations(db.engine)
    const stored = await storedSchema(db)
    if (stateOf(stored, known) === 'newer') refuseNewer(stored, known)
    await migrate(db)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}
