import { queryBounds } from './fields.ts'
import type { QueryField, QueryLanguage } from './fields.ts'
import { asnOfQuery, rangeOfQuery, readsAsIp, spanOfQuery } from './match.ts'
import { queryComparisons } from './tree.ts'
import type { ParsedQuery, QueryNode, QueryPlace, QueryProblem, QueryTerm, QueryValue } from './tree.ts'
import { nearestOf } from './nearest.ts'

/*
 * Reads the search grammar of the lists, for the server and for query editors:
 *
 *   failed login "exact words"        free text; adjacent words must all match
 *   jail:sshd -country:NL             a value of a field, or anything but that value
 *   server:web-*  asn:64500,64501     `*` matches any text; a comma separates alternatives
 *   score:>80 times:>=3               numbers and times can be compared
 *   (jail:sshd OR jail:nginx) NOT reported:yes
 */

interface Piece extends QueryPlace {
  readonly text: string
  readonly quoted: boolean
  /** Its closing quote is missing. */
  readonly open: boolean
}
interface Word extends QueryPlace {
  readonly kind: 'word'
  readonly minus: boolean
  /** As it was written; null for free text. */
  readonly field: string | null
  readonly fieldAt: number
  readonly values: readonly Piece[]
}
export type QueryToken = Word | (QueryPlace & { readonly kind: '(' | ')' | 'AND' | 'OR' | 'NOT' })

const endsWord = (char: string | undefined) => char === undefined || /[\s()"]/.test(char)

const readQuoted = (text: string, at: number): Piece => {
  let read = ''
  let end = at + 1
  while (end < text.length && text[end] !== '"') {
    if (text[end] === '\\' && end + 1 < text.length) end++
    read += text[end++] ?? ''
  }
  const open = end >= text.length
  return { at, length: Math.min(text.length, end + 1) - at, text: read, quoted: true, open }
}
const readBare = (text: string, at: number, separator: string | null): Piece => {
  let end = at
  while (!endsWord(text[end]) && text[end] !== separator) end++
  return { at, length: end - at, text: text.slice(at, end), quoted: false, open: false }
}
/** The name before a colon; an IPv6 address may begin like one. */
const fieldAt = (text: string, at: number): string | null => {
  const name = /^[A-Za-z_]+(?=:)/.exec(text.slice(at, at + 65))?.[0]
  return name === undefined || readsAsIp(readBare(text, at, null).text) ? null : name
}
const readWord = (text: string, at: number): Word => {
  const minus = text[at] === '-' && at + 1 < text.length && (text[at + 1] === '"' || !endsWord(text[at + 1]))
  const from = minus ? at + 1 : at
  const field = fieldAt(text, from)
  const values: Piece[] = []
  let end = field === null ? from : from + field.length + 1
  for (;;) {
    const value = text[end] === '"' ? readQuoted(text, end) : readBare(text, end, field === null ? null : ',')
    values.push(value)
    end += value.length
    if (field === null || text[end] !== ',') break
    end++
  }
  return { kind: 'word', minus, field, fieldAt: from, values, at, length: end - at }
}
/** Splits a text into words and operators. Accepts any text. */
export const scanQuery = (text: string): QueryToken[] => {
  const tokens: QueryToken[] = []
  for (let at = 0; at < text.length;) {
    const char = text[at]
    if (/\s/.test(char ?? '')) at++
    else if (char === '(' || char === ')') tokens.push({ kind: char, at: at++, length: 1 })
    else if (char === '-' && text[at + 1] === '(') tokens.push({ kind: 'NOT', at: at++, length: 1 })
    else {
      const word = readWord(text, at)
      const plain = word.field === null && !word.minus && word.values[0]?.quoted === false ? word.values[0].text : ''
      tokens.push(
        plain === 'AND' || plain === 'OR' || plain === 'NOT' ? { kind: plain, at, length: word.length } : word,
      )
      at += word.length
    }
  }
  return tokens
}

class Wrong extends Error {
  readonly problem: QueryProblem
  constructor({ at, length }: QueryPlace, message: string, nearest?: string) {
    super(message)
    this.problem = { at, length, message, ...(nearest === undefined ? {} : { nearest }) }
  }
}
const listed = (words: readonly string[]) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
const asWritten = (text: string) => `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`

// oxlint-disable-next-line complexity -- one case for each kind of field
const checkValue = (field: QueryField, value: QueryValue): void => {
  const { text } = value
  const wrong = (wants: string, nearest?: string) => {
    const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
    throw new Wrong(value, `${asWritten(text)} is not ${wants}, which ${field.name}: takes.${hint}`, nearest)
  }
  switch (field.kind) {
    case 'choice': {
      const choices = field.choices ?? []
      if (!choices.includes(text.toLowerCase())) wrong(listed(choices), nearestOf(text, choices))
      break
    }
    case 'ip':
      if (rangeOfQuery(text) === null) wrong('an address or a CIDR range such as 203.0.113.0/24')
      break
    case 'number':
      if (!/^\d{1,9}$/.test(text)) wrong('a whole number such as 3 or >=3')
      break
    case 'time':
      if (spanOfQuery(text, 0) === null)
        wrong('a date such as 2026-11-01, a time such as 2026-11-01T09:30Z, or now-24h')
      break
    case 'country':
      if (!/^[A-Za-z]{2}$/.test(text)) wrong('a code of two letters such as NL')
      break
    case 'asn':
      if (asnOfQuery(text) === null) wrong('a number such as 64500 or AS64500')
      break
    case 'id':
      if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) wrong('an id')
      break
    default:
      checkWildcards(value)
  }
}
const checkWildcards = (value: QueryValue) => {
  if (!value.quoted && value.text.split('*').length - 1 > queryBounds.wildcards)
    throw new Wrong(value, `A word may hold ${queryBounds.wildcards} stars at most.`)
}

// The tree

const termOf = (word: Word, language: QueryLanguage): QueryTerm => {
  const from = word.minus ? word.at + 1 : word.at
  const place = { at: from, length: word.length - (from - word.at) }
  const open = word.values.find(value => value.open)
  if (open) throw new Wrong(open, 'The closing quote is missing.')
  const plain = (value: Piece): QueryValue => ({
    at: value.at,
    length: value.length,
    text: value.text,
    quoted: value.quoted,
    compare: '=',
  })
  if (word.field === null) {
    const [value] = word.values.map(plain)
    if (!value || value.text === '') throw new Wrong(place, 'There is nothing between the quotes.')
    checkWildcards(value)
    return { kind: 'term', field: null, values: [value], ...place }
  }
  const name = word.field.toLowerCase()
  const field = language.fields.find(known => known.name === name)
  if (!field) {
    const names = language.fields.map(known => known.name)
    const nearest = nearestOf(name, names)
    const hint = nearest === undefined ? `The fields are ${names.join(', ')}.` : `Did you mean ${nearest}?`
    throw new Wrong(
      { at: word.fieldAt, length: word.field.length },
      `There is no field ${asWritten(word.field)}. ${hint} Put it in quotes to look for the text itself.`,
      nearest,
    )
  }
  const compares = field.kind === 'number' || field.kind === 'time'
  const values = word.values.map(piece => {
    const sign = compares && !piece.quoted ? (/^(?:[<>]=?|=)/.exec(piece.text)?.[0] ?? '') : ''
    const text = piece.text.slice(sign.length)
    if (text === '')
      throw new Wrong(
        piece.length === 0 ? { at: word.fieldAt, length: word.at + word.length - word.fieldAt } : piece,
        `${field.name}: needs a value, such as ${field.example}.`,
      )
    const value = { ...plain(piece), text, compare: queryComparisons.find(comparison => comparison === sign) ?? '=' }
    checkValue(field, value)
    return value
  })
  return { kind: 'term', field: name, values, ...place }
}

/** Puts nodes side by side; what is of the same kind is not nested. */
const joined = (kind: 'and' | 'or', nodes: readonly QueryNode[]): QueryNode | null => {
  const [first] = nodes
  const last = nodes.at(-1)
  if (!first || !last || nodes.length === 1) return first ?? null
  const items = nodes.flatMap(node => (node.kind === kind ? node.items : [node]))
  return { kind, items, at: first.at, length: last.at + last.length - first.at }
}

const treeOf = (tokens: readonly QueryToken[], language: QueryLanguage): QueryNode | null => {
  let next = 0
  let terms = 0
  const primary = (depth: number): QueryNode => {
    const token = tokens[next++]
    if (!token) throw new Error('Nobody reads beyond the end.')
    if (depth > queryBounds.depth)
      throw new Wrong(token, `Parentheses and NOT may stand ${queryBounds.depth} deep at most.`)
    if (token.kind === 'word') {
      if (++terms > queryBounds.terms) throw new Wrong(token, `A search may hold ${queryBounds.terms} terms at most.`)
      const term = termOf(token, language)
      return token.minus ? { kind: 'not', item: term, at: token.at, length: token.length } : term
    }
    if (token.kind === 'NOT') {
      demand(token, `${token.length === 1 ? '-' : 'NOT'} needs something after it.`)
      const item = primary(depth + 1)
      return { kind: 'not', item, at: token.at, length: item.at + item.length - token.at }
    }
    if (token.kind === '(') {
      const inner = anyOf(depth + 1)
      const close = tokens[next++]
      if (!close) throw new Wrong(token, 'The closing parenthesis is missing.')
      if (!inner)
        throw new Wrong({ at: token.at, length: close.at + 1 - token.at }, 'There is nothing in the parentheses.')
      return { ...inner, at: token.at, length: close.at + 1 - token.at }
    }
    throw new Wrong(
      token,
      token.kind === ')' ? 'This parenthesis was not opened.' : `${token.kind} needs something before it.`,
    )
  }
  /** What an operator needs must come next. */
  const demand = (operator: QueryPlace, message: string) => {
    const token = tokens[next]
    if (!token || token.kind === ')' || token.kind === 'AND' || token.kind === 'OR') throw new Wrong(operator, message)
  }
  const allOf = (depth: number): QueryNode | null => {
    const nodes: QueryNode[] = []
    for (;;) {
      const token = tokens[next]
      if (!token || token.kind === ')' || token.kind === 'OR') return joined('and', nodes)
      if (token.kind === 'AND') {
        if (nodes.length === 0) throw new Wrong(token, 'AND needs something before it.')
        next++
        demand(token, 'AND needs something after it.')
      }
      nodes.push(primary(depth))
    }
  }
  const anyOf = (depth: number): QueryNode | null => {
    const nodes: QueryNode[] = []
    for (;;) {
      const node = allOf(depth)
      if (node) nodes.push(node)
      const token = tokens[next]
      if (token?.kind !== 'OR') return joined('or', nodes)
      if (!node) throw new Wrong(token, 'OR needs something before it.')
      next++
      demand(token, 'OR needs something after it.')
    }
  }
  const tree = anyOf(0)
  const left = tokens[next]
  if (left) throw new Wrong(left, 'This parenthesis was not opened.')
  return tree
}

/** Reads a query. Never throws: what is wrong comes back with its place. */
export const parseQuery = (text: string, language: QueryLanguage): ParsedQuery => {
  if (text.length > queryBounds.length)
    return {
      ok: false,
      problem: {
        at: queryBounds.length,
        length: text.length - queryBounds.length,
        message: `A search may be ${queryBounds.length} characters long at most.`,
      },
    }
  try {
    return { ok: true, tree: treeOf(scanQuery(text), language) }
  } catch (error) {
    if (error instanceof Wrong) return { ok: false, problem: error.problem }
    throw error
  }
}
