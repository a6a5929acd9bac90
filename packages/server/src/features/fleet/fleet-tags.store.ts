import type { Kysely, Selectable } from 'kysely'
import type { FleetTagsTable } from '../../db/tables/policy.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type FleetTagRow = Selectable<FleetTagsTable>

const chunk = 500

/** Tags that changed after a version; those that servers lost too. */
export const fleetTagsSince = (sql: Sql, version: number): Promise<FleetTagRow[]> =>
  sql.selectFrom('fleet_tags').selectAll().where('version', '>', version).execute()
export const saveFleetTags = async (sql: Sql, rows: readonly FleetTagRow[]): Promise<void> => {
  for (let start = 0; start < rows.length; start += chunk)
    await sql
      .insertInto('fleet_tags')
      .values(rows.slice(start, start + chunk))
      .onConflict(on =>
        on
          .columns(['server_no', 'tag'])
          .doUpdateSet(({ ref }) => ({ held: ref('excluded.held'), version: ref('excluded.version') })),
      )
      .execute()
}
/** Servers that have at least one of the tags. */
export const holdersOf = async (sql: Sql, tags: readonly string[]): Promise<number[]> => {
  if (tags.length === 0) return []
  const rows = await sql
    .selectFrom('fleet_tags')
    .select('server_no')
    .distinct()
    .where('tag', 'in', tags)
    .where('held', '=', 1)
    .execute()
  return rows.map(({ server_no }) => server_no)
}
/** The different targets of standing bans that name tags. */
export const taggedTargets = async (sql: Sql): Promise<string[]> => {
  const rows = await sql
    .selectFrom('fleet_bans')
    .select('target')
    .distinct()
    .where('ended_at', 'is', null)
    .where('target', 'like', '{%')
    .execute()
  return rows.map(({ target }) => target)
}
export const removeFleetTagsOf = async (sql: Sql, serverNo: number): Promise<void> => {
  await sql.deleteFrom('fleet_tags').where('server_no', '=', serverNo).execute()
}
/** Forgets tags that were lost before a version, of which no difference is made any more. */
export const removeLostTags = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('fleet_tags').where('held', '=', 0).where('version', '<', before).execute()
}
