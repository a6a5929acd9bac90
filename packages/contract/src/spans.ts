/*
 * Sets of addresses as disjoint spans in rising order: plain functions over bytes and numbers, so that server and agent count with the same ones. A span
 * is two numbers, its first and its last address. IPv4 has plain numbers in one typed array, because a list may have 200,000 of them; IPv6 has big
 * integers.
 */

/** An address or a network: 4 or 16 bytes in network byte order, and the length of the prefix; null for a single address. */
export interface Network {
  readonly bytes: Uint8Array
  readonly prefix: number | null
}
export interface Spans {
  /** First and last address in turn. */
  readonly v4: Float64Array
  readonly v6: readonly (readonly [bigint, bigint])[]
}
/** Spans as two typed arrays, which another thread gets in a moment. Each span of IPv6 is four words: high and low of its first and of its last address. */
export interface PackedSpans {
  readonly v4: Float64Array
  readonly v6: BigUint64Array
}

const low64 = 2n ** 64n - 1n
export const packSpans = ({ v4, v6 }: Spans): PackedSpans => {
  const words = new BigUint64Array(v6.length * 4)
  v6.forEach(([first, last], place) => words.set([first >> 64n, first & low64, last >> 64n, last & low64], place * 4))
  return { v4, v6: words }
}
export const openSpans = ({ v4, v6 }: PackedSpans): Spans => {
  const at = (place: number) => ((v6[place] ?? 0n) << 64n) | (v6[place + 1] ?? 0n)
  return { v4, v6: Array.from({ length: v6.length / 4 }, (_, n) => [at(n * 4), at(n * 4 + 2)] as const) }
}

/** Place of a span in the array that is sorted: native sorting of numbers takes a tenth of the time of a comparison. */
const places = 2 ** 20

const number4 = (bytes: Uint8Array): number =>
  (bytes[0] ?? 0) * 0x1000000 + (((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0))
const number6 = (bytes: Uint8Array): bigint => {
  let number = 0n
  for (let at = 0; at < 16; at += 4) number = (number << 32n) | BigInt(number4(bytes.subarray(at, at + 4)))
  return number
}

/** The last address of a network. */
export const lastOf = ({ bytes, prefix }: Network): Uint8Array => {
  const last = Uint8Array.from(bytes)
  const length = prefix ?? bytes.length * 8
  for (let index = 0; index < last.length; index++) {
    const keptBits = Math.min(8, Math.max(0, length - index * 8))
    last[index] = (last[index] ?? 0) | (0xff >> keptBits)
  }
  return last
}

/** Reads an address or a network in its canonical form. Not for what comes from elsewhere: it refuses nothing. */
export const networkOf = (canonical: string): Network => {
  const [address = '', prefix] = canonical.split('/')
  return {
    bytes: address.includes(':') ? bytes6(address) : Uint8Array.from(address.split('.'), Number),
    prefix: prefix === undefined ? null : Number(prefix),
  }
}
const bytes6 = (address: string): Uint8Array => {
  const [head = '', tail = ''] = address.split('::')
  const [front, back] = [head, tail].map(part => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
  return Uint8Array.from(groups.flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]))
}
export const spansOfNetworks = (networks: Iterable<Network>): Spans => {
  const collector = new SpanCollector()
  for (const network of networks) collector.add(network)
  return collector.spans()
}

/** Collects ranges in any order, overlapping or not: at most 2^20 of each family, and what comes after is dropped. */
export class SpanCollector {
  readonly #v4: number[] = []
  readonly #v6: [bigint, bigint][] = []

  get size(): number {
    return this.#v4.length / 2 + this.#v6.length
  }
  /** From the first address of one range to the last address of another of the same family. */
  add(from: Network, to: Network = from): void {
    this.addBytes(from.bytes, lastOf(to))
  }
  /** First and last address as bytes. */
  addBytes(first: Uint8Array, last: Uint8Array): void {
    if (first.length === 4) this.addNumbers(number4(first), number4(last))
    else if (this.#v6.length < places) this.#v6.push([number6(first), number6(last)])
  }
  /** From the first address of IPv4 to the last one, as numbers. */
  addNumbers(first: number, last: number): void {
    if (this.#v4.length < places * 2) this.#v4.push(first, last)
  }
  /** How many of what was added another one covers by itself: doubles, and parts of ranges. */
  get covered(): number {
    const pairs = Array.from({ length: this.#v4.length / 2 }, (_, place): [number, number] => [
      this.#v4[place * 2] ?? 0,
      this.#v4[place * 2 + 1] ?? 0,
    ])
    return coveredOf(pairs) + coveredOf(this.#v6)
  }
  spans(): Spans {
    return { v4: merged4(this.#v4), v6: merged6(this.#v6) }
  }
}

const coveredOf = <N extends number | bigint>(pairs: readonly (readonly [N, N])[]): number => {
  let covered = 0
  let reach: N | null = null
  // A wider one comes before those that begin where it does.
  for (const [, last] of [...pairs].sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x > y ? -1 : x < y ? 1 : 0)))
    if (reach !== null && last <= reach) covered++
    else reach = last
  return covered
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

/** Whether an address or a network has an address in common with the spans. */
export const touches = ({ v4, v6 }: Spans, network: Network): boolean => {
  if (network.bytes.length === 16) {
    const first = number6(network.bytes)
    const place = firstPlace(v6.length, at => (v6[at]?.[1] ?? 0n) >= first)
    return place < v6.length && (v6[place]?.[0] ?? 0n) <= number6(lastOf(network))
  }
  const first = number4(network.bytes)
  const size = v4.length / 2
  const place = firstPlace(size, at => numberAt(v4, at * 2 + 1) >= first)
  return place < size && numberAt(v4, place * 2) <= number4(lastOf(network))
}
/** What the spans and a network have in common. */
export const within = ({ v4, v6 }: Spans, network: Network): Spans => {
  const last = lastOf(network)
  if (network.bytes.length === 16) {
    const [from, to] = [number6(network.bytes), number6(last)]
    const parts: [bigint, bigint][] = []
    for (let place = firstPlace(v6.length, at => (v6[at]?.[1] ?? 0n) >= from); place < v6.length; place++) {
      const [first, end] = v6[place] ?? [to + 1n, 0n]
      if (first > to) break
      parts.push([first > from ? first : from, end < to ? end : to])
    }
    return { v4: new Float64Array(), v6: parts }
  }
  const [from, to] = [number4(network.bytes), number4(last)]
  const parts: number[] = []
  for (let at = firstPlace(v4.length / 2, place => numberAt(v4, place * 2 + 1) >= from) * 2; at < v4.length; at += 2) {
    if (numberAt(v4, at) > to) break
    parts.push(Math.max(numberAt(v4, at), from), Math.min(numberAt(v4, at + 1), to))
  }
  return { v4: Float64Array.from(parts), v6: [] }
}
/** The first of some places in order for which it is true; their number where it is true for none. */
const firstPlace = (size: number, isTrue: (place: number) => boolean): number => {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isTrue(middle)) high = middle
    else low = middle + 1
  }
  return low
}
