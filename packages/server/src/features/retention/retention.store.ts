import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

/** Deployments stay: they tell which template a host holds. Answers how many went. */
export const removeOldCommands = async (sql: Kysely<Schema>, before: number, most: number): Promise<number> => {
  const gone = await sql
    .deleteFrom('commands')
    .where('id', 'in', eb =>
      eb
        .selectFrom('commands')
        .select('id')
        .where('created_at', '<', before)
        .where('status', 'in', ['completed', 'failed', 'timeout'])
        .where('type', 'not in', ['deploy-template', 'remove-template'])
        .where(({ or, eb }) => or([eb('completed_at', 'is', null), eb('completed_at', '<', before)]))
        .orderBy('created_at')
        .orderBy('id')
        .limit(most),
    )
    .returning('id')
    .execute()
  return gone.length
}
