import { sql as raw } from 'kysely'
import type { Insertable, Kysely, Selectable } from 'kysely'
import type { HostStatesTable } from '../../db/tables/servers.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type HostState = Selectable<HostStatesTable>

const chunk = 500

export const allHostStates = (sql: Sql): Promise<HostState[]> => sql.selectFrom('host_states').selectAll().execute()
export const noncesOf = (sql: Sql): Promise<Pick<HostState, 'server_no' | 'nonce'>[]> =>
  sql.selectFrom('host_states').select(['server_no', 'nonce']).where('nonce', '>', 0).execute()
/** Asks hosts to apply everything again. */
export const raiseNonces = async (sql: Sql, serverNos: readonly number[]): Promise<void> => {
  for (let start = 0; start < serverNos.length; start += chunk)
    await sql
      .insertInto('host_states')
      .values(serverNos.slice(start, start + chunk).map(server_no => ({ server_no, nonce: 1 })))
      .onConflict(on => on.column('server_no').doUpdateSet({ nonce: raw`host_states.nonce + 1` }))
      .execute()
}
export const hostStatesOf = (sql: Sql, serverNos: readonly number[]): Promise<HostState[]> =>
  sql.selectFrom('host_states').selectAll().where('server_no', 'in', serverNos).execute()
/** What hosts said; a server at most once. */
export const saveHostStates = async (
  sql: Sql,
  rows: readonly Omit<Insertable<HostStatesTable>, 'nonce' | 'knock_revision'>[],
): Promise<void> => {
  await sql
    .insertInto('host_states')
    .values(rows)
    .onConflict(on =>
      on.column('server_no').doUpdateSet(({ ref }) => ({
        version: ref('excluded.version'),
        whitelist_version: ref('excluded.whitelist_version'),
        entry_count: ref('excluded.entry_count'),
        confirmed_at: ref('excluded.confirmed_at'),
        error: ref('excluded.error'),
        acked_at: ref('excluded.acked_at'),
      })),
    )
    .execute()
}
