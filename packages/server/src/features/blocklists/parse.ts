import type { BlocklistFormat } from '@stockade/contract'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { parseIp, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { jsonExcess } from '../../core/json-text.ts'
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
  readonly too_wide: number
  /** Addresses and ranges of the content, before they are merged. */
  readonly lines: number
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
  json: { values: 1_000_000, depth: 8 },
} as const
const inWords = (count: number): string => count.toLocaleString('en')
const localNames = new Set(['0.0.0.0', '127.0.0.1', '::1', '::'])

interface Found {
  readonly from: IpRange
  readonly to: IpRange
}

const single = (text: string): Found | null => {
  const range = parseRange(text)
  return range && { from: range, to: range }
}
/** `a-b`. Null when it is no range, or its end lies before its start. */
const fromTo = (first: string, last: string): Found | null => {
  const [from, to] = [parseIp(first), parseIp(last)]
  return from && to && from.bytes.length === to.bytes.length && Buffer.compare(from.bytes, to.bytes) <= 0
    ? { from, to }
    : null
}
const readToken = (token: string): Found | null => {
  const dash = token.indexOf('-')
  return dash < 0 ? single(token) : fromTo(token.slice(0, dash), token.slice(dash + 1))
}

/** Without a comment of any dialect, and without what quotes a value. */
const bareLine = (line: string): string => {
  const mark = /[#;]|\/\//.exec(line)
  return (mark ? line.slice(0, mark.index) : line).trim()
}
const cellsOf = (line: string): string[] =>
  line.split(/[,;\t]/, most.cells).map(cell =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
  )

const readCsv = (line: string, column: number | null): Found | null => {
  const cells = cellsOf(line)
  if (column !== null) return readToken(cells[column - 1] ?? '')
  for (const cell of cells) {
    const found = readToken(cell)
    if (found) return found
  }
  return null
}
const readPlain = (line: string): Found | null => {
  const dash = line.indexOf('-')
  const joined = dash < 0 ? line : `${line.slice(0, dash).trimEnd()}-${line.slice(dash + 1).trimStart()}`
  const [first = '', second = ''] = joined.split(/[\s,]+/, 2)
  // Lists of blocks name the first and the last address.
  return fromTo(first, second) ?? readToken(first)
}
const readHosts = (line: string): Found | null => {
  const [first = '', second = ''] = line.split(/\s+/, 2)
  return readToken(localNames.has(first) ? second : first)
}

const jsonEntry = (value: unknown): string | null => {
  if (typeof value === 'string') return value
  const fields = recordOf(value)
  for (const name of ['cidr', 'ip', 'prefix', 'network', 'address', 'range'])
    if (typeof fields[name] === 'string') return fields[name]
  return null
}
const isMetadata = (value: unknown): boolean => recordOf(value).type === 'metadata'

/** The rows of a JSON array. */
const jsonRows = (body: Buffer): readonly unknown[] => {
  const text = body.toString('utf8')
  const excess = jsonExcess(text, most.json)
  if (excess === 'deep') throw new NoList(`The content is JSON that is nested deeper than ${most.json.depth} levels.`)
  if (excess === 'many') throw new NoList(`The content is JSON of more than ${inWords(most.json.values)} values.`)
  try {
    const rows: unknown = JSON.parse(text)
    return Array.isArray(rows) ? rows : []
  } catch {
    throw new NoList('The content is JSON that can’t be read.')
  }
}
/** The texts of a JSON array, or of one object a line. */
function* jsonTexts(body: Buffer): Generator<string | null> {
  if (startOf(body).startsWith('[')) {
    for (const row of jsonRows(body)) if (!isMetadata(row)) yield jsonEntry(row)
    return
  }
  for (const line of linesOf(body)) {
    if (line.trim() === '') continue
    let row: unknown
    try {
      row = JSON.parse(line)
    } catch {
      yield null
      continue
    }
    if (!isMetadata(row)) yield jsonEntry(row)
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

/** The entries as the list writes them; null for a line that is no valid entry. */
function* foundIn(body: Buffer, format: BlocklistFormat, column: number | null): Generator<Found | null> {
  if (format === 'spamhaus-json') {
    for (const entry of jsonTexts(body)) yield entry === null ? null : readToken(entry.trim())
    return
  }
  for (const raw of linesOf(body)) {
    // A semicolon parts the columns of some CSV files and begins a comment elsewhere.
    const line = format === 'csv' ? raw.replace(/^\s*(#|\/\/).*$/, '').trim() : bareLine(raw)
    if (line === '') continue
    if (format === 'csv') yield readCsv(line, column)
    else yield format === 'hosts' ? readHosts(line) : readPlain(line)
  }
}

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

/** @throws NoList for what is a web page, is not text, holds nothing, or holds more than any list. */
export const parseBlocklist = (content: Buffer, reading: Reading): Parsed => {
  const hasMark = content.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  const body = hasMark ? content.subarray(byteOrderMark.length) : content
  if (/^(<!doctype|<html|<\?xml|<head)/i.test(startOf(body))) throw new NoList('The content is a web page and no list.')
  if (body.includes(0)) throw new NoList('The content is not text.')
  const format = reading.format === 'auto' ? formatOf(body) : reading.format
  const lengths = widestOf(reading)
  const collector = new SpanCollector()
  let invalid = 0
  let tooWide = 0
  let isHeader = format === 'csv'
  for (const found of foundIn(body, format, reading.column)) {
    if (found === null) invalid += Number(!isHeader)
    else if (isTooWide(found, lengths) && !isReserved(found)) tooWide++
    else collector.add(found.from, found.to)
    if (collector.size > most.entries)
      throw new NoList(`The content has more than ${inWords(most.entries)} addresses and ranges.`)
    isHeader = false
  }
  const lines = collector.size
  if (lines === 0 && invalid > 0) throw new NoList('The content holds no address.')
  if (invalid > 10 && invalid > lines)
    throw new NoList(`Most of the content is no address: ${invalid} lines of ${invalid + lines + tooWide}.`)
  return { format, spans: collector.spans(), invalid, too_wide: tooWide, lines }
}
