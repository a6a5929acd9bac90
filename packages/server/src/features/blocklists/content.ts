import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Blocklist, BlocklistFormat } from '@stockade/contract'
import { mapValues } from '@stockade/contract/records.ts'
import { codeOf } from '@stockade/contract/error-code.ts'
import { growthOf, reachOf } from '@stockade/contract/reach.ts'
import { networkOf, openSpans, spansOfNetworks, touches } from '@stockade/contract/spans.ts'
import type { PackedSpans, Spans } from '@stockade/contract/spans.ts'
import { entriesOf } from '../../core/entries.ts'
import { parseIp, parseRange } from '../../core/ip.ts'
import { cutBy } from '../reach/cut.ts'
import type { ProtectedKind } from '../reach/cut.ts'
import { NoList, TooLarge, parseBlocklist, widestOf } from './parse.ts'
import type { Parsed, Reading } from './parse.ts'

/* What is made of the content of a list. All of it runs in a thread (list-threads.ts): a content is made by somebody else, and takes what time it likes. */

/** A content, larger than which none is read once it is expanded. */
const mostExpanded = 24 * 1024 * 1024
const mostSamples = 10

/** Where entries come from: the answer of a source, spans of places, or what a source gave at the last look. */
export type Given =
  | { readonly kind: 'answer'; readonly body: Uint8Array }
  | { readonly kind: 'places'; readonly spans: PackedSpans; readonly lines: number }
  | { readonly kind: 'stored'; readonly raw: Uint8Array }
export interface BuildJob {
  readonly given: Given
  readonly reading: Reading
  readonly cuts: Readonly<Record<ProtectedKind, PackedSpans>>
  /** More entries are not made. */
  readonly most: number
  /** What the source gave for the version in force; null before the first. */
  readonly before: Uint8Array | null
  /** Addresses, and the text of the whitelist, of which a preview says whether the source names them. */
  readonly named: { readonly addresses: readonly string[]; readonly whitelist: Uint8Array } | null
}
/** A content that is ready for hosts. */
export interface Built {
  readonly format: BlocklistFormat | null
  readonly entries: number
  readonly addresses: number
  readonly networks: number
  readonly digest: string
  readonly left_out: Blocklist['left_out']
  /** What the source gave, and what is left of it after the cuts: an entry a line, gzipped. */
  readonly raw: Uint8Array
  readonly packed: Uint8Array
  readonly samples: readonly string[]
  readonly unread: Parsed['unread']
  readonly change: Change | null
  readonly named: { readonly addresses: readonly boolean[]; readonly whitelist: readonly string[] }
}
/** How two versions of what a source gives differ: shares from 0 to 1. */
export interface Change {
  /** Entries of the longer version. */
  readonly longer: number
  /** The share of these that the other version does not have. */
  readonly entries: number
  /** The share of what the new version covers that the old one did not. */
  readonly ipv4: number
  readonly ipv6: number
}

const textOf = (entries: readonly string[]): string => (entries.length === 0 ? '' : `${entries.join('\n')}\n`)
const packLines = (entries: readonly string[]): Uint8Array => gzipSync(textOf(entries), { level: 6 })
export const unpackLines = (packed: Uint8Array): string[] => gunzipSync(packed).toString().split('\n').filter(Boolean)
const spansOfLines = (lines: readonly string[]): Spans => spansOfNetworks(lines.map(networkOf))

const expanded = (body: Uint8Array): Buffer => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: mostExpanded })
  } catch (error) {
    const isLarge = codeOf(error) === 'ERR_BUFFER_TOO_LARGE'
    throw new NoList(
      isLarge
        ? `The content expands to more than ${mostExpanded / 1024 / 1024} MiB.`
        : 'The content is damaged: it begins as gzip and can’t be expanded.',
    )
  }
}
const read = (given: Given, reading: Reading): Omit<Parsed, 'format' | 'lines'> & Pick<Built, 'format'> => {
  if (given.kind === 'answer') return parseBlocklist(expanded(given.body), reading)
  const spans = given.kind === 'places' ? openSpans(given.spans) : spansOfLines(unpackLines(given.raw))
  return { format: null, spans, invalid: 0, unread: [], too_wide: 0, duplicates: 0 }
}

const changeOf = (before: readonly string[], now: readonly string[], spans: Spans): Change => {
  const [small, large] = before.length < now.length ? [before, now] : [now, before]
  const smallSet = new Set(small)
  const sharedCount = large.reduce((n, entry) => n + Number(smallSet.has(entry)), 0)
  return {
    longer: large.length,
    entries: large.length === 0 ? 0 : (large.length - sharedCount) / large.length,
    ...growthOf(spansOfLines(before), spans),
  }
}
const namedIn = (spans: Spans, { addresses, whitelist }: NonNullable<BuildJob['named']>): Built['named'] => {
  const listed: string[] = []
  for (const line of Buffer.from(whitelist).toString().split('\n')) {
    const range = line.startsWith('#') ? null : parseRange(line)
    if (range && touches(spans, range)) listed.push(range.text)
    if (listed.length === mostSamples) break
  }
  const isNamed = (text: string): boolean => {
    const ip = parseIp(text)
    return ip !== null && touches(spans, ip)
  }
  return { addresses: addresses.map(isNamed), whitelist: listed }
}

/** Reads a content, and cuts out what no list may hold. @throws NoList */
export const buildContent = ({ given, reading, cuts, most, before, named }: BuildJob): Built => {
  const { format, spans, invalid, unread, too_wide, duplicates } = read(given, reading)
  const expand = (from: Spans): string[] => {
    const entries = [...entriesOf(from, { most: most + 1, widest: widestOf(reading) })]
    if (entries.length <= most) return entries
    const limitText = most.toLocaleString('en')
    throw new TooLarge(`The new version holds more than ${limitText} entries, and the list takes ${limitText}.`)
  }
  const raw = expand(spans)
  const left = cutBy(mapValues(cuts, openSpans), spans)
  const isCut = Object.values(left.counts).some(count => count > 0)
  const entries = isCut ? expand(left.spans) : raw
  const { ipv4, ipv6 } = reachOf(left.spans)
  return {
    format,
    entries: entries.length,
    addresses: ipv4,
    networks: ipv6,
    digest: createHash('sha256').update(textOf(entries)).digest('hex'),
    left_out: { ...left.counts, invalid, too_wide, duplicates },
    raw: packLines(raw),
    packed: packLines(entries),
    samples: entries.slice(0, mostSamples),
    unread,
    change: before === null ? null : changeOf(unpackLines(before), raw, spans),
    named: named === null ? { addresses: [], whitelist: [] } : namedIn(spans, named),
  }
}
