import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import { bansOf } from './stats.store.ts'
import { hourOf } from '../../core/clock.ts'

type Sql = Kysely<Schema>

export interface Window {
  readonly servers: ServerScope
  readonly from: number
  readonly to: number
  /** Whether most bans lie in the window: then an index is walked whole rather than row by row. */
  readonly wide: boolean
}
export interface TopAddress {
  readonly ip: Uint8Array
  readonly n: number
}
export interface TopServer {
  readonly id: string
  readonly hostname: string
  readonly n: number
}
export interface TopNetwork {
  readonly asn: number | null
  readonly org: string | null
  readonly n: number
}

const conditions = ({ servers, from, to }: Window, time: RawBuilder<unknown>) =>
  raw.join(
    [
      ...(servers === 'all' ? [] : [servers.size > 0 ? raw`server_no in (${raw.join([...servers])})` : raw`1 = 0`]),
      raw`${time} >= ${from}`,
      raw`${time} < ${to}`,
    ],
    raw` and `,
  )
/** The plus keeps SQLite from the index over time; PostgreSQL knows by itself, and has no such operator for every type. */
const timeOf = (engine: Engine, { wide, servers }: Window) =>
  engine === 'sqlite' && wide && servers === 'all' ? raw`+banned_at` : raw`banned_at`

/** The addresses with the most bans of the window; of equal ones the lower address first. */
export const topAddresses = async (sql: Sql, engine: Engine, window: Window, most: number): Promise<TopAddress[]> =>
  (
    await raw<TopAddress>`select ip, count(*) as n from ${bansOf(engine, window.servers)} where ${conditions(window, timeOf(engine, window))}
      group by ip order by n desc, ip limit ${most}`.execute(sql)
  ).rows

/** The networks with the most bans of the window. */
export const topNetworks = async (sql: Sql, engine: Engine, window: Window, most: number): Promise<TopNetwork[]> =>
  (
    await raw<TopNetwork>`select top.asn, networks.org, top.n from
      (select asn, count(*) as n from ${bansOf(engine, window.servers)} where ${conditions(window, timeOf(engine, window))}
        group by asn order by n desc, asn limit ${most}) as top
      left join networks on networks.asn = top.asn order by top.n desc, top.asn`.execute(sql)
  ).rows

/** The servers with the most bans of the window: whole hours from sums, its edges from rows. */
export const topServers = async (
  sql: Sql,
  { servers, from, to }: Pick<Window, 'servers' | 'from' | 'to'>,
  most: number,
): Promise<TopServer[]> => {
  const first = Math.min(hourOf(from + 3_599_999), to)
  const last = Math.max(hourOf(to), first)
  const on =
    servers === 'all' ? raw`1 = 1` : servers.size > 0 ? raw`server_no in (${raw.join([...servers])})` : raw`1 = 0`
  const rows = (start: number, end: number) =>
    raw`select server_no, count(*) as n from bans where ${on} and banned_at >= ${start} and banned_at < ${end} group by server_no`
  const reply = await raw<TopServer>`select servers.id, servers.hostname, top.n from
    (select server_no, sum(n) as n from
      (select server_no, n from ban_hours_server where ${on} and bucket >= ${first} and bucket < ${last}
        union all ${rows(from, first)} union all ${rows(last, to)}) as parts
      group by server_no order by n desc, server_no limit ${most}) as top
    join servers on servers.no = top.server_no order by top.n desc, servers.hostname`.execute(sql)
  return reply.rows
}
