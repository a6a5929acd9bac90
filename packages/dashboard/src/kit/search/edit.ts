import { parseQuery, queryTerm, scanQuery } from '@stockade/contract/query/index.ts'
import type { QueryLanguage, QueryPlace } from '@stockade/contract/query/index.ts'

const topLevel = (text: string, language: QueryLanguage) => {
  const parsed = parseQuery(text, language)
  if (!parsed.ok || !parsed.tree) return []
  return parsed.tree.kind === 'and' ? parsed.tree.items : [parsed.tree]
}
/** The term among those that must all hold. */
const findTerm = (text: string, language: QueryLanguage, field: string, value: string, excluded: boolean) =>
  topLevel(text, language).find(node => {
    const term = excluded ? (node.kind === 'not' ? node.item : null) : node
    const only = term?.kind === 'term' && term.field === field && term.values.length === 1 ? term.values[0] : undefined
    return only?.compare === '=' && only.text === value && (only.quoted || !only.text.includes('*'))
  })
const startsWide = (text: string, language: QueryLanguage) => {
  const parsed = parseQuery(text, language)
  return parsed.ok && parsed.tree?.kind === 'or' && !enclosed(text)
}
/** Whether one pair of parentheses holds all of the text. */
const enclosed = (text: string) => {
  const tokens = scanQuery(text)
  let open = 0
  return (
    tokens[0]?.kind === '(' &&
    tokens.every((token, index) => {
      open += token.kind === '(' ? 1 : token.kind === ')' ? -1 : 0
      return open > 0 || index === tokens.length - 1
    })
  )
}
const put = (text: string, term: string, language: QueryLanguage) =>
  text === '' ? term : startsWide(text, language) ? `${term} (${text})` : `${text} ${term}`
const cut = (text: string, { at, length }: QueryPlace) => {
  const before = text.slice(0, at)
  const after = text.slice(at + length)
  if (before !== '') return `${before.replace(/ $/, '')}${after}`
  const rest = after.replace(/^ /, '')
  // Parentheses that `put` wrote around an OR.
  return enclosed(rest) && rest.startsWith('(') && rest.endsWith(')') ? rest.slice(1, -1) : rest
}
const without = (text: string, language: QueryLanguage, field: string, value: string, excluded: boolean) => {
  const term = findTerm(text, language, field, value, excluded)
  return term ? cut(text, term) : text
}
/** Narrows a query to one value of a field; an exclusion of it is taken back. */
export const addTerm = (text: string, language: QueryLanguage, field: string, value: string): string => {
  if (findTerm(text, language, field, value, false)) return text
  const rest = without(text, language, field, value, true)
  return put(rest, queryTerm(field, value), language)
}
/** Narrows a query to anything but one value of a field. */
export const excludeTerm = (text: string, language: QueryLanguage, field: string, value: string): string => {
  if (findTerm(text, language, field, value, true)) return text
  const rest = without(text, language, field, value, false)
  return put(rest, `-${queryTerm(field, value)}`, language)
}
/** Takes a value of a field out, whether it was asked for or excluded. Text that does not hold it stays as it is. */
export const removeTerm = (text: string, language: QueryLanguage, field: string, value: string): string =>
  without(without(text, language, field, value, false), language, field, value, true)
