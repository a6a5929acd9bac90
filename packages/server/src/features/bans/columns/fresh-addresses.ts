import { free, longer } from './memory.ts'

/** Addresses by number, from 0 in the order in which they came. Bytes lie in one pool, found by a hash table. */
export interface FreshAddresses {
  readonly size: () => number
  /** The number of an address; it is added where it is new. */
  numberOf(bytes: Uint8Array): number
  find(bytes: Uint8Array): number | null
  wordAt(number: number, word: number): number
  lengthOf(number: number): number
  /** It must not be used from then on. */
  close(): void
}

/** Four bytes as a number. */
export const wordOf = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0

/** By hand: views of the bytes would cost more than the comparison. */
const difference = (one: Uint8Array, a: number, other: Uint8Array, b: number, length: number): number => {
  for (let index = 0; index < length; index++) {
    const order = (one[a + index] ?? 0) - (other[b + index] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

/** `expected` addresses of IPv4 have room at once. Memory that nothing was written to is not taken from the system. */
export const createFreshAddresses = (expected = 0): FreshAddresses => {
  let pool = new Uint8Array(1024 + expected * 4)
  let used = 0
  let size = 0
  /** Where the bytes of each address begin; those of the last one end at `used`. */
  let starts = new Uint32Array(128 + expected)
  /** Numbers from 1; 0 is an empty slot. */
  let slots = new Uint32Array(2 ** Math.ceil(Math.log2(256 + expected * 1.5)))

  const endOf = (number: number) => (number + 1 < size ? (starts[number + 1] ?? 0) : used)
  const hash = (bytes: Uint8Array, from: number, to: number): number => {
    // FNV-1a with a last mix, since the table uses the low bits.
    let value = 0x811c9dc5
    for (let index = from; index < to; index++) value = Math.imul(value ^ (bytes[index] ?? 0), 0x01000193)
    value ^= value >>> 15
    return Math.imul(value, 0x2c1b3c6d) >>> 0
  }
  const equals = (number: number, bytes: Uint8Array): boolean => {
    const start = starts[number] ?? 0
    return endOf(number) - start === bytes.length && difference(pool, start, bytes, 0, bytes.length) === 0
  }
  /** The slot that holds the address, or the empty one where it belongs. */
  const slotOf = (bytes: Uint8Array): number => {
    const mask = slots.length - 1
    let slot = hash(bytes, 0, bytes.length) & mask
    for (;;) {
      const slotValue = slots[slot] ?? 0
      if (slotValue === 0 || equals(slotValue - 1, bytes)) return slot
      slot = (slot + 1) & mask
    }
  }
  const rehash = () => {
    const { length } = slots
    free(slots)
    slots = new Uint32Array(length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < size; number++) {
      let slot = hash(pool, starts[number] ?? 0, endOf(number)) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
  }
  return {
    size: () => size,
    numberOf(bytes) {
      const slot = slotOf(bytes)
      const slotValue = slots[slot] ?? 0
      if (slotValue > 0) return slotValue - 1
      if (used + bytes.length > pool.length) pool = longer(pool, pool.length * 2)
      if (size === starts.length) starts = longer(starts, size * 2)
      pool.set(bytes, used)
      starts[size] = used
      used += bytes.length
      size++
      slots[slot] = size
      if (size * 1.5 > slots.length) rehash()
      return size - 1
    },
    find(bytes) {
      const slotValue = slots[slotOf(bytes)] ?? 0
      return slotValue === 0 ? null : slotValue - 1
    },
    wordAt: (number, word) => wordOf(pool, (starts[number] ?? 0) + word * 4),
    lengthOf: number => endOf(number) - (starts[number] ?? 0),
    close: () => free(pool, starts, slots),
  }
}
