import { ipText } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'

/*
 * Which entries cover an address, among many. Entries are CIDRs, so two of them are either apart or one lies within the
 * other: sorted by first address and length they form a forest, and the address space falls into disjoint intervals that
 * each belong to their most specific entry. A look-up is one binary search; who else covers the address stands above it in
 * the forest. Everything lies in typed arrays, so that a thread can build it and hand it over without a copy.
 */

/** One family's entries. An address is `words` numbers of 32 bits: one for IPv4, four for IPv6. */
export interface Family {
  readonly words: 1 | 4
  /** First addresses of the entries, in order. */
  readonly first: Uint32Array<ArrayBuffer>
  /** Lengths of the prefixes, 32 or 128 for single addresses. */
  readonly prefix: Uint8Array<ArrayBuffer>
  readonly id: Float64Array<ArrayBuffer>
  /** The next wider entry around each one; -1 for none. */
  readonly parent: Int32Array<ArrayBuffer>
  /** Where each interval begins, in order. */
  readonly starts: Uint32Array<ArrayBuffer>
  /** The most specific entry of each interval; -1 for none. */
  readonly owner: Int32Array<ArrayBuffer>
  /** The first interval that begins in each 65,536th part of the space of IPv4; empty for IPv6 and for few. */
  readonly buckets: Uint32Array<ArrayBuffer>
}
export interface Packed {
  readonly v4: Family
  readonly v6: Family
}
export interface Listed {
  readonly id: number
  readonly range: IpRange
}
/** An entry that was found. `prefix` is null for a single address. */
export interface Found {
  readonly id: number
  readonly text: string
  readonly prefix: number | null
}
export interface Intervals {
  readonly size: number
  /** The most specific entry that covers the whole range. Entries in `gone` count as not there. */
  covering(range: IpRange, gone?: ReadonlySet<number>): Found | null
  /** An entry that lies within the range. */
  within(range: IpRange, gone?: ReadonlySet<number>): Found | null
}

const bits = (words: number) => words * 32
const wordAt = (bytes: Uint8Array, at: number) =>
  (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0

/** Compares two addresses in their arrays. */
const compare = (a: Uint32Array, at: number, b: Uint32Array, bt: number, words: number): number => {
  for (let word = 0; word < words; word++) {
    const difference = (a[at + word] ?? 0) - (b[bt + word] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
const lastWord = (first: number, prefix: number, word: number): number => {
  const keptBits = Math.min(32, Math.max(0, prefix - word * 32))
  return keptBits === 32 ? first : (first | (0xffffffff >>> keptBits)) >>> 0
}

const pack = (listed: readonly Listed[], words: 1 | 4): Family => {
  const n = listed.length
  const unsorted = new Uint32Array(n * words)
  const order = new Uint32Array(n)
  listed.forEach(({ range }, index) => {
    for (let word = 0; word < words; word++) unsorted[index * words + word] = wordAt(range.bytes, word * 4)
    order[index] = index
  })
  const prefixOf = (index: number) => listed[index]?.range.prefix ?? bits(words)
  order.sort((a, b) => compare(unsorted, a * words, unsorted, b * words, words) || prefixOf(a) - prefixOf(b))

  const first = new Uint32Array(n * words)
  const last = new Uint32Array(n * words)
  const prefix = new Uint8Array(n)
  const id = new Float64Array(n)
  const parent = new Int32Array(n)
  order.forEach((from, to) => {
    prefix[to] = prefixOf(from)
    id[to] = listed[from]?.id ?? 0
    for (let word = 0; word < words; word++) {
      const value = unsorted[from * words + word] ?? 0
      first[to * words + word] = value
      last[to * words + word] = lastWord(value, prefixOf(from), word)
    }
  })

  const starts = new Uint32Array((2 * n + 1) * words)
  const owner = new Int32Array(2 * n + 1)
  let intervals = 0
  const begin = (at: Uint32Array, offset: number, entry: number) => {
    // What begins where something else began takes its place: the inner entry, or what follows two that end together.
    if (intervals === 0 || compare(starts, (intervals - 1) * words, at, offset, words) !== 0) {
      for (let word = 0; word < words; word++) starts[intervals * words + word] = at[offset + word] ?? 0
      intervals++
    }
    owner[intervals - 1] = entry
  }
  const next = new Uint32Array(words)
  const end = (entry: number) => {
    let carry = 1
    for (let word = words - 1; word >= 0; word--) {
      const sum = (last[entry * words + word] ?? 0) + carry
      carry = sum > 0xffffffff ? 1 : 0
      next[word] = sum
    }
    // After the last address of all nothing begins.
    if (carry === 0) begin(next, 0, parent[entry] ?? -1)
  }
  const around: number[] = []
  for (let entry = 0; entry < n; entry++) {
    for (let top = around.at(-1); top !== undefined; top = around.at(-1)) {
      if (compare(last, top * words, first, entry * words, words) >= 0) break
      end(top)
      around.pop()
    }
    parent[entry] = around.at(-1) ?? -1
    begin(first, entry * words, entry)
    around.push(entry)
  }
  for (let top = around.pop(); top !== undefined; top = around.pop()) end(top)

  const used = starts.slice(0, intervals * words)
  return {
    words,
    first,
    prefix,
    id,
    parent,
    starts: used,
    owner: owner.slice(0, intervals),
    buckets: words === 1 && intervals > 4096 ? bucketsOf(used) : new Uint32Array(0),
  }
}
const bucketsOf = (starts: Uint32Array): Uint32Array<ArrayBuffer> => {
  const buckets = new Uint32Array(65_537)
  let interval = 0
  for (let bucket = 0; bucket <= 65_536; bucket++) {
    while (interval < starts.length && (starts[interval] ?? 0) < bucket * 65_536) interval++
    buckets[bucket] = interval
  }
  return buckets
}

/** Sorts the entries into typed arrays; 100,000 take some tenths of a second, so do it in a thread. No range twice. */
export const packEntries = (listed: readonly Listed[]): Packed => ({
  v4: pack(
    listed.filter(({ range }) => range.bytes.length === 4),
    1,
  ),
  v6: pack(
    listed.filter(({ range }) => range.bytes.length === 16),
    4,
  ),
})

/** What a thread hands over instead of copying it. */
export const buffersOf = ({ v4, v6 }: Packed): ArrayBuffer[] =>
  [v4, v6].flatMap(({ first, prefix, id, parent, starts, owner, buckets }) =>
    [first, prefix, id, parent, starts, owner, buckets].map(({ buffer }) => buffer),
  )

/** How much memory it takes, in bytes. */
export const bytesOf = (packed: Packed): number =>
  buffersOf(packed).reduce((sum, { byteLength }) => sum + byteLength, 0)

const nobody: ReadonlySet<number> = new Set()
const key = new Uint32Array(4)

/** The interval that holds `key`; -1 before the first one. */
const intervalOf = ({ words, starts, owner, buckets }: Family): number => {
  const bucket = (key[0] ?? 0) >>> 16
  let low = buckets[bucket] ?? 0
  let high = buckets[bucket + 1] ?? owner.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(starts, middle * words, key, 0, words) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}
/** The first entry that does not begin before `key`. */
const entryFrom = ({ words, first, prefix }: Family): number => {
  let low = 0
  let high = prefix.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(first, middle * words, key, 0, words) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Look-ups in packed entries: well below a microsecond, nothing is copied. */
export const openIntervals = (packed: Packed): Intervals => {
  const seek = (range: IpRange): Family => {
    const family = range.bytes.length === 4 ? packed.v4 : packed.v6
    for (let word = 0; word < family.words; word++) key[word] = wordAt(range.bytes, word * 4)
    return family
  }
  const foundEntry = ({ words, first, prefix, id }: Family, entry: number): Found => {
    const length = prefix[entry] ?? 0
    const shownPrefix = length === bits(words) ? null : length
    return {
      id: id[entry] ?? 0,
      prefix: shownPrefix,
      // Few of those who ask want to read it.
      get text() {
        const view = new DataView(new ArrayBuffer(words * 4))
        for (let word = 0; word < words; word++) view.setUint32(word * 4, first[entry * words + word] ?? 0)
        return ipText(new Uint8Array(view.buffer), shownPrefix)
      },
    }
  }
  return {
    size: packed.v4.id.length + packed.v6.id.length,
    covering(range, gone = nobody) {
      const family = seek(range)
      const { words, owner, parent, prefix, id } = family
      const askedPrefix = range.prefix ?? bits(words)
      let entry = owner[intervalOf(family)] ?? -1
      while (entry >= 0 && ((prefix[entry] ?? 0) > askedPrefix || gone.has(id[entry] ?? 0))) entry = parent[entry] ?? -1
      return entry >= 0 ? foundEntry(family, entry) : null
    },
    within(range, gone = nobody) {
      const family = seek(range)
      const { words, first, prefix, id } = family
      const askedPrefix = range.prefix ?? bits(words)
      for (let entry = entryFrom(family); entry < id.length; entry++) {
        for (let word = 0; word < words; word++)
          if ((first[entry * words + word] ?? 0) !== (key[word] ?? 0)) {
            if ((first[entry * words + word] ?? 0) > lastWord(key[word] ?? 0, askedPrefix, word)) return null
            break
          }
        if ((prefix[entry] ?? 0) >= askedPrefix && !gone.has(id[entry] ?? 0)) return foundEntry(family, entry)
      }
      return null
    },
  }
}
/** For a few entries, built on the spot. */
export const intervalsOf = (listed: readonly Listed[]): Intervals => openIntervals(packEntries(listed))
