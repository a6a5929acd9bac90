import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import type { attackers as contract } from '@stockade/contract'
import { hour } from '../../core/clock.ts'
import type { Schema } from '../../db/schema.ts'
import { hourIndex, mostReasons, shownHours } from './attacker-limits.ts'
import { keyOfIp, onServers } from './bans.store.ts'
import type { BanFilter } from './bans.store.ts'
import { endedEarly, matchingSearch, readBy } from './search.store.ts'
import type { BanSearch, SearchContext } from './search.store.ts'

type Sql = Kysely<Schema>

export interface AttackersAsked {
  readonly filter: BanSearch
  readonly sort: contract.AttackerSort
  readonly descending: boolean
  readonly offset: number
  readonly limit: number
}
/** One address of a page. Of the bans that match, unless said otherwise. */
export interface AttackerFacts {
  readonly ip: Uint8Array
  readonly bans: number
  readonly servers: number
  readonly first: number
  readonly last: number
  /** Ids of jails and the bans in each, most first. */
  readonly jails: readonly { readonly jailId: number; readonly n: number }[]
  /** Ids of the last bans, newest first. */
  readonly latest: readonly number[]
  /** Of all bans on the listed servers. */
  readonly now: StandingFacts
}
/** What holds for an address now on the listed servers, whichever filters there are. */
export interface StandingFacts {
  readonly activeBans: number
  readonly activeServers: number
  /** When the last ban in force ends; null where there is none, or one without a known end. */
  readonly expires: number | null
  readonly permanent: boolean
  /** Whether the newest ban was lifted before its time was up. */
  readonly lifted: boolean
  readonly hours: readonly number[]
}
export interface AttackerPage {
  readonly rows: readonly AttackerFacts[]
  readonly attackers: number
  readonly bans: number
  readonly activeAddresses: number
}
/** One way to group bans by address; all answer the same. */
export type GroupAttackers = (asked: AttackersAsked, context: SearchContext) => Promise<AttackerPage>

interface Grouped {
  readonly ip: Uint8Array
  readonly bans: number
  readonly first: number
  readonly last: number
}
/** The columns to sort by. To count the servers of every address takes longer than all the rest, so only the order by servers does. */
const orders: Readonly<Record<contract.AttackerSort, RawBuilder<unknown>>> = {
  last: raw`last`,
  first: raw`first`,
  bans: raw`bans`,
  servers: raw`servers`,
}
const and = (parts: readonly RawBuilder<unknown>[]) => raw.join([...parts], raw` and `)
/** The servers that a list is about. */
const listed = ({ servers, serverNo }: BanFilter) =>
  serverNo === undefined ? onServers(servers) : [raw`server_no = ${serverNo}`]
const inForce = (now: number) => raw`(expires_at is null or expires_at > ${now})`
const among = (ips: readonly Uint8Array[]) => raw`ip in (${raw.join([...ips])})`

type Totals = Omit<AttackerPage, 'rows'>

/** The page and the totals by one reading of the bans. A page behind the last one has no rows, and so no totals. */
const groupsOf = async (
  sql: Sql,
  { filter, sort, descending, offset, limit }: AttackersAsked,
  context: SearchContext,
): Promise<{ groups: readonly Grouped[]; totals: Totals | null }> => {
  // Joined, since PostgreSQL may plan `in (select …)` in this place as a loop over both.
  const active = raw`select distinct ip from active_bans where ${and([...listed(filter), inForce(context.now)])}`
  const servers = sort === 'servers' ? raw`, count(distinct server_no) as servers` : raw``
  const { rows } = await raw<Grouped & { attackers: number; total: number; active: number }>`
    select grouped.ip, bans, first, last, count(*) over () as attackers, sum(bans) over () as total,
      count(active.ip) over () as active
    from (select ip, count(*) as bans, min(banned_at) as first, max(banned_at) as last ${servers}
      from bans ${readBy(context, filter)} where ${matchingSearch(filter, context)} group by ip) as grouped
    left join (${active}) as active on active.ip = grouped.ip
    order by ${orders[sort]} ${descending ? raw`desc` : raw`asc`}, grouped.ip limit ${limit} offset ${offset}`.execute(
    sql,
  )
  const [row] = rows
  return {
    groups: rows.map(({ ip, bans, first, last }) => ({
      ip,
      bans: Number(bans),
      first: Number(first),
      last: Number(last),
    })),
    totals: row
      ? { attackers: Number(row.attackers), bans: Number(row.total), activeAddresses: Number(row.active) }
      : null,
  }
}

const byAddress = <R extends { readonly ip: Uint8Array }>(rows: readonly R[]): ReadonlyMap<string, readonly R[]> => {
  const rowsByAddress = new Map<string, R[]>()
  for (const row of rows) {
    const key = keyOfIp(row.ip)
    const knownRows = rowsByAddress.get(key)
    if (knownRows) knownRows.push(row)
    else rowsByAddress.set(key, [row])
  }
  return rowsByAddress
}
const serversOf = async (sql: Sql, filter: BanSearch, context: SearchContext, ips: readonly Uint8Array[]) => {
  const { rows } = await raw<{ ip: Uint8Array; n: number }>`select ip, count(distinct server_no) as n
    from bans where ${among(ips)} and ${matchingSearch(filter, context)} group by ip`.execute(sql)
  return byAddress(rows)
}
const jailsOf = async (sql: Sql, filter: BanSearch, context: SearchContext, ips: readonly Uint8Array[]) => {
  const { rows } = await raw<{ ip: Uint8Array; jail_id: number; n: number }>`select ip, jail_id, count(*) as n
    from bans where ${among(ips)} and ${matchingSearch(filter, context)}
    group by ip, jail_id order by n desc, jail_id`.execute(sql)
  return byAddress(rows)
}
const latestOf = async (sql: Sql, filter: BanSearch, context: SearchContext, ips: readonly Uint8Array[]) => {
  const { rows } = await raw<{ ip: Uint8Array; id: number }>`select ip, id from (select ip, id, banned_at,
      row_number() over (partition by ip order by banned_at desc, id desc) as nth
      from bans where ${among(ips)} and ${matchingSearch(filter, context)}) as numbered
    where nth <= ${mostReasons} order by banned_at desc, id desc`.execute(sql)
  return byAddress(rows)
}

interface ActiveRow {
  readonly ip: Uint8Array
  readonly server_no: number
  readonly expires_at: number | null
  readonly permanent: number
}
/** What holds now for each of these addresses, in their order. */
const standingOf = async (
  sql: Sql,
  filter: BanFilter,
  now: number,
  ips: readonly Uint8Array[],
): Promise<StandingFacts[]> => {
  if (ips.length === 0) return []
  // By the addresses' index: what is active is clustered by time.
  const { rows: active } = await raw<ActiveRow>`select bans.ip, bans.server_no, active_bans.expires_at,
      case when bans.ban_duration = -1 then 1 else 0 end as permanent
    from bans join active_bans on active_bans.banned_at = bans.banned_at and active_bans.ban_id = bans.id
    where bans.ip in (${raw.join([...ips])}) and ${and([...onServers(filter.serverNo === undefined ? filter.servers : new Set([filter.serverNo]), raw`bans.server_no`), raw`(active_bans.expires_at is null or active_bans.expires_at > ${now})`])}`.execute(
    sql,
  )
  const scope = listed(filter)
  const { rows: recent } = await raw<{ ip: Uint8Array; at: number }>`select ip, banned_at as at from bans
    where ${and([among(ips), raw`banned_at >= ${now - shownHours * hour}`, ...scope])}`.execute(sql)
  const { rows: newest } = await raw<{ ip: Uint8Array; lifted: number }>`select ip, lifted from (select ip,
      case when ${endedEarly} then 1 else 0 end as lifted,
      row_number() over (partition by ip order by banned_at desc, id desc) as nth
      from bans where ${and([among(ips), ...scope])}) as numbered where nth = 1`.execute(sql)
  const activeByIp = byAddress(active)
  const recentByIp = byAddress(recent)
  const newestByIp = byAddress(newest)
  return ips.map(ip => {
    const key = keyOfIp(ip)
    const inForceNow = activeByIp.get(key) ?? []
    const hours = Array.from({ length: shownHours }, () => 0)
    for (const { at } of recentByIp.get(key) ?? []) {
      const index = hourIndex(Number(at), now)
      if (index >= 0) hours[index] = (hours[index] ?? 0) + 1
    }
    const isEndless = inForceNow.some(({ expires_at }) => expires_at === null)
    return {
      activeBans: inForceNow.length,
      activeServers: new Set(inForceNow.map(({ server_no }) => server_no)).size,
      expires:
        inForceNow.length === 0 || isEndless
          ? null
          : inForceNow.reduce((latest, { expires_at }) => Math.max(latest, Number(expires_at)), 0),
      permanent: inForceNow.some(({ permanent }) => Number(permanent) === 1),
      lifted: Number(newestByIp.get(key)?.[0]?.lifted ?? 0) === 1,
      hours,
    }
  })
}
const noAttackers: Totals = { attackers: 0, bans: 0, activeAddresses: 0 }

/** Groups by SQL, beside the event loop: exact for every filter, and as slow as the bans that match are many. */
export const groupBySql =
  (scan: Sql): GroupAttackers =>
  async (asked, context) => {
    const { filter } = asked
    const { groups, totals } = await groupsOf(scan, asked, context)
    if (totals === null) {
      const first = asked.offset === 0 ? null : await groupsOf(scan, { ...asked, offset: 0, limit: 1 }, context)
      return { rows: [], ...(first?.totals ?? noAttackers) }
    }
    const ips = groups.map(({ ip }) => ip)
    const servers = await serversOf(scan, filter, context, ips)
    const jails = await jailsOf(scan, filter, context, ips)
    const latest = await latestOf(scan, filter, context, ips)
    const standing = await standingOf(scan, filter, context.now, ips)
    const rows = groups.flatMap((group, index) => {
      const key = keyOfIp(group.ip)
      const now = standing[index]
      return now
        ? [
            {
              ...group,
              servers: Number(servers.get(key)?.[0]?.n ?? 0),
              jails: (jails.get(key) ?? []).map(({ jail_id, n }) => ({ jailId: jail_id, n: Number(n) })),
              latest: (latest.get(key) ?? []).map(({ id }) => Number(id)),
              now,
            },
          ]
        : []
    })
    return { rows, ...totals }
  }
