import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>

/** Values are JSON. */
export const saveSetting = async (sql: Sql, key: string, value: string, at: number): Promise<void> => {
  const row = { value, updated_at: at }
  await sql
    .insertInto('settings')
    .values({ key, ...row })
    .onConflict(on => on.column('key').doUpdateSet(row))
    .execute()
}
export const allSettings = (sql: Sql): Promise<{ key: string; value: string }[]> =>
  sql.selectFrom('settings').select(['key', 'value']).execute()
