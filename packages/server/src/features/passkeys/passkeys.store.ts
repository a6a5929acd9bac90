import type { Insertable, Kysely, Selectable } from 'kysely'
import type { PasskeysTable } from '../../db/tables/accounts.ts'
import type { Schema } from '../../db/schema.ts'

export type PasskeyRow = Selectable<PasskeysTable>
export type Purpose = 'add' | 'sign-in' | 'second-factor' | 'proof'
type Sql = Kysely<Schema>

export const passkeysOf = (sql: Sql, userId: number): Promise<PasskeyRow[]> =>
  sql.selectFrom('passkeys').selectAll().where('user_id', '=', userId).orderBy('id').execute()
export const findPasskey = (sql: Sql, credentialId: string): Promise<PasskeyRow | undefined> =>
  sql.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()

/** How many the user has now; the row of the user is held until the transaction ends. */
const recount = async (sql: Sql, userId: number): Promise<number> => {
  const user = await sql
    .updateTable('users')
    .set(eb => ({
      passkeys: eb
        .selectFrom('passkeys')
        .select(inner => inner.fn.countAll<number>().as('n'))
        .where('user_id', '=', userId),
    }))
    .where('id', '=', userId)
    .returning('passkeys')
    .executeTakeFirst()
  return user?.passkeys ?? 0
}
export const insertPasskey = async (
  sql: Sql,
  row: Insertable<PasskeysTable>,
): Promise<{ row: PasskeyRow; count: number }> => {
  const inserted = await sql.insertInto('passkeys').values(row).returningAll().executeTakeFirstOrThrow()
  return { row: inserted, count: await recount(sql, inserted.user_id) }
}
export const renamePasskey = (sql: Sql, userId: number, id: number, name: string): Promise<PasskeyRow | undefined> =>
  sql
    .updateTable('passkeys')
    .set({ name })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returningAll()
    .executeTakeFirst()
export const removePasskey = async (sql: Sql, userId: number, id: number): Promise<PasskeyRow | undefined> => {
  const row = await sql
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returningAll()
    .executeTakeFirst()
  if (row) await recount(sql, userId)
  return row
}
export const removePasskeysOf = async (sql: Sql, userId: number): Promise<void> => {
  await sql.deleteFrom('passkeys').where('user_id', '=', userId).execute()
  await recount(sql, userId)
}
/** False where another use of it was counted meanwhile: then it was copied, or the answer is an old one. */
export const noteUse = async (
  sql: Sql,
  row: PasskeyRow,
  use: { counter: number; backedUp: boolean; at: number },
): Promise<boolean> => {
  const done = await sql
    .updateTable('passkeys')
    .set({ counter: use.counter, backed_up: use.backedUp ? 1 : 0, last_used: use.at })
    .where('id', '=', row.id)
    .where('counter', '=', row.counter)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

export const insertChallenge = async (
  sql: Sql,
  row: { hash: string; purpose: Purpose; user_id: number | null; created_at: number },
): Promise<void> => {
  await sql.insertInto('passkey_challenges').values(row).execute()
}
/** Uses a challenge up: a second use of it finds nothing. */
export const takeChallenge = (
  sql: Sql,
  hash: string,
  purpose: Purpose,
  since: number,
): Promise<{ user_id: number | null } | undefined> =>
  sql
    .deleteFrom('passkey_challenges')
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('created_at', '>', since)
    .returning('user_id')
    .executeTakeFirst()
export const removeChallengesBefore = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('passkey_challenges').where('created_at', '<=', before).execute()
}
