import { createHash } from 'node:crypto'
import type { BanKey } from './table.ts'

/** A remembered ban: 64 bits of a hash of it, and its time. */
export type SeenEntry = readonly [high: number, low: number, time: number]

/**
 * The bans that were reported or were there before. A busy host has hundreds of thousands in nine days, so this keeps 12 bytes of
 * each outside the heap. Two of a million bans have the same 64 bits with a probability of 1 in 30 million.
 */
export interface Seen {
  has(key: BanKey): boolean
  add(key: BanKey): void
  /** Adds what was on the disk. */
  restore(entry: SeenEntry): void
  /** Forgets bans from before that time, in seconds. */
  forget(before: number): void
  size(): number
  entries(): Generator<SeenEntry>
  /** The entries since `settle`. */
  changed(): readonly SeenEntry[]
  settle(): void
}

const slotLength = 3
const firstCapacity = 1024

export const createSeen = (): Seen => {
  let slots = new Uint32Array(firstCapacity * slotLength)
  let size = 0
  let added: SeenEntry[] = []

  /** Where the hash is, or the free slot for it. */
  const indexOf = (high: number, low: number): number => {
    const capacity = slots.length / slotLength
    let slot = low % capacity
    for (;;) {
      const at = slot * slotLength
      const [foundHigh, foundLow] = [slots[at], slots[at + 1]]
      if ((foundHigh === high && foundLow === low) || (foundHigh === 0 && foundLow === 0)) return at
      slot = slot + 1 === capacity ? 0 : slot + 1
    }
  }

  const isFree = (at: number): boolean => slots[at] === 0 && slots[at + 1] === 0

  const place = ([high, low, time]: SeenEntry): boolean => {
    const at = indexOf(high, low)
    const isNew = isFree(at)
    slots.set([high, low, time], at)
    if (isNew) size += 1
    return isNew
  }

  const rebuild = (capacity: number, isKept: (entry: SeenEntry) => boolean): void => {
    const before = slots
    slots = new Uint32Array(capacity * slotLength)
    size = 0
    for (const entry of walk.entries(before)) if (isKept(entry)) place(entry)
  }

  const insert = (entry: SeenEntry): boolean => {
    if (size * 2 >= slots.length / slotLength) rebuild((slots.length / slotLength) * 2, () => true)
    return place(entry)
  }

  return {
    has(key) {
      const [high, low] = hashOf(key)
      return !isFree(indexOf(high, low))
    },
    add(key) {
      const entry: SeenEntry = [...hashOf(key), Math.max(0, Math.trunc(key[2]))]
      if (insert(entry)) added.push(entry)
    },
    restore: entry => void insert(entry),
    forget(before) {
      let keptCount = 0
      for (const [, , time] of walk.entries(slots)) if (time >= before) keptCount += 1
      if (keptCount === size) return
      let capacity = firstCapacity
      while (keptCount * 2 >= capacity) capacity *= 2
      rebuild(capacity, ([, , time]) => time >= before)
    },
    size: () => size,
    entries: () => walk.entries(slots),
    changed: () => added,
    settle: () => void (added = []),
  }
}

const walk = {
  *entries(slots: Uint32Array): Generator<SeenEntry> {
    for (let at = 0; at < slots.length; at += slotLength) {
      const [high = 0, low = 0, time = 0] = [slots[at], slots[at + 1], slots[at + 2]]
      if (high !== 0 || low !== 0) yield [high, low, time]
    }
  },
}

/** Both halves are 0 for a free slot only. */
const hashOf = ([jail, ip, time]: BanKey): readonly [high: number, low: number] => {
  const digest = createHash('sha256').update(`${jail}|${ip}|${time}`, 'utf8').digest()
  return [digest.readUInt32LE(0), digest.readUInt32LE(4) || 1]
}
