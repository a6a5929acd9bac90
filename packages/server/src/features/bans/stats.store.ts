import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import { day, hour, dayOf, hourOf } from '../../core/clock.ts'
import { parseJson } from '../../core/json-text.ts'
import type { JsonText } from '../../core/json-text.ts'
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

/** Where the bans of some servers are found without reading those of others. */
export const bansOf = (engine: Engine, servers: ServerScope) =>
  raw.table(engine === 'sqlite' && servers !== 'all' ? 'server_bans' : 'bans')

/** Bans since `from` by UTC hour (its start): the first, partial hour from rows, the rest from sums. */
export const countByHour = async (sql: Sql, engine: Engine, servers: ServerScope, from: number): Promise<Counts> => {
  const whole = hourOf(from + hour - 1)
  const table = servers === 'all' ? raw`ban_fleet_hours` : raw`ban_hours_server`
  const hours = await raw<Counted>`select bucket as key, sum(n) as n from ${table}
    where ${all([...on(servers), raw`bucket >= ${whole}`])} group by bucket`.execute(sql)
  const edge = await raw<Counted>`select ${hourOf(from)} as key, count(*) as n from ${bansOf(engine, servers)}
    where ${all([...on(servers), raw`banned_at >= ${from}`, raw`banned_at < ${whole}`])}`.execute(sql)
  return sumUp([hours.rows, edge.rows])
}

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

/** Counts of one jail by the start of each step. */
export type JailCounts = ReadonlyMap<number, Counts>
interface Span {
  readonly from: number
  readonly to: number
}
/**
 * The window since `from`, by the largest buckets that steps of this length allow: whole days from sums of days, whole hours before
 * them from sums of hours, which single servers have none of, and the beginning from rows.
 */
const spansOf = (servers: ServerScope, from: number, step: number): Record<'days' | 'hours' | 'rows', Span> => {
  const firstDay = step < day ? Infinity : dayOf(from + day - 1)
  const firstHour = servers === 'all' ? hourOf(from + hour - 1) : firstDay
  return {
    days: { from: firstDay, to: Infinity },
    hours: { from: firstHour, to: firstDay },
    rows: { from, to: firstHour },
  }
}
const within = (servers: ServerScope, time: RawBuilder<unknown>, { from, to }: Span) =>
  all([...on(servers), raw`${time} >= ${from}`, ...(to === Infinity ? [] : [raw`${time} < ${to}`])])

interface Cell {
  readonly jail: number
  readonly country: number
  readonly key: number
  readonly n: number
}
/** A packed cell has room for these; no ban is newer than now, so a window has few steps. */
const [packedCountries, packedSteps] = [65_536, 4096]
/**
 * SQLite sorts to group, which takes 0.6 us a row. It packs all rows into one text in a quarter of that, and counting the parts of the
 * text takes less than handing over thousands of groups.
 */
const cellsOnSqlite = async (sql: Sql, servers: ServerScope, span: Span, step: number): Promise<readonly Cell[]> => {
  const first = Math.floor(span.from / step)
  const packed = raw`(jail_id * ${raw.lit(packedCountries)} + country_id) * ${raw.lit(packedSteps)}
    + banned_at / ${raw.lit(step)} - ${first}`
  const condition = within(servers, raw`banned_at`, span)
  const partOf = (from: RawBuilder<unknown>) => raw`(select json_group_array(${packed}) from ${from} and ${condition})`
  // The view of a server's bans by its halves, in one statement: SQLite copies each row that it reads through the view.
  const parts =
    servers === 'all'
      ? [raw`(select '[]')`, partOf(raw`bans where true`)]
      : [
          partOf(raw`rolled_server_bans where true`),
          partOf(raw`bans not indexed where id > (select ban_id from rolled_up)`),
        ]
  const { rows } = await raw<Record<'summed' | 'others', JsonText<number[]>>>`
    select ${raw.join(parts, raw` as summed, `)} as others`.execute(sql)
  const counts = new Map<number, number>()
  for (const { summed, others } of rows)
    for (const cells of [parseJson(summed), parseJson(others)])
      for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1)
  return [...counts].map(([cell, n]) => {
    const kind = Math.floor(cell / packedSteps)
    return {
      jail: Math.floor(kind / packedCountries),
      country: kind % packedCountries,
      key: (first + (cell % packedSteps)) * step,
      n,
    }
  })
}
const cellsOnPostgres = async (sql: Sql, servers: ServerScope, span: Span, step: number): Promise<readonly Cell[]> => {
  const { rows } = await raw<Cell>`select jail_id as jail, country_id as country,
    banned_at - banned_at % ${raw.lit(step)} as key, count(*) as n
    from bans where ${within(servers, raw`banned_at`, span)} group by 1, 2, 3`.execute(sql)
  return rows
}
/** Bans since `from` by the id of their country, and by jail and step of time: `hour` or `day`, in UTC. */
export const countByKind = async (
  sql: Sql,
  engine: Engine,
  servers: ServerScope,
  from: number,
  step: number,
): Promise<{ readonly jails: JailCounts; readonly countries: Counts }> => {
  const jails = new Map<number, Map<number, number>>()
  const countries = new Map<number, number>()
  const add = (counts: Map<number, number>, key: number, n: number) =>
    counts.set(Number(key), (counts.get(Number(key)) ?? 0) + Number(n))
  const addJail = ({ jail, key, n }: Omit<Cell, 'country'>) => {
    const counts = jails.get(Number(jail)) ?? new Map<number, number>()
    jails.set(Number(jail), counts)
    add(counts, key, n)
  }
  const { rows, ...sums } = spansOf(servers, from, step)
  for (const [name, span] of Object.entries(sums)) {
    if (span.from >= span.to) continue
    const table = `ban_${servers === 'all' && name === 'days' ? 'fleet_' : ''}${name}`
    const condition = within(servers, raw`bucket`, span)
    const byJail = await raw<
      Omit<Cell, 'country'>
    >`select jail_id as jail, bucket - bucket % ${raw.lit(step)} as key, sum(n) as n
      from ${raw.table(`${table}_jail`)} where ${condition} group by 1, 2`.execute(sql)
    byJail.rows.forEach(addJail)
    const byCountry = await raw<Counted>`select country_id as key, sum(n) as n
      from ${raw.table(`${table}_country`)} where ${condition} group by country_id`.execute(sql)
    for (const { key, n } of byCountry.rows) add(countries, key, n)
  }
  // One pass for both, since these rows take most of the time.
  if (rows.from < rows.to) {
    const cellsOf = engine === 'sqlite' ? cellsOnSqlite : cellsOnPostgres
    for (const cell of await cellsOf(sql, servers, rows, step)) {
      addJail(cell)
      add(countries, cell.country, cell.n)
    }
  }
  return { jails, countries }
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
  const condition = all([...on(servers), raw`banned_at >= ${from}`])
  // Without sorting: PostgreSQL hashes groups, but would sort for count(distinct). SQLite's union leaves out what it has seen,
  // in three quarters of the time that counting over the view of both halves takes.
  const addresses =
    engine === 'postgres'
      ? raw`select ip from bans where ${condition} group by ip`
      : raw`select ip from rolled_server_bans where ${condition}
          union select ip from bans not indexed where id > (select ban_id from rolled_up) and ${condition}`
  return one(sql, raw`select count(*) as n from (${addresses}) as seen`)
}

export const jailNames = async (sql: Sql, ids: Iterable<number>): Promise<ReadonlyMap<number, string>> => {
  const idList = [...ids]
  if (idList.length === 0) return new Map()
  const rows = await sql.selectFrom('jails').selectAll().where('id', 'in', idList).execute()
  return new Map(rows.map(row => [row.id, row.name]))
}
export const countryCodes = async (sql: Sql): Promise<ReadonlyMap<number, string>> => {
  const rows = await sql.selectFrom('countries').selectAll().execute()
  return new Map(rows.map(row => [row.id, row.code]))
}
