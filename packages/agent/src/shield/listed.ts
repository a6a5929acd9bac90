import { isWider, neverBanned, widest } from '@stockade/contract/reach.ts'
import { networkOf, spansOfNetworks, touches } from '@stockade/contract/spans.ts'
import { bitsOf, toEntry } from './entry.ts'
import type { Family } from './entry.ts'

/** The entries of one prefix length, as keys of a hash set one after the other: 4 or 16 bytes each. */
export interface ListedSet {
  readonly family: Family
  readonly length: number
  readonly keys: Buffer
}

const neverListed = spansOfNetworks(neverBanned.map(networkOf))

export const keyBytes = (family: Family): 4 | 16 => (family === 4 ? 4 : 16)
export const countOf = ({ family, keys }: ListedSet): number => keys.length / keyBytes(family)

/** Keys of one length, in a buffer that grows. */
interface Growing {
  readonly family: Family
  readonly length: number
  keys: Buffer
  bytes: number
}

/**
 * Reads canonical entries, one a line. The server has the same rules, and the agent does not rely on it.
 * @throws Error with a sentence, if a line must not be dropped or means nothing
 */
export const parseListed = (text: string, most: number): ListedSet[] => {
  const sets = new Map<number, Growing>()
  let count = 0
  let from = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    if (++count > most) throw new Error(`the list has more than ${most} entries`)
    const isPlain = read4(text, from, end)
    const entry = isPlain ? null : entryOf(text.slice(from, end))
    const length = entry === null ? found4.length : entry.length
    const family = entry === null ? 4 : entry.family
    const place = family * 1000 + length
    let set = sets.get(place)
    if (!set) sets.set(place, (set = { family, length, keys: Buffer.allocUnsafe(1024), bytes: 0 }))
    grow(set, keyBytes(family))
    set.bytes =
      entry === null ? set.keys.writeUInt32BE(found4.key, set.bytes) : set.bytes + entry.key.copy(set.keys, set.bytes)
    from = end + 1
  }
  if (from < text.length) throw new Error('the list ends within a line')
  return [...sets.values()].map(({ family, length, keys, bytes }) => ({
    family,
    length,
    keys: Buffer.from(keys.subarray(0, bytes)),
  }))
}

const grow = (set: Growing, bytes: number): void => {
  if (set.bytes + bytes <= set.keys.length) return
  const larger = Buffer.allocUnsafe(set.keys.length * 2)
  set.keys.copy(larger, 0, 0, set.bytes)
  set.keys = larger
}

/** What `read4` found last: 100,000 objects would be most of the memory that a list takes. */
const found4 = { key: 0, length: 0 }
const [dot, slash, zero] = [46, 47, 48]
/** Where `numberAt` goes on. */
let cursor = 0
/** The number up to 255 at the cursor; -1: there is none. */
const numberAt = (text: string, end: number): number => {
  let value = -1
  for (; cursor < end && value <= 255; cursor += 1) {
    const digit = text.charCodeAt(cursor) - zero
    if (digit < 0 || digit > 9) break
    value = value < 0 ? digit : value * 10 + digit
  }
  return value <= 255 ? value : -1
}
/** Reads an IPv4 entry without an object. False: it is none, or none that a list may hold, which `entryOf` decides. */
const read4 = (text: string, from: number, end: number): boolean => {
  cursor = from
  let key = 0
  for (let part = 0; part < 4; part += 1) {
    if (part > 0 && text.charCodeAt(cursor++) !== dot) return false
    const value = numberAt(text, end)
    if (value < 0) return false
    key = key * 256 + value
  }
  const isRange = cursor < end && text.charCodeAt(cursor) === slash
  if (isRange) cursor += 1
  found4.key = key
  found4.length = isRange ? numberAt(text, end) : 32
  if (cursor !== end || found4.length < widest.listed[4] || found4.length > 32) return false
  return !isReserved4(key >>> 24, (key >>> 16) & 255)
}

const entryOf = (line: string) => {
  if (!/^[0-9a-f.:]{2,39}(\/\d{1,3})?$/.test(line)) throw new Error('the list has a line that is no entry')
  const entry = toEntry(line)
  const { family, length, key } = entry
  const network = { bytes: key, prefix: length }
  if (isWider(network, widest.listed) || length > bitsOf(family))
    throw new Error(`the range ${line} is too wide for a list`)
  if (touches(neverListed, network))
    throw new Error(`the list names ${line}, which is loopback, link-local or multicast`)
  return entry
}

/** `neverBanned` of IPv4 by the first bytes: the general comparison, with an object for each line, takes a second for 100,000 entries. */
const isReserved4 = (first: number, second: number): boolean =>
  first === 0 || first === 127 || first >= 224 || (first === 169 && second === 254)

/** Whether two buffers of keys hold the same keys, in any order. */
export const areSameKeys = (family: Family, one: Buffer, other: Buffer): boolean =>
  one.length === other.length && sortedKeys(family, one).equals(sortedKeys(family, other))

const sortedKeys = (family: Family, keys: Buffer): Buffer => {
  if (family === 4) {
    const numbers = new Uint32Array(keys.length / 4)
    for (let at = 0; at < numbers.length; at += 1) numbers[at] = keys.readUInt32BE(at * 4)
    return Buffer.from(numbers.sort().buffer)
  }
  const texts = Array.from({ length: keys.length / 16 }, (_, at) =>
    keys.subarray(at * 16, at * 16 + 16).toString('hex'),
  )
  return Buffer.from(texts.sort().join(''), 'hex')
}
