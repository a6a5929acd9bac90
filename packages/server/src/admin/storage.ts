import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Database, Engine } from '../db/database.ts'
import { knownMigrations } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { stateOf, storedSchema } from '../db/schema-state.ts'
import type { SchemaState } from '../db/schema-state.ts'
import { openSqlite } from '../db/sqlite.ts'

export const sqliteFile = (config: Config): string => join(config.dataDir, 'stockade.sqlite3')
export const secretFile = (config: Config): string => join(config.dataDir, 'secret.key')
/** What was signed last of the audit log. */
export const auditMemoryFile = (config: Pick<Config, 'dataDir'>): string => join(config.dataDir, 'audit.last')
/** Nothing is made here: a wrong folder must not look like an empty installation. */
export const storageExists = (config: Config): boolean => config.databaseUrl !== null || existsSync(sqliteFile(config))

export const engineOf = (config: Config): Engine => (config.databaseUrl === null ? 'sqlite' : 'postgres')

/** Opens what the server stores in, whether it runs or not. */
export const openStorage = (config: Config): Promise<Database> =>
  config.databaseUrl === null
    ? openSqlite(sqliteFile(config))
    : // A connection that breaks fails the query that needs it.
      openPostgres(config.databaseUrl, () => {})

/** Compares the migrations that were done with those there are. */
export const schemaState = async (
  db: Database,
): Promise<{ state: SchemaState; last: string | null; version: string | null }> => {
  const stored = await storedSchema(db)
  return {
    state: stateOf(stored, knownMigrations(db.engine)),
    last: stored.done.at(-1) ?? null,
    version: stored.version,
  }
}
