import { fromNumber, isCidr, span } from '../ip.ts'
import type { Span } from '../ip.ts'

/** A collapsed set of addresses: no range overlaps or could be merged with another one, no single address lies in a range. */
export interface Addresses {
  readonly singles: ReadonlySet<string>
  /** Widest first. */
  readonly ranges: readonly string[]
  /** Whether a canonical address is in the set, or a canonical range has an address in common with it. */
  touches(canonical: string): boolean
}

/**
 * Collapses canonical addresses and ranges. Single addresses are never made into ranges: fail2ban looks them up in a
 * hash, but walks through all ranges at each failure.
 */
export const collapse = (entries: readonly string[]): Addresses => {
  const merged = merge(entries.filter(isCidr).map(span))
  const ranges = merged.flatMap(wholeRanges).sort((a, b) => share(a) - share(b) || (a < b ? -1 : 1))
  const within = finder(merged)
  const singles = new Set(entries.filter(entry => !isCidr(entry) && (merged.length === 0 || !within(span(entry)))))
  return {
    singles,
    ranges,
    touches(canonical) {
      if (singles.has(canonical)) return true
      const askedSpan = span(canonical)
      if (within(askedSpan)) return true
      return isCidr(canonical) && [...singles].some(single => overlap(span(single), askedSpan))
    },
  }
}

/** Sorted by family and place, without overlaps, and neighbours joined. */
const merge = (spans: readonly Span[]): Span[] => {
  const sorted = [...spans].sort((a, b) => a.bits - b.bits || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
  const merged: Span[] = []
  for (const next of sorted) {
    const last = merged.at(-1)
    if (last?.bits === next.bits && next.first <= last.last + 1n) {
      if (next.last > last.last) merged[merged.length - 1] = { ...last, last: next.last }
    } else merged.push(next)
  }
  return merged
}

/** The fewest ranges that make up the span. */
const wholeRanges = ({ bits, first, last }: Span): string[] => {
  const addresses: string[] = []
  for (let at = first; at <= last;) {
    let size = 1n
    let prefix = bits
    while (prefix > 0 && (at & (size * 2n - 1n)) === 0n && at + size * 2n - 1n <= last) {
      size *= 2n
      prefix -= 1
    }
    addresses.push(prefix === bits ? fromNumber(at, bits) : `${fromNumber(at, bits)}/${prefix}`)
    at += size
  }
  return addresses
}

/** Whether a span has an address in common with one of the merged spans. */
const finder = (merged: readonly Span[]): ((asked: Span) => boolean) => {
  const families = [32, 128].map(bits => merged.filter(span => span.bits === bits))
  return asked => {
    const spans = families[asked.bits === 32 ? 0 : 1] ?? []
    let low = 0
    let high = spans.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((spans[middle]?.last ?? 0n) < asked.first) low = middle + 1
      else high = middle
    }
    const candidate = spans[low]
    return candidate !== undefined && overlap(candidate, asked)
  }
}

const overlap = (one: Span, other: Span): boolean =>
  one.bits === other.bits && one.first <= other.last && other.first <= one.last

/** How small a range is, comparable between families: a /24 is as small as a /48. */
const share = (range: string): number => {
  const prefix = Number(range.split('/')[1] ?? 128)
  return range.includes(':') ? prefix / 2 : prefix
}
