import { widest } from '@stockade/contract/reach.ts'
import type { Spans } from '@stockade/contract/spans.ts'
import { ipText } from './ip.ts'

const end4 = 2 ** 32

/** An address of IPv4 that is a number. */
export const ipv4Text = (address: number): string =>
  `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`

interface Bounds {
  /** So many entries are made, and no more: few spans may hide millions of entries. */
  readonly most?: number
  /** The lengths of the widest networks that become one entry. */
  readonly widest?: Readonly<Record<4 | 6, number>>
}

/** Canonical addresses and ranges, IPv4 first. */
export function* entriesOf(spans: Spans, bounds: Bounds = {}): Generator<string> {
  const { most = Infinity, widest: lengths = widest.listed } = bounds
  let left = most
  for (const entry of allEntriesOf(spans, lengths)) {
    if (left-- <= 0) return
    yield entry
  }
}

function* allEntriesOf(spans: Spans, lengths: Readonly<Record<4 | 6, number>>): Generator<string> {
  const widest4 = 2 ** (32 - lengths[4])
  const widest6 = 1n << BigInt(128 - lengths[6])
  for (let place = 0; place < spans.v4.length; place += 2)
    yield* entries4(spans.v4[place] ?? 0, spans.v4[place + 1] ?? 0, widest4)
  for (const [first, last] of spans.v6) yield* entries6(first, last, widest6)
}

function* entries4(start: number, last: number, widest4: number): Generator<string> {
  for (let first = start; first <= last;) {
    let size = 1
    let prefix = 32
    while (size < widest4 && first % (size * 2) === 0 && first + size * 2 - 1 <= last && first + size * 2 <= end4) {
      size *= 2
      prefix--
    }
    yield prefix === 32 ? ipv4Text(first) : `${ipv4Text(first)}/${prefix}`
    first += size
  }
}

function* entries6(start: bigint, last: bigint, widest6: bigint): Generator<string> {
  for (let first = start; first <= last;) {
    let size = 1n
    let prefix = 128
    while (size < widest6 && (first & (size * 2n - 1n)) === 0n && first + size * 2n - 1n <= last) {
      size *= 2n
      prefix--
    }
    yield ipText(Buffer.from(first.toString(16).padStart(32, '0'), 'hex'), prefix === 128 ? null : prefix)
    first += size
  }
}
