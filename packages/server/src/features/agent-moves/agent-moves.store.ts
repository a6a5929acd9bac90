import { sql as raw } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import type { Engine } from '../../db/database.ts'
import { among, upsert } from '../../db/given.ts'
import type { Upsert } from '../../db/given.ts'
import type { AgentAddressesTable, AgentMovesTable } from '../../db/tables/servers.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type AddressOrder = Selectable<AgentAddressesTable>
export type MoveRow = Selectable<AgentMovesTable>

/** One order at a time, until the transaction ends. SQLite has one writer anyway. */
export const lockOrders = async (sql: Sql, engine: Engine): Promise<void> => {
  if (engine === 'postgres') await raw`select pg_advisory_xact_lock(hashtext('stockade agent address'))`.execute(sql)
}
export const lastOrder = (sql: Sql): Promise<AddressOrder | undefined> =>
  sql.selectFrom('agent_addresses').selectAll().orderBy('revision', 'desc').limit(1).executeTakeFirst()
export const insertOrder = async (sql: Sql, order: AddressOrder): Promise<void> => {
  await sql.insertInto('agent_addresses').values(order).execute()
}
export const movesOf = (sql: Sql, revision: number): Promise<MoveRow[]> =>
  sql.selectFrom('agent_moves').selectAll().where('revision', '=', revision).execute()
export const movesOfServers = (sql: Sql, engine: Engine, serverNos: readonly number[]): Promise<MoveRow[]> =>
  sql
    .selectFrom('agent_moves')
    .selectAll()
    .where(among(engine, 'server_no', serverNos))
    .execute()
const moves: Upsert<MoveRow> = {
  table: 'agent_moves',
  columns: { server_no: 'bigint', revision: 'bigint', state: 'text', reason: 'text', changed_at: 'bigint' },
  key: ['server_no'],
}
export const saveMoves = (sql: Sql, engine: Engine, rows: readonly MoveRow[]): Promise<void> =>
  upsert(sql, engine, moves, rows)
export const removeMoveOf = async (sql: Sql, serverNo: number): Promise<void> => {
  await sql.deleteFrom('agent_moves').where('server_no', '=', serverNo).execute()
}
