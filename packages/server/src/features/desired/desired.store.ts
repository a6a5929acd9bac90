import { sql as raw } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import type { Engine } from '../../db/database.ts'
import { among, upsert } from '../../db/given.ts'
import type { Upsert } from '../../db/given.ts'
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
export const hostStatesOf = (sql: Sql, engine: Engine, serverNos: readonly number[]): Promise<HostState[]> =>
  sql
    .selectFrom('host_states')
    .selectAll()
    .where(among(engine, 'server_no', serverNos))
    .execute()

/** What a host says of its state. */
type SaidState = Omit<HostState, 'nonce' | 'knock_revision'>
const saidStates: Upsert<SaidState> = {
  table: 'host_states',
  columns: {
    server_no: 'bigint',
    version: 'text',
    whitelist_version: 'text',
    entry_count: 'bigint',
    confirmed_at: 'bigint',
    error: 'text',
    acked_at: 'bigint',
  },
  key: ['server_no'],
}
/** Writes what hosts said, in this order; a server at most once. */
export const saveHostStates = (sql: Sql, engine: Engine, states: readonly SaidState[]): Promise<void> =>
  upsert(sql, engine, saidStates, states)
