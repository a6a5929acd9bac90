import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import type { UserPreferencesTable } from '../../db/tables/accounts.ts'

type Sql = Kysely<Schema>

/** Null when nothing was ever kept. */
export const findPreferences = async (
  sql: Sql,
  userId: number,
): Promise<UserPreferencesTable['preferences'] | null> => {
  const row = await sql
    .selectFrom('user_preferences')
    .select('preferences')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.preferences ?? null
}
export const savePreferences = async (
  sql: Sql,
  userId: number,
  preferences: UserPreferencesTable['preferences'],
  at: number,
): Promise<void> => {
  const row = { preferences, updated_at: at }
  await sql
    .insertInto('user_preferences')
    .values({ user_id: userId, ...row })
    .onConflict(on => on.column('user_id').doUpdateSet(row))
    .execute()
}
