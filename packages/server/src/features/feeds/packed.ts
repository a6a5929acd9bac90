import { touches, within } from '@stockade/contract/spans.ts'
import type { SpanCollector, Spans } from '@stockade/contract/spans.ts'
import { entriesOf, ipv4Text } from '../../core/entries.ts'
import { covers, ipText } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { inSlices, sortInSlices } from '../../core/slices.ts'

/*
 * Entries while a feed is read. 100,000 objects with bytes and text each would be most of the time and the memory, so an entry of IPv4 is one number: its first
 * address times 64, and the length of its prefix. Such numbers sort as a feed does, by address and wide ones first. An entry of IPv6 is a range as elsewhere.
 */

export type PackedEntry = number | IpRange

const radix = 64
const single = 32

/** Reads an entry as the database writes it: bytes as hexadecimal digits, then `/` and the prefix of a range. */
export const unpack = (text: string): PackedEntry => {
  const slash = text.indexOf('/')
  const digits = slash < 0 ? text : text.slice(0, slash)
  const prefix = slash < 0 ? null : Number(text.slice(slash + 1))
  if (digits.length === 8) return Number.parseInt(digits, 16) * radix + (prefix ?? single)
  const bytes = Buffer.from(digits, 'hex')
  return { bytes, prefix, text: ipText(bytes, prefix) }
}
export const packRange = (range: IpRange): PackedEntry => {
  if (range.bytes.length !== 4) return range
  return Buffer.from(range.bytes).readUInt32BE() * radix + (range.prefix ?? single)
}
/** Equal for equal entries. */
export const idOf = (entry: PackedEntry): number | string => (typeof entry === 'number' ? entry : entry.text)
export const isIpv4 = (entry: PackedEntry): entry is number => typeof entry === 'number'

const firstOf = (entry: number): number => Math.floor(entry / radix)
const lastOf = (entry: number): number => firstOf(entry) + 2 ** (single - (entry % radix)) - 1

export const collect = (collector: SpanCollector, entry: PackedEntry): void => {
  if (isIpv4(entry)) collector.addNumbers(firstOf(entry), lastOf(entry))
  else collector.add(entry)
}

/** The texts of entries as they were banned, in order, without what `left` lacks, and without what a wider one holds. At most `most`. */
export const textsOf = async (entries: readonly PackedEntry[], left: Spans, most: number) => {
  const v4 = Float64Array.from(entries.filter(isIpv4)).sort()
  const v6 = await sortInSlices(
    entries.filter(entry => typeof entry !== 'number'),
    byAddress,
  )
  const ipv4 = await collected(uncovered4(v4, left), most)
  return { ipv4, ipv6: await collected(uncovered6(v6, left), most - ipv4.length) }
}

const collected = async (texts: Iterable<string>, most: number): Promise<string[]> => {
  const all: string[] = []
  await inSlices(firstFew(texts, most), text => void all.push(text))
  return all
}
function* firstFew(texts: Iterable<string>, most: number): Generator<string> {
  let count = 0
  for (const text of texts) {
    if (count++ >= most) return
    yield text
  }
}

function* uncovered4(entries: Float64Array, left: Spans): Generator<string> {
  let covered = -1
  let place = 0
  for (const entry of entries) {
    const [first, last] = [firstOf(entry), lastOf(entry)]
    if (last <= covered) continue
    while (place < left.v4.length && (left.v4[place + 1] ?? 0) < first) place += 2
    if (first === last) {
      if ((left.v4[place] ?? Infinity) <= first) yield ipv4Text(first)
      continue
    }
    covered = last
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(first)
    yield* entriesOf(within(left, { bytes, prefix: entry % radix }))
  }
}
function* uncovered6(ranges: readonly IpRange[], left: Spans): Generator<string> {
  let wide: IpRange | null = null
  for (const range of ranges) {
    if (wide && covers(wide, range)) continue
    if (range.prefix !== null) {
      wide = range
      yield* entriesOf(within(left, range))
    } else if (touches(left, range)) yield range.text
  }
}
const byAddress = (a: IpRange, b: IpRange): number =>
  Buffer.compare(a.bytes, b.bytes) || (a.prefix ?? 999) - (b.prefix ?? 999)
