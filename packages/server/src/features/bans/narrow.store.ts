import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import { asnOfQuery, spanOfQuery } from '@stockade/contract'
import type { QueryNode, QueryValue } from '@stockade/contract'
import type { Schema } from '../../db/schema.ts'
import { allOf, boundsOf, conjuncts, textMatches } from '../../db/search.ts'
import { onServers } from './bans.store.ts'
import { rangeOf } from './search-parts.store.ts'
import type { BanSearch, SearchContext } from './search.store.ts'

interface Narrowing {
  readonly sql: Kysely<Schema>
  readonly context: SearchContext
  /** The filter so far. */
  readonly filter: BanSearch
}
/** The filter with the term in it; `left`: a filter can't say the term; null: nothing can match. */
type Narrow = (
  value: QueryValue,
  narrowing: Narrowing,
) => BanSearch | 'left' | null | Promise<BanSearch | 'left' | null>

const put = <K extends keyof BanSearch>(filter: BanSearch, key: K, value: BanSearch[K]): BanSearch | 'left' =>
  filter[key] !== undefined && filter[key] !== value ? 'left' : { ...filter, [key]: value }

/** The only jail or server of that name; with several the term stays. */
const byName =
  (table: 'jails' | 'servers', key: 'jailId' | 'serverNo'): Narrow =>
  async (value, { sql, context, filter }) => {
    const matches = textMatches(context.engine)
    const query =
      table === 'jails'
        ? raw<{ id: number }>`select id from jails where ${matches(raw`name`, value, true)} limit 2`
        : raw<{ id: number }>`select no as id from servers
            where ${allOf([...onServers(filter.servers, raw`no`), matches(raw`hostname`, value, true)])} limit 2`
    const { rows } = await query.execute(sql)
    const [first, second] = rows
    if (!first) return null
    return second ? 'left' : put(filter, key, first.id)
  }

const narrowBy: Readonly<Record<string, Narrow>> = {
  jail: byName('jails', 'jailId'),
  server: byName('servers', 'serverNo'),
  async country({ text }, { sql, filter }) {
    const code = text.toUpperCase()
    if (code === 'ZZ') return put(filter, 'countryId', 0)
    const { rows } = await raw<{ id: number }>`select id from countries where code = ${code}`.execute(sql)
    return rows[0] ? put(filter, 'countryId', rows[0].id) : null
  },
  ip(value, { filter }) {
    const range = rangeOf(value)
    return range === null || filter.ip !== undefined ? 'left' : { ...filter, ip: range }
  },
  asn: ({ text }, { filter }) => put(filter, 'asn', asnOfQuery(text) ?? -1),
  state: ({ text }, { filter }) => (text.toLowerCase() === 'active' ? put(filter, 'active', true) : 'left'),
  banned(value, { context, filter }) {
    const bounds = boundsOf(value, spanOfQuery(value.text, context.now) ?? { from: 0, to: 0 })
    const from = Math.max(bounds.from ?? 0, filter.from ?? 0)
    const to = Math.min(bounds.to ?? Number.MAX_SAFE_INTEGER, filter.to ?? Number.MAX_SAFE_INTEGER)
    if (from >= to) return null
    return { ...filter, ...(from > 0 ? { from } : {}), ...(to < Number.MAX_SAFE_INTEGER ? { to } : {}) }
  },
}

const narrowers = new Map(Object.entries(narrowBy))

/**
 * Moves what the documented filters can say out of a search and into them, since they have the better indexes and counts.
 * Null: nothing can match. What stays is in `tree`.
 */
export const narrow = async (
  sql: Kysely<Schema>,
  filter: BanSearch,
  tree: QueryNode | null,
  context: SearchContext,
): Promise<BanSearch | null> => {
  let narrowed = filter
  const left: QueryNode[] = []
  for (const node of conjuncts(tree)) {
    const [value, ...more] = node.kind === 'term' ? node.values : []
    const by = node.kind === 'term' && more.length === 0 ? narrowers.get(node.field ?? '') : undefined
    const next = by && value ? await by(value, { sql, context, filter: narrowed }) : 'left'
    if (next === null) return null
    if (next === 'left') left.push(node)
    else narrowed = next
  }
  const [first, ...rest] = left
  if (!first) return narrowed
  return { ...narrowed, tree: rest.length === 0 ? first : { kind: 'and', items: left, at: 0, length: 0 } }
}
