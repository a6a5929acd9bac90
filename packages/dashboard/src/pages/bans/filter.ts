import type { QueryOf, bans } from '@stockade/contract'
import type { Ban } from '../../api/queries.ts'
import { covers } from '../../words/address.ts'

/** What the URL says of the list. Relative ranges stay relative: `from=now-24h`. */
export interface BansSearch {
  readonly server?: string | undefined
  readonly jail?: string | undefined
  readonly ip?: string | undefined
  readonly country?: string | undefined
  readonly active?: 'true' | 'false' | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly page?: number | undefined
}
export type BansQuery = QueryOf<typeof bans.listBans>
export const bansLimit = 50
export const ranges = ['now-24h', 'now-7d', 'now-30d'] as const

const text = (value: unknown, pattern: RegExp) => {
  const typed = typeof value === 'string' ? value.trim() : ''
  return pattern.test(typed) ? typed : undefined
}
const moment = (value: unknown) => {
  const typed = text(value, /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/)
  return typed !== undefined && !Number.isNaN(Date.parse(typed)) ? typed : undefined
}

/** Takes over what is a filter and leaves out what is none, so that a mangled link still shows a list. */
export const readBansSearch = (raw: Record<string, unknown>): BansSearch => {
  const page = Number(raw.page)
  const found: BansSearch = {
    server: text(raw.server, /^[0-9a-f-]{36}$/i),
    jail: text(raw.jail, /^[\w.-]{1,64}$/),
    // Wrong addresses are kept: the page says what is wrong with them.
    ip: text(raw.ip, /^.{1,64}$/),
    country: text(raw.country, /^[a-z]{2}$/i)?.toUpperCase(),
    active: raw.active === 'true' || raw.active === 'false' ? raw.active : undefined,
    from: text(raw.from, /^now-\d{1,4}[hd]$/) ?? moment(raw.from),
    to: moment(raw.to),
    page: Number.isInteger(page) && page > 1 ? page : undefined,
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** The moment that `from` means; a relative one counts back from the end of the range. */
const beginning = (from: string, end: number): string => {
  const relative = /^now-(\d+)([hd])$/.exec(from)
  if (!relative) return from
  return new Date(end - Number(relative[1]) * (relative[2] === 'h' ? 3_600_000 : 86_400_000)).toISOString()
}

/** The API's query for it, at this moment. */
export const bansQueryOf = (search: BansSearch, now: number): BansQuery => ({
  page: search.page ?? 1,
  limit: bansLimit,
  ...(search.server ? { server_id: search.server } : {}),
  ...(search.jail ? { jail: search.jail } : {}),
  ...(search.ip ? { ip: search.ip } : {}),
  ...(search.country ? { country: search.country } : {}),
  ...(search.active ? { active: search.active === 'true' } : {}),
  ...(search.from ? { from: beginning(search.from, search.to ? Date.parse(search.to) : now) } : {}),
  ...(search.to ? { to: search.to } : {}),
})

/** Whether a ban that was just reported belongs into the list. */
export const matches = (ban: Ban, search: BansSearch, now: number): boolean => {
  const { from, to } = bansQueryOf(search, now)
  const at = Date.parse(ban.banned_at)
  return (
    (!search.server || ban.server.id === search.server) &&
    (!search.jail || ban.jail === search.jail) &&
    (!search.ip || covers(search.ip, ban.ip)) &&
    (!search.country || ban.country === search.country) &&
    (!search.active || ban.active === (search.active === 'true')) &&
    (!from || at >= Date.parse(from)) &&
    (!to || at < Date.parse(to))
  )
}

/** How many filters are set, without the page and the pin of further pages. */
export const filterCount = (search: BansSearch): number =>
  [search.server, search.jail, search.ip, search.country, search.active, search.from].filter(Boolean).length

/**
 * Another page of the list as it is now: further pages are pinned to the newest row that was seen, so that bans which
 * arrive meanwhile do not push rows over the edge. `to` is exclusive.
 */
export const turnTo = (search: BansSearch, page: number, newest: string | undefined): BansSearch => ({
  ...search,
  page: page > 1 ? page : undefined,
  to: search.to ?? (page > 1 && newest ? new Date(Date.parse(newest) + 1).toISOString() : undefined),
})
