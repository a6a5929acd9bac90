import { SpanCollector } from '@stockade/contract/spans.ts'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { csvRow, formula } from '../../core/csv.ts'
import { entriesOf } from '../../core/entries.ts'
import { kindOfField, readAddress, readLine } from '../../core/list-lines.ts'
import type { Found } from '../../core/list-lines.ts'

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

/** A range of whole networks as these; more than so many are too many for one line. */
const mostOfRange = 64
const textsOf = ({ from, to }: Found): readonly string[] | null => {
  if (from === to) return [from.text]
  const collector = new SpanCollector()
  collector.add(from, to)
  const texts = [...entriesOf(collector.spans(), { most: mostOfRange + 1 })]
  return texts.length > mostOfRange ? null : texts
}
const tooMany = `The range is more than ${mostOfRange} networks. Write it as CIDRs.`
/** A description that begins with what looks like an address is one that was mistyped. */
const isNearlyAddress = (note: string): boolean => /^[\d.:/]*\d[.:]\d+[.:][\d.:/]+(?:\s|$)/.test(note.slice(0, 100))
const ignoreIp = /^\s*ignore_?ip\s*=/i

/**
 * `192.0.2.1 # office`, and what other programs write (`core/list-lines.ts`); blank lines and comments say nothing. Several addresses in a line are
 * several entries.
 */
export function* readPlain(content: string): Generator<Candidate> {
  let line = 0
  for (const text of linesOf(content)) {
    line++
    const value = text.trim()
    if (ignoreIp.test(text)) {
      // Here each word is an entry, also one that is no address.
      for (const word of text
        .replace(ignoreIp, '')
        .replace(/#.*$/, '')
        .split(/[\s,]+/)
        .filter(Boolean))
        yield { line, value: word, ip: word, description: '' }
      continue
    }
    const read = readLine(text)
    if (read === null) {
      const mark = text.indexOf('#')
      yield { line, value, ip: (mark < 0 ? text : text.slice(0, mark)).trim(), description: '' }
      continue
    }
    const description = [read.note, read.comment].filter(Boolean).join(' ')
    if (isNearlyAddress(read.note)) {
      yield { line, value, ip: '', description: '', error: `${read.note.slice(0, 50)} is no address.` }
      continue
    }
    for (const match of read.found) {
      const texts = textsOf(match)
      if (texts === null) yield { line, value, ip: '', description: '', error: tooMany }
      for (const ip of texts ?? []) yield { line, value: read.found.length > 1 ? ip : value, ip, description }
    }
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
/** Where a row of CSV has what; -1 for nowhere. */
interface Columns {
  readonly address: number
  readonly note: number
  readonly end: number
  /** One that tells of an end in a form that is not read, and its name. */
  readonly other: number
  readonly otherName: string
}
const columnsOf = (cells: readonly string[]): Columns | null => {
  const kinds = cells.map(kindOfField)
  const address = kinds.indexOf('address')
  const other = kinds.indexOf('end of another kind')
  return address < 0
    ? null
    : { address, note: kinds.indexOf('note'), end: kinds.indexOf('end'), other, otherName: (cells[other] ?? '').trim() }
}
const usualColumns: Columns = { address: 0, note: 1, end: -1, other: -1, otherName: '' }
/** What other programs write where an entry stays. */
const isEndless = (text: string): boolean => /^(?:|never|none|null|permanent|forever|-|n\/a)$/i.test(text)
const notRead = (name: string) =>
  `The column ${name} was not read, and it may say when the entry ends. Call it expires_at and write times as 2026-12-31T00:00:00Z, or leave it out.`

const candidateOf = (cells: readonly string[], columns: Columns): Omit<Candidate, 'line' | 'value'> => {
  const ip = unescaped(cells[columns.address] ?? '').trim()
  const end = (cells[columns.end] ?? '').trim()
  return {
    ip: textsOfOne(ip) ?? ip,
    description: unescaped(cells[columns.note] ?? ''),
    ...(isEndless(end) ? {} : { expires_at: end }),
    ...(isEndless((cells[columns.other] ?? '').trim()) ? {} : { error: notRead(columns.otherName) }),
  }
}
/** The canonical text of a cell that is one address or one network. */
const textsOfOne = (text: string): string | null => {
  const address = readAddress(text)
  const texts = address && textsOf(address)
  return texts?.length === 1 ? (texts[0] ?? null) : null
}

/**
 * `ip,description` with that header, and `expires_at` if it is there; columns in another order and under other usual names, others beside them and
 * semicolons are understood.
 */
export function* readCsv(content: string): Generator<Candidate> {
  const comma = /^\ufeff?[^,\n]*;/.test(content) ? ';' : ','
  let columns: Columns | null = null
  for (const { line, cells, open } of rowsOf(content, comma)) {
    const first = (cells[0] ?? '').trim()
    if (cells.length === 1 && first === '') continue
    if (first.startsWith('#')) continue
    if (columns === null) {
      const header = columnsOf(cells)
      columns = header ?? usualColumns
      if (header) continue
    }
    yield {
      line,
      value: cells.join(comma),
      ...candidateOf(cells, columns),
      ...(open ? { error: 'A quote is opened here and never closed.' } : {}),
    }
  }
}

/** Where other programs put the array of an export. */
const arrays = ['whitelist', 'allowlist', 'items', 'entries', 'data', 'list', 'addresses', 'results']
/** The array itself, or the first one of these that an object holds. */
const entriesIn = (parsed: unknown): readonly unknown[] | null => {
  if (Array.isArray(parsed)) return parsed
  const fields = recordOf(parsed)
  return arrays.map(name => fields[name]).find(held => Array.isArray(held)) ?? null
}
/** What the export gives, or its bare array, or another object with an array of entries; null when it is neither. */
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
const noEntry = 'It must be an object with ip, description and expires_at as texts.'
const fieldsIn = (entry: unknown): Omit<Candidate, 'line'> => {
  const fields = Object.entries(recordOf(typeof entry === 'string' ? { ip: entry } : entry))
  const of = (kind: ReturnType<typeof kindOfField>) =>
    fields.find(([name, value]) => kindOfField(name) === kind && value !== null && value !== '') ?? null
  const [ip, note, end, other] = [
    of('address')?.[1],
    of('note')?.[1] ?? '',
    of('end')?.[1] ?? '',
    of('end of another kind'),
  ]
  if (typeof ip !== 'string' || typeof note !== 'string' || typeof end !== 'string') {
    const value = typeof ip === 'string' || typeof ip === 'number' ? String(ip) : typeof entry
    return { value, ip: '', description: '', error: noEntry }
  }
  return {
    value: ip,
    ip: textsOfOne(ip) ?? ip,
    description: note,
    ...(isEndless(end) ? {} : { expires_at: end }),
    ...(other === null ? {} : { error: notRead(other[0]) }),
  }
}
function* candidatesOf(entries: readonly unknown[]): Generator<Candidate> {
  let line = 0
  for (const entry of entries) yield { line: ++line, ...fieldsIn(entry) }
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
