import type { BlocklistFormat } from '@stockade/contract'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { parseIp, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { inSlices } from '../../core/slices.ts'
import { familyOf, isWider, widest } from '@stockade/contract/reach.ts'
import { SpanCollector, lastOf } from '@stockade/contract/spans.ts'
import type { Spans } from '@stockade/contract/spans.ts'

/* Reads the dialects of published lists. What is no address is counted and never shown, so a preview leaks no page. */

/** A content that is no list. The message is fit for operators. */
export class NoList extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NoList'
  }
}

export interface Parsed {
  readonly format: BlocklistFormat
  readonly spans: Spans
  readonly invalid: number
  readonly too_wide: number
  /** Addresses and ranges of the content, before they are merged. */
  readonly lines: number
}

/** More lines are not read: a list of 200,000 entries has room for comments. */
const mostLines = 1_000_000
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
  line.split(/[,;\t]/).map(cell =>
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
  const [first = '', second = ''] = line.replace(/\s*-\s*/, '-').split(/[\s,]+/)
  // Lists of blocks name the first and the last address.
  return fromTo(first, second) ?? readToken(first)
}
const readHosts = (line: string): Found | null => {
  const [first = '', second = ''] = line.split(/\s+/)
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

/** The texts of a JSON array, or of one object a line. */
function* jsonTexts(text: string): Generator<string | null> {
  if (text.trimStart().startsWith('[')) {
    let rows: unknown
    try {
      rows = JSON.parse(text)
    } catch {
      throw new NoList('The content is JSON that can’t be read.')
    }
    for (const row of Array.isArray(rows) ? rows : []) if (!isMetadata(row)) yield jsonEntry(row)
    return
  }
  for (const line of linesOf(text)) {
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

function* linesOf(text: string): Generator<string> {
  let from = text.startsWith('\ufeff') ? 1 : 0
  for (let lines = 0; from <= text.length && lines < mostLines; lines++) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    // No line that means anything is longer.
    yield text.slice(from, Math.min(to, from + 4096))
    from = to + 1
  }
}

const formatOf = (text: string): Exclude<BlocklistFormat, 'auto'> => {
  const start = text
    .slice(0, 4096)
    .replace(/^\ufeff/, '')
    .trimStart()
  if (start.startsWith('{') || start.startsWith('[')) return 'spamhaus-json'
  const [line = ''] = start.split('\n').map(bareLine).filter(Boolean)
  if (/[,"]/.test(line)) return 'csv'
  return localNames.has(line.split(/\s+/)[0] ?? '') && /\s/.test(line) ? 'hosts' : 'plain'
}

/** The entries as the list writes them; null for a line that is no valid entry. */
function* foundIn(text: string, format: BlocklistFormat, column: number | null): Generator<Found | null> {
  if (format === 'spamhaus-json') {
    for (const entry of jsonTexts(text)) yield entry === null ? null : readToken(entry.trim())
    return
  }
  for (const raw of linesOf(text)) {
    // A semicolon parts the columns of some CSV files and begins a comment elsewhere.
    const line = format === 'csv' ? raw.replace(/^\s*(#|\/\/).*$/, '').trim() : bareLine(raw)
    if (line === '') continue
    if (format === 'csv') yield readCsv(line, column)
    else yield format === 'hosts' ? readHosts(line) : readPlain(line)
  }
}

const isTooWide = ({ from, to }: Found): boolean => {
  const bits = from.bytes.length * 8
  const least = widest.listed[familyOf(from)]
  if (from === to) return isWider(from, widest.listed)
  const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  return number(lastOf(to)) - number(from.bytes) >= 1n << BigInt(bits - least)
}

/** @throws NoList for what is a web page, is not text, or holds nothing. */
export const parseBlocklist = async (
  text: string,
  asked: BlocklistFormat = 'auto',
  column: number | null = null,
): Promise<Parsed> => {
  if (/^\s*(<!doctype|<html|<\?xml|<head)/i.test(text.slice(0, 1000)))
    throw new NoList('The content is a web page and no list.')
  if (text.includes('\0')) throw new NoList('The content is not text.')
  const format = asked === 'auto' ? formatOf(text) : asked
  const collector = new SpanCollector()
  let invalid = 0
  let tooWide = 0
  let isHeader = format === 'csv'
  await inSlices(foundIn(text, format, column), found => {
    if (found === null) invalid += Number(!isHeader)
    else if (isTooWide(found)) tooWide++
    else collector.add(found.from, found.to)
    isHeader = false
  })
  const lines = collector.size
  if (lines === 0 && invalid > 0) throw new NoList('The content holds no address.')
  if (invalid > 10 && invalid > lines)
    throw new NoList(`Most of the content is no address: ${invalid} lines of ${invalid + lines + tooWide}.`)
  return { format, spans: collector.spans(), invalid, too_wide: tooWide, lines }
}
