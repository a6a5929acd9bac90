import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import type { EnrolmentTokensTable, EnrolmentsTable } from '../../db/tables/servers.ts'

type Sql = Kysely<Schema>
export type EnrolmentTokenRow = Selectable<EnrolmentTokensTable>
export type EnrolmentRow = Selectable<EnrolmentsTable>

/** Newest first. */
export const allTokens = (sql: Sql): Promise<EnrolmentTokenRow[]> =>
  sql.selectFrom('enrolment_tokens').selectAll().orderBy('id', 'desc').execute()
export const findToken = (sql: Sql, id: number): Promise<EnrolmentTokenRow | undefined> =>
  sql.selectFrom('enrolment_tokens').selectAll().where('id', '=', id).executeTakeFirst()
export const insertToken = (sql: Sql, row: Insertable<EnrolmentTokensTable>): Promise<EnrolmentTokenRow> =>
  sql.insertInto('enrolment_tokens').values(row).returningAll().executeTakeFirstOrThrow()
export const revokeToken = (sql: Sql, id: number, now: number): Promise<EnrolmentTokenRow | undefined> =>
  sql.updateTable('enrolment_tokens').set({ revoked_at: now }).where('id', '=', id).returningAll().executeTakeFirst()
export const deleteToken = async (sql: Sql, id: number): Promise<void> => {
  await sql.deleteFrom('enrolments').where('token_id', '=', id).execute()
  await sql.deleteFrom('enrolment_tokens').where('id', '=', id).execute()
}
/** Locks the token's row until the transaction ends, so that hosts that come at once are counted one after another. */
export const lockToken = (sql: Sql, engine: Engine, hash: string): Promise<EnrolmentTokenRow | undefined> => {
  const rows = sql.selectFrom('enrolment_tokens').selectAll().where('token_hash', '=', hash)
  // SQLite has one writer, and the transaction holds it.
  return (engine === 'postgres' ? rows.forUpdate() : rows).executeTakeFirst()
}
export const countUse = async (sql: Sql, { id, used }: EnrolmentTokenRow): Promise<void> => {
  await sql
    .updateTable('enrolment_tokens')
    .set({ used: used + 1 })
    .where('id', '=', id)
    .execute()
}
export const noteRefused = async (
  sql: Sql,
  id: number,
  set: Pick<EnrolmentTokenRow, 'refused' | 'strayed' | 'refused_at' | 'refused_from'>,
): Promise<void> => {
  await sql.updateTable('enrolment_tokens').set(set).where('id', '=', id).execute()
}
/**
 * Whether a server has this name, in any letter case. A change that adds servers sees those of the changes before it, since each holds the
 * licence's row until it is committed.
 */
export const isNameTaken = async (sql: Sql, name: string): Promise<boolean> =>
  (await sql
    .selectFrom('servers')
    .select('no')
    .where(eb => eb.fn<string>('lower', ['hostname']), '=', name.toLowerCase())
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()) !== undefined
/** At most `most`, newest first. */
export const enrolmentsOf = (sql: Sql, tokenId: number, most: number): Promise<EnrolmentRow[]> =>
  sql
    .selectFrom('enrolments')
    .selectAll()
    .where('token_id', '=', tokenId)
    .orderBy('enrolled_at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
export const insertEnrolment = async (sql: Sql, row: Insertable<EnrolmentsTable>): Promise<void> => {
  await sql.insertInto('enrolments').values(row).execute()
}
/** The server that this machine got from there by this token and from which nothing was heard since: the answer may have been lost. */
export const silentServerOf = async (
  sql: Sql,
  tokenId: number,
  machine: string,
  ip: string,
): Promise<number | undefined> =>
  (
    await sql
      .selectFrom('enrolments')
      .innerJoin('servers', 'servers.no', 'enrolments.server_no')
      .select('servers.no')
      .where('enrolments.token_id', '=', tokenId)
      .where('enrolments.machine', '=', machine)
      .where('enrolments.ip', '=', ip)
      .where('servers.first_heartbeat_at', 'is', null)
      .where('servers.deleted_at', 'is', null)
      .executeTakeFirst()
  )?.no
