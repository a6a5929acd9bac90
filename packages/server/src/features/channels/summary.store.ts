import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import { day, hour, hourOf } from '../../core/clock.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export interface Window {
  /** Epoch milliseconds; `to` is not part of it. */
  readonly from: number
  readonly to: number
}

const kinds = {
  server: { column: raw`server_no`, table: raw`ban_hours_server` },
  jail: { column: raw`jail_id`, table: raw`ban_hours_jail` },
  country: { column: raw`country_id`, table: raw`ban_hours_country` },
} as const

/** Bans of a window by server, jail or country: whole hours from the sums, the edges (of odd time zones) from rows. */
export const countIn = async (
  sql: Sql,
  kind: keyof typeof kinds,
  { from, to }: Window,
): Promise<ReadonlyMap<number, number>> => {
  const { column, table } = kinds[kind]
  const [first, last] = [hourOf(from + hour - 1), hourOf(to)]
  const { rows } = await raw<{ id: number; n: number }>`select id, sum(n) as n from (
      select ${column} as id, sum(n) as n from ${table} where bucket >= ${first} and bucket < ${last} group by ${column}
      union all select ${column}, count(*) from bans where banned_at >= ${from} and banned_at < ${first} group by ${column}
      union all select ${column}, count(*) from bans where banned_at >= ${last} and banned_at < ${to} group by ${column}
    ) as counted group by id`.execute(sql)
  return new Map(rows.map(({ id, n }) => [Number(id), Number(n)]))
}

export interface CountedAddress {
  readonly ip: Uint8Array
  readonly prefix: number | null
  readonly n: number
  /** How many addresses there are in all. */
  readonly addresses: number
}
export const topAddresses = async (sql: Sql, { from, to }: Window, most: number): Promise<CountedAddress[]> => {
  const { rows } = await raw<CountedAddress>`select ip, prefix, n, count(*) over () as addresses from (
      select ip, prefix, count(*) as n from bans where banned_at >= ${from} and banned_at < ${to} group by ip, prefix
    ) as counted order by n desc, ip limit ${most}`.execute(sql)
  return rows.map(row => ({ ...row, n: Number(row.n), addresses: Number(row.addresses) }))
}

/** Commands that ended badly in the window; the newest few. A command ends within days of its creation, which has the index. */
export const failedCommands = async (sql: Sql, { from, to }: Window, most: number) => {
  const matching = sql
    .selectFrom('commands')
    .where('status', 'in', ['failed', 'timeout'])
    .where('cancelled', '=', 0)
    .where('created_at', '>=', from - 7 * day)
    .where('completed_at', '>=', from)
    .where('completed_at', '<', to)
  const { n } = await matching.select(eb => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const rows = await matching
    .select(['server_no', 'type', 'status', 'completed_at'])
    .orderBy('completed_at', 'desc')
    .limit(most)
    .execute()
  return { total: Number(n), rows }
}

export const whitelistChanges = async (sql: Sql, { from, to }: Window): Promise<{ added: number; removed: number }> => {
  const rows = await sql
    .selectFrom('audit')
    .select(eb => ['name', eb.fn.countAll<number>().as('n')])
    .where('name', 'in', ['whitelist.add', 'whitelist.remove'])
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy('name')
    .execute()
  const of = (name: string) => Number(rows.find(row => row.name === name)?.n ?? 0)
  return { added: of('whitelist.add'), removed: of('whitelist.remove') }
}

export const summaryOfDate = (sql: Sql, date: string) =>
  sql.selectFrom('daily_summaries').select(['date', 'skipped']).where('date', '=', date).executeTakeFirst()
/** True for the one who wrote it first. */
export const claimSummary = async (sql: Sql, date: string, at: number, skipped: 0 | 1): Promise<boolean> => {
  const row = await sql
    .insertInto('daily_summaries')
    .values({ date, skipped, at })
    .onConflict(on => on.column('date').doNothing())
    .returning('date')
    .executeTakeFirst()
  return row !== undefined
}
export const unskipSummary = async (sql: Sql, date: string): Promise<void> => {
  await sql.deleteFrom('daily_summaries').where('date', '=', date).where('skipped', '=', 1).execute()
}
export const forgetSummaries = async (sql: Sql, before: number): Promise<void> => {
  await sql.deleteFrom('daily_summaries').where('at', '<', before).execute()
}
