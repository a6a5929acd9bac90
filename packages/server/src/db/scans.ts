import type { CompiledQuery, Driver, Kysely, KyselyPlugin, QueryId } from 'kysely'
import { parseQuery, queryFields, termsOf } from '@stockade/contract'
import type { QueryListing } from '@stockade/contract'
import { unavailable } from '../core/problem.ts'
import { readingDriver } from './reading.ts'
import type { Schema } from './schema.ts'

/*
 * Long reads as both engines have them: one statement at a time, refused where it takes too long or too many wait, and each
 * told of to whoever watches.
 */

/** Milliseconds that one statement of `scan` may take. */
export const longestScan = 5000
/** How many may wait for their turn. */
export const mostScans = 50

export const scanOutcomes = ['answered', 'too_long', 'refused', 'failed'] as const
export type ScanOutcome = (typeof scanOutcomes)[number]
/** What was asked, without the values: those may be personal. */
export interface Asked {
  readonly list: string
  /** Fields of the search and names of the other filters. */
  readonly fields: readonly string[]
  /** Characters of the search. */
  readonly length: number
}
export interface ScanTold {
  readonly outcome: ScanOutcome
  /** Milliseconds until its turn came, and from then on. */
  readonly waited: number
  readonly ran: number
  readonly asked: () => Asked | null
}
/** Hears of each statement when it is over. Must not throw. */
export type ScanWatch = (told: ScanTold) => void

/** What became of a statement that did not fail: its rows, or why there are none. */
export type Scanned = readonly unknown[] | 'too_long' | 'refused'
/** Runs one statement; calls `begins` when its turn has come. */
export type Scanner = (query: CompiledQuery, begins: () => void) => Promise<Scanned>

const refusalOf = {
  too_long: () => unavailable('The search took too long. Narrow it down, for example by time, jail or server.', 5),
  refused: () => unavailable('Too many searches at once. Try again in a moment.'),
}

/** A driver that only reads, by `scan`; callers wait there. */
export const scanDriver = (scan: Scanner, watch: ScanWatch = () => {}): Driver =>
  readingDriver(async query => {
    const came = performance.now()
    let began: number | null = null
    const tell = (outcome: ScanOutcome) => {
      const now = performance.now()
      const turn = began ?? now
      watch({ outcome, waited: turn - came, ran: now - turn, asked: askedBy.get(query.queryId) ?? nothing })
    }
    const scanned = await scan(query, () => (began = performance.now())).catch((error: unknown) => {
      tell('failed')
      throw error
    })
    if (scanned === 'too_long' || scanned === 'refused') {
      tell(scanned)
      throw refusalOf[scanned]()
    }
    tell('answered')
    return scanned
  })

const nothing = () => null
const askedBy = new WeakMap<QueryId, () => Asked | null>()

/**
 * The same way to read, known to whoever watches by what was asked: the name of a list and the query of its request. It is
 * looked at only where a statement was slow.
 */
export const scanFor = (
  { scan }: { readonly scan: Kysely<Schema> },
  list: string,
  query: Readonly<Record<string, unknown>>,
): Kysely<Schema> => {
  const askedQuery = () => askedOf(list, query)
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      askedBy.set(queryId, askedQuery)
      return node
    },
    async transformResult({ result }) {
      return result
    },
  }
  return scan.withPlugin(plugin)
}

const isListing = (list: string): list is QueryListing => list in queryFields
const askedOf = (
  list: string,
  { q, page: _page, limit: _limit, ...filters }: Readonly<Record<string, unknown>>,
): Asked => {
  const text = typeof q === 'string' ? q : ''
  const parsed = isListing(list) ? parseQuery(text, queryFields[list]) : null
  const terms = parsed?.ok ? termsOf(parsed.tree).map(({ term }) => term.field ?? 'text') : []
  const filterNames = Object.keys(filters).filter(name => filters[name] !== undefined)
  return { list, fields: [...new Set([...terms, ...filterNames])], length: text.length }
}
