import type { QueryOf, attackers, bans } from '@stockade/contract'
import { beginning } from '../../lib/ranges.ts'
import { matching, moment, pageOf, serverIdOf } from '../../lib/search-params.ts'

/*
 * What the URL says of the list, read in the first chunk of the dashboard: nothing of the grammar is loaded here.
 */

/** Relative ranges stay relative: `from=now-24h`. */
export interface BansSearch {
  /** Single bans; attackers where it is not given. */
  readonly by?: 'bans' | undefined
  /** The search, in the grammar of the lists. Wrong ones are kept: the page says what is wrong. */
  readonly q?: string | undefined
  /* Filters that other pages and documented links lead here with, each beside `q`. */
  readonly server?: string | undefined
  readonly jail?: string | undefined
  readonly ip?: string | undefined
  readonly country?: string | undefined
  readonly active?: 'true' | 'false' | undefined
  readonly asn?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly sort?: BanSort | AttackerSort | undefined
  readonly limit?: 100 | undefined
  /** The columns beside the address, with commas; as usual where it is not given. */
  readonly cols?: string | undefined
  readonly page?: number | undefined
  /** Names of what the URL had and the list does not know, so that the page can say so. */
  readonly ignored?: string | undefined
}
export type BansQuery = QueryOf<typeof bans.listBans>
export type BanSort = NonNullable<BansQuery['sort']>
/** Without the sign of the direction. */
export type BanField = Exclude<BanSort, `-${string}`>
export type AttackersQuery = QueryOf<typeof attackers.listAttackers>
type AttackerField = NonNullable<AttackersQuery['sort']>
/** `-` is descending, as for bans. */
export type AttackerSort = AttackerField | `-${AttackerField}`
const bansLimit = 50

const sorts: readonly string[] = ['banned_at', 'ip', 'server', 'jail', 'country', 'expires_at', 'occurrences'].flatMap(
  field => [field, `-${field}`],
)
const isSort = (value: string): value is BanSort => sorts.includes(value)
const attackerFields: readonly AttackerField[] = ['last', 'first', 'bans', 'servers']
const attackerFieldOf = (sort: string) => attackerFields.find(field => sort === field || sort === `-${field}`)
const isAttackerSort = (value: string): value is AttackerSort => attackerFieldOf(value) !== undefined
/** The order that the list has without one in its address. */
export const usualSort = { attackers: '-last', bans: '-banned_at' } as const

/** The order that is not the usual one of the list. */
const sortOf = (sort: string, single: boolean): BanSort | AttackerSort | undefined => {
  if (sort === usualSort[single ? 'bans' : 'attackers']) return undefined
  if (single) return isSort(sort) ? sort : undefined
  return isAttackerSort(sort) ? sort : undefined
}

/** Takes over what is a filter and names what is none, so that a mangled link still shows a list. */
export const readBansSearch = (raw: Record<string, unknown>): BansSearch => {
  const sort = matching(raw.sort, /^-?[a-z_]+$/) ?? ''
  // A link that sorts single bans shows single bans.
  const single = raw.by === 'bans' || (isSort(sort) && sort !== usualSort.bans)
  const fields = {
    by: single ? ('bans' as const) : undefined,
    q: matching(raw.q, /^.{1,1000}$/s),
    server: serverIdOf(raw.server ?? raw.server_id),
    jail: matching(raw.jail, /^[\w.-]{1,64}$/),
    // Wrong addresses are kept: the page says what is wrong with them.
    ip: matching(raw.ip, /^.{1,64}$/),
    country: matching(raw.country, /^[a-z]{2}$/i)?.toUpperCase(),
    active: raw.active === 'true' || raw.active === 'false' ? raw.active : undefined,
    asn: matching(raw.asn, /^(as)?\d{1,10}$/i)?.replace(/^(as)?/i, 'AS'),
    from: matching(raw.from, /^(?:now-\d{1,4}[hdw]|today)$/) ?? moment(raw.from),
    to: moment(raw.to),
    sort: sortOf(sort, single),
    limit: Number(raw.limit) === 100 ? (100 as const) : undefined,
    cols: matching(raw.cols, /^[a-z]{2,12}(?:,[a-z]{2,12}){0,20}$/),
    page: pageOf(raw),
  } satisfies BansSearch
  const usual: Readonly<Record<string, unknown>> = {
    to: 'now',
    by: 'attackers',
    sort: '-banned_at',
    limit: '50',
    page: '1',
    ip: '',
    q: '',
  }
  const validFields = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const before = matching(raw.ignored, /^[\w.-]{1,40}(?:,[\w.-]{1,40}){0,9}$/)?.split(',') ?? []
  const lost = Object.keys(raw).filter(
    name =>
      name !== 'ignored' &&
      raw[name] !== undefined &&
      String(raw[name]) !== usual[name] &&
      !(name === 'sort' && sort === usualSort[single ? 'bans' : 'attackers']) &&
      validFields[name === 'server_id' ? 'server' : name] === undefined,
  )
  const ignoredNames = [...new Set([...before, ...lost.map(name => name.replace(/[^\w.-]/g, '').slice(0, 40) || '?')])]
  return {
    // The router keeps what is not named here as it came.
    ...Object.fromEntries(Object.keys(raw).map(name => [name, undefined])),
    ...validFields,
    ...(ignoredNames.length > 0 ? { ignored: ignoredNames.slice(0, 10).join(',') } : {}),
  }
}

/** The API's query for all that match, at this moment: for the list, and the same for an export. */
export const matchQueryOf = (search: BansSearch, now: number): Omit<BansQuery, 'page' | 'limit' | 'sort'> => ({
  ...(search.q ? { q: search.q } : {}),
  ...(search.server ? { server_id: search.server } : {}),
  ...(search.jail ? { jail: search.jail } : {}),
  ...(search.ip ? { ip: search.ip } : {}),
  ...(search.country ? { country: search.country } : {}),
  ...(search.active ? { active: search.active === 'true' } : {}),
  ...(search.asn ? { asn: search.asn } : {}),
  ...(search.from ? { from: beginning(search.from, search.to ? Date.parse(search.to) : now) } : {}),
  ...(search.to ? { to: search.to } : {}),
})
export const limitOf = (search: BansSearch): number => search.limit ?? bansLimit
/** The API's query for one page, at this moment. */
export const bansQueryOf = (search: BansSearch, now: number): BansQuery => ({
  page: search.page ?? 1,
  limit: limitOf(search),
  ...(search.sort && isSort(search.sort) ? { sort: search.sort } : {}),
  ...matchQueryOf(search, now),
})
/** The same for one page of attackers. */
export const attackersQueryOf = (search: BansSearch, now: number): AttackersQuery => {
  const { sort = '' } = search
  const field = attackerFieldOf(sort)
  return {
    page: search.page ?? 1,
    limit: limitOf(search),
    ...(field ? { sort: field, order: sort.startsWith('-') ? 'desc' : 'asc' } : {}),
    ...matchQueryOf(search, now),
  }
}

/** How many filters are set beside the search, without the page and the pin of further pages. */
export const filterCount = (search: BansSearch): number =>
  [search.server, search.jail, search.ip, search.country, search.active, search.asn, search.from].filter(Boolean).length

/** Which columns are shown does not make another list. */
export const withoutView = ({ cols: _cols, ignored: _ignored, ...rest }: BansSearch): BansSearch => rest

/** What makes another list: neither the page of it nor how it is shown. */
export const listKey = ({
  page: _page,
  cols: _cols,
  limit: _limit,
  ignored: _ignored,
  sort: _sort,
  ...rest
}: BansSearch) => JSON.stringify(rest)

/**
 * Another page of the list as it is now: further pages are pinned to the newest row that was seen, so that bans which
 * arrive meanwhile do not push rows over the edge. `to` is exclusive.
 */
export const turnTo = (search: BansSearch, page: number, newest: string | undefined): BansSearch => ({
  ...search,
  page: page > 1 ? page : undefined,
  to: search.to ?? (page > 1 && newest ? new Date(Date.parse(newest) + 1).toISOString() : undefined),
})
