import { ipText, lastOf } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'

/*
 * Sets of addresses as disjoint spans in rising order. A span is two numbers, its first and its last address. IPv4 has
 * plain numbers in one typed array, because a list may have 200,000 of them; IPv6 has big integers.
 */
export interface Spans {
  /** First and last address in turn. */
  readonly v4: Float64Array
  readonly v6: readonly (readonly [bigint, bigint])[]
}

/** The widest range that becomes one entry: /8 of IPv4 and /19 of IPv6. */
const widest4 = 2 ** 24
const widest6 = 1n << 109n
const end4 = 2 ** 32
/** Place of a span in the array that is sorted: native sorting of numbers takes a tenth of the time of a comparison. */
const places = 2 ** 20

const number4 = (bytes: Uint8Array): number =>
  (bytes[0] ?? 0) * 0x1000000 + (((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0))
const number6 = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

/** Collects ranges in any order, overlapping or not. */
export class SpanCollector {
  readonly #v4: number[] = []
  readonly #v6: [bigint, bigint][] = []

  get size(): number {
    return this.#v4.length / 2 + this.#v6.length
  }
  /** From the first address of one range to the last address of another of the same family. */
  add(from: IpRange, to: IpRange = from): void {
    this.addBytes(from.bytes, lastOf(to))
  }
  /** First and last address as bytes. */
  addBytes(first: Uint8Array, last: Uint8Array): void {
    if (first.length === 4) this.#add4(number4(first), number4(last))
    else this.#v6.push([number6(first), number6(last)])
  }
  #add4(first: number, last: number): void {
    if (this.#v4.length < places * 2) this.#v4.push(first, last)
  }
  spans(): Spans {
    return { v4: merged4(this.#v4), v6: merged6(this.#v6) }
  }
}

const merged4 = (pairs: readonly number[]): Float64Array => {
  const n = pairs.length / 2
  const order = new Float64Array(n)
  for (let place = 0; place < n; place++) order[place] = (pairs[place * 2] ?? 0) * places + place
  order.sort()
  const merged = new Float64Array(pairs.length)
  let size = 0
  for (const key of order) {
    const place = key % places
    const first = pairs[place * 2] ?? 0
    const last = pairs[place * 2 + 1] ?? 0
    if (size > 0 && first <= (merged[size - 1] ?? 0) + 1) merged[size - 1] = Math.max(merged[size - 1] ?? 0, last)
    else {
      merged[size++] = first
      merged[size++] = last
    }
  }
  return merged.slice(0, size)
}

const merged6 = (pairs: readonly (readonly [bigint, bigint])[]): [bigint, bigint][] => {
  const merged: [bigint, bigint][] = []
  for (const [first, last] of [...pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    const top = merged.at(-1)
    if (top && first <= top[1] + 1n) top[1] = last > top[1] ? last : top[1]
    else merged.push([first, last])
  }
  return merged
}

/** The spans without the cuts, and how many of the spans were touched. */
export const subtract = (spans: Spans, cuts: Spans): { readonly spans: Spans; readonly touched: number } => {
  const [v4, v6] = [subtract4(spans.v4, cuts.v4), subtract6(spans.v6, cuts.v6)]
  return { spans: { v4: v4.left, v6: v6.left }, touched: v4.touched + v6.touched }
}

const numberAt = (spans: Float64Array, place: number): number => spans[place] ?? 0

const subtract4 = (spans: Float64Array, cuts: Float64Array) => {
  const left: number[] = []
  let touched = 0
  let at = 0
  for (let place = 0; place < spans.length; place += 2) {
    let first = numberAt(spans, place)
    const last = numberAt(spans, place + 1)
    while (at < cuts.length && numberAt(cuts, at + 1) < first) at += 2
    if (at < cuts.length && numberAt(cuts, at) <= last) touched++
    for (let cut = at; cut < cuts.length && numberAt(cuts, cut) <= last; cut += 2) {
      if (numberAt(cuts, cut) > first) left.push(first, numberAt(cuts, cut) - 1)
      first = numberAt(cuts, cut + 1) + 1
    }
    if (first <= last) left.push(first, last)
  }
  return { left: Float64Array.from(left), touched }
}

const subtract6 = (spans: Spans['v6'], cuts: Spans['v6']) => {
  const left: [bigint, bigint][] = []
  let touched = 0
  let at = 0
  for (const [start, last] of spans) {
    let first = start
    while (at < cuts.length && (cuts[at]?.[1] ?? 0n) < first) at++
    const cutting = []
    for (let place = at; place < cuts.length; place++) {
      const cut = cuts[place]
      if (!cut || cut[0] > last) break
      cutting.push(cut)
    }
    touched += Number(cutting.length > 0)
    for (const [cutFirst, cutLast] of cutting) {
      if (cutFirst > first) left.push([first, cutFirst - 1n])
      first = cutLast + 1n
    }
    if (first <= last) left.push([first, last])
  }
  return { left, touched }
}

/** Whether an address or a range has an address in common with the spans. */
export const touches = ({ v4, v6 }: Spans, range: IpRange): boolean => {
  if (range.bytes.length === 16) {
    const [first, last] = [number6(range.bytes), number6(lastOf(range))]
    return v6.some(span => span[0] <= last && first <= span[1])
  }
  const [first, last] = [number4(range.bytes), number4(lastOf(range))]
  let low = 0
  let high = v4.length / 2
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((v4[middle * 2 + 1] ?? 0) < first) low = middle + 1
    else high = middle
  }
  return low < v4.length / 2 && (v4[low * 2] ?? 0) <= last
}

export const addressesOf = ({ v4 }: Spans): number => {
  let sum = 0
  for (let place = 0; place < v4.length; place += 2) sum += (v4[place + 1] ?? 0) - (v4[place] ?? 0) + 1
  return sum
}

/** Canonical addresses and ranges, IPv4 first. */
export function* entriesOf(spans: Spans): Generator<string> {
  for (let place = 0; place < spans.v4.length; place += 2)
    yield* entries4(spans.v4[place] ?? 0, spans.v4[place + 1] ?? 0)
  for (const [first, last] of spans.v6) yield* entries6(first, last)
}

function* entries4(start: number, last: number): Generator<string> {
  for (let first = start; first <= last;) {
    let size = 1
    let prefix = 32
    while (size < widest4 && first % (size * 2) === 0 && first + size * 2 - 1 <= last && first + size * 2 <= end4) {
      size *= 2
      prefix--
    }
    yield `${first >>> 24}.${(first >>> 16) & 255}.${(first >>> 8) & 255}.${first & 255}${prefix === 32 ? '' : `/${prefix}`}`
    first += size
  }
}

function* entries6(start: bigint, last: bigint): Generator<string> {
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
