import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import type { SessionsTable } from '../../db/tables/accounts.ts'

export type SessionRow = Selectable<SessionsTable>
type Sql = Kysely<Schema>

export const insertSession = async (sql: Sql, row: Insertable<SessionsTable>): Promise<void> => {
  await sql.insertInto('sessions').values(row).execute()
}
export const findSession = (
  sql: Sql,
  by: 'id' | 'refresh_hash' | 'cookie_hash',
  value: string,
): Promise<SessionRow | undefined> => sql.selectFrom('sessions').selectAll().where(by, '=', value).executeTakeFirst()

export const sessionsOf = (sql: Sql, userId: number): Promise<SessionRow[]> =>
  sql.selectFrom('sessions').selectAll().where('user_id', '=', userId).orderBy('created_at', 'desc').execute()
/** False when the user has no such session. */
export const removeSession = async (sql: Sql, id: string, userId: number): Promise<boolean> => {
  const done = await sql.deleteFrom('sessions').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst()
  return done.numDeletedRows > 0n
}
export const removeSessionsOf = async (sql: Sql, userId: number, except: string | null): Promise<number> => {
  const done = await sql
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .$if(except !== null, query => query.where('id', '!=', except ?? ''))
    .executeTakeFirst()
  return Number(done.numDeletedRows)
}
/** Ends the sessions of a user that were idle longest, so that at most so many are left. */
export const removeIdlest = async (sql: Sql, userId: number, left: number): Promise<void> => {
  const idle = sql
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('last_activity', 'desc')
    .orderBy('id', 'desc')
  const rows = await idle.offset(left).limit(1000).execute()
  if (rows.length === 0) return
  await sql
    .deleteFrom('sessions')
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute()
}
export const removeSessionsBy = async (sql: Sql, method: SessionRow['method']): Promise<void> => {
  await sql.deleteFrom('sessions').where('method', '=', method).execute()
}
export const setAccessHash = async (sql: Sql, id: string, hash: string): Promise<void> => {
  await sql.updateTable('sessions').set({ access_hash: hash }).where('id', '=', id).execute()
}
/** Never back in time. */
export const noteProof = async (sql: Sql, id: string, at: number): Promise<void> => {
  await sql.updateTable('sessions').set({ proved_at: at }).where('id', '=', id).where('proved_at', '<', at).execute()
}
export const removeEnded = async (sql: Sql, idleBefore: number, createdBefore: number): Promise<void> => {
  await sql
    .deleteFrom('sessions')
    .where(eb => eb.or([eb('last_activity', '<', idleBefore), eb('created_at', '<', createdBefore)]))
    .execute()
}
/** Many at once; never back in time. */
export const touchSessions = async (sql: Sql, seen: ReadonlyMap<string, number>): Promise<void> => {
  // In one order everywhere, so that two processes never wait for each other in a circle.
  for (const [id, at] of [...seen].sort(([a], [b]) => (a < b ? -1 : 1)))
    await sql
      .updateTable('sessions')
      .set({ last_activity: at })
      .where('id', '=', id)
      .where('last_activity', '<', at)
      .execute()
}
