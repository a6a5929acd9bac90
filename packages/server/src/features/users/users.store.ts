import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Schema, UsersTable } from '../../db/schema.ts'

export type UserRow = Selectable<UsersTable>
type Sql = Kysely<Schema>

export const countUsers = async (sql: Sql): Promise<number> => {
  const row = await sql
    .selectFrom('users')
    .select(eb => eb.fn.countAll<number>().as('n'))
    .executeTakeFirst()
  return Number(row?.n ?? 0)
}
/** By username or e-mail, in any letter case. */
export const findUserByName = (sql: Sql, typed: string): Promise<UserRow | undefined> => {
  const key = typed.toLowerCase()
  return sql
    .selectFrom('users')
    .selectAll()
    .where(eb => eb.or([eb('username_key', '=', key), eb('email_key', '=', key)]))
    .orderBy(eb => eb.case().when('username_key', '=', key).then(0).else(1).end())
    .executeTakeFirst()
}
export const findUser = (sql: Sql, id: number): Promise<UserRow | undefined> =>
  sql.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()

export const insertUser = (sql: Sql, row: Insertable<UsersTable>): Promise<UserRow> =>
  sql.insertInto('users').values(row).returningAll().executeTakeFirstOrThrow()

export const noteLogin = async (sql: Sql, id: number, at: number): Promise<void> => {
  await sql.updateTable('users').set({ last_login: at }).where('id', '=', id).execute()
}
/** Numbers of the servers that a user with `specific` access may see. */
export const serversOf = async (sql: Sql, userId: number): Promise<ReadonlySet<number>> => {
  const rows = await sql.selectFrom('user_servers').select('server_no').where('user_id', '=', userId).execute()
  return new Set(rows.map(row => row.server_no))
}
