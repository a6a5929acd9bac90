import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import type { Engine } from '../../db/database.ts'
import type { HeartbeatsTable, Schema, ServersTable } from '../../db/schema.ts'

export type ServerRow = Selectable<ServersTable>
export type HeartbeatRow = Selectable<HeartbeatsTable>
type Sql = Kysely<Schema>

export const liveServers = (sql: Sql): Promise<ServerRow[]> =>
  sql.selectFrom('servers').selectAll().where('deleted_at', 'is', null).execute()
export const findServerRow = (sql: Sql, no: number): Promise<ServerRow | undefined> =>
  sql.selectFrom('servers').selectAll().where('no', '=', no).executeTakeFirst()
export const insertServer = (sql: Sql, row: Insertable<ServersTable>): Promise<ServerRow> =>
  sql.insertInto('servers').values(row).returningAll().executeTakeFirstOrThrow()
/** Undefined when it is deleted, or `status` was given and is another by now. */
export const updateServer = (
  sql: Sql,
  no: number,
  set: Updateable<ServersTable>,
  status?: ServerRow['status'],
): Promise<ServerRow | undefined> =>
  sql
    .updateTable('servers')
    .set(set)
    .where('no', '=', no)
    .where('deleted_at', 'is', null)
    .$if(status !== undefined, query => query.where('status', '=', status ?? 'pending'))
    .returningAll()
    .executeTakeFirst()
/** Puts a server in quarantine, or takes it out; undefined where it is there, or not, already. */
export const moveQuarantine = (
  sql: Sql,
  no: number,
  set: Pick<ServerRow, 'quarantined_at' | 'quarantined_by' | 'quarantine_reason' | 'updated_at'>,
): Promise<ServerRow | undefined> =>
  sql
    .updateTable('servers')
    .set(set)
    .where('no', '=', no)
    .where('deleted_at', 'is', null)
    .where('quarantined_at', set.quarantined_at === null ? 'is not' : 'is', null)
    .returningAll()
    .executeTakeFirst()
/** Those that statistics of the fleet count; 'all' where nothing is in quarantine. */
export const countedServers = async (sql: Sql, scope: ServerScope): Promise<ServerScope> => {
  const out = await sql.selectFrom('servers').select('no').where('quarantined_at', 'is not', null).execute()
  if (out.length === 0) return scope
  const left = new Set(
    scope === 'all' ? (await sql.selectFrom('servers').select('no').execute()).map(({ no }) => no) : scope,
  )
  for (const { no } of out) left.delete(no)
  return left
}
/** Uses the token up: a second use of it finds nothing. */
export const takeInstallToken = (sql: Sql, hash: string, now: number, from: string): Promise<ServerRow | undefined> =>
  sql
    .updateTable('servers')
    .set({ install_token_used_at: now, install_token_used_from: from })
    .where('install_token_hash', '=', hash)
    .where('install_token_used_at', 'is', null)
    .where('install_token_expires_at', '>', now)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()

export const allHeartbeats = (sql: Sql, since: number): Promise<HeartbeatRow[]> =>
  sql.selectFrom('heartbeats').selectAll().where('last_heartbeat', '>=', since).execute()

export const findHeartbeat = (sql: Sql, serverNo: number): Promise<HeartbeatRow | undefined> =>
  sql.selectFrom('heartbeats').selectAll().where('server_no', '=', serverNo).executeTakeFirst()
/** The jails of hosts as storage has them; nobody else writes them until the transaction ends. In one order, as `saveHeartbeats`. */
export const holdJails = (
  sql: Sql,
  engine: Engine,
  serverNos: readonly number[],
): Promise<Pick<HeartbeatRow, 'server_no' | 'last_heartbeat' | 'jails'>[]> => {
  const rows = sql
    .selectFrom('heartbeats')
    .select(['server_no', 'last_heartbeat', 'jails'])
    .where('server_no', 'in', serverNos)
    .orderBy('server_no')
  // With SQLite the writer is the transaction's alone.
  return (engine === 'postgres' ? rows.forUpdate() : rows).execute()
}
/** The jails alone: what the last heartbeat said else stays. */
export const saveJails = async (
  sql: Sql,
  row: Pick<HeartbeatRow, 'server_no' | 'last_heartbeat' | 'jails'>,
): Promise<void> => {
  await sql
    .insertInto('heartbeats')
    .values({ ...row, metrics: null })
    .onConflict(on => on.column('server_no').doUpdateSet({ jails: row.jails }))
    .execute()
}

const chunk = 500
/** Many at once, sorted, so that two processes never wait for each other in a circle. */
export const saveHeartbeats = async (sql: Sql, rows: readonly Insertable<HeartbeatsTable>[]): Promise<void> => {
  const sorted = [...rows].sort((a, b) => a.server_no - b.server_no)
  for (let start = 0; start < sorted.length; start += chunk)
    await sql
      .insertInto('heartbeats')
      .values(sorted.slice(start, start + chunk))
      .onConflict(on =>
        on
          .column('server_no')
          .doUpdateSet(({ ref }) => ({
            last_heartbeat: ref('excluded.last_heartbeat'),
            metrics: ref('excluded.metrics'),
            jails: ref('excluded.jails'),
          }))
          .whereRef('heartbeats.last_heartbeat', '<=', 'excluded.last_heartbeat'),
      )
      .execute()
}
export const totalsOf = async (sql: Sql, nos: readonly number[]): Promise<ReadonlyMap<number, number>> => {
  if (nos.length === 0) return new Map()
  const rows = await sql
    .selectFrom('server_totals')
    .select(eb => ['server_no', eb.fn.sum<number>('total_bans').as('total')])
    .where('server_no', 'in', nos)
    .groupBy('server_no')
    .execute()
  return new Map(rows.map(row => [row.server_no, Number(row.total)]))
}
export const bansSince = async (sql: Sql, no: number, bucket: number): Promise<number> => {
  const row = await sql
    .selectFrom('ban_days_jail')
    .select(eb => eb.fn.sum<number>('n').as('n'))
    .where('server_no', '=', no)
    .where('bucket', '>=', bucket)
    .executeTakeFirst()
  return Number(row?.n ?? 0)
}
export const bansByJail = async (sql: Sql, no: number): Promise<ReadonlyMap<string, number>> => {
  const rows = await sql
    .selectFrom('ban_cube')
    .innerJoin('jails', 'jails.id', 'ban_cube.jail_id')
    .select(eb => ['jails.name', eb.fn.sum<number>('ban_cube.n').as('n')])
    .where('ban_cube.server_no', '=', no)
    .groupBy('jails.name')
    .execute()
  return new Map(rows.map(row => [row.name, Number(row.n)]))
}
