import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { migrationsOf } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { openSqlite } from '../db/sqlite.ts'

export const sqliteFile = (config: Config): string => join(config.dataDir, 'stockade.sqlite3')
export const secretFile = (config: Config): string => join(config.dataDir, 'secret.key')
/** What was signed last of the audit log. */
export const auditMemoryFile = (config: Pick<Config, 'dataDir'>): string => join(config.dataDir, 'audit.last')
/** Nothing is made here: a wrong folder must not look like an empty installation. */
export const storageExists = (config: Config): boolean => config.databaseUrl !== null || existsSync(sqliteFile(config))

/** Opens what the server stores in, whether it runs or not. */
export const openStorage = (config: Config): Promise<Database> =>
  config.databaseUrl === null
    ? openSqlite(sqliteFile(config))
    : // A connection that breaks fails the query that needs it.
      openPostgres(config.databaseUrl, () => {})

/** `current`, or how the stored schema differs from the one that this code knows. */
export type SchemaState = 'current' | 'none' | 'older' | 'newer'

/** Compares the migrations that were done with those there are. */
export const schemaState = async (db: Database): Promise<{ state: SchemaState; last: string | null }> => {
  const known = Object.keys(migrationsOf(db.engine))
  const tables = await db.read.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === 'kysely_migration')) return { state: 'none', last: null }
  const rows = await db.read
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .orderBy('name')
    .execute()
  const done = new Set(rows.map(({ name }) => name))
  const last = rows.at(-1)?.name ?? null
  if ([...done].some(name => !known.includes(name))) return { state: 'newer', last }
  if (known.some(name => !done.has(name))) return { state: done.size === 0 ? 'none' : 'older', last }
  return { state: 'current', last }
}
