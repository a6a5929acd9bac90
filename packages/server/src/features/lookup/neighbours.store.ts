import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import { onServers, within } from '../bans/bans.store.ts'

type Sql = Kysely<Schema>

export interface NeighbourCount {
  /** The address, or the first 8 bytes of a /64. */
  readonly network: Uint8Array
  readonly bans: number
  readonly active: number
  readonly addresses: number
}
/** By the index of addresses; `bytes` are those that neighbours share, 4 for an address of IPv4 and 8 for a /64. */
export const countNeighbours = async (
  sql: Sql,
  engine: Engine,
  servers: ServerScope,
  range: IpRange,
  bytes: 4 | 8,
  now: number,
): Promise<NeighbourCount[]> => {
  // The plus keeps the index of servers away: of a range there are fewer.
  const on = onServers(servers, engine === 'sqlite' ? raw`+server_no` : raw`server_no`)
  const condition = raw.join([...within(range), ...on], raw` and `)
  const { rows } =
    await raw<NeighbourCount>`select network, sum(n) as bans, sum(active) as active, count(*) as addresses
    from (select substr(ip, 1, ${raw.lit(bytes)}) as network, ip, count(*) as n,
        sum(case when exists (select 1 from active_bans where active_bans.banned_at = bans.banned_at
          and active_bans.ban_id = bans.id and (expires_at is null or expires_at > ${now})) then 1 else 0 end) as active
      from bans where ${condition} group by 1, ip) as addressed
    group by network order by network`.execute(sql)
  return rows.map(row => ({
    network: row.network,
    bans: Number(row.bans),
    active: Number(row.active),
    addresses: Number(row.addresses),
  }))
}
/** Bans of a range since a moment by the number of their UTC day since 1970. */
export const neighbourDays = async (
  sql: Sql,
  engine: Engine,
  servers: ServerScope,
  range: IpRange,
  from: number,
): Promise<ReadonlyMap<number, number>> => {
  const on = onServers(servers, engine === 'sqlite' ? raw`+server_no` : raw`server_no`)
  // The index of addresses, again: of the last 30 days there are more bans than of a range.
  const time = engine === 'sqlite' ? raw`+banned_at` : raw`banned_at`
  const { rows } = await raw<{
    date: number
    n: number
  }>`select banned_at / ${raw.lit(day)} as date, count(*) as n from bans
    where ${raw.join([...within(range), raw`${time} >= ${from}`, ...on], raw` and `)} group by 1`.execute(sql)
  return new Map(rows.map(({ date, n }) => [Number(date), Number(n)]))
}
