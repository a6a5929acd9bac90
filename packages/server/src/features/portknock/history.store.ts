import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import type { KnockHistoryTable } from '../../db/tables/knock.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
type Status = KnockHistoryTable['status']

export interface KnockFilter {
  readonly servers: ServerScope
  readonly sequenceId?: number
  /** Canonical. */
  readonly ip?: string
  readonly status?: Status
  readonly from?: number
  readonly to?: number
}
export interface KnockView {
  readonly id: number
  readonly server_id: string
  readonly hostname: string
  readonly sequence_name: string
  readonly ip: string
  readonly status: Status
  readonly reason: string | null
  readonly at: number
}

const conditions = ({ servers, sequenceId, ip, status, from, to }: KnockFilter): RawBuilder<unknown> => {
  const parts = [
    ...(servers === 'all' ? [] : [servers.size > 0 ? raw`server_no in (${raw.join([...servers])})` : raw`1 = 0`]),
    ...(sequenceId === undefined ? [] : [raw`sequence_id = ${sequenceId}`]),
    ...(ip === undefined ? [] : [raw`ip = ${ip}`]),
    ...(status === undefined ? [] : [raw`status = ${status}`]),
    ...(from === undefined ? [] : [raw`at >= ${from}`]),
    ...(to === undefined ? [] : [raw`at < ${to}`]),
  ]
  return parts.length > 0 ? raw.join(parts, raw` and `) : raw`1 = 1`
}

/** One page, newest first: the ids by an index, then their rows. */
export const pageOfKnocks = async (
  sql: Sql,
  filter: KnockFilter,
  offset: number,
  limit: number,
): Promise<KnockView[]> => {
  const { rows } = await raw<KnockView>`select knock.id, servers.id as server_id, servers.hostname,
      sequence.name as sequence_name, knock.ip, knock.status, knock.reason, knock.at
    from (select id from knock_history where ${conditions(filter)} order by at desc, id desc
      limit ${limit} offset ${offset}) as page
    join knock_history as knock on knock.id = page.id
    join servers on servers.no = knock.server_no join knock_sequences as sequence on sequence.id = knock.sequence_id
    order by knock.at desc, knock.id desc`.execute(sql)
  return rows
}
export const countKnocks = async (sql: Sql, filter: KnockFilter): Promise<number> => {
  const { rows } = await raw<{
    n: number
  }>`select count(*) as n from knock_history where ${conditions(filter)}`.execute(sql)
  return Number(rows[0]?.n ?? 0)
}

export interface KnockCount {
  readonly server_no: number
  readonly sequence_id: number
  readonly status: Status
  readonly n: number
}
export const countByPlace = async (sql: Sql, filter: KnockFilter): Promise<KnockCount[]> =>
  (
    await raw<KnockCount>`select server_no, sequence_id, status, count(*) as n from knock_history
      where ${conditions(filter)} group by server_no, sequence_id, status`.execute(sql)
  ).rows
/** The addresses that tried most. */
export const topAddresses = async (
  sql: Sql,
  filter: KnockFilter,
  most: number,
): Promise<{ ip: string; attempts: number }[]> =>
  (
    await raw<{ ip: string; attempts: number }>`select ip, count(*) as attempts from knock_history
      where ${conditions(filter)} group by ip order by attempts desc, ip limit ${most}`.execute(sql)
  ).rows
/** Also those that are deleted. */
export const sequenceNames = (sql: Sql): Promise<{ id: number; name: string; deleted_at: number | null }[]> =>
  sql.selectFrom('knock_sequences').select(['id', 'name', 'deleted_at']).execute()
export const hostnamesOf = async (sql: Sql, serverNos: readonly number[]): Promise<ReadonlyMap<number, string>> => {
  if (serverNos.length === 0) return new Map()
  const rows = await sql.selectFrom('servers').select(['no', 'hostname']).where('no', 'in', serverNos).execute()
  return new Map(rows.map(({ no, hostname }) => [no, hostname]))
}
