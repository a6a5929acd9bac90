import type { BlocklistFormat } from '@stockade/contract'
import { readOr, recordOf } from '@stockade/contract/untrusted.ts'
import { jsonExcess } from '../../core/json-text.ts'
import { cellsOf, kindOfField, readAddress, readLine } from '../../core/list-lines.ts'
import type { Found } from '../../core/list-lines.ts'
import { familyOf, isWider, neverBanned, privateNetworks, widest } from '@stockade/contract/reach.ts'
import { SpanCollector, lastOf, networkOf } from '@stockade/contract/spans.ts'
import type { Spans } from '@stockade/contract/spans.ts'

/* Reads the dialects of published lists. What is no address is counted and never shown, so a preview leaks no page. */

/** A content that is no list. The message is fit for operators. */
export class NoList extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NoList'
  }
}

/** Number of a line from 1, and its form: letters as a, digits as 0. What a source answers may be a secret of a private network. */
export interface UnreadLine {
  readonly line: number
  readonly form: string
}
/** A list, but with more in it than it may have. */
export class TooLarge extends NoList {}

/** How a content is read. */
export interface Reading {
  readonly format: BlocklistFormat
  readonly column: number | null
  /** Takes ranges as wide as a list may hold at all. Others are left out beyond what a ban may hold. */
  readonly allowsWide: boolean
}
export interface Parsed {
  readonly format: BlocklistFormat
  readonly spans: Spans
  readonly invalid: number
  /** The first lines that are not understood. */
  readonly unread: readonly UnreadLine[]
  readonly too_wide: number
  /** Addresses and ranges of the content, before they are merged. */
  readonly lines: number
  /** How many of these another one covers. */
  readonly duplicates: number
}

/**
 * What one content may hold. A list of 200,000 entries has room for comments, doubles and neighbours that are merged, and its JSON for five fields of each.
 * Lines are cut: none that means anything is longer.
 */
const most = {
  lines: 1_000_000,
  line: 4096,
  entries: 500_000,
  cells: 100,
  unread: 10,
  json: { values: 1_000_000, depth: 8 },
} as const
const inWords = (count: number): string => count.toLocaleString('en')
const localNames = new Set(['0.0.0.0', '127.0.0.1', '::1', '::'])

/** Without a comment of any dialect. */
const bareLine = (line: string): string => {
  const mark = /[#;]|\/\//.exec(line)
  return (mark ? line.slice(0, mark.index) : line).trim()
}

/** What one line, or one value of JSON, names; null for what is not understood. */
interface Place {
  /** From 1. */
  readonly line: number
  readonly text: string
  readonly found: readonly Found[] | null
}

const readCsv = (line: string, column: number | null): readonly Found[] | null => {
  if (column !== null) {
    const address = readAddress(cellsOf(line)[column - 1] ?? '')
    return address && [address]
  }
  const whole = readLine(line)
  if (whole && whole.found.length > 0 && whole.note === '') return whole.found
  for (const cell of cellsOf(line)) {
    const address = readAddress(cell)
    if (address) return [address]
  }
  return whole?.found.slice(0, 1) ?? null
}
/** A first line of CSV that names its columns: it holds no number. */
const isHeader = (line: string): boolean => !/(?:^|[\s,;"])\d/.test(line)
const readHosts = (line: string): readonly Found[] | null => {
  const [first = '', second = ''] = line.split(/\s+/, 2)
  const address = readAddress(localNames.has(first) ? second : first)
  return address && [address]
}

/**
 * The texts that stand where addresses do, in the order of the JSON: texts of lists, and of each object its first field with such a name, or else what
 * its fields hold. Null for an object in a list that has none.
 */
function* jsonValues(value: unknown): Generator<string | null> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const row of value) yield* rowValues(row)
  else if (typeof value === 'object' && value !== null && !isMetadata(value)) {
    const addressField = Object.entries(value).find(
      ([name, held]) => typeof held === 'string' && kindOfField(name) === 'address',
    )
    if (addressField) yield String(addressField[1])
    else
      for (const addressValue of Object.values(value))
        if (typeof addressValue === 'object') yield* jsonValues(addressValue)
  }
}
function* rowValues(row: unknown): Generator<string | null> {
  let isEmpty = true
  for (const text of jsonValues(row)) {
    isEmpty = false
    yield text
  }
  if (isEmpty && !isMetadata(row) && !(Array.isArray(row) && row.length === 0)) yield null
}

const isMetadata = (value: unknown): boolean => recordOf(value).type === 'metadata'

/** The value of JSON. */
const jsonOf = (body: Buffer): unknown => {
  const text = body.toString('utf8')
  const excess = jsonExcess(text, most.json)
  if (excess === 'deep') throw new NoList(`The content is JSON that is nested deeper than ${most.json.depth} levels.`)
  if (excess === 'many') throw new NoList(`The content is JSON of more than ${inWords(most.json.values)} values.`)
  try {
    return JSON.parse(text)
  } catch {
    throw new NoList('The content is JSON that can’t be read.')
  }
}
/** Objects one a line, or one value. */
const isOneALine = (body: Buffer): boolean => {
  const [first = '', second = ''] = startOf(body).split('\n', 2)
  return first.trimEnd().endsWith('}') && second.startsWith('{')
}
/** The texts of a JSON value, or of one object a line. */
function* jsonTexts(body: Buffer): Generator<{ line: number; text: string | null }> {
  let line = 0
  if (!startOf(body).startsWith('{') || !isOneALine(body)) {
    const value = jsonOf(body)
    for (const text of jsonValues(value)) yield { line: ++line, text }
    // An answer without a list in it, such as an error in words, is no list that is empty.
    if (line === 0 && !isMetadata(value) && !body.includes('[')) yield { line: 1, text: null }
    return
  }
  for (const row of linesOf(body)) {
    line++
    if (row.trim() === '') continue
    const value = readOr(null, (): unknown => JSON.parse(row))
    for (const text of rowValues(value)) yield { line, text }
  }
}

const lineFeed = 0x0a
/** Lines are cut out of the bytes one by one: the text of all of them is as large as the content again. */
function* linesOf(body: Buffer): Generator<string> {
  for (let [from, lines] = [0, 0]; from < body.length; lines++) {
    if (lines === most.lines) throw new NoList(`The content has more than ${inWords(most.lines)} lines.`)
    const end = body.indexOf(lineFeed, from)
    const to = end < 0 ? body.length : end
    yield body.toString('utf8', from, Math.min(to, from + most.line))
    from = to + 1
  }
}

/** The first characters, without white space before them. */
const startOf = (body: Buffer): string => body.toString('utf8', 0, 4096).trimStart()
const byteOrderMark = Buffer.from('\ufeff')

const formatOf = (body: Buffer): Exclude<BlocklistFormat, 'auto'> => {
  const start = startOf(body)
  if (start.startsWith('{') || start.startsWith('[')) return 'spamhaus-json'
  const [line = ''] = start.split('\n').map(bareLine).filter(Boolean)
  if (/[,"]/.test(line)) return 'csv'
  return localNames.has(line.split(/\s+/)[0] ?? '') && /\s/.test(line) ? 'hosts' : 'plain'
}

function* placesIn(body: Buffer, format: BlocklistFormat, column: number | null): Generator<Place> {
  if (format === 'spamhaus-json') {
    for (const { line, text } of jsonTexts(body)) {
      const address = text === null ? null : readAddress(text.trim())
      yield { line, text: text ?? '', found: address && [address] }
    }
    return
  }
  let line = 0
  for (const raw of linesOf(body)) {
    line++
    // A semicolon parts the columns of some CSV files and begins a comment elsewhere.
    const text = format === 'csv' ? raw.replace(/^\s*(#|\/\/).*$/, '').trim() : raw.trim()
    if (text === '') continue
    const entries =
      format === 'csv'
        ? readCsv(text, column)
        : format === 'hosts' && !/^[#;]/.test(text)
          ? readHosts(bareLine(text))
          : (readLine(text)?.found ?? null)
    yield { line, text, found: entries }
  }
}
/** What a line looks like, without what it says: a content may be a page that only Stockade can see. */
const shapeOf = (text: string): string =>
  text
    .slice(0, 60)
    .replace(/\p{L}/gu, 'a')
    .replace(/\p{N}/gu, '0')
    .replace(/[^\x20-\x7e]/g, '?')

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
const isTooWide = ({ from, to }: Found, lengths: Readonly<Record<4 | 6, number>>): boolean => {
  if (from === to) return isWider(from, lengths)
  const bits = from.bytes.length * 8
  return numberOf(lastOf(to)) - numberOf(from.bytes) >= 1n << BigInt(bits - lengths[familyOf(from)])
}
const reserved = [...neverBanned, ...privateNetworks].map(networkOf)
/** Nobody's addresses are cut out of each list, whatever their number, and counted as such. */
const isReserved = ({ from, to }: Found): boolean => {
  const last = lastOf(to)
  return reserved.some(
    network =>
      network.bytes.length === last.length &&
      Buffer.compare(network.bytes, from.bytes) <= 0 &&
      Buffer.compare(last, lastOf(network)) <= 0,
  )
}
/** The widest networks that a list may hold. */
export const widestOf = ({ allowsWide }: Pick<Reading, 'allowsWide'>) => (allowsWide ? widest.listed : widest.banned)

const exampleOf = ({ line, form }: UnreadLine, format: BlocklistFormat): string =>
  `${format === 'spamhaus-json' ? 'Value' : 'Line'} ${line} is not understood: it looks like "${form}" (a for a letter, 0 for a digit).`
/** Without the first line of CSV where that names the columns. */
function* understood(places: Iterable<Place>, format: BlocklistFormat): Generator<Place> {
  let isFirst = format === 'csv'
  for (const place of places) {
    if (!(isFirst && place.found === null && isHeader(place.text))) yield place
    isFirst = false
  }
}

/** A content without its byte order mark. @throws NoList for a web page, and for what is not text */
const textIn = (content: Buffer): Buffer => {
  const hasMark = content.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  const body = hasMark ? content.subarray(byteOrderMark.length) : content
  if (/^(<!doctype|<html|<\?xml|<head)/i.test(startOf(body))) throw new NoList('The content is a web page and no list.')
  if (body.includes(0)) throw new NoList('The content is not text.')
  return body
}

/** @throws NoList for what is a web page, is not text, holds nothing, or holds more than any list. */
export const parseBlocklist = (content: Buffer, reading: Reading): Parsed => {
  const body = textIn(content)
  const format = reading.format === 'auto' ? formatOf(body) : reading.format
  const lengths = widestOf(reading)
  const collector = new SpanCollector()
  const unread: UnreadLine[] = []
  let invalid = 0
  let tooWide = 0
  for (const place of understood(placesIn(body, format, reading.column), format)) {
    if (place.found === null) {
      invalid++
      if (unread.length < most.unread) unread.push({ line: place.line, form: shapeOf(place.text) })
    }
    for (const one of place.found ?? [])
      if (isTooWide(one, lengths) && !isReserved(one)) tooWide++
      else collector.add(one.from, one.to)
    if (collector.size > most.entries)
      throw new NoList(`The content has more than ${inWords(most.entries)} addresses and ranges.`)
  }
  const lines = collector.size
  const example = unread[0] ? exampleOf(unread[0], format) : ''
  if (lines === 0 && invalid > 0) throw new NoList(`The content holds no address. ${example}`)
  if (invalid > 10 && invalid > lines)
    throw new NoList(`Most of the content is no address: ${invalid} lines of ${invalid + lines + tooWide}. ${example}`)
  return { format, spans: collector.spans(), invalid, unread, too_wide: tooWide, lines, duplicates: collector.covered }
}
