import type { Kysely } from 'kysely'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'

/** What the storage says of its own schema. */
export interface StoredSchema {
  /** Names of the migrations that were done, in order. */
  readonly done: readonly string[]
  /** The version that migrated last; null where that version did not say so yet. */
  readonly version: string | null
  /** The migration that a program must know to open the data: later ones only added what it can do without. */
  readonly minReader: string | null
}
const keys = { version: 'schema.version', minReader: 'schema.min_reader' } as const

const schemaKeys: readonly string[] = Object.values(keys)

export const storedSchema = async (db: Pick<Database, 'read'>): Promise<StoredSchema> => {
  const tables = await db.read.introspection.getTables({ withInternalKyselyTables: true })
  const isThere = (table: string) => tables.some(({ name }) => name === table)
  if (!isThere('kysely_migration')) return { done: [], version: null, minReader: null }
  const rows = await db.read
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .orderBy('name')
    .execute()
  const said = isThere('meta')
    ? await db.read.selectFrom('meta').selectAll().where('key', 'in', schemaKeys).execute()
    : []
  const of = (key: string) => said.find(row => row.key === key)?.value ?? null
  return { done: rows.map(({ name }) => name), version: of(keys.version), minReader: of(keys.minReader) }
}

export const stampSchema = async (sql: Kysely<Schema>, version: string, minReader: string): Promise<void> => {
  for (const [key, value] of [
    [keys.version, version],
    [keys.minReader, minReader],
  ] as const)
    await sql
      .insertInto('meta')
      .values({ key, value })
      .onConflict(on => on.column('key').doUpdateSet({ value }))
      .execute()
}

/** `current`, or how a schema differs from the one that this code knows; a newer one that it can open is `current`. */
export type SchemaState = 'current' | 'none' | 'older' | 'newer'

export const stateOf = ({ done, minReader }: Omit<StoredSchema, 'version'>, known: readonly string[]): SchemaState => {
  const isReadable = minReader !== null && known.includes(minReader)
  if (!isReadable && done.some(name => !known.includes(name))) return 'newer'
  if (done.length === 0) return 'none'
  return known.some(name => !done.includes(name)) ? 'older' : 'current'
}
