import { parseQuery, printQuery } from '@stockade/contract/query/index.ts'
import type { QueryLanguage, QueryNode } from '@stockade/contract/query/index.ts'
import { addTerm, excludeTerm } from './edit.ts'

/** One of the things that must all hold, and the query without it. */
export interface Condition {
  readonly text: string
  readonly rest: string
  /** The field and the one value that it asks for; null where it is more than that, or free text. */
  readonly field: string | null
  readonly value: string | null
}

const together = (items: readonly QueryNode[]): string => {
  const [first, ...more] = items
  if (!first) return ''
  return more.length === 0 ? printQuery(first) : printQuery({ kind: 'and', items, at: 0, length: 0 })
}

/** What must all hold, from left to right; nothing where the query can't be read. */
const itemsOf = (query: string, language: QueryLanguage): readonly QueryNode[] => {
  const parsed = parseQuery(query, language)
  if (!parsed.ok || !parsed.tree) return []
  return parsed.tree.kind === 'and' ? parsed.tree.items : [parsed.tree]
}

/** What a query is made of, from left to right; nothing where it can't be read. */
export const conditionsOf = (query: string, language: QueryLanguage): readonly Condition[] => {
  const items = itemsOf(query, language)
  return items.map((item, index) => {
    const only = item.kind === 'term' && item.values.length === 1 ? item.values[0] : undefined
    return {
      text: printQuery(item),
      rest: together(items.filter((_, other) => other !== index)),
      field: item.kind === 'term' ? item.field : null,
      value: only?.compare === '=' ? only.text : null,
    }
  })
}

/**
 * What is typed, and what another part of the page made of the query meanwhile: from `before` to `asked`. Terms that were added stand
 * first, so that the caret stays where it is.
 */
export const merged = (typed: string, before: string, asked: string, language: QueryLanguage): string => {
  const texts = (query: string) => new Set(itemsOf(query, language).map(printQuery))
  const [old, now, own] = [texts(before), texts(asked), texts(typed)]
  const added = itemsOf(asked, language).filter(item => !old.has(printQuery(item)) && !own.has(printQuery(item)))
  const remainingItems = itemsOf(typed, language).filter(
    item => !old.has(printQuery(item)) || now.has(printQuery(item)),
  )
  return `${together([...added, ...remainingItems])}${typed.endsWith(' ') ? ' ' : ''}`
}

/** The value that a query asks of a field, if it is one. */
export const valueOf = (query: string, language: QueryLanguage, field: string): string | undefined =>
  conditionsOf(query, language).find(condition => condition.field === field)?.value ?? undefined

/** The query with another value of a field, or with none. A query that can't be read stays as it is. */
export const withValue = (query: string, language: QueryLanguage, field: string, value: string): string => {
  let rest = query
  for (;;) {
    const fieldCondition = conditionsOf(rest, language).find(condition => condition.field === field)
    if (!fieldCondition) break
    rest = fieldCondition.rest
  }
  return value === '' ? rest : addTerm(rest, language, field, value)
}

/** Narrows a list to a value of a field, or to all but it. */
export interface Narrowing {
  readonly only: (field: string, value: string) => void
  readonly without: (field: string, value: string) => void
}
/**
 * `apply` shows the list by another search, made of the one of that moment: typed text may have changed it since the list was
 * drawn.
 */
export const narrowing = (
  language: QueryLanguage,
  apply: (change: (query: string) => string) => unknown,
): Narrowing => ({
  only: (field, value) => void apply(query => addTerm(query, language, field, value)),
  without: (field, value) => void apply(query => excludeTerm(query, language, field, value)),
})
