import type { Kysely } from 'kysely'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'

/** Holds a user until the transaction ends, so that two requests of one user are counted one after another. */
export const holdUser = async (sql: Kysely<Schema>, engine: Engine, id: number): Promise<void> => {
  const rows = sql.selectFrom('users').select('id').where('id', '=', id)
  // SQLite has one writer, and the transaction holds it.
  await (engine === 'postgres' ? rows.forUpdate() : rows).execute()
}
