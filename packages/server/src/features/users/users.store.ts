import { sql as raw } from 'kysely'
import type { ExpressionBuilder, Insertable, Kysely, Selectable, Updateable } from 'kysely'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'
import type { UsersTable } from '../../db/tables/accounts.ts'
import { noInvite } from './invites.ts'

export type UserRow = Selectable<UsersTable>
type Sql = Kysely<Schema>
type Provider = NonNullable<UsersTable['oauth_provider']>

export const countUsers = (sql: Sql): Promise<number> => rowCount(sql.selectFrom('users'))
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

/** The user who may still accept the invitation of that code. */
export const findInvited = (sql: Sql, hash: string, now: number): Promise<UserRow | undefined> =>
  sql
    .selectFrom('users')
    .selectAll()
    .where('invite_hash', '=', hash)
    .where('invite_expires_at', '>', now)
    .executeTakeFirst()
/** Consumes the invitation: a second use finds none. */
export const takeInvite = (sql: Sql, hash: string, passwordHash: string, now: number): Promise<UserRow | undefined> =>
  sql
    .updateTable('users')
    .set({ password_hash: passwordHash, ...noInvite, updated_at: now })
    .where('invite_hash', '=', hash)
    .where('invite_expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
export const setPassword = async (sql: Sql, id: number, hash: string, at: number): Promise<void> => {
  await sql
    .updateTable('users')
    .set({ password_hash: hash, ...noInvite, updated_at: at })
    .where('id', '=', id)
    .execute()
}
export const updateUser = (sql: Sql, id: number, set: Updateable<UsersTable>): Promise<UserRow | undefined> =>
  sql.updateTable('users').set(set).where('id', '=', id).returningAll().executeTakeFirst()
export const removeUser = async (sql: Sql, id: number): Promise<void> => {
  await sql.deleteFrom('users').where('id', '=', id).execute()
}
export const findUserBySubject = (sql: Sql, provider: Provider, subject: string): Promise<UserRow | undefined> =>
  sql
    .selectFrom('users')
    .selectAll()
    .where('oauth_provider', '=', provider)
    .where('oauth_subject', '=', subject)
    .executeTakeFirst()

/**
 * Whether an entry of an allow-list has let in another account of the provider before: a login can be given up and registered
 * anew by a stranger, the subject can't. Accounts from before entries were noted are known by the username made of the login.
 */
export const isAnothers = async (
  sql: Sql,
  provider: Provider,
  entry: { readonly admittedAs: string; readonly subject: string; readonly username: string },
): Promise<boolean> =>
  (await sql
    .selectFrom('users')
    .select('id')
    .where('oauth_provider', '=', provider)
    .where('oauth_subject', '!=', entry.subject)
    .where(eb =>
      eb.or([
        eb('oauth_admitted_as', '=', entry.admittedAs),
        eb.and([eb('oauth_admitted_as', 'is', null), eb('username_key', '=', entry.username.toLowerCase())]),
      ]),
    )
    .limit(1)
    .executeTakeFirst()) !== undefined

/** Names that stand in the audit log and beside bans for no user; a user of that name would look like them. */
const reserved = new Set(['system', 'engine', 'stockade'])

/** Which of two unique names is taken, by another user than `except`, or reserved. */
export const takenName = async (
  sql: Sql,
  names: { username?: string; email?: string },
  except = 0,
): Promise<'username' | 'email' | null> => {
  for (const field of ['username', 'email'] as const) {
    const name = names[field]?.toLowerCase()
    if (name === undefined) continue
    if (field === 'username' && reserved.has(name)) return field
    const row = await sql
      .selectFrom('users')
      .select('id')
      .where(`${field}_key`, '=', name)
      .where('id', '!=', except)
      .executeTakeFirst()
    if (row) return field
  }
  return null
}
/** Administrators beside this one who can sign in; where several processes write, they are held until the change is done. */
export const otherAdmins = async (sql: Sql, id: number, lock: boolean): Promise<number> => {
  const rows = await sql
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'Admin')
    // An account that never accepted its invitation cannot let anybody back in.
    .where(eb => eb.or([eb('password_hash', 'is not', null), eb('oauth_provider', 'is not', null)]))
    .orderBy('id')
    .$if(lock, query => query.forUpdate())
    .execute()
  return rows.filter(row => row.id !== id).length
}
export const adminsByProvider = (sql: Sql): Promise<number> =>
  rowCount(sql.selectFrom('users').where('role', '=', 'Admin').where('oauth_provider', 'is not', null))
/** Users who sign in through that provider and in no other way. */
export const usersOfProvider = async (sql: Sql, provider: Provider): Promise<number[]> =>
  (
    await sql
      .selectFrom('users')
      .select('id')
      .where('oauth_provider', '=', provider)
      .where('password_hash', 'is', null)
      .execute()
  ).map(({ id }) => id)
export const setServersOf = async (sql: Sql, userId: number, nos: readonly number[]): Promise<void> => {
  await sql.deleteFrom('user_servers').where('user_id', '=', userId).execute()
  const rows = [...new Set(nos)].map(server_no => ({ user_id: userId, server_no }))
  for (let start = 0; start < rows.length; start += 500)
    await sql
      .insertInto('user_servers')
      .values(rows.slice(start, start + 500))
      .execute()
}
export interface UserFilter {
  readonly role?: UserRow['role']
  readonly search?: string
}
const matching = (filter: UserFilter) => (eb: ExpressionBuilder<Schema, 'users'>) => {
  const like = `%${(filter.search ?? '').toLowerCase().replace(/[\\%_]/g, match => `\\${match}`)}%`
  return eb.and([
    ...(filter.role ? [eb('role', '=', filter.role)] : []),
    ...(filter.search === undefined
      ? []
      : [
          eb.or([
            raw<boolean>`username_key like ${like} escape '\\'`,
            raw<boolean>`email_key like ${like} escape '\\'`,
          ]),
        ]),
  ])
}
export const listUserRows = (sql: Sql, filter: UserFilter, offset: number, limit: number): Promise<UserRow[]> =>
  sql
    .selectFrom('users')
    .selectAll()
    .where(matching(filter))
    .orderBy('username_key')
    .offset(offset)
    .limit(limit)
    .execute()
export const countUserRows = (sql: Sql, filter: UserFilter): Promise<number> =>
  rowCount(sql.selectFrom('users').where(matching(filter)))
