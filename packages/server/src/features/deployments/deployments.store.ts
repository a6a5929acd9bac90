import { sql as raw } from 'kysely'
import type { Kysely, SqlBool } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import { parseJson } from '../../core/json-text.ts'

/** Servers that a deployment of the template is on its way to. */
export const serversAwaiting = async (sql: Kysely<Schema>, templateId: number): Promise<number[]> => {
  const rows = await sql
    .selectFrom('commands')
    .innerJoin('template_snapshots', 'template_snapshots.hash', 'commands.template_hash')
    .select('commands.server_no')
    .distinct()
    .where('commands.type', '=', 'deploy-template')
    .where('commands.status', 'in', ['pending', 'running'])
    .where('template_snapshots.template_id', '=', templateId)
    .execute()
  return rows.map(row => row.server_no)
}

/** Servers whose hosts have the template, as storage knows at this moment. */
export const serversHolding = async (sql: Kysely<Schema>, name: string): Promise<number[]> => {
  const rows = await sql
    .selectFrom('heartbeats')
    .select(['server_no', 'jails'])
    .where(raw<SqlBool>`jails like ${`%"template":"${name}"%`}`)
    .execute()
  // An underscore in the name stood for any letter.
  return rows.flatMap(row => (parseJson(row.jails).some(jail => jail.template === name) ? [row.server_no] : []))
}
