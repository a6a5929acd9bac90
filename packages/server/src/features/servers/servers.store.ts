import { sql as raw } from 'kysely'
import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import { jsonText, parseJson, parseJsonOrNull } from '../../core/json-text.ts'
import type { MarkState } from '@stockade/contract'
import type { LastSelfTest } from '@stockade/contract/command-types/self-test.ts'
import type { Engine } from '../../db/database.ts'
import { among, upsert } from '../../db/given.ts'
import type { Upsert } from '../../db/given.ts'
import type { HeartbeatsTable, ServersTable } from '../../db/tables/servers.ts'
import type { Schema } from '../../db/schema.ts'
import { silentHost } from './host-state.ts'
import type { HostState } from './host-state.ts'
import type { CloneMark, Jail } from '../../db/tables/stored.ts'

export type ServerRow = Selectable<ServersTable>
type HeartbeatRow = Selectable<HeartbeatsTable>
type Sql = Kysely<Schema>

export const liveServers = (sql: Sql): Promise<ServerRow[]> =>
  sql.selectFrom('servers').selectAll().where('deleted_at', 'is', null).execute()
export const findServerRow = (sql: Sql, no: number): Promise<ServerRow | undefined> =>
  sql.selectFrom('servers').selectAll().where('no', '=', no).executeTakeFirst()
export const insertServer = (sql: Sql, row: Insertable<ServersTable>): Promise<ServerRow> =>
  sql.insertInto('servers').values(row).returningAll().executeTakeFirstOrThrow()
/** A change of a server that is not deleted. */
const updateOf = (sql: Sql, no: number, set: Updateable<ServersTable>) =>
  sql.updateTable('servers').set(set).where('no', '=', no).where('deleted_at', 'is', null).returningAll()
/** Undefined when it is deleted, or `status` was given and is another by now. */
export const updateServer = (
  sql: Sql,
  no: number,
  set: Updateable<ServersTable>,
  status?: ServerRow['status'],
): Promise<ServerRow | undefined> =>
  updateOf(sql, no, set)
    .$if(status !== undefined, query => query.where('status', '=', status ?? 'pending'))
    .executeTakeFirst()
/** Sets the level of protection of which an event is recorded; undefined where `before` is not the stored level any more. */
export const moveProtection = (
  sql: Sql,
  no: number,
  before: ServerRow['protection_level'],
  set: Pick<ServerRow, 'protection_level' | 'protection_since'>,
): Promise<ServerRow | undefined> =>
  updateOf(sql, no, set).where('protection_level', 'is not distinct from', before).executeTakeFirst()
/** Puts a server in quarantine, or takes it out; undefined where it is there, or not, already. */
export const moveQuarantine = (
  sql: Sql,
  no: number,
  set: Pick<ServerRow, 'quarantined_at' | 'quarantined_by' | 'quarantine_reason' | 'updated_at'>,
): Promise<ServerRow | undefined> =>
  updateOf(sql, no, set)
    .where('quarantined_at', set.quarantined_at === null ? 'is not' : 'is', null)
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

/** Agents before templates stored no `template`. */
const jailsOf = (text: HeartbeatRow['jails']): readonly Jail[] =>
  parseJson(text).map(jail => ({ ...jail, template: jail.template ?? null }))
type StateOfServer = readonly [serverNo: number, state: HostState]
const stateOf = (row: HeartbeatRow): StateOfServer => [
  row.server_no,
  {
    boot: row.boot,
    report: row.report,
    lastHeartbeat: row.last_heartbeat,
    metrics: row.metrics === null ? null : parseJson(row.metrics),
    jails: jailsOf(row.jails),
    revision: row.revision,
    protection: row.protection === null ? null : parseJson(row.protection),
  },
]
const rowOf = ([server_no, state]: StateOfServer): HeartbeatRow => ({
  server_no,
  boot: state.boot,
  report: state.report,
  last_heartbeat: state.lastHeartbeat ?? 0,
  metrics: state.metrics && jsonText(state.metrics),
  jails: jsonText(state.jails),
  revision: state.revision,
  protection: state.protection && jsonText(state.protection),
})

/** What hosts said since then. */
export const allHeartbeats = async (sql: Sql, since: number): Promise<StateOfServer[]> =>
  (await sql.selectFrom('heartbeats').selectAll().where('last_heartbeat', '>=', since).execute()).map(stateOf)

export const findHeartbeats = async (
  sql: Sql,
  engine: Engine,
  serverNos: readonly number[],
): Promise<StateOfServer[]> =>
  serverNos.length === 0
    ? []
    : (
        await sql
          .selectFrom('heartbeats')
          .selectAll()
          .where(among(engine, 'server_no', serverNos))
          .execute()
      ).map(stateOf)

/** Locks a host's row until the transaction ends, and creates it first if there is none. Undefined: it was created. */
export const lockHeartbeat = async (sql: Sql, engine: Engine, serverNo: number): Promise<HostState | undefined> => {
  const select = () => {
    const rows = sql.selectFrom('heartbeats').selectAll().where('server_no', '=', serverNo)
    // SQLite has one writer, and the transaction holds it.
    return (engine === 'postgres' ? rows.forUpdate() : rows).executeTakeFirst()
  }
  const serverRows = await select()
  if (serverRows) return stateOf(serverRows)[1]
  const { numInsertedOrUpdatedRows: inserted } = await sql
    .insertInto('heartbeats')
    .values(rowOf([serverNo, silentHost]))
    .onConflict(on => on.column('server_no').doNothing())
    .executeTakeFirstOrThrow()
  if (inserted === 1n) return undefined
  const created = await select()
  return created && stateOf(created)[1]
}

/** Locks the rows of hosts in the order of their numbers, so that two processes never wait for each other in a circle. */
export const lockHeartbeatVersions = async (
  sql: Sql,
  engine: Engine,
  serverNos: readonly number[],
): Promise<(Pick<HostState, 'boot' | 'report' | 'lastHeartbeat' | 'revision'> & { server_no: number })[]> => {
  const rows = sql
    .selectFrom('heartbeats')
    .select(['server_no', 'boot', 'report', 'last_heartbeat as lastHeartbeat', 'revision'])
    .where(among(engine, 'server_no', serverNos))
    .orderBy('server_no')
  return (engine === 'postgres' ? rows.forUpdate() : rows).execute()
}
/** States that are not older than the stored ones. */
const newerHeartbeats: Upsert<ReturnType<typeof rowOf>> = {
  table: 'heartbeats',
  columns: {
    server_no: 'bigint',
    boot: 'text',
    report: 'bigint',
    last_heartbeat: 'bigint',
    metrics: 'text',
    jails: 'text',
    revision: 'bigint',
    protection: 'text',
  },
  key: ['server_no'],
  where: raw`heartbeats.revision <= excluded.revision and (
    (heartbeats.boot = excluded.boot and heartbeats.report <= excluded.report)
    or (heartbeats.boot <> excluded.boot and heartbeats.last_heartbeat <= excluded.last_heartbeat))`,
}
/** Writes states that are not older than the stored ones. Sorted, for the same reason as above. */
export const saveHeartbeats = (sql: Sql, engine: Engine, states: readonly StateOfServer[]): Promise<void> =>
  upsert(sql, engine, newerHeartbeats, states.toSorted(([one], [other]) => one - other).map(rowOf))

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
  // What a host held before it was enrolled is no ban of today.
  const adopted = await sql
    .selectFrom('bans')
    .select(eb => eb.fn.countAll<number>().as('n'))
    .where('server_no', '=', no)
    .where('origin', 'is not', null)
    .where('banned_at', '>=', bucket)
    .executeTakeFirst()
  return Number(row?.n ?? 0) - Number(adopted?.n ?? 0)
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

/** Two hosts report in turns: since when, the start of the agent that is refused, and the address of the last report then. */
export const cloneOf = (text: ServerRow['clone']): CloneMark | null => parseJsonOrNull(text)

export const selfTestOf = (text: ServerRow['self_test']): LastSelfTest | null => parseJsonOrNull(text)

/** Whether these hosts hold the present whitelist; of a host that said nothing there is no entry. */
export const whitelistMarksOf = async (sql: Sql, nos: readonly number[]): Promise<ReadonlyMap<number, MarkState>> => {
  if (nos.length === 0) return new Map()
  const rows = await sql
    .selectFrom('host_states')
    .innerJoin('whitelist_state', join => join.onTrue())
    .select(['server_no', 'whitelist_version', 'error', 'whitelist_state.version as wanted'])
    .where('server_no', 'in', nos)
    .execute()
  return new Map(
    rows.flatMap(({ server_no, whitelist_version, error, wanted }): [number, MarkState][] => {
      if (error !== null) return [[server_no, 'failed']]
      if (whitelist_version === null) return []
      return [[server_no, whitelist_version === wanted ? 'passed' : 'doubtful']]
    }),
  )
}
/** Bans of each of these servers by the start of their UTC hour, from the sums. */
export const bansByHour = async (
  sql: Sql,
  nos: readonly number[],
  from: number,
): Promise<ReadonlyMap<number, ReadonlyMap<number, number>>> => {
  if (nos.length === 0) return new Map()
  const rows = await sql
    .selectFrom('ban_hours_server')
    .select(eb => ['server_no', 'bucket', eb.fn.sum<number>('n').as('n')])
    .where('server_no', 'in', nos)
    .where('bucket', '>=', from)
    .groupBy(['server_no', 'bucket'])
    .execute()
  const countsByServer = new Map<number, Map<number, number>>()
  for (const { server_no, bucket, n } of rows) {
    const hours = countsByServer.get(server_no) ?? new Map<number, number>()
    hours.set(Number(bucket), Number(n))
    countsByServer.set(server_no, hours)
  }
  return countsByServer
}
