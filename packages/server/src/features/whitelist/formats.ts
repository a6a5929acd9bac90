import { recordOf } from '@stockade/contract/untrusted.ts'
import { csvRow, formula } from '../../core/csv.ts'

/*
 * The three forms of a list: one entry a line, CSV and JSON. Reading gives whatever stands there with the place where it
 * stood; whether it is an address is for others to say. What is written can be read again.
 */

/** Something that stands where an entry should be. `line` counts from 1; of JSON it is the number of the entry. */
export interface Candidate {
  readonly line: number
  /** As it stood there, for the report of errors. */
  readonly value: string
  readonly ip: string
  readonly description: string
  /** When it is to lift itself, as it stood there. */
  readonly expires_at?: string
  /** Why it can't be an entry, whatever the address. */
  readonly error?: string
}

/** `192.0.2.1 # office`; blank lines and comments say nothing. */
export function* readPlain(content: string): Generator<Candidate> {
  let line = 0
  for (const text of linesOf(content)) {
    line++
    const mark = text.indexOf('#')
    const ip = (mark < 0 ? text : text.slice(0, mark)).trim()
    if (ip === '') continue
    yield { line, value: text.trim(), ip, description: mark < 0 ? '' : text.slice(mark + 1).trim() }
  }
}
/** The lines one by one, however they end, without a copy of all of them. */
function* linesOf(content: string): Generator<string> {
  let from = content.startsWith('\ufeff') ? 1 : 0
  while (from <= content.length) {
    const end = content.indexOf('\n', from)
    const to = end < 0 ? content.length : end
    yield content.slice(from, to)
    from = to + 1
  }
}

interface Row {
  readonly line: number
  readonly cells: readonly string[]
  readonly open: boolean
}
/** No cell that means anything is longer, in characters, and no row has more of them. */
const longestCell = 64 * 1024
const mostCells = 100

const lineEndsIn = (text: string): number => text.split('\n').length - 1

/** Rows of comma-separated values (RFC 4180): quoted cells may hold commas, line ends and doubled quotes. */
function* rowsOf(content: string, comma: string): Generator<Row> {
  let at = content.startsWith('\ufeff') ? 1 : 0
  let line = 1
  while (at < content.length) {
    const started = line
    const cells: string[] = []
    for (;;) {
      let quoted = ''
      if (content[at] === '"') {
        const end = closingQuote(content, at + 1)
        // The end of the value is unknown, so the rest of the line cannot be parsed.
        if (end === null) return yield { line: started, cells: [...cells, content.slice(at, at + 200)], open: true }
        const inside = content.slice(at + 1, end)
        line += lineEndsIn(inside)
        quoted = inside.replaceAll('""', '"')
        at = end + 1
      }
      // What follows a closing quote belongs to the cell, as spreadsheets read it.
      const end = endOfCell(content, at, comma)
      cells.push((quoted + content.slice(at, end)).replace(/\r$/, ''))
      at = end + 1
      if (content[end] !== comma) break
      if (cells.length >= mostCells) {
        const next = content.indexOf('\n', at)
        at = next < 0 ? content.length : next + 1
        break
      }
    }
    line++
    yield { line: started, cells, open: false }
  }
}
/** Where a quoted cell ends: at the first quote that is not doubled. */
const closingQuote = (content: string, from: number): number | null => {
  for (let at = from; at < from + longestCell; at += 2) {
    const quote = content.indexOf('"', at)
    if (quote < 0) return null
    if (content[quote + 1] !== '"') return quote
    at = quote
  }
  return null
}
const endOfCell = (content: string, from: number, comma: string): number => {
  for (let at = from; at < content.length; at++) if (content[at] === comma || content[at] === '\n') return at
  return content.length
}
/** `ip,description` with that header, and `expires_at` if it is there; columns in another order, others beside them and semicolons are understood. */
export function* readCsv(content: string): Generator<Candidate> {
  const comma = /^\ufeff?[^,\n]*;/.test(content) ? ';' : ','
  let columns: { ip: number; description: number; expires_at: number } | null = null
  for (const { line, cells, open } of rowsOf(content, comma)) {
    const first = (cells[0] ?? '').trim()
    if (cells.length === 1 && first === '') continue
    if (first.startsWith('#')) continue
    if (columns === null) {
      const names = cells.map(cell => cell.trim().toLowerCase())
      columns = names.includes('ip')
        ? {
            ip: names.indexOf('ip'),
            description: names.indexOf('description'),
            expires_at: names.indexOf('expires_at'),
          }
        : { ip: 0, description: 1, expires_at: -1 }
      if (names.includes('ip')) continue
    }
    const ip = unescaped(cells[columns.ip] ?? '').trim()
    const description = unescaped(cells[columns.description] ?? '')
    const value = cells.join(comma)
    const expires_at = (cells[columns.expires_at] ?? '').trim()
    const ends = expires_at === '' ? {} : { expires_at }
    yield {
      line,
      value,
      ip,
      description,
      ...ends,
      ...(open ? { error: 'A quote is opened here and never closed.' } : {}),
    }
  }
}

const entriesIn = (parsed: unknown): readonly unknown[] | null => {
  const list = Array.isArray(parsed) ? parsed : recordOf(parsed).whitelist
  return Array.isArray(list) ? list : null
}
/** What the export gives, or its bare array; null when it is neither. */
export const readJson = (content: string): Iterable<Candidate> | null => {
  let parsed: unknown
  try {
    parsed = JSON.parse(content)
  } catch {
    return null
  }
  const entries = entriesIn(parsed)
  return entries && candidatesOf(entries)
}
function* candidatesOf(entries: readonly unknown[]): Generator<Candidate> {
  let line = 0
  for (const entry of entries) {
    line++
    const { ip, description = '', expires_at = null } = recordOf(typeof entry === 'string' ? { ip: entry } : entry)
    const ends = typeof expires_at === 'string' ? { expires_at } : {}
    if (
      typeof ip === 'string' &&
      (typeof description === 'string' || description === null) &&
      (typeof expires_at === 'string' || expires_at === null)
    )
      yield { line, value: ip, ip, description: description ?? '', ...ends }
    else {
      const value = typeof ip === 'string' || typeof ip === 'number' ? String(ip) : typeof entry
      yield {
        line,
        value,
        ip: '',
        description: '',
        error: 'It must be an object with ip, description and expires_at as texts.',
      }
    }
  }
}

export interface Written {
  readonly ip: string
  readonly description: string
  /** ISO 8601; null for ever. */
  readonly expires_at: string | null
}
const unescaped = (text: string) => (text.startsWith("'") && formula.test(text) ? text.slice(1) : text)

export const csvHeader = 'ip,description\r\n'
export const csvLine = ({ ip, description }: Pick<Written, 'ip' | 'description'>): string => csvRow([ip, description])
/** The same where some entries lift themselves. */
export const csvWithEnds = {
  header: 'ip,description,expires_at\r\n',
  line: ({ ip, description, expires_at }: Written): string => csvRow([ip, description, expires_at ?? '']),
} as const
