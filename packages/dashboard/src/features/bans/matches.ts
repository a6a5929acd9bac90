import {
  asnOfQuery,
  matchesValue,
  parseQuery,
  queryFields,
  rangeOfQuery,
  spanOfQuery,
} from '@stockade/contract/query/index.ts'
import type { QueryNode, QueryTerm, QueryValue } from '@stockade/contract/query/index.ts'
import type { Ban } from '../../api/queries.ts'
import { covers, readRange } from '../../lib/address.ts'
import { stateOf } from './ban-state.ts'
import { bansQueryOf } from './filter.ts'
import type { BansSearch } from './filter.ts'

export const language = queryFields.bans
/** Whether the list can be asked for: a wrong search or address is named instead. */
export const isReadable = ({ q, ip }: BansSearch): boolean =>
  (!q || parseQuery(q, language).ok) && (!ip || readRange(ip) !== null)

/** Null: the message does not tell. */
type Told = boolean | null
const any = (list: readonly Told[]): Told => (list.includes(true) ? true : list.includes(null) ? null : false)
const all = (list: readonly Told[]): Told => (list.includes(false) ? false : list.includes(null) ? null : true)

const compared = ({ text, compare }: QueryValue, value: number): boolean => {
  const n = Number(text)
  return { '=': value === n, '>': value > n, '>=': value >= n, '<': value < n, '<=': value <= n }[compare]
}
const inTime = ({ text, compare }: QueryValue, at: number, now: number): boolean => {
  const span = spanOfQuery(text, now)
  if (!span) return false
  const { from, to } = span
  return { '=': at >= from && at < to, '>': at >= to, '>=': at >= from, '<': at < from, '<=': at < to }[compare]
}
const yes = (text: string, is: boolean) => (text.toLowerCase() === 'yes') === is
const within = (text: string, ip: string) => {
  const range = rangeOfQuery(text)
  return range !== null && covers(range, ip)
}

// oxlint-disable-next-line complexity -- one case for each field of a search
const valueHolds = (field: string | null, value: QueryValue, ban: Ban, now: number): Told => {
  const { text } = value
  const has = (whole: boolean, ...texts: (string | null)[]) =>
    texts.some(one => one !== null && matchesValue(value, one, whole))
  switch (field) {
    case null:
      return rangeOfQuery(text) === null
        ? has(false, ban.jail, ban.server.hostname, ban.asn_org, ban.city, ban.country_name)
        : within(text, ban.ip)
    case 'ip':
      return within(text, ban.ip)
    case 'jail':
      return has(true, ban.jail)
    case 'server':
      return has(true, ban.server.hostname)
    case 'by':
      return has(true, ban.banned_by)
    case 'city':
      return has(false, ban.city)
    case 'org':
      return has(false, ban.asn_org)
    case 'log':
      return has(false, ban.log_lines)
    case 'country':
      return text.toUpperCase() === (ban.country ?? 'ZZ')
    case 'asn':
      return ban.asn !== null && asnOfQuery(text) === asnOfQuery(ban.asn)
    case 'state':
      return text.toLowerCase() === (ban.active ? 'active' : stateOf(ban))
    case 'reported':
      return yes(text, ban.reported_to_reputation_db)
    case 'permanent':
      return yes(text, ban.ban_duration === -1)
    case 'banned':
      return inTime(value, Date.parse(ban.banned_at), now)
    case 'times':
      return ban.occurrences === undefined ? null : compared(value, ban.occurrences)
    case 'score':
      return ban.reputation_score === undefined
        ? null
        : ban.reputation_score !== null && compared(value, ban.reputation_score)
    default:
      return null
  }
}
const termHolds = ({ field, values }: QueryTerm, ban: Ban, now: number): Told =>
  any(values.map(value => valueHolds(field, value, ban, now)))
const holds = (node: QueryNode, ban: Ban, now: number): Told => {
  switch (node.kind) {
    case 'term':
      return termHolds(node, ban, now)
    case 'not': {
      const inner = holds(node.item, ban, now)
      return inner === null ? null : !inner
    }
    case 'and':
      return all(node.items.map(item => holds(item, ban, now)))
    case 'or':
      return any(node.items.map(item => holds(item, ban, now)))
  }
}

/** Whether a ban that was just reported belongs into the list; null where only the service can tell. */
export const matches = (ban: Ban, search: BansSearch, now: number): Told => {
  const { from, to } = bansQueryOf(search, now)
  const at = Date.parse(ban.banned_at)
  const parsed = parseQuery(search.q ?? '', language)
  return all([
    !search.server || ban.server.id === search.server,
    !search.jail || ban.jail === search.jail,
    !search.ip || covers(search.ip, ban.ip),
    !search.country || ban.country === search.country,
    !search.active || ban.active === (search.active === 'true'),
    !search.asn || ban.asn === search.asn,
    !from || at >= Date.parse(from),
    !to || at < Date.parse(to),
    parsed.ok && (parsed.tree === null || holds(parsed.tree, ban, now)),
  ])
}
