import { sql as raw } from 'kysely'
import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Engine } from '../../db/database.ts'
import { among, upsert } from '../../db/given.ts'
import type { Upsert } from '../../db/given.ts'
import type { FleetBansTable, FleetHostsTable, FleetStateTable } from '../../db/tables/policy.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type FleetBanRow = Selectable<FleetBansTable>
export type FleetHostRow = Selectable<FleetHostsTable>
export type FleetState = Pick<Selectable<FleetStateTable>, 'version' | 'all_version'>

const chunk = 500

export const readState = (sql: Sql): Promise<FleetState> =>
  sql.selectFrom('fleet_state').select(['version', 'all_version']).executeTakeFirstOrThrow()
/** Reads the state and keeps everybody else from changing it until the commit, so versions rise in the order of commits. */
export const holdState = (sql: Sql): Promise<FleetState> =>
  sql
    .updateTable('fleet_state')
    .set(eb => ({ version: eb.ref('version') }))
    .returning(['version', 'all_version'])
    .executeTakeFirstOrThrow()
export const saveState = async (sql: Sql, state: FleetState): Promise<void> => {
  await sql.updateTable('fleet_state').set(state).execute()
}
/** Names the version that these hosts should hold. */
export const raiseWanted = async (sql: Sql, serverNos: readonly number[], version: number): Promise<void> => {
  const nos = [...serverNos].sort((a, b) => a - b)
  for (let start = 0; start < nos.length; start += chunk)
    await sql
      .insertInto('fleet_hosts')
      .values(nos.slice(start, start + chunk).map(server_no => ({ server_no, wanted: version })))
      .onConflict(on => on.column('server_no').doUpdateSet({ wanted: version }))
      .execute()
}
export const wantedSince = (sql: Sql, version: number): Promise<Pick<FleetHostRow, 'server_no' | 'wanted'>[]> =>
  sql.selectFrom('fleet_hosts').select(['server_no', 'wanted']).where('wanted', '>', version).execute()

export const allHosts = (sql: Sql): Promise<FleetHostRow[]> => sql.selectFrom('fleet_hosts').selectAll().execute()
export const hostsOf = (sql: Sql, engine: Engine, serverNos: readonly number[]): Promise<FleetHostRow[]> =>
  sql
    .selectFrom('fleet_hosts')
    .selectAll()
    .where(among(engine, 'server_no', serverNos))
    .execute()
const saidHosts: Upsert<FleetHostRow> = {
  table: 'fleet_hosts',
  columns: {
    server_no: 'bigint',
    wanted: 'bigint',
    version: 'bigint',
    acked_at: 'bigint',
    held: 'bigint',
    refused: 'text',
    problem: 'text',
    not_covered: 'text',
    fallback: 'text',
  },
  key: ['server_no'],
  kept: ['wanted'],
}
/** What hosts said; a server at most once. */
export const saveHosts = (sql: Sql, engine: Engine, hosts: readonly Omit<FleetHostRow, 'wanted'>[]): Promise<void> =>
  upsert(
    sql,
    engine,
    saidHosts,
    hosts.map(host => ({ ...host, wanted: 0 })),
  )

/** The bans that changed after a version, those that stand and those that ended since then. */
export const bansSince = (sql: Sql, version: number, endedSince: number): Promise<FleetBanRow[]> =>
  sql
    .selectFrom('fleet_bans')
    .selectAll()
    .where('version', '>', version)
    .where(eb => eb.or([eb('ended_at', 'is', null), eb('ended_at', '>=', endedSince)]))
    .orderBy('version')
    .execute()
export const findBan = (sql: Sql, id: number): Promise<FleetBanRow | undefined> =>
  sql.selectFrom('fleet_bans').selectAll().where('id', '=', id).executeTakeFirst()
export const bansOf = (sql: Sql, ids: readonly number[]): Promise<FleetBanRow[]> =>
  sql.selectFrom('fleet_bans').selectAll().where('id', 'in', ids).execute()
export const findStanding = (
  sql: Sql,
  place: Pick<FleetBanRow, 'entry' | 'source' | 'target'>,
): Promise<FleetBanRow | undefined> =>
  sql
    .selectFrom('fleet_bans')
    .selectAll()
    .where('entry', '=', place.entry)
    .where('source', '=', place.source)
    .where('target', '=', place.target)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
export const standingOfSource = (sql: Sql, source: string): Promise<FleetBanRow[]> =>
  sql.selectFrom('fleet_bans').selectAll().where('source', '=', source).where('ended_at', 'is', null).execute()
export const countStanding = (sql: Sql): Promise<number> =>
  rowCount(sql.selectFrom('fleet_bans').where('ended_at', 'is', null))
export const countStandingOf = (sql: Sql, creator: string): Promise<number> =>
  rowCount(sql.selectFrom('fleet_bans').where('ended_at', 'is', null).where('creator', '=', creator))
export const insertBan = (sql: Sql, row: Insertable<FleetBansTable>): Promise<FleetBanRow> =>
  sql.insertInto('fleet_bans').values(row).returningAll().executeTakeFirstOrThrow()
export const updateBan = (sql: Sql, id: number, set: Partial<Omit<FleetBanRow, 'id'>>): Promise<FleetBanRow> =>
  sql.updateTable('fleet_bans').set(set).where('id', '=', id).returningAll().executeTakeFirstOrThrow()

/** Marks what is over. The version stays, because hosts end a ban by themselves. */
export const endExpired = (sql: Sql, now: number, most: number): Promise<FleetBanRow[]> =>
  sql
    .updateTable('fleet_bans')
    .set(eb => ({ ended_at: eb.ref('expires_at'), ended_by: 'expired' }))
    .where('id', 'in', query =>
      query
        .selectFrom('fleet_bans')
        .select('id')
        .where('ended_at', 'is', null)
        .where('expires_at', '<=', now)
        .limit(most),
    )
    .where('ended_at', 'is', null)
    .where('expires_at', '<=', now)
    .returningAll()
    .execute()
export const hasExpired = async (sql: Sql, now: number): Promise<boolean> =>
  (await sql
    .selectFrom('fleet_bans')
    .select('id')
    .where('ended_at', 'is', null)
    .where('expires_at', '<=', now)
    .limit(1)
    .executeTakeFirst()) !== undefined
export const deleteOld = async (sql: Sql, endedBefore: number): Promise<void> => {
  await sql.deleteFrom('fleet_bans').where('ended_at', '<', endedBefore).execute()
}

export interface ListFilter {
  readonly active?: boolean | undefined
  readonly source?: string | undefined
  readonly search?: string | undefined
  /** The canonical form of a search that is an address. */
  readonly address?: string | undefined
  readonly now: number
}
const matching = ({ active, source, search, address, now }: ListFilter) => {
  const over = raw`(ended_at is not null or expires_at <= ${now})`
  const parts = [raw`1 = 1`]
  if (active !== undefined) parts.push(active ? raw`not coalesce(${over}, false)` : raw`coalesce(${over}, false)`)
  if (source !== undefined) parts.push(raw`source = ${source}`)
  if (search !== undefined) {
    const like = `%${search.toLowerCase().replace(/[\\%_]/g, match => `\\${match}`)}%`
    parts.push(raw`(entry like ${like} escape '\\' or lower(reason) like ${like} escape '\\'
      or lower(created_by) like ${like} escape '\\' or entry = ${address ?? ''})`)
  }
  return raw.join(parts, raw` and `)
}
const orders = {
  created_at: raw`created_at, id`,
  '-created_at': raw`created_at desc, id desc`,
  expires_at: raw`case when expires_at is null then 1 else 0 end, expires_at, id`,
  '-expires_at': raw`case when expires_at is null then 0 else 1 end, expires_at desc, id desc`,
  entry: raw`entry, id`,
  '-entry': raw`entry desc, id desc`,
} as const
export const pageOfBans = async (
  sql: Sql,
  filter: ListFilter,
  sort: keyof typeof orders,
  offset: number,
  limit: number,
): Promise<FleetBanRow[]> =>
  (
    await raw<FleetBanRow>`select * from fleet_bans where ${matching(filter)} order by ${orders[sort]}
      limit ${limit} offset ${offset}`.execute(sql)
  ).rows
export const countBans = async (sql: Sql, filter: ListFilter): Promise<number> => {
  const { rows } = await raw<{ n: number }>`select count(*) as n from fleet_bans where ${matching(filter)}`.execute(sql)
  return Number(rows[0]?.n ?? 0)
}
/** What is needed to filter rows by the servers that they concern, in the order of the list. */
export type Placed = Pick<FleetBanRow, 'id' | 'target' | 'version' | 'ended_at' | 'expires_at'>
export const placesOf = async (sql: Sql, filter: ListFilter, sort: keyof typeof orders): Promise<Placed[]> =>
  (
    await raw<Placed>`select id, target, version, ended_at, expires_at from fleet_bans where ${matching(filter)}
      order by ${orders[sort]}`.execute(sql)
  ).rows
