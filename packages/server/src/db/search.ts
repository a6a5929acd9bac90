import { sql as raw } from 'kysely'
import type { RawBuilder } from 'kysely'
import { parseQuery, patternOf, queryFields } from '@stockade/contract'
import type { QueryListing, QueryNode, QueryTerm, QueryValue } from '@stockade/contract'
import { invalid } from '../core/problem.ts'
import type { Engine } from './database.ts'

/** A condition: true or false for every row, never null, so that it can be negated. */
export type Condition = RawBuilder<unknown>

/** Older than this row of a list whose newest rows come first. */
export interface Before {
  readonly at: number
  readonly id: number
}

/** Reads the `q` of a list; null when nothing is asked. @throws Problem 400 that says what is wrong, and where. */
export const readSearch = (q: string | undefined, listing: QueryListing): QueryNode | null => {
  const parsed = parseQuery(q ?? '', queryFields[listing])
  if (parsed.ok) return parsed.tree
  const { at, message } = parsed.problem
  throw invalid('q', `q, character ${at + 1}: ${message}`)
}

export const always: Condition = raw`1 = 1`
export const never: Condition = raw`1 = 0`
export const allOf = (parts: readonly Condition[]): Condition =>
  parts.length === 0 ? always : raw`(${raw.join([...parts], raw` and `)})`
export const anyOf = (parts: readonly Condition[]): Condition =>
  parts.length === 0 ? never : raw`(${raw.join([...parts], raw` or `)})`
export const not = (part: Condition): Condition => raw`not (${part})`

/** What must all hold. */
export const conjuncts = (tree: QueryNode | null): readonly QueryNode[] =>
  tree === null ? [] : tree.kind === 'and' ? tree.items : [tree]

/** The condition of a tree, by that of each term. */
export const conditionOf = (tree: QueryNode, of: (term: QueryTerm) => Condition): Condition => {
  switch (tree.kind) {
    case 'term':
      return of(tree)
    case 'not':
      return not(conditionOf(tree.item, of))
    case 'and':
      return allOf(tree.items.map(item => conditionOf(item, of)))
    case 'or':
      return anyOf(tree.items.map(item => conditionOf(item, of)))
  }
}

/**
 * Whether a text matches a value as `matchesValue` says: whole or anywhere, A to Z in any case. A text that is null matches
 * nothing.
 */
export const textMatches =
  (engine: Engine) =>
  (column: RawBuilder<unknown>, value: Pick<QueryValue, 'text' | 'quoted'>, whole: boolean): Condition => {
    const parts = patternOf(value).map(part => part.replace(/[\\%_]/g, '\\$&'))
    const inner = parts.join('%')
    const pattern = whole ? inner : `%${inner}%`
    // SQLite's LIKE folds A to Z by itself; PostgreSQL's lower() would fold more, unless the collation is C.
    return engine === 'sqlite'
      ? raw`(${column} is not null and ${column} like ${pattern} escape '\\')`
      : raw`(${column} is not null and lower((${column})::text collate "C") like ${pattern} escape '\\')`
  }

const signs = { '=': raw`=`, '>': raw`>`, '>=': raw`>=`, '<': raw`<`, '<=': raw`<=` } as const
/** A number against a value such as `>80`; a column that is null matches nothing. */
export const numberMatches = (column: RawBuilder<unknown>, { text, compare }: QueryValue): Condition =>
  raw`(${column} is not null and ${column} ${signs[compare]} ${Number(text)})`

/** From when to when a time may lie, `from` inclusive and `to` exclusive. */
export const boundsOf = (
  { compare }: Pick<QueryValue, 'compare'>,
  span: { readonly from: number; readonly to: number },
): { readonly from?: number; readonly to?: number } => {
  switch (compare) {
    case '=':
      return span
    case '>':
      return { from: span.to }
    case '>=':
      return { from: span.from }
    case '<':
      return { to: span.from }
    case '<=':
      return { to: span.to }
  }
}
/** A time against bounds. */
export const timeMatches = (
  column: RawBuilder<unknown>,
  { from, to }: { readonly from?: number; readonly to?: number },
): Condition =>
  allOf([
    ...(from === undefined ? [] : [raw`${column} >= ${from}`]),
    ...(to === undefined ? [] : [raw`${column} < ${to}`]),
  ])
