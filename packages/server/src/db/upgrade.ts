import { sql } from 'kysely'
import { ConfigError } from '../config-reader.ts'
import type { Config } from '../config.ts'
import { isDiskFull } from '../core/disk.ts'
import { version } from '../core/places.ts'
import type { Database } from './database.ts'
import { knownMigrations, migrate } from './migrate.ts'
import { isUnreleased, stateOf, storedSchema } from './schema-state.ts'
import type { StoredSchema } from './schema-state.ts'
import { copyBeforeUpgrade, upgradeCopies } from './upgrade-copy.ts'

/** PostgreSQL has no copy to go back to: with more bans than these, somebody must have said that there is a dump. */
const mostUnconfirmed = 100_000

const refuseNewer = (db: Database, { done, version: writer }: StoredSchema, known: readonly string[]): never => {
  const schema = done.findLast(name => !known.includes(name)) ?? ''
  const copy = db.file === null ? undefined : upgradeCopies(db.file)[0]
  throw new ConfigError(
    `the data is from ${writer === null ? 'a newer Stockade' : `Stockade ${writer}`} (schema ${schema}), and this is the older version ${version}. ` +
      `Run that version, or go back to the state before the upgrade: ${copy ? `stockade restore ${copy} --replace` : 'restore a backup that was made then'}.`,
  )
}
const refuseUnreleased = ({ done }: StoredSchema): never => {
  throw new ConfigError(
    `the data is from a development build before the first release (schema ${done.at(-1) ?? ''}), which this version can't bring up to date. ` +
      'Start it once with the last build before 0.1.0, then with this version.',
  )
}
const refuseUnconfirmed = async (db: Database): Promise<void> => {
  const counted = sql<{
    n: number
  }>`select count(*) as n from (select 1 from bans limit ${mostUnconfirmed + 1}) counted`
  const bans = Number((await counted.execute(db.read)).rows[0]?.n)
  if (bans > mostUnconfirmed)
    throw new ConfigError(
      `the schema is of an older version, and PostgreSQL holds more than ${mostUnconfirmed.toLocaleString('en')} bans. ` +
        'Save it with pg_dump, then set STOCKADE_MIGRATE=yes for this start.',
    )
}
const closeQuietly = (db: Database): Promise<void> =>
  db.close().catch(() => {
    // A full disk keeps SQLite from emptying its log; the next one that opens the file does it.
  })

/**
 * Opens the storage and brings its schema up to date, where that is safe: on SQLite a copy is made first.
 * @throws ConfigError with a sentence where it is not; the data is as it was then
 */
export const openUpgraded = async <D extends Database>(
  open: () => Promise<D>,
  config: Pick<Config, 'isUpgradeCopied' | 'isUpgradeConfirmed'>,
  copied: (file: string) => void,
): Promise<D> => {
  let db = await open()
  try {
    const migrationNames = knownMigrations(db.engine)
    const stored = await storedSchema(db)
    const state = stateOf(stored, migrationNames)
    if (isUnreleased(stored)) refuseUnreleased(stored)
    if (state === 'newer') refuseNewer(db, stored, migrationNames)
    if (state === 'older' && db.file === null && !config.isUpgradeConfirmed) await refuseUnconfirmed(db)
    if (state === 'older' && db.file !== null && config.isUpgradeCopied) {
      const { file } = db
      await db.close()
      copied(await copyBeforeUpgrade(file, new Date()))
      db = await open()
    }
    await migrate(db)
    return db
  } catch (error) {
    await closeQuietly(db)
    if (!isDiskFull(error)) throw error
    throw new ConfigError(
      'the disk ran full while the schema was brought up to date. The data is as it was before: make room, or run the version before.',
    )
  }
}
