import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>

/** A failed sign-in or code: of whom, and from where. `net` is the caller's own network, `wide` the one around it. */
export interface FailedAttempt {
  readonly kind: 'login' | 'code'
  readonly subject: string
  readonly net: string
  readonly wide: string
}
/** Which failures count: those of the same subject and networks, later than `since` and recorded before the one with `beforeId`. */
export interface FailureFilter {
  readonly of: readonly ('subject' | 'net' | 'wide')[]
  readonly since: number
  readonly beforeId: number
}

/** Records an attempt as failed and returns its id. */
export const addAttempt = async (sql: Sql, attempt: FailedAttempt, ip: string, at: number): Promise<number> => {
  const { id } = await sql
    .insertInto('failed_attempts')
    .values({ ...attempt, ip, at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
/** Times of the newest failures, newest first. */
export const failureTimes = async (
  sql: Sql,
  attempt: FailedAttempt,
  { of, since, beforeId }: FailureFilter,
  limit: number,
): Promise<number[]> => {
  let query = sql
    .selectFrom('failed_attempts')
    .select('at')
    .where('kind', '=', attempt.kind)
    .where('at', '>', since)
    .where('id', '<', beforeId)
  for (const scope of of) query = query.where(scope, '=', attempt[scope])
  const rows = await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute()
  return rows.map(({ at }) => at)
}
export const removeAttempt = (sql: Sql, id: number) => sql.deleteFrom('failed_attempts').where('id', '=', id).execute()
/** Removes an attempt, and those before it of the same subject from the same network. */
export const removeAttemptsTo = (sql: Sql, { kind, subject, net }: FailedAttempt, id: number) =>
  sql
    .deleteFrom('failed_attempts')
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('net', '=', net)
    .where('id', '<=', id)
    .execute()
export const removeAttemptsOf = (sql: Sql, kind: FailedAttempt['kind'], subject: string) =>
  sql.deleteFrom('failed_attempts').where('kind', '=', kind).where('subject', '=', subject).execute()
export const removeAttemptsBefore = (sql: Sql, at: number) =>
  raw`delete from failed_attempts where at < ${at}`.execute(sql)
