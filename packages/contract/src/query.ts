/*
 * The search grammar of the lists: one reader for the service and for whoever edits a query. Nothing is imported, so that a
 * browser may load it alone.
 *
 *   failed login "exact words"        free text; words beside each other must all match
 *   jail:sshd -country:NL             a field's value, or anything but it
 *   server:web-*  asn:64500,64501     `*` stands for anything; any of several values
 *   score:>80 times:>=3               numbers and times may be compared
 *   (jail:sshd OR jail:nginx) NOT reported:yes
 */

/** How long a query may be, how many terms it may hold, and how deep its parentheses may go. */
export const queryBounds = { length: 1000, terms: 50, depth: 10, wildcards: 8 } as const

/**
 * `name`: the whole value, in any letter case, `*` for anything. `text`: occurs anywhere in the value. `prefix`: a name, or
 * a beginning that ends in a dot. `asn`: `64500` or `AS64500`. `time`: a date (a day in UTC), an ISO 8601 time, `now`, or `now-24h`.
 */
export type QueryFieldKind = 'name' | 'text' | 'prefix' | 'ip' | 'number' | 'choice' | 'time' | 'country' | 'asn' | 'id'

export interface QueryField {
  readonly name: string
  readonly kind: QueryFieldKind
  /** Every value that a `choice` may have. */
  readonly choices?: readonly string[]
  /** What it means, in one line. */
  readonly meaning: string
  readonly example: string
}
export interface QueryLanguage {
  readonly fields: readonly QueryField[]
  /** Where words without a field are looked for. */
  readonly freeText: string
}
export type QueryListing = 'bans' | 'commands' | 'audit' | 'servers'

const yesNo = ['yes', 'no'] as const

/** The fields of each list. */
export const queryFields: Readonly<Record<QueryListing, QueryLanguage>> = {
  bans: {
    freeText: 'An address or the beginning of one, else the jail, server, network, country or city.',
    fields: [
      { name: 'ip', kind: 'ip', meaning: 'Address or CIDR range', example: 'ip:203.0.113.0/24' },
      { name: 'jail', kind: 'name', meaning: 'Jail that banned', example: 'jail:sshd' },
      { name: 'server', kind: 'name', meaning: 'Host name of the server', example: 'server:web-*' },
      { name: 'country', kind: 'country', meaning: 'Code of two letters, ZZ for unknown', example: 'country:NL' },
      { name: 'city', kind: 'text', meaning: 'City, as far as it is known', example: 'city:"Sample Town"' },
      { name: 'asn', kind: 'asn', meaning: 'Number of the network', example: 'asn:64500' },
      { name: 'org', kind: 'text', meaning: 'Organisation behind the network', example: 'org:"Example Hosting"' },
      {
        name: 'state',
        kind: 'choice',
        choices: ['active', 'expired', 'unbanned'],
        meaning: 'Whether it holds, its time is up, or it was lifted',
        example: 'state:active',
      },
      {
        name: 'reported',
        kind: 'choice',
        choices: yesNo,
        meaning: 'Told to the reputation database',
        example: 'reported:yes',
      },
      { name: 'score', kind: 'number', meaning: 'Reputation score, 0 to 100', example: 'score:>80' },
      { name: 'by', kind: 'name', meaning: '"engine", or who ordered the ban', example: 'by:engine' },
      { name: 'times', kind: 'number', meaning: 'Bans of the same address', example: 'times:>=3' },
      { name: 'log', kind: 'text', meaning: 'Text of the log lines', example: 'log:"invalid user"' },
      { name: 'permanent', kind: 'choice', choices: yesNo, meaning: 'Without an end', example: 'permanent:yes' },
      { name: 'banned', kind: 'time', meaning: 'When it was banned', example: 'banned:>2026-11-01' },
    ],
  },
  commands: {
    freeText: 'The type, server, parameters, output, or who asked.',
    fields: [
      {
        name: 'type',
        kind: 'choice',
        choices: [
          'ban-ip',
          'unban-ip',
          'jail-status',
          'jail-enable',
          'jail-disable',
          'jail-reload',
          'reload-all',
          'service-restart',
          'deploy-template',
          'remove-template',
          'approve-whitelist',
          'approve-port',
        ],
        meaning: 'What was asked',
        example: 'type:unban-ip',
      },
      { name: 'server', kind: 'name', meaning: 'Host name of the server', example: 'server:web-*' },
      { name: 'by', kind: 'name', meaning: 'Who asked', example: 'by:anna' },
      {
        name: 'status',
        kind: 'choice',
        choices: ['pending', 'running', 'completed', 'failed', 'timeout', 'cancelled'],
        meaning: 'What became of it',
        example: 'status:failed,timeout',
      },
      { name: 'params', kind: 'text', meaning: 'Text of the parameters', example: 'params:203.0.113.7' },
      { name: 'output', kind: 'text', meaning: 'Text of the output', example: 'output:"no such jail"' },
      { name: 'batch', kind: 'id', meaning: 'Id of the batch', example: 'batch:01a1fd3e-b8a1-7afb-9a73-996f3d0480f9' },
      { name: 'created', kind: 'time', meaning: 'When it was asked', example: 'created:>now-24h' },
    ],
  },
  audit: {
    freeText: 'The user, action, address or details.',
    fields: [
      { name: 'user', kind: 'name', meaning: 'User, key:NAME or system', example: 'user:anna' },
      { name: 'action', kind: 'prefix', meaning: 'Action, or a beginning that ends in a dot', example: 'action:auth.' },
      { name: 'ip', kind: 'ip', meaning: 'Address or CIDR range that it came from', example: 'ip:198.51.100.7' },
      { name: 'details', kind: 'text', meaning: 'Text of the details', example: 'details:site_name' },
      { name: 'at', kind: 'time', meaning: 'When it happened', example: 'at:>now-7d' },
    ],
  },
  servers: {
    freeText: 'The name, address or description.',
    fields: [
      { name: 'name', kind: 'name', meaning: 'Host name', example: 'name:web-*' },
      { name: 'ip', kind: 'ip', meaning: 'Address or CIDR range', example: 'ip:198.51.100.0/24' },
      {
        name: 'status',
        kind: 'choice',
        choices: ['online', 'offline', 'pending'],
        meaning: 'Whether it is heard of',
        example: 'status:offline',
      },
      { name: 'description', kind: 'text', meaning: 'Text of the description', example: 'description:mail' },
      { name: 'os', kind: 'text', meaning: 'Operating system', example: 'os:debian' },
      { name: 'engine', kind: 'name', meaning: 'Version of the engine', example: 'engine:1.0*' },
      { name: 'agent', kind: 'name', meaning: 'Version of the agent', example: 'agent:0.1*' },
      { name: 'jail', kind: 'name', meaning: 'Has a jail of this name', example: 'jail:sshd' },
    ],
  },
}

export type QueryComparison = '=' | '>' | '>=' | '<' | '<='
/** Positions count UTF-16 units from the start of the text, as `selectionStart` of an input does. */
interface Placed {
  readonly at: number
  readonly length: number
}
export interface QueryValue extends Placed {
  /** Without quotes and comparison. */
  readonly text: string
  /** Quoted: a `*` in it is a plain character. */
  readonly quoted: boolean
  readonly compare: QueryComparison
}
export interface QueryTerm extends Placed {
  readonly kind: 'term'
  /** Null: free text. */
  readonly field: string | null
  /** Any of them. */
  readonly values: readonly QueryValue[]
}
export type QueryNode =
  | QueryTerm
  | (Placed & { readonly kind: 'not'; readonly item: QueryNode })
  | (Placed & { readonly kind: 'and' | 'or'; readonly items: readonly QueryNode[] })
export interface QueryProblem extends Placed {
  readonly message: string
  /** What was probably meant. */
  readonly nearest?: string
}
/** `tree` is null where nothing is asked. */
export type ParsedQuery =
  { readonly ok: true; readonly tree: QueryNode | null } | { readonly ok: false; readonly problem: QueryProblem }

// Words

interface Piece extends Placed {
  readonly text: string
  readonly quoted: boolean
  /** Its closing quote is missing. */
  readonly open: boolean
}
interface Word extends Placed {
  readonly kind: 'word'
  readonly minus: boolean
  /** As it was written; null for free text. */
  readonly field: string | null
  readonly fieldAt: number
  readonly values: readonly Piece[]
}
type Token = Word | (Placed & { readonly kind: '(' | ')' | 'AND' | 'OR' | 'NOT' })

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
/** Cuts a text into words; takes anything. */
const scan = (text: string): Token[] => {
  const tokens: Token[] = []
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

// Values

const readsAsIpv4 = (text: string) =>
  /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) &&
  text.split('.').every(part => Number(part) <= 255 && String(Number(part)) === part)
const readsAsIpv6 = (text: string) => {
  if (text.length > 45 || !/^[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*$/.test(text)) return false
  const dotted = text.includes('.') ? text.slice(text.lastIndexOf(':') + 1) : null
  if (dotted !== null && !readsAsIpv4(dotted)) return false
  const whole = dotted === null ? text : `${text.slice(0, -dotted.length)}0:0`
  const halves = whole.split('::')
  if (halves.length > 2) return false
  const groups = halves.flatMap(half => (half === '' ? [] : half.split(':')))
  if (!groups.every(group => /^[0-9A-Fa-f]{1,4}$/.test(group))) return false
  return halves.length === 2 ? groups.length < 8 : groups.length === 8
}
/** Whether a text is an IPv4 or IPv6 address, or a CIDR range. */
export const readsAsIp = (text: string): boolean => {
  const [address = '', length, ...more] = text.split('/')
  if (more.length > 0 || !(readsAsIpv4(address) || readsAsIpv6(address))) return false
  return (
    length === undefined ||
    (/^(?:0|[1-9]\d{0,2})$/.test(length) && Number(length) <= (address.includes(':') ? 128 : 32))
  )
}
/** What a value of an address stands for as an address or a CIDR: `203.0.113.` and `203.0.113.*` are `203.0.113.0/24`. Null: neither. */
export const rangeOfQuery = (text: string): string | null => {
  if (readsAsIp(text)) return text
  const parts = /^((?:\d{1,3}\.){1,3})\*?$/.exec(text)?.[1]?.slice(0, -1).split('.')
  if (!parts) return null
  const address = [...parts, '0', '0', '0'].slice(0, 4).join('.')
  return readsAsIpv4(address) ? `${address}/${parts.length * 8}` : null
}

const lengths = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const
/**
 * The span that a time means, `from` inclusive and `to` exclusive, in epoch milliseconds: a date is a day in UTC, a time is
 * as long as it is exact. Null when it is none.
 */
export const spanOfQuery = (text: string, now: number): { readonly from: number; readonly to: number } | null => {
  const relative = /^now(?:-(\d{1,5})([mhdw]))?$/i.exec(text)
  if (relative) {
    const unit = (relative[2]?.toLowerCase() ?? 'm') as keyof typeof lengths
    const at = now - Number(relative[1] ?? 0) * lengths[unit]
    return { from: at, to: at + 1 }
  }
  const parts = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?(\.\d{1,3})?(Z|[+-]\d\d:\d\d)?)?$/i.exec(text)
  if (!parts) return null
  const [, date = '', minutes, seconds, fraction, zone] = parts
  const day = Date.parse(`${date}T00:00:00Z`)
  // The 31st of a shorter month would be read as a day of the next one.
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== date) return null
  if (minutes === undefined) return { from: day, to: day + lengths.d }
  if (fraction !== undefined && seconds === undefined) return null
  const from = Date.parse(`${date}T${minutes}${seconds ?? ':00'}${fraction ?? ''}${zone?.toUpperCase() ?? 'Z'}`)
  if (Number.isNaN(from)) return null
  return { from, to: from + (fraction ? 1 : seconds ? 1000 : lengths.m) }
}
/** The number of a network; null when it is none. */
export const asnOfQuery = (text: string): number | null => {
  const digits = /^(?:AS)?(\d{1,10})$/i.exec(text)?.[1]
  return digits !== undefined && Number(digits) <= 0xffff_ffff ? Number(digits) : null
}

/** Steps of one letter from one word to another; swapped neighbours are one. */
const distance = (a: string, b: string): number => {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : changed
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed, swapped))
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}
const nearestOf = (typed: string, known: readonly string[]): string | undefined => {
  const word = typed.toLowerCase().slice(0, 64)
  if (word === '') return undefined
  const ranked = known
    .map(name => ({ name, far: name.startsWith(word) || word.startsWith(name) ? 1 : distance(word, name) }))
    .sort((a, b) => a.far - b.far)
  const [best] = ranked
  return best && best.far <= Math.max(1, Math.floor(best.name.length / 2)) && best.far <= 3 ? best.name : undefined
}

class Wrong extends Error {
  readonly problem: QueryProblem
  constructor({ at, length }: Placed, message: string, nearest?: string) {
    super(message)
    this.problem = { at, length, message, ...(nearest === undefined ? {} : { nearest }) }
  }
}
const listed = (words: readonly string[]) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
const asWritten = (text: string) => `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`

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
    const value = { ...plain(piece), text, compare: (sign === '' ? '=' : sign) as QueryComparison }
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

const treeOf = (tokens: readonly Token[], language: QueryLanguage): QueryNode | null => {
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
  const demand = (operator: Placed, message: string) => {
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
    return { ok: true, tree: treeOf(scan(text), language) }
  } catch (error) {
    if (error instanceof Wrong) return { ok: false, problem: error.problem }
    throw error
  }
}

// Back to text

const inQuotes = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
const printValue = ({ text, quoted, compare }: QueryValue) =>
  `${compare === '=' ? '' : compare}${quoted ? inQuotes(text) : text}`
const printTerm = ({ field, values }: QueryTerm) =>
  `${field === null ? '' : `${field}:`}${values.map(printValue).join(',')}`
/** The text that reads as this tree. */
export const printQuery = (tree: QueryNode | null): string => {
  if (!tree) return ''
  switch (tree.kind) {
    case 'term':
      return printTerm(tree)
    case 'not':
      return tree.item.kind === 'term'
        ? `-${printTerm(tree.item)}`
        : tree.item.kind === 'not'
          ? `NOT ${printQuery(tree.item)}`
          : `-(${printQuery(tree.item)})`
    case 'and':
      return tree.items.map(item => (item.kind === 'or' ? `(${printQuery(item)})` : printQuery(item))).join(' ')
    case 'or':
      return tree.items.map(printQuery).join(' OR ')
  }
}

/** Every term of a tree, from left to right, and whether it is excluded. */
export const termsOf = (
  tree: QueryNode | null,
  excluded = false,
): { readonly term: QueryTerm; readonly excluded: boolean }[] => {
  if (!tree) return []
  if (tree.kind === 'term') return [{ term: tree, excluded }]
  return tree.kind === 'not' ? termsOf(tree.item, !excluded) : tree.items.flatMap(item => termsOf(item, excluded))
}

/** Whether a tree holds, by what holds of each term. */
export const queryHolds = (tree: QueryNode | null, of: (term: QueryTerm) => boolean): boolean => {
  if (!tree) return true
  switch (tree.kind) {
    case 'term':
      return of(tree)
    case 'not':
      return !queryHolds(tree.item, of)
    case 'and':
      return tree.items.every(item => queryHolds(item, of))
    case 'or':
      return tree.items.some(item => queryHolds(item, of))
  }
}

// Editing

/** `field:value`, in quotes where the value would read otherwise. */
export const queryTerm = (field: string, value: string): string => {
  const plain = value !== '' && !/[\s()",*]/.test(value) && !/^[<>=]/.test(value)
  return `${field}:${plain ? value : inQuotes(value)}`
}
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
  const tokens = scan(text)
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
const cut = (text: string, { at, length }: Placed) => {
  const before = text.slice(0, at)
  const after = text.slice(at + length)
  if (before !== '') return `${before.replace(/ $/, '')}${after}`
  const rest = after.replace(/^ /, '')
  // Parentheses that `put` wrote around an OR.
  return enclosed(rest) && rest.startsWith('(') && rest.endsWith(')') ? rest.slice(1, -1) : rest
}
const without = (text: string, language: QueryLanguage, field: string, value: string, excluded: boolean) => {
  const found = findTerm(text, language, field, value, excluded)
  return found ? cut(text, found) : text
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

/** What is being typed at a place, and what of the text a choice replaces. */
export interface QueryCompletion extends Placed {
  readonly kind: 'field' | 'value'
  /** The field whose value it is; null while a field or free text is typed. */
  readonly field: QueryField | null
  /** What is there up to the caret. */
  readonly typed: string
  /** What the language itself knows: names of fields with their colon, or the values of a choice. */
  readonly options: readonly string[]
}
/** Takes any text, also a wrong one. Null within quotes of free text, and after a field that does not exist. */
export const completionAt = (text: string, caret: number, language: QueryLanguage): QueryCompletion | null => {
  const word = scan(text.slice(0, queryBounds.length)).find(
    token => token.kind !== '(' && token.kind !== ')' && token.at < caret && caret <= token.at + token.length,
  )
  const fieldOptions = (typed: string) =>
    language.fields.map(({ name }) => `${name}:`).filter(name => name.startsWith(typed.toLowerCase()))
  if (!word) return { kind: 'field', field: null, at: caret, length: 0, typed: '', options: fieldOptions('') }
  if (word.kind !== 'word') {
    const typed = text.slice(word.at, caret)
    return { kind: 'field', field: null, at: word.at, length: word.length, typed, options: fieldOptions(typed) }
  }
  if (word.field === null || caret <= word.fieldAt + word.field.length) {
    if (word.values[0]?.quoted && word.field === null) return null
    const length = word.field === null ? word.at + word.length - word.fieldAt : word.field.length + 1
    const typed = text.slice(word.fieldAt, caret)
    return { kind: 'field', field: null, at: word.fieldAt, length, typed, options: fieldOptions(typed) }
  }
  const name = word.field.toLowerCase()
  const field = language.fields.find(known => known.name === name)
  const value = word.values.find(part => part.at <= caret && caret <= part.at + part.length)
  if (!field || !value) return null
  const typed = text.slice(value.at + (value.quoted ? 1 : 0), caret)
  const options = (field.choices ?? []).filter(choice => choice.startsWith(typed.toLowerCase()))
  return { kind: 'value', field, at: value.at, length: value.length, typed, options }
}

// What a value matches

/** The letters A to Z alone: what every storage does alike. */
const folded = (text: string) => text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
/** A value cut at its stars, in lower case; one part where it has none. */
export const patternOf = (value: Pick<QueryValue, 'text' | 'quoted'>): readonly string[] =>
  value.quoted ? [folded(value.text)] : folded(value.text).split('*')
/** Whether a text matches a value: as a whole, or anywhere in it. The letters A to Z match in any case. */
export const matchesValue = (value: Pick<QueryValue, 'text' | 'quoted'>, text: string, whole: boolean): boolean => {
  const parts = patternOf(value)
  const where = folded(text)
  const [first = ''] = parts
  const last = parts.at(-1) ?? ''
  if (parts.length === 1) return whole ? where === first : where.includes(first)
  let at = 0
  let end = where.length
  if (whole) {
    if (!where.startsWith(first) || !where.endsWith(last) || where.length < first.length + last.length) return false
    at = first.length
    end -= last.length
  }
  for (const part of whole ? parts.slice(1, -1) : parts) {
    const found = where.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
