/** Addresses by number, from 0 in the order of their first ban. Bytes lie in one pool, found by a hash table. */
export interface AddressBook {
  readonly size: () => number
  /** The number of an address; it is added where it is new. */
  numberOf(bytes: Uint8Array): number
  /** Null where no ban has had it. */
  find(bytes: Uint8Array): number | null
  bytesOf(number: number): Uint8Array
  /** Order by bytes; a shorter one that begins alike comes first. */
  compare(one: number, other: number): number
  /** Whether it is of that length and lies between these bounds. */
  isWithin(number: number, first: Uint8Array, last: Uint8Array): boolean
}

const grown = (array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> => {
  const made = new Uint32Array(length)
  made.set(array)
  return made
}

/** By hand: views of the bytes would cost more than the comparison, and a list compares most addresses. */
const difference = (one: Uint8Array, a: number, other: Uint8Array, b: number, length: number): number => {
  for (let index = 0; index < length; index++) {
    const found = (one[a + index] ?? 0) - (other[b + index] ?? 0)
    if (found !== 0) return found
  }
  return 0
}

export const createAddressBook = (): AddressBook => {
  let pool = new Uint8Array(64 * 1024)
  let used = 0
  let size = 0
  /** Where the bytes of each address begin; those of the last one end at `used`. */
  let starts = new Uint32Array(4096)
  /** Numbers from 1; 0 is an empty slot. */
  let slots = new Uint32Array(8192)

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
    if (endOf(number) - start !== bytes.length) return false
    for (let index = 0; index < bytes.length; index++) if (pool[start + index] !== bytes[index]) return false
    return true
  }
  /** The slot that holds the address, or the empty one where it belongs. */
  const slotOf = (bytes: Uint8Array): number => {
    const mask = slots.length - 1
    let slot = hash(bytes, 0, bytes.length) & mask
    for (;;) {
      const held = slots[slot] ?? 0
      if (held === 0 || equals(held - 1, bytes)) return slot
      slot = (slot + 1) & mask
    }
  }
  const rehash = () => {
    slots = new Uint32Array(slots.length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < size; number++) {
      let slot = hash(pool, starts[number] ?? 0, endOf(number)) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
  }
  const bytesOf = (number: number) => pool.subarray(starts[number] ?? 0, endOf(number))
  return {
    size: () => size,
    numberOf(bytes) {
      const slot = slotOf(bytes)
      const held = slots[slot] ?? 0
      if (held > 0) return held - 1
      if (used + bytes.length > pool.length) {
        const larger = new Uint8Array(pool.length * 2)
        larger.set(pool)
        pool = larger
      }
      if (size === starts.length) starts = grown(starts, size * 2)
      pool.set(bytes, used)
      starts[size] = used
      used += bytes.length
      size++
      slots[slot] = size
      if (size * 2 > slots.length) rehash()
      return size - 1
    },
    find(bytes) {
      const held = slots[slotOf(bytes)] ?? 0
      return held === 0 ? null : held - 1
    },
    bytesOf: number => bytesOf(number).slice(),
    compare(one, other) {
      const a = starts[one] ?? 0
      const b = starts[other] ?? 0
      const lengths = [endOf(one) - a, endOf(other) - b] as const
      return difference(pool, a, pool, b, Math.min(...lengths)) || lengths[0] - lengths[1]
    },
    isWithin(number, first, last) {
      const start = starts[number] ?? 0
      const { length } = first
      return (
        endOf(number) - start === length &&
        difference(pool, start, first, 0, length) >= 0 &&
        difference(pool, start, last, 0, length) <= 0
      )
    },
  }
}
