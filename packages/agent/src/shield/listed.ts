import { isOwnGround, overlaps } from '../ip.ts'
import { bitsOf, toEntry } from './entry.ts'
import type { Family } from './entry.ts'

/** The entries of one prefix length, as keys of a hash set one after the other: 4 or 16 bytes each. */
export interface ListedSet {
  readonly family: Family
  readonly length: number
  readonly keys: Buffer
}

/** The widest range that a list may hold. */
const widest = { 4: 8, 6: 19 } as const
const neverListed = ['224.0.0.0/3', 'ff00::/8']

export const keyBytes = (family: Family): 4 | 16 => (family === 4 ? 4 : 16)
export const countOf = ({ family, keys }: ListedSet): number => keys.length / keyBytes(family)

/** Keys of one length, in a buffer that grows. */
interface Growing {
  keys: Buffer
  bytes: number
}

/**
 * Reads canonical entries, one a line. The server has the same rules, and the agent does not rely on it.
 * @throws Error with a sentence, if a line must not be dropped or means nothing
 */
export const parseListed = (text: string, most: number): ListedSet[] => {
  const growing = new Map<string, Growing>()
  let count = 0
  let from = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    const line = text.slice(from, end)
    from = end + 1
    if (++count > most) throw new Error(`the list has more than ${most} entries`)
    const { family, length, key } = entryOf(line)
    const name = `${family} ${length}`
    let set = growing.get(name)
    if (!set) growing.set(name, (set = { keys: Buffer.allocUnsafe(1024), bytes: 0 }))
    if (set.bytes + key.length > set.keys.length) {
      const larger = Buffer.allocUnsafe(set.keys.length * 2)
      set.keys.copy(larger, 0, 0, set.bytes)
      set.keys = larger
    }
    set.bytes += key.copy(set.keys, set.bytes)
  }
  if (from < text.length) throw new Error('the list ends within a line')
  return [...growing].map(([name, { keys, bytes }]) => {
    const [family, length] = name.split(' ').map(Number)
    return { family: family === 4 ? 4 : 6, length: length ?? 0, keys: Buffer.from(keys.subarray(0, bytes)) }
  })
}

const entryOf = (line: string) => {
  if (!/^[0-9a-f.:]{2,39}(\/\d{1,3})?$/.test(line)) throw new Error('the list has a line that is no entry')
  const entry = toEntry(line)
  const { family, length, key } = entry
  if (length < widest[family] || length > bitsOf(family)) throw new Error(`the range ${line} is too wide for a list`)
  const isReserved = family === 4 ? isReserved4(key) : isOwnGround(line) || overlaps(line, neverListed[1] ?? '')
  if (isReserved) throw new Error(`the list names ${line}, which is loopback, link-local or multicast`)
  return entry
}

/** By the first bytes: the general comparison takes a second for 100,000 entries. */
const isReserved4 = (key: Buffer): boolean => {
  const first = key[0] ?? 0
  return first === 0 || first === 127 || first >= 224 || (first === 169 && key[1] === 254)
}

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
