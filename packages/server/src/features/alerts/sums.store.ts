import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import { day, hour } from '../../core/clock.ts'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>

export interface BanSelection {
  readonly jailId: number | null
  readonly countryId: number | null
  /** Null for all servers. */
  readonly servers: readonly number[] | null
}
/** Numbers of bans by the begin of each hour or UTC day. */
export interface BanSeries {
  readonly step: number
  readonly counts: ReadonlyMap<number, number>
}

/** Which sums answer a selection. Of a jail or country on some servers there are sums of days only. */
const sourceOf = ({ jailId, countryId, servers }: BanSelection) => {
  if (jailId !== null)
    return servers === null
      ? { table: 'ban_hours_jail', step: hour, column: 'jail_id', value: jailId }
      : { table: 'ban_days_jail', step: day, column: 'jail_id', value: jailId }
  if (countryId !== null)
    return servers === null
      ? { table: 'ban_hours_country', step: hour, column: 'country_id', value: countryId }
      : { table: 'ban_days_country', step: day, column: 'country_id', value: countryId }
  return { table: servers === null ? 'ban_hours_jail' : 'ban_hours_server', step: hour, column: null, value: 0 }
}

/** From the sums that reports keep anyway; no row of a ban is read. Runs beside the event loop when `sql` is `db.scan`. */
export const banSeries = async (sql: Sql, selection: BanSelection, from: number): Promise<BanSeries> => {
  const { table, step, column, value } = sourceOf(selection)
  const { servers } = selection
  const conditions = [
    raw`bucket >= ${Math.floor(from / step) * step}`,
    ...(column === null ? [] : [raw`${raw.ref(column)} = ${value}`]),
    ...(servers === null ? [] : [servers.length > 0 ? raw`server_no in (${raw.join([...servers])})` : raw`1 = 0`]),
  ]
  const { rows } = await raw<{ bucket: number; n: number }>`select bucket, sum(n) as n from ${raw.table(table)}
    where ${raw.join(conditions, raw` and `)} group by bucket`.execute(sql)
  return { step, counts: new Map(rows.map(({ bucket, n }) => [Number(bucket), Number(n)])) }
}

/** A network has no sums of its own: its bans are counted by the index over time. Runs beside the event loop, as above. */
export const networkSeries = async (
  sql: Sql,
  { asn, servers }: { readonly asn: number; readonly servers: readonly number[] | null },
  from: number,
): Promise<BanSeries> => {
  const some =
    servers === null ? raw`1 = 1` : servers.length > 0 ? raw`server_no in (${raw.join([...servers])})` : raw`1 = 0`
  const { rows } = await raw<{
    hours: number
    n: number
  }>`select banned_at / ${raw.lit(hour)} as hours, count(*) as n from bans
    where banned_at >= ${Math.floor(from / hour) * hour} and asn = ${asn} and ${some} group by 1`.execute(sql)
  return { step: hour, counts: new Map(rows.map(({ hours, n }) => [Number(hours) * hour, Number(n)])) }
}

/** A ban of an engine, as far as a rule needs it. */
export interface BanRead {
  readonly id: number
  readonly server_no: number
  readonly jail: string
  readonly ip: Uint8Array
  readonly prefix: number | null
}
export const lastBanId = async (sql: Sql): Promise<number> =>
  Number(
    (
      await sql
        .selectFrom('bans')
        .select(eb => eb.fn.max('id').as('id'))
        .executeTakeFirst()
    )?.id ?? 0,
  )
/** Bans behind one id, up to another one; without those by operators and from before the enrolment. */
export const bansAfter = (sql: Sql, after: number, to: number): Promise<BanRead[]> =>
  sql
    .selectFrom('bans')
    .innerJoin('jails', 'jails.id', 'bans.jail_id')
    .select(['bans.id', 'bans.server_no', 'jails.name as jail', 'bans.ip', 'bans.prefix'])
    .where('bans.id', '>', after)
    .where('bans.id', '<=', to)
    .where('bans.banned_by', 'is', null)
    .where('bans.origin', 'is', null)
    .orderBy('bans.id')
    .execute()
export const wasBannedBefore = async (sql: Sql, ip: Uint8Array, id: number): Promise<boolean> =>
  (await sql.selectFrom('bans').select('id').where('ip', '=', ip).where('id', '<', id).limit(1).executeTakeFirst()) !==
  undefined

export const jailIdOf = async (sql: Sql, name: string): Promise<number | null> =>
  (await sql.selectFrom('jails').select('id').where('name', '=', name).executeTakeFirst())?.id ?? null
export const countryIdOf = async (sql: Sql, code: string): Promise<number | null> =>
  (await sql.selectFrom('countries').select('id').where('code', '=', code).executeTakeFirst())?.id ?? null
/** Jails that were first reported after another one, by its number, each with the server of its first ban. */
export const jailsAfter = async (
  sql: Sql,
  engine: Engine,
  id: number,
): Promise<readonly { readonly id: number; readonly name: string; readonly server_no: number | null }[]> => {
  // SQLite keeps the bans of a jail as a list of their own instead of an index.
  const bansOfJail = raw.table(engine === 'sqlite' ? 'jail_bans' : 'bans')
  const { rows } = await raw<{ id: number; name: string; server_no: number | null }>`select id, name,
      (select server_no from bans where bans.id = (select min(id) from ${bansOfJail} where jail_id = jails.id)) as server_no
    from jails where id > ${id} order by id limit 1000`.execute(sql)
  return rows
}
export const lastJailId = async (sql: Sql): Promise<number> =>
  Number(
    (
      await sql
        .selectFrom('jails')
        .select(eb => eb.fn.max('id').as('id'))
        .executeTakeFirst()
    )?.id ?? 0,
  )
