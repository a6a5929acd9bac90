import { free } from './memory.ts'
import { createFreshAddresses, wordOf } from './fresh-addresses.ts'

/**
 * Addresses by number: first those that were there at the last `settle`, in the order of their bytes, IPv4 before IPv6; then
 * new ones in the order of their first ban. A settled address of IPv4 takes four bytes, one of IPv6 sixteen.
 */
export interface AddressBook {
  readonly size: () => number
  /** The number of an address; it is added where it is new. */
  numberOf(bytes: Uint8Array): number
  /** Null where no ban has had it. */
  find(bytes: Uint8Array): number | null
  bytesOf(number: number): Uint8Array
  /** Order by bytes; a shorter one that begins alike comes first. */
  compare(one: number, other: number): number
  /** The settled addresses of a length that lie between two bounds, as their first number and the number after their last one. */
  settledWithin(first: Uint8Array, last: Uint8Array): { readonly from: number; readonly to: number }
  /** Whether it is of that length and lies between these bounds. */
  isWithin(number: number, first: Uint8Array, last: Uint8Array): boolean
  readonly settledSize: () => number
  /** The numbers in the order that `settle` brings them into. */
  settledOrder(): Uint32Array<ArrayBuffer>
  /** Keeps these addresses alone, in this order; their numbers are their places in it. */
  settle(order: Uint32Array): void
}

const writeWord = (bytes: Uint8Array, at: number, word: number) => {
  bytes[at] = word >>> 24
  bytes[at + 1] = word >>> 16
  bytes[at + 2] = word >>> 8
  bytes[at + 3] = word
}
/** Words of one IPv6 address. */
const wide = 4

/** `expected` new addresses have room at once. */
export const createAddressBook = (expected = 0): AddressBook => {
  let narrow = new Uint32Array(0)
  let long = new Uint32Array(0)
  let fresh = createFreshAddresses(expected)
  const narrowCount = () => narrow.length
  const settledSize = () => narrow.length + long.length / wide

  /** How a settled address of IPv6 stands to these bytes. */
  const compareLong = (index: number, bytes: Uint8Array): number => {
    for (let word = 0; word < wide; word++) {
      const difference = (long[index * wide + word] ?? 0) - wordOf(bytes, word * 4)
      if (difference !== 0) return difference
    }
    return 0
  }
  /** The first settled number of that length whose address is not before these bytes. */
  const lowerBound = (bytes: Uint8Array): number => {
    const isShort = bytes.length === 4
    const key = wordOf(bytes, 0)
    const base = isShort ? 0 : narrowCount()
    let low = 0
    let high = isShort ? narrowCount() : long.length / wide
    while (low < high) {
      const middle = (low + high) >>> 1
      const isBefore = isShort ? (narrow[middle] ?? 0) < key : compareLong(middle, bytes) < 0
      if (isBefore) low = middle + 1
      else high = middle
    }
    return base + low
  }
  const isSettled = (number: number, bytes: Uint8Array): boolean =>
    bytes.length === 4
      ? number < narrowCount() && narrow[number] === wordOf(bytes, 0)
      : number < settledSize() && compareLong(number - narrowCount(), bytes) === 0
  const settledNumber = (bytes: Uint8Array): number | null => {
    const number = lowerBound(bytes)
    return isSettled(number, bytes) ? number : null
  }
  const isNarrow = (number: number): boolean =>
    number < settledSize() ? number < narrowCount() : fresh.lengthOf(number - settledSize()) === 4
  /** Four bytes of an address as a number, without an object for them: sorting asks for each address. */
  const wordAt = (number: number, word: number): number => {
    if (number < narrowCount()) return narrow[number] ?? 0
    if (number < settledSize()) return long[(number - narrowCount()) * wide + word] ?? 0
    return fresh.wordAt(number - settledSize(), word)
  }
  const bytesOf = (number: number): Uint8Array => {
    const bytes = new Uint8Array(isNarrow(number) ? 4 : 16)
    for (let word = 0; word < bytes.length / 4; word++) writeWord(bytes, word * 4, wordAt(number, word))
    return bytes
  }
  const compare = (one: number, other: number): number => {
    const order = wordAt(one, 0) - wordAt(other, 0)
    if (order !== 0) return order
    const [a, b] = [isNarrow(one), isNarrow(other)]
    if (a || b) return Number(b) - Number(a)
    for (let word = 1; word < wide; word++) {
      const difference = wordAt(one, word) - wordAt(other, word)
      if (difference !== 0) return difference
    }
    return 0
  }
  /** All addresses of IPv4 in their order. The array sorts pairs at full speed: a word of the address and the number. */
  const narrowOrder = (): Uint32Array<ArrayBuffer> => {
    const keys = new Uint32Array((settledSize() + fresh.size()) * 2)
    let count = 0
    for (let number = 0; number < settledSize() + fresh.size(); number++) {
      if (!isNarrow(number)) continue
      keys[count * 2] = number
      keys[count * 2 + 1] = wordAt(number, 0)
      count++
    }
    new BigUint64Array(keys.buffer, 0, count).sort()
    const order = new Uint32Array(count)
    for (let index = 0; index < count; index++) order[index] = keys[index * 2] ?? 0
    free(keys)
    return order
  }
  return {
    size: () => settledSize() + fresh.size(),
    settledSize,
    numberOf: bytes => settledNumber(bytes) ?? settledSize() + fresh.numberOf(bytes),
    find(bytes) {
      const settled = settledNumber(bytes)
      if (settled !== null) return settled
      const freshNumber = fresh.find(bytes)
      return freshNumber === null ? null : settledSize() + freshNumber
    },
    bytesOf,
    compare,
    settledWithin(first, last) {
      const after = lowerBound(last)
      return { from: lowerBound(first), to: isSettled(after, last) ? after + 1 : after }
    },
    isWithin(number, first, last) {
      const bytes = bytesOf(number)
      return bytes.length === first.length && Buffer.compare(bytes, first) >= 0 && Buffer.compare(bytes, last) <= 0
    },
    settledOrder() {
      const long: number[] = []
      for (let number = 0; number < settledSize() + fresh.size(); number++) if (!isNarrow(number)) long.push(number)
      const first = narrowOrder()
      const order = new Uint32Array(first.length + long.length)
      order.set(first)
      order.set(long.sort(compare), first.length)
      return order
    },
    settle(order) {
      let count = 0
      while (count < order.length && isNarrow(order[count] ?? 0)) count++
      const nextNarrow = new Uint32Array(count)
      const nextLong = new Uint32Array((order.length - count) * wide)
      for (let index = 0; index < order.length; index++) {
        const number = order[index] ?? 0
        if (index < count) nextNarrow[index] = wordAt(number, 0)
        else for (let word = 0; word < wide; word++) nextLong[(index - count) * wide + word] = wordAt(number, word)
      }
      free(narrow, long)
      narrow = nextNarrow
      long = nextLong
      fresh.close()
      fresh = createFreshAddresses()
    },
  }
}
