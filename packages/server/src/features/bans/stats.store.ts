import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import { day, hour, dayOf, hourOf } from '../../core/clock.ts'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import { lastBanStep, stepOf } from './sums.ts'

type Sql = Kysely<Schema>
export type Counts = ReadonlyMap<number, number>

const all = (parts: readonly RawBuilder<unknown>[]) => raw.join([...parts], raw` and `)
const on = (servers: ServerScope) =>
  servers === 'all' ? [] : servers.size > 0 ? [raw`server_no in (${raw.join([...servers])})`] : [raw`1 = 0`]

interface Counted {
  readonly key: number
  readonly n: number
}
const sumUp = (lists: readonly (readonly Counted[])[]): Counts => {
  const sums = new Map<number, number>()
  for (const rows of lists)
    for (const { key, n } of rows) sums.set(Number(key), (sums.get(Number(key)) ?? 0) + Number(n))
  return sums
}

/** Bans since `from` by UTC hour (its start): the first, partial hour from rows, the rest from sums. */
export const countByHour = async (sql: Sql, servers: ServerScope, from: number): Promise<Counts> => {
  const whole = hourOf(from + hour - 1)
  const table = servers === 'all' ? raw`ban_fleet_hours` : raw`ban_hours_server`
  const hours = await raw<Counted>`select bucket as key, sum(n) as n from ${table}
    where ${all([...on(servers), raw`bucket >= ${whole}`])} group by bucket`.execute(sql)
  const edge = await raw<Counted>`select ${hourOf(from)} as key, count(*) as n from bans
    where ${all([...on(servers), raw`banned_at >= ${from}`, raw`banned_at < ${whole}`])}`.execute(sql)
  return sumUp([hours.rows, edge.rows])
}

/** Where the bans of some servers are found without reading those of others. */
export const bansOf = (engine: Engine, servers: ServerScope) =>
  raw.table(engine === 'sqlite' && servers !== 'all' ? 'server_bans' : 'bans')

/** When the newest ban from `since` on began, by the clock of its host; null without one. */
export const newestBan = async (
  sql: Sql,
  engine: Engine,
  servers: ServerScope,
  since: number,
): Promise<number | null> => {
  const { rows } = await raw<{ at: number | null }>`select max(banned_at) as at from ${bansOf(engine, servers)}
    where ${all([...on(servers), raw`banned_at >= ${since}`])}`.execute(sql)
  return rows[0]?.at ?? null
}

/** A part of a window: where its bans are counted, and the column of their time. */
interface Slice {
  readonly table: RawBuilder<unknown>
  readonly time: 'bucket' | 'banned_at'
  readonly from: number
  readonly to: number
}
/**
 * The window since `from`, by the largest buckets that steps of this length allow: whole days from sums of days, whole hours before
 * them from sums of hours, which single servers have none of, and the beginning from rows.
 */
const slicesOf = (
  engine: Engine,
  dimension: 'jail' | 'country',
  servers: ServerScope,
  from: number,
  step: number,
): Slice[] => {
  const firstDay = step < day ? Infinity : dayOf(from + day - 1)
  const firstHour = servers === 'all' ? hourOf(from + hour - 1) : firstDay
  const days = raw.table(`ban_${servers === 'all' ? 'fleet_days' : 'days'}_${dimension}`)
  const slices: Slice[] = [
    { table: days, time: 'bucket', from: firstDay, to: Infinity },
    { table: raw.table(`ban_hours_${dimension}`), time: 'bucket', from: firstHour, to: firstDay },
    { table: bansOf(engine, servers), time: 'banned_at', from, to: firstHour },
  ]
  return slices.filter(slice => slice.from < slice.to)
}
const within = (servers: ServerScope, { time, from, to }: Slice) =>
  all([...on(servers), raw`${raw.ref(time)} >= ${from}`, ...(to === Infinity ? [] : [raw`${raw.ref(time)} < ${to}`])])
const sumOf = ({ time }: Slice) => (time === 'bucket' ? raw`sum(n)` : raw`count(*)`)

/** Bans since `from` by the id of their country. */
export const countByCountry = async (sql: Sql, engine: Engine, servers: ServerScope, from: number): Promise<Counts> => {
  const lists: (readonly Counted[])[] = []
  for (const slice of slicesOf(engine, 'country', servers, from, day)) {
    const { rows } = await raw<Counted>`select country_id as key, ${sumOf(slice)} as n from ${slice.table}
      where ${within(servers, slice)} group by country_id`.execute(sql)
    lists.push(rows)
  }
  return sumUp(lists)
}

/** Counts of one jail by the start of each step. */
export type JailCounts = ReadonlyMap<number, Counts>
interface CountedJail extends Counted {
  readonly jail: number
}
/** Bans since `from` by jail and by step of time: `hour` or `day`, in UTC. */
export const countByJailAndTime = async (
  sql: Sql,
  engine: Engine,
  servers: ServerScope,
  from: number,
  step: number,
): Promise<JailCounts> => {
  const found = new Map<number, Map<number, number>>()
  for (const slice of slicesOf(engine, 'jail', servers, from, step)) {
    const time = raw.ref(slice.time)
    const { rows } = await raw<CountedJail>`select jail_id as jail, ${time} - ${time} % ${raw.lit(step)} as key,
      ${sumOf(slice)} as n from ${slice.table} where ${within(servers, slice)} group by 1, 2`.execute(sql)
    for (const { jail, key, n } of rows) {
      const counts = found.get(Number(jail)) ?? new Map<number, number>()
      found.set(Number(jail), counts.set(Number(key), (counts.get(Number(key)) ?? 0) + Number(n)))
    }
  }
  return found
}

const one = async (sql: Sql, query: RawBuilder<{ n: number | null }>): Promise<number> =>
  Number((await query.execute(sql)).rows[0]?.n ?? 0)

/** Distinct addresses that were banned since `from`, anywhere. */
export const countAddresses = async (sql: Sql, engine: Engine, from: number): Promise<number> => {
  const whole = stepOf(from + lastBanStep - 1)
  // Addresses whose last ban lies in a whole step of time, and those whose last one lies in the partial step. One statement, so that both
  // are of the same moment.
  if (engine === 'postgres')
    return one(
      sql,
      raw`select (select coalesce(sum(n), 0) from last_bans where bucket >= ${whole})
        + (select count(distinct ip) from bans b where banned_at >= ${from} and banned_at < ${whole}
          and not exists (select 1 from bans later where later.ip = b.ip and later.banned_at >= ${whole})) as n`,
    )
  const summed = raw`(select ban_id from rolled_up)`
  // The same of the bans that are summed, and the addresses that only the bans since then bring in.
  const parts = [
    raw`(select coalesce(sum(n), 0) from rolled_last_bans where bucket >= ${whole})`,
    raw`(select count(distinct ip) from bans b where banned_at >= ${from} and banned_at < ${whole} and id <= ${summed}
      and not exists (select 1 from bans later where later.ip = b.ip and later.banned_at >= ${whole} and later.id <= ${summed}))`,
    // The plus keeps SQLite from walking the whole index of addresses.
    raw`(select count(distinct +b.ip) from bans b where id > ${summed} and +banned_at >= ${from}
      and not exists (select 1 from bans known where known.ip = b.ip and known.banned_at >= ${from} and known.id <= ${summed}))`,
  ]
  return one(sql, raw`select ${raw.join(parts, raw` + `)} as n`)
}
/** The same on some servers: a server's bans are few beside the fleet's. */
export const countAddressesOn = (sql: Sql, engine: Engine, servers: ServerScope, from: number): Promise<number> => {
  const found = all([...on(servers), raw`banned_at >= ${from}`])
  // Without sorting: PostgreSQL hashes groups, but would sort for count(distinct). SQLite's union leaves out what it has seen,
  // in three quarters of the time that counting over the view of both halves takes.
  const addresses =
    engine === 'postgres'
      ? raw`select ip from bans where ${found} group by ip`
      : raw`select ip from rolled_server_bans where ${found}
          union select ip from bans not indexed where id > (select ban_id from rolled_up) and ${found}`
  return one(sql, raw`select count(*) as n from (${addresses}) as seen`)
}

export const jailNames = async (sql: Sql, ids: Iterable<number>): Promise<ReadonlyMap<number, string>> => {
  const wanted = [...ids]
  if (wanted.length === 0) return new Map()
  const rows = await sql.selectFrom('jails').selectAll().where('id', 'in', wanted).execute()
  return new Map(rows.map(row => [row.id, row.name]))
}
export const countryCodes = async (sql: Sql): Promise<ReadonlyMap<number, string>> => {
  const rows = await sql.selectFrom('countries').selectAll().execute()
  return new Map(rows.map(row => [row.id, row.code]))
}
