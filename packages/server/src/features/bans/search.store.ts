import { sql as raw } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import { matchesValue, spanOfQuery } from '@stockade/contract'
import type { QueryNode, QueryTerm, QueryValue, bans as contract } from '@stockade/contract'
import type { ServerScope } from '../../core/actor.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Engine } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import {
  allOf,
  always,
  anyOf,
  boundsOf,
  conditionOf,
  never,
  not,
  numberMatches,
  textMatches,
  timeMatches,
} from '../../db/search.ts'
import type { Before, Condition } from '../../db/search.ts'
import { conditions, countsOf } from './bans.store.ts'
import type { BanFilter } from './bans.store.ts'
import { conditionOfParts, partsOf } from './search-parts.store.ts'
import type { SearchNames } from './search-parts.store.ts'

/*
 * Searches of bans. What most of them ask for stands in the index by time (`bans_at`: server, jail, country, network, length,
 * address, city), so a search reads a twentieth of what the table holds; rare things (an early end, a report, a score, an
 * operator) have partial indexes and come as lists of ids. Only text of log lines reads the rows themselves.
 */

type Sql = Kysely<Schema>
export type BanSort = contract.BanSort
/** A filter with what only a search can answer. */
export interface BanSearch extends BanFilter {
  readonly asn?: number
  readonly tree?: QueryNode
}
export interface SearchContext extends SearchNames {
  readonly now: number
}

const expiry = raw`(banned_at + cast(ban_duration as bigint) * 1000)`
const endless = raw`(ban_duration is null or ban_duration < 0)`
const isOver = (now: number): Condition => raw`(not ${endless} and ${expiry} <= ${now})`
/**
 * Whether a ban is one of the few that an index of few knows. SQLite reads the list of them once; PostgreSQL would read it
 * for each ban when it is long and negated, and joins instead.
 */
const among = (engine: Engine, condition: Condition): Condition =>
  engine === 'sqlite'
    ? raw`id in (select id from bans where ${condition})`
    : raw`exists (select 1 from bans as few where few.id = bans.id and ${condition})`
/** Ended before its time was up. In the words of the partial index `bans_lifted`. */
export const endedEarly: Condition = raw`unbanned_at is not null
  and (ban_duration is null or ban_duration < 0 or unbanned_at < banned_at + cast(ban_duration as bigint) * 1000)`
const stateIs = (state: string, { engine, now }: SearchContext): Condition => {
  const lifted = among(engine, endedEarly)
  switch (state) {
    case 'active':
      return allOf([not(isOver(now)), not(lifted)])
    case 'expired':
      return allOf([isOver(now), not(lifted)])
    default:
      return lifted
  }
}
/** The caller's servers as literals: the condition can occur once for each term, and statements have few parameters. */
const seenBy = (servers: ServerScope): Condition =>
  servers === 'all'
    ? always
    : servers.size === 0
      ? never
      : raw`+server_no in (${raw.join([...servers].map(no => raw.lit(no)))})`
/** Addresses with so many bans or more. */
const atLeastTimes = (engine: Engine, n: number, servers: ServerScope): Condition => {
  if (n <= 1) return always
  const often = raw`select ip from bans where ${seenBy(servers)} group by ip having count(*) >= ${n}`
  return engine === 'sqlite'
    ? raw`ip in (${often})`
    : raw`exists (select 1 from (${often}) as often where often.ip = bans.ip)`
}
const timesAre = (engine: Engine, { text, compare }: QueryValue, servers: ServerScope): Condition => {
  const n = Number(text)
  const atLeast = (times: number) => atLeastTimes(engine, times, servers)
  switch (compare) {
    case '>=':
      return atLeast(n)
    case '>':
      return atLeast(n + 1)
    case '<':
      return not(atLeast(n))
    case '<=':
      return not(atLeast(n + 1))
    case '=':
      return allOf([atLeast(n), not(atLeast(n + 1))])
  }
}

/** The condition of one term on `bans`. */
const leaf =
  (context: SearchContext, servers: ServerScope) =>
  (term: QueryTerm): Condition => {
    const parts = partsOf(term, context)
    if (parts) return conditionOfParts(parts, context.engine)
    const { engine, now } = context
    const matches = textMatches(engine)
    const of = (one: (value: QueryValue) => Condition) => anyOf(term.values.map(one))
    switch (term.field) {
      case 'state':
        return of(({ text }) => stateIs(text.toLowerCase(), context))
      case 'reported':
        return of(({ text }) => (isYes(text) ? among(engine, reported) : not(among(engine, reported))))
      case 'permanent':
        return of(({ text }) => (isYes(text) ? permanent : not(permanent)))
      case 'score':
        return of(value => among(engine, numberMatches(raw`reputation_score`, value)))
      case 'by':
        return of(value => {
          const matchingAuthors = among(engine, matches(raw`banned_by`, value, true))
          return matchesValue(value, 'engine', true)
            ? anyOf([not(among(engine, byOperator)), matchingAuthors])
            : matchingAuthors
        })
      case 'times':
        return of(value => timesAre(engine, value, servers))
      case 'log':
        return of(value => matches(raw`log_lines`, value, false))
      default:
        return of(value =>
          timeMatches(raw`banned_at`, boundsOf(value, spanOfQuery(value.text, now) ?? { from: 0, to: 0 })),
        )
    }
  }
const isYes = (text: string) => text.toLowerCase() === 'yes'
const reported: Condition = raw`reported = 1`
const permanent: Condition = raw`(ban_duration is not null and ban_duration = -1)`
const byOperator: Condition = raw`banned_by is not null`
const asnIs = (asn: number): Condition => raw`(asn is not null and asn = ${asn})`

export const matchingSearch = (filter: BanSearch, context: SearchContext): Condition =>
  allOf([
    ...conditions(filter),
    ...(filter.active === undefined
      ? []
      : [filter.active ? stateIs('active', context) : not(stateIs('active', context))]),
    ...(filter.asn === undefined ? [] : [asnIs(filter.asn)]),
    ...(filter.tree ? [conditionOf(filter.tree, leaf(context, filter.servers))] : []),
  ])

/** So narrow that its rows are read one by one. */
const isNarrow = ({ prefix, bytes }: IpRange) => prefix === null || prefix >= (bytes.length === 4 ? 16 : 48)
/** SQLite would choose an index by how it looks, not by how much of the rows it spares. PostgreSQL measures. */
export const readBy = ({ engine }: SearchContext, { ip }: BanSearch) =>
  engine === 'sqlite' ? raw`indexed by ${raw.ref(ip && isNarrow(ip) ? 'bans_ip' : 'bans_at')}` : raw``

const numberOf = async (sql: Sql, query: RawBuilder<{ n: number | null }>): Promise<number> =>
  Number((await query.execute(sql)).rows[0]?.n ?? 0)

const dimensions = new Set<string | null>(['server', 'tag', 'jail', 'country'])
const asksOnly = (tree: QueryNode, fields: ReadonlySet<string | null>): boolean =>
  tree.kind === 'term'
    ? fields.has(tree.field)
    : tree.kind === 'not'
      ? asksOnly(tree.item, fields)
      : tree.items.every(item => asksOnly(item, fields))
const asksServers = (tree: QueryNode): boolean =>
  tree.kind === 'term'
    ? tree.field === 'server' || tree.field === 'tag'
    : tree.kind === 'not'
      ? asksServers(tree.item)
      : tree.items.some(asksServers)
/** Whether the counts by server, jail and country answer it. */
const isOfCube = ({ tree, ip, active, asn, from, to }: BanSearch) =>
  [ip, active, asn, from, to].every(part => part === undefined) && (!tree || asksOnly(tree, dimensions))

type Grouped = 'server_no' | 'jail_id' | 'country_id'
const countsFor = (filter: BanSearch, column?: Grouped) =>
  column === 'server_no' || (filter.tree && asksServers(filter.tree)) ? raw`ban_cube` : countsOf(filter)

/** The exact number that match. */
export const countSearch = (sql: Sql, filter: BanSearch, context: SearchContext): Promise<number> =>
  isOfCube(filter)
    ? numberOf(sql, raw`select sum(n) as n from ${countsFor(filter)} where ${matchingSearch(filter, context)}`)
    : numberOf(
        sql,
        raw`select count(*) as n from bans ${readBy(context, filter)} where ${matchingSearch(filter, context)}`,
      )

/** The values of a column that match, and how often. */
const countBy = async (sql: Sql, column: Grouped, filter: BanSearch, context: SearchContext) => {
  const key = raw.ref(column)
  const { rows } = await (
    isOfCube(filter)
      ? raw<{
          id: number
          n: number
        }>`select ${key} as id, sum(n) as n from ${countsFor(filter, column)} where ${matchingSearch(filter, context)} group by ${key}`
      : raw<{ id: number; n: number }>`select ${key} as id, count(*) as n from bans ${readBy(context, filter)}
        where ${matchingSearch(filter, context)} group by ${key}`
  ).execute(sql)
  return rows.map(row => ({ id: row.id, n: Number(row.n) })).filter(({ n }) => n > 0)
}
const namesOf = {
  server_no: raw<{ id: number; name: string }>`select no as id, hostname as name from servers`,
  jail_id: raw<{ id: number; name: string }>`select id, name from jails`,
  country_id: raw<{ id: number; name: string }>`select id, code as name from countries`,
}
const grouped = { server: 'server_no', jail: 'jail_id', country: 'country_id' } as const

/** A page in the order of names: which names it touches is known from their counts, so only their rows are put in order. */
const pageByName = async (
  sql: Sql,
  column: Grouped,
  descending: boolean,
  filter: BanSearch,
  context: SearchContext,
  offset: number,
  limit: number,
): Promise<number[]> => {
  const counts = await countBy(sql, column, filter, context)
  const names = new Map((await namesOf[column].execute(sql)).rows.map(({ id, name }) => [id, name.toLowerCase()]))
  const nameOf = (id: number) => names.get(id) ?? '\uffff'
  const order = counts.sort((a, b) =>
    nameOf(a.id) < nameOf(b.id) ? -1 : nameOf(a.id) > nameOf(b.id) ? 1 : a.id - b.id,
  )
  if (descending) order.reverse()
  let skipped = 0
  const touched: number[] = []
  let heldCount = 0
  for (const { id, n } of order) {
    if (touched.length === 0 && skipped + n <= offset) skipped += n
    else if (heldCount < offset - skipped + limit) {
      touched.push(id)
      heldCount += n
    }
  }
  if (touched.length === 0) return []
  const key = raw.ref(column)
  const rank = raw`case ${key} ${raw.join(
    touched.map((id, index) => raw`when ${id} then ${raw.lit(index)}`),
    raw` `,
  )} end`
  const { rows } = await raw<{ id: number }>`select id from bans ${readBy(context, filter)}
    where ${matchingSearch(filter, context)} and ${key} in (${raw.join(touched)})
    order by ${rank}, banned_at desc, id desc limit ${limit} offset ${offset - skipped}`.execute(sql)
  return rows.map(({ id }) => id)
}

/** Ids in the order of `sort`; ties are newest first. */
export const pageOfSearch = async (
  sql: Sql,
  filter: BanSearch,
  context: SearchContext,
  sort: BanSort,
  offset: number,
  limit: number,
  before?: Before,
): Promise<number[]> => {
  const descending = sort.startsWith('-')
  const by = sort.replace('-', '')
  if (by === 'server' || by === 'jail' || by === 'country')
    return pageByName(sql, grouped[by], descending, filter, context, offset, limit)
  const way = descending ? raw`desc` : raw`asc`
  const condition = matchingSearch(filter, context)
  const page = raw`limit ${limit} offset ${offset}`
  const read = async (query: RawBuilder<{ id: number }>) => (await query.execute(sql)).rows.map(({ id }) => id)
  const hint = readBy(context, filter)
  const whole = isOfCube(filter) && !filter.tree && conditions(filter).length === 0
  switch (by) {
    case 'banned_at':
      return read(raw`select id from bans ${hint} where ${condition}
        ${before ? raw`and (banned_at, id) < (${before.at}, ${before.id})` : raw``}
        order by banned_at ${way}, id ${way} ${page}`)
    case 'ip':
      // Whole, it is the order of an index; any filter reads less by the other one.
      return read(raw`select id from bans ${whole && context.engine === 'sqlite' ? raw`indexed by bans_ip` : hint}
        where ${condition} order by ip ${way}, banned_at desc, id desc ${page}`)
    case 'expires_at':
      return read(raw`select id from bans ${hint} where ${condition}
        order by case when ${endless} then 9000000000000000 else ${expiry} end ${way}, banned_at desc, id desc ${page}`)
    default: {
      return read(raw`select id from (select id, banned_at, count(*) over (partition by ip) as n
          from bans where ${seenBy(filter.servers)}) as counted
        ${whole ? raw`` : raw`where id in (select id from bans ${hint} where ${condition})`}
        order by n ${way}, banned_at desc, id desc ${page}`)
    }
  }
}
