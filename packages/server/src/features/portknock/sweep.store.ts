import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>

/** Answers how many went. */
export const removeOldKnocks = async (sql: Sql, before: number, most: number): Promise<number> => {
  const gone = await sql
    .deleteFrom('knock_history')
    .where('id', 'in', eb =>
      eb.selectFrom('knock_history').select('id').where('at', '<', before).orderBy('at').limit(most),
    )
    .returning('id')
    .execute()
  return gone.length
}
/** What is over, and can not be opened or blocked again by a report that comes late. */
export const removeOver = async (sql: Sql, now: number, closedBefore: number): Promise<void> => {
  await sql
    .deleteFrom('knock_openings')
    .where('expires_at', '<=', now)
    .where(({ or, eb }) => or([eb('closed_at', 'is', null), eb('closed_at', '<', closedBefore)]))
    .execute()
  await sql.deleteFrom('knock_blocked').where('expires_at', '<=', now).execute()
}
