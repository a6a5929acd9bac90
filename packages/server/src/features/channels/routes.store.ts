import type { Kysely, Selectable } from 'kysely'
import { jsonText, parseJson } from '../../core/json-text.ts'
import type { AlertRoutesTable } from '../../db/tables/messages.ts'
import type { StoredRoute } from '../../db/tables/stored.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>

/** Which alerts go to which channels, in the order of the routes. */
export const allRoutes = async (sql: Sql): Promise<StoredRoute[]> => {
  const rows: Selectable<AlertRoutesTable>[] = await sql
    .selectFrom('alert_routes')
    .selectAll()
    .orderBy('position')
    .execute()
  return rows.map(({ content }) => parseJson(content))
}
export const replaceRoutes = async (sql: Sql, routes: readonly StoredRoute[]): Promise<void> => {
  await sql.deleteFrom('alert_routes').execute()
  if (routes.length > 0)
    await sql
      .insertInto('alert_routes')
      .values(routes.map((route, position) => ({ position, content: jsonText(route) })))
      .execute()
}
/** The routes without a channel that is deleted. */
export const withoutChannel = (routes: readonly StoredRoute[], id: string): StoredRoute[] =>
  routes.flatMap(route => {
    const channels = route.channels.filter(channel => channel !== id)
    return channels.length > 0 ? [{ ...route, channels }] : []
  })
