import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

/** Servers that a deployment of the template is on its way to. */
export const serversAwaiting = async (sql: Kysely<Schema>, templateId: number): Promise<number[]> => {
  const rows = await sql
    .selectFrom('commands')
    .innerJoin('template_snapshots', 'template_snapshots.hash', 'commands.template_hash')
    .select('commands.server_no')
    .distinct()
    .where('commands.status', 'in', ['pending', 'running'])
    .where('template_snapshots.template_id', '=', templateId)
    .execute()
  return rows.map(row => row.server_no)
}
