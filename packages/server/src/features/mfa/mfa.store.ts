import type { Kysely } from 'kysely'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>

/** Replaces the backup codes of a user: those in force, or those that wait for the factor to be confirmed. */
export const replaceBackupCodes = async (
  sql: Sql,
  userId: number,
  hashes: readonly string[],
  pending: 0 | 1,
): Promise<void> => {
  await removeBackupCodes(sql, userId, pending)
  await sql
    .insertInto('mfa_backup_codes')
    .values(hashes.map(hash => ({ user_id: userId, hash, pending })))
    .execute()
}
const removeBackupCodes = (sql: Sql, userId: number, pending: 0 | 1) =>
  sql.deleteFrom('mfa_backup_codes').where('user_id', '=', userId).where('pending', '=', pending).execute()

/** Removes a backup code. False if the user has no such code, or another request used it. */
export const takeBackupCode = async (sql: Sql, userId: number, hash: string): Promise<boolean> => {
  const removedCode = await sql
    .deleteFrom('mfa_backup_codes')
    .where('user_id', '=', userId)
    .where('pending', '=', 0)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return removedCode.numDeletedRows > 0n
}
export const countBackupCodes = (sql: Sql, userId: number): Promise<number> =>
  rowCount(sql.selectFrom('mfa_backup_codes').where('user_id', '=', userId).where('pending', '=', 0))

/** Moves the last used time step of a user forward. False if that step, or a later one, was used already. */
export const advanceStep = async (sql: Sql, userId: number, step: number): Promise<boolean> => {
  const moved = await sql
    .updateTable('users')
    .set({ mfa_last_step: step })
    .where('id', '=', userId)
    .where('mfa_last_step', '<', step)
    .executeTakeFirst()
  return moved.numUpdatedRows > 0n
}

export const prepareFactor = (sql: Sql, userId: number, sealedSecret: string) =>
  sql.updateTable('users').set({ mfa_pending_secret: sealedSecret }).where('id', '=', userId).execute()

/** Puts the prepared secret and its backup codes in force. */
export const confirmFactor = async (sql: Sql, userId: number, sealedSecret: string, at: number): Promise<void> => {
  await sql
    .updateTable('users')
    .set({ mfa_enabled: 1, mfa_secret: sealedSecret, mfa_pending_secret: null, updated_at: at })
    .where('id', '=', userId)
    .execute()
  await removeBackupCodes(sql, userId, 0)
  await sql.updateTable('mfa_backup_codes').set({ pending: 0 }).where('user_id', '=', userId).execute()
}
/** Turns the factor off and ends the sign-ins that wait for it. */
export const clearFactor = async (sql: Sql, userId: number): Promise<void> => {
  await sql
    .updateTable('users')
    .set({ mfa_enabled: 0, mfa_secret: null, mfa_pending_secret: null })
    .where('id', '=', userId)
    .execute()
  await sql.deleteFrom('mfa_backup_codes').where('user_id', '=', userId).execute()
  await removeTokensOf(sql, userId)
}

/** A sign-in that waits for its second factor. */
export const addToken = (sql: Sql, hash: string, userId: number, at: number) =>
  sql.insertInto('mfa_tokens').values({ hash, user_id: userId, created_at: at, tries: 0 }).execute()
/** Counts a try and returns the user; null if the token is unknown, older than `since`, or has had its tries. */
export const tryToken = async (sql: Sql, hash: string, tries: number, since: number): Promise<number | null> => {
  const row = await sql
    .updateTable('mfa_tokens')
    .set(eb => ({ tries: eb('tries', '+', 1) }))
    .where('hash', '=', hash)
    .where('tries', '<', tries)
    .where('created_at', '>', since)
    .returning('user_id')
    .executeTakeFirst()
  return row?.user_id ?? null
}
/** Removes a token. False if another request used it. */
export const takeToken = async (sql: Sql, hash: string): Promise<boolean> => {
  const used = await sql.deleteFrom('mfa_tokens').where('hash', '=', hash).executeTakeFirst()
  return used.numDeletedRows > 0n
}
export const removeTokensOf = (sql: Sql, userId: number) =>
  sql.deleteFrom('mfa_tokens').where('user_id', '=', userId).execute()
export const removeTokensBefore = (sql: Sql, at: number) =>
  sql.deleteFrom('mfa_tokens').where('created_at', '<', at).execute()
