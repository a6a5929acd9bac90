import { lastOf } from '@stockade/contract/spans.ts'
import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import type { ServerScope } from '../../core/actor.ts'
import { ipText } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Engine } from '../../db/database.ts'
import type { Change } from '../../events/events.ts'
import type { Schema } from '../../db/schema.ts'
import { dayOf, hourOf } from '../../core/clock.ts'

type Sql = Kysely<Schema>

export interface BanFilter {
  readonly servers: ServerScope
  readonly serverNo?: number
  readonly jailId?: number
  readonly countryId?: number
  readonly ip?: IpRange
  readonly active?: boolean
  readonly from?: number
  readonly to?: number
  /** Also counts what retention has removed, as far as hourly and daily sums tell. */
  readonly withRetired?: boolean
}
export interface BanRow {
  readonly id: number
  readonly server_no: number
  readonly server_id: string
  readonly hostname: string
  readonly jail: string
  readonly country: string | null
  readonly ip: Uint8Array
  readonly prefix: number | null
  readonly banned_at: number
  readonly ban_duration: number | null
  readonly unbanned_at: number | null
  readonly asn: number | null
  readonly asn_org: string | null
  readonly city: string | null
  readonly latitude: number | null
  readonly longitude: number | null
  readonly log_lines: string
  readonly banned_by: string | null
  readonly origin: 'adopted' | null
  readonly dropped_packets: number | null
  readonly dropped_at: number | null
  readonly event_id: Uint8Array
  readonly reported: number
  readonly reputation_score: number | null
}

const all = (parts: readonly RawBuilder<unknown>[]) => (parts.length > 0 ? raw.join(parts, raw` and `) : raw`1 = 1`)
export const onServers = (servers: ServerScope, column: RawBuilder<unknown> = raw`server_no`) =>
  servers === 'all' ? [] : servers.size > 0 ? [raw`${column} in (${raw.join([...servers])})`] : [raw`1 = 0`]

/** Conditions that `bans` and `active_bans` share, since they name their columns alike. */
export const conditions = (filter: BanFilter, time = true) => [
  ...onServers(filter.serverNo === undefined ? filter.servers : 'all'),
  ...(filter.serverNo === undefined ? [] : [raw`server_no = ${filter.serverNo}`]),
  ...(filter.jailId === undefined ? [] : [raw`jail_id = ${filter.jailId}`]),
  ...(filter.countryId === undefined ? [] : [raw`country_id = ${filter.countryId}`]),
  ...(filter.ip === undefined ? [] : within(filter.ip)),
  ...(time && filter.from !== undefined ? [raw`banned_at >= ${filter.from}`] : []),
  ...(time && filter.to !== undefined ? [raw`banned_at < ${filter.to}`] : []),
]
/** An address by its bytes; a range by its first and last, of the same family. */
export const within = (ip: IpRange) =>
  ip.prefix === null
    ? [raw`ip = ${ip.bytes}`]
    : [raw`ip >= ${ip.bytes}`, raw`ip <= ${lastOf(ip)}`, raw`length(ip) = ${ip.bytes.length}`]

const select = raw`select bans.id, bans.server_no, servers.id as server_id, servers.hostname, jails.name as jail,
  countries.code as country, bans.ip, bans.prefix, bans.banned_at, bans.ban_duration, bans.unbanned_at, bans.asn,
  networks.org as asn_org, bans.city, bans.latitude, bans.longitude, bans.log_lines, bans.banned_by, bans.origin, bans.event_id,
  bans.dropped_packets, bans.dropped_at,
  bans.reported, bans.reputation_score
  from bans join servers on servers.no = bans.server_no join jails on jails.id = bans.jail_id
  left join countries on countries.id = bans.country_id left join networks on networks.asn = bans.asn`

/**
 * The bans that match, each as `id` and `banned_at`. SQLite keeps lists of a server's, a country's and a jail's bans instead of
 * indexes; a server's tells all but ranges of addresses.
 */
const matching = (engine: Engine, filter: BanFilter): RawBuilder<unknown> => {
  const { jailId, ...anyJail } = filter
  const { servers, serverNo, countryId, ip } = filter
  const from = (table: 'bans' | 'server_bans' | 'jail_bans' | 'country_bans', found: BanFilter) =>
    raw`select id, banned_at from ${raw.table(table)} where ${all(conditions(found))}`
  if (engine === 'postgres' || ip !== undefined) return from('bans', filter)
  if (serverNo !== undefined || servers !== 'all') return from('server_bans', filter)
  if (countryId === undefined) return from(jailId === undefined ? 'bans' : 'jail_bans', filter)
  const inCountry = from('country_bans', anyJail)
  return jailId === undefined
    ? inCountry
    : raw`${inCountry} and exists (select 1 from bans where bans.id = country_bans.id and bans.jail_id = ${jailId})`
}
/** An address has few bans, and an index that `active_bans` lacks. */
const isOfAddress = ({ ip }: BanFilter): boolean => ip?.prefix === null
/** Those of them that are in force, or are not. */
const matchingNow = (engine: Engine, filter: BanFilter, inForce: boolean, now: number) =>
  raw`select id, banned_at from (${matching(engine, filter)}) as found where ${inForce ? raw`exists` : raw`not exists`} (
    select 1 from active_bans a where a.banned_at = found.banned_at and a.ban_id = found.id
      and (a.expires_at is null or a.expires_at > ${now}))`
/**
 * PostgreSQL plans for a tenth of all rows where it does not know the limit, so that of a first page is written out. Only the usual ones: each is another
 * statement (`db/preparing.ts`). SQLite merges the two halves of a view in the order of time only where there is an offset; without one it sorts all
 * of their rows.
 */
const slice = (offset: number, limit: number) =>
  offset === 0 && limit <= 100 && limit % 25 === 0
    ? raw`limit ${raw.lit(limit)} offset 0`
    : raw`limit ${limit} offset ${offset}`
/** The ids of one page, newest first, by the index that fits the filter. */
export const idsOfPage = (
  engine: Engine,
  filter: BanFilter,
  now: number,
  offset: number,
  limit: number,
): RawBuilder<{ id: number }> => {
  const part = slice(offset, limit)
  // SQLite merges the two parts of a view in this order only when both columns are selected.
  const paged = raw`order by banned_at desc, id desc ${part}`
  return filter.active === undefined
    ? raw`${matching(engine, filter)} ${paged}`
    : filter.active && !isOfAddress(filter)
      ? raw`select ban_id as id from active_bans where ${all([...conditions(filter), raw`(expires_at is null or expires_at > ${now})`])}
          order by banned_at desc, ban_id desc ${part}`
      : raw`${matchingNow(engine, filter, filter.active, now)} ${paged}`
}
/** One page, newest first. */
export const pageOfBans = async (
  sql: Sql,
  engine: Engine,
  filter: BanFilter,
  now: number,
  offset: number,
  limit: number,
): Promise<BanRow[]> => {
  const ids = idsOfPage(engine, filter, now, offset, limit)
  const { rows } = await raw<BanRow>`${select} where bans.id in (select id from (${ids}) as page)
    order by bans.banned_at desc, bans.id desc`.execute(sql)
  return rows
}
export const bansById = async (sql: Sql, ids: readonly number[]): Promise<BanRow[]> =>
  ids.length === 0 ? [] : (await raw<BanRow>`${select} where bans.id in (${raw.join([...ids])})`.execute(sql)).rows

/** How often each of these addresses was banned on those servers, by `keyOfIp`. */
export const occurrencesOf = async (
  sql: Sql,
  engine: Engine,
  servers: ServerScope,
  ips: readonly Uint8Array[],
): Promise<ReadonlyMap<string, number>> => {
  const distinctIps = [...new Map(ips.map(ip => [keyOfIp(ip), ip])).values()]
  if (distinctIps.length === 0) return new Map()
  const isWanted = engine === 'sqlite' ? raw`ip in (${raw.join(distinctIps)})` : raw`ip = any(${distinctIps}::bytea[])`
  // The plus keeps the server's index away: of the address there are fewer.
  const { rows } = await raw<{ ip: Uint8Array; n: number }>`select ip, count(*) as n from bans
    where ${all([isWanted, ...onServers(servers, raw`+server_no`)])} group by ip`.execute(sql)
  return new Map(rows.map(row => [keyOfIp(row.ip), Number(row.n)]))
}
export const keyOfIp = (ip: Uint8Array): string =>
  Buffer.from(ip.buffer, ip.byteOffset, ip.byteLength).toString('latin1')

const numberOf = async (sql: Sql, query: RawBuilder<{ n: number | null }>): Promise<number> =>
  Number((await query.execute(sql)).rows[0]?.n ?? 0)

/** Whether the filter names nothing but servers, by which active bans are summed. */
const isOfServers = ({ jailId, countryId, ip, from, to }: BanFilter) =>
  [jailId, countryId, ip, from, to].every(part => part === undefined)
/** All that match less the few whose time is up and that are not swept yet: an OR over `expires_at` would read every row. */
const countActive = (sql: Sql, filter: BanFilter, now: number) => {
  const every = isOfServers(filter) ? raw`sum(n) from active_totals` : raw`count(*) from active_bans`
  return numberOf(
    sql,
    raw`select (select ${every} where ${all(conditions(filter))})
      - (select count(*) from active_bans where ${all([...conditions(filter), raw`expires_at <= ${now}`])}) as n`,
  )
}
const countRaw = (sql: Sql, engine: Engine, filter: BanFilter) =>
  numberOf(sql, raw`select count(*) as n from (${matching(engine, filter)}) as found`)

/** The exact number of bans that match; never a scan of the table where a counter knows. */
export const countBans = async (sql: Sql, engine: Engine, filter: BanFilter, now: number): Promise<number> => {
  if (filter.active === true)
    return isOfAddress(filter)
      ? numberOf(sql, raw`select count(*) as n from (${matchingNow(engine, filter, true, now)}) as active`)
      : countActive(sql, filter, now)
  if (filter.active === undefined) return countAll(sql, engine, filter)
  const [total, active] = await Promise.all([
    countAll(sql, engine, filter),
    countBans(sql, engine, { ...filter, active: true }, now),
  ])
  return total - active
}

/** The counts by jail and country; by server too where one needs them. */
export const countsOf = ({ servers, serverNo }: BanFilter) =>
  raw.table(servers === 'all' && serverNo === undefined ? 'ban_fleet' : 'ban_cube')
const countAll = (sql: Sql, engine: Engine, filter: BanFilter): Promise<number> => {
  if (filter.ip !== undefined) return countRaw(sql, engine, filter)
  if (filter.from === undefined && filter.to === undefined)
    return numberOf(sql, raw`select sum(n) as n from ${countsOf(filter)} where ${all(conditions(filter, false))}`)
  return filter.withRetired ? countWindow(sql, engine, filter) : countKept(sql, engine, filter)
}

/** In `meta`: all bans from this moment on are there; of older ones only those that are still active, or came late. */
export const keptFromKey = 'bans.kept_from'
const keptFrom = async (sql: Sql): Promise<number> => {
  const row = await sql.selectFrom('meta').select('value').where('key', '=', keptFromKey).executeTakeFirst()
  return Number(row?.value ?? 0)
}
/** Before what is kept whole only the few rows that are left count; the sums remember more. */
const countKept = async (sql: Sql, engine: Engine, filter: BanFilter): Promise<number> => {
  const once = async (kept: number) => {
    if (filter.from !== undefined && filter.from >= kept) return countWindow(sql, engine, filter)
    if (filter.to !== undefined && filter.to <= kept) return countRaw(sql, engine, filter)
    const left = kept === 0 ? 0 : await countRaw(sql, engine, { ...filter, to: kept })
    return left + (await countWindow(sql, engine, kept === 0 ? filter : { ...filter, from: kept }))
  }
  for (let attempt = 1; ; attempt++) {
    const keptSince = await keptFrom(sql)
    const total = await once(keptSince)
    // Retention may have gone on between two of the looks.
    if (attempt === 5 || (await keptFrom(sql)) === keptSince) return total
  }
}

/** Whole buckets from the roll-ups, the edges of the window from the rows. */
// oxlint-disable-next-line complexity -- each open end of the window has a case
const countWindow = async (sql: Sql, engine: Engine, filter: BanFilter): Promise<number> => {
  const { jailId, countryId } = filter
  if (jailId !== undefined && countryId !== undefined) return countRaw(sql, engine, filter)
  const isOne = filter.serverNo !== undefined || (filter.servers !== 'all' && filter.servers.size === 1)
  const hasHours = isOne && jailId === undefined && countryId === undefined
  const onlyDays = !hasHours && (filter.serverNo !== undefined || filter.servers !== 'all')
  const floor = onlyDays ? dayOf : hourOf
  const table = hasHours
    ? raw`ban_hours_server`
    : onlyDays
      ? countryId === undefined
        ? raw`ban_days_jail`
        : raw`ban_days_country`
      : countryId !== undefined
        ? raw`ban_hours_country`
        : jailId === undefined
          ? raw`ban_fleet_hours`
          : raw`ban_hours_jail`
  const length = onlyDays ? 86_400_000 : 3_600_000
  const start = filter.from === undefined ? undefined : floor(filter.from + length - 1)
  const end = filter.to === undefined ? undefined : floor(filter.to)
  if (start !== undefined && end !== undefined && start >= end) return countRaw(sql, engine, filter)
  const [before, buckets, after] = await Promise.all([
    filter.from === undefined || start === undefined ? 0 : countRaw(sql, engine, { ...filter, to: start }),
    numberOf(
      sql,
      raw`select sum(n) as n from ${table} where ${all([
        ...conditions(filter, false),
        ...(start === undefined ? [] : [raw`bucket >= ${start}`]),
        ...(end === undefined ? [] : [raw`bucket < ${end}`]),
      ])}`,
    ),
    filter.to === undefined || end === undefined ? 0 : countRaw(sql, engine, { ...filter, from: end }),
  ])
  return before + buckets + after
}

export const jailIdOf = async (sql: Sql, name: string): Promise<number | null> =>
  (await sql.selectFrom('jails').select('id').where('name', '=', name).executeTakeFirst())?.id ?? null
/** ZZ stands for an unknown country, as in statistics. */
export const countryIdOf = async (sql: Sql, code: string): Promise<number | null> =>
  code === 'ZZ'
    ? 0
    : ((await sql.selectFrom('countries').select('id').where('code', '=', code).executeTakeFirst())?.id ?? null)

export interface EndedBan {
  readonly ban_id: number
  readonly server_no: number
}
type Which = { serverNo: number; ip: IpRange; jail: string | null } | { expiredBy: number; most: number }

const activeRows = (sql: Sql, which: Which) => {
  const columns = [
    'active_bans.ban_id',
    'active_bans.banned_at',
    'active_bans.server_no',
    'active_bans.expires_at',
  ] as const
  if ('expiredBy' in which)
    return sql
      .selectFrom('active_bans')
      .select(columns)
      .where('expires_at', '<=', which.expiredBy)
      .orderBy('expires_at')
      .limit(which.most)
      .execute()
  const { bytes, prefix } = which.ip
  const { jail } = which
  return sql
    .selectFrom('bans')
    .innerJoin('active_bans', join =>
      join.onRef('active_bans.banned_at', '=', 'bans.banned_at').onRef('active_bans.ban_id', '=', 'bans.id'),
    )
    .select(columns)
    .where('bans.ip', '=', bytes)
    .where('bans.server_no', '=', which.serverNo)
    .where('bans.prefix', prefix === null ? 'is' : '=', prefix)
    .$if(jail !== null, query =>
      query.where('bans.jail_id', '=', eb => eb.selectFrom('jails').select('jails.id').where('jails.name', '=', jail)),
    )
    .execute()
}
/** Ends active bans inside a change: of an address on a server (in one jail, or all), or whose time is up. */
export const endActive = async (change: Change, which: Which, at: number): Promise<EndedBan[]> => {
  const rows = await activeRows(change.sql, which)
  await endRows(change, rows, row => ('expiredBy' in which ? (row.expires_at ?? at) : at))
  return rows
}
/** Ends these active bans inside a change, each at a time. Answers how many had not ended before. */
export const endRows = async <Row extends EndedBan & { readonly banned_at: number }>(
  change: Change,
  rows: readonly Row[],
  endOf: (row: Row) => number,
): Promise<number> => {
  let count = 0
  for (const row of rows) {
    await change.sql
      .deleteFrom('active_bans')
      .where('banned_at', '=', row.banned_at)
      .where('ban_id', '=', row.ban_id)
      .execute()
    const ended = endOf(row)
    const done = await change.sql
      .updateTable('bans')
      .set(eb => ({ unbanned_at: eb.case().when('banned_at', '>', ended).then(eb.ref('banned_at')).else(ended).end() }))
      .where('id', '=', row.ban_id)
      .where('unbanned_at', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (!done) continue
    count += 1
    await change.record({ name: 'ban.end', serverNo: row.server_no, banId: row.ban_id })
  }
  return count
}

export const placeOf = (jailId: number, ip: Uint8Array, prefix: number | null): string =>
  `${jailId} ${ipText(ip, prefix)}`
/** The address of a place, in canonical text. */
export const addressOf = (place: string): string => place.slice(place.indexOf(' ') + 1)
/** Numbers of jails by their names. */
export const jailIds = async (sql: Sql, names: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  if (names.length === 0) return new Map()
  const rows = await sql
    .selectFrom('jails')
    .select(['id', 'name'])
    .where('name', 'in', [...names])
    .execute()
  return new Map(rows.map(({ id, name }) => [name, id]))
}
const activePage = 2000
/**
 * The active bans of a server or of all, some thousand at a time. There is no index by server, which each report would pay for: the pages are
 * one scan in all, beside the event loop.
 */
export async function* activePages(sql: Sql, serverNo: number | 'all') {
  let place: { readonly banned_at: number; readonly ban_id: number } | undefined
  do {
    const after = place
    const rows = await sql
      .selectFrom('active_bans')
      .select(['ban_id', 'server_no', 'banned_at', 'jail_id', 'ip', 'prefix'])
      .$if(serverNo !== 'all', query => query.where('server_no', '=', Number(serverNo)))
      .$if(after !== undefined, query =>
        query.where(raw<boolean>`(banned_at, ban_id) > (${after?.banned_at}, ${after?.ban_id})`),
      )
      .orderBy('banned_at')
      .orderBy('ban_id')
      .limit(activePage)
      .execute()
    yield rows
    place = rows.length === activePage ? rows.at(-1) : undefined
  } while (place !== undefined)
}
/** PostgreSQL: removes changes of bans that no reader waits for (migration 0075), by the clock that noted them. */
export const removeOldBanChanges = async (sql: Sql): Promise<void> => {
  await raw`delete from ban_changes where at < now() - interval '1 hour'`.execute(sql)
}
