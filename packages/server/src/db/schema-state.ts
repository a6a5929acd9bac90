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
/**
 * Development builds before the first release had a chain of migrations, which ended with this one. What the whole chain led to is what
 * `0001-schema` makes.
 */
const lastOfChain = '0062-queued-sums'
const chainStart = '0001-foundation'

/** Names of migrations, with one name for the whole chain of development builds. */
const withSchemaName = (names: readonly string[]): readonly string[] =>
  names.includes(lastOfChain) ? ['0001-schema', ...names.filter(name => name > lastOfChain)] : names

/** Of a development build that was not at the end of its chain: no release can bring it up to date. */
export const isUnreleased = ({ done }: Pick<StoredSchema, 'done'>): boolean => done.includes(chainStart)

/** Renames the chain of a development build, so that the migrator finds what it knows. */
export const renameChain = async (db: Pick<Database, 'write'>): Promise<void> => {
  const migrations = db.write.withTables<{ kysely_migration: { name: string; timestamp: string } }>()
  await migrations.transaction().execute(async sql => {
    const chain = await sql
      .selectFrom('kysely_migration')
      .selectAll()
      .where('name', '=', lastOfChain)
      .executeTakeFirst()
    if (!chain) return
    await sql.deleteFrom('kysely_migration').where('name', '<=', lastOfChain).execute()
    await sql
      .insertInto('kysely_migration')
      .values({ ...chain, name: '0001-schema' })
      .execute()
  })
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
  const metaRows = isThere('meta')
    ? await db.read.selectFrom('meta').selectAll().where('key', 'in', schemaKeys).execute()
    : []
  const of = (key: string) => metaRows.find(row => row.key === key)?.value ?? null
  return {
    done: withSchemaName(rows.map(({ name }) => name)),
    version: of(keys.version),
    minReader: of(keys.minReader),
  }
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

export const stateOf = (
  { done: names, minReader }: Omit<StoredSchema, 'version'>,
  known: readonly string[],
): SchemaState => {
  const done = withSchemaName(names)
  const isReadable = minReader !== null && known.includes(minReader)
  if (!isReadable && done.some(name => !known.includes(name))) return 'newer'
  if (done.length === 0) return 'none'
  return known.some(name => !done.includes(name)) ? 'older' : 'current'
}
