import type { Append, AppendInput, Appended, NewBan } from './ban-input.ts'

/*
 * A batch on its way to the writer thread and its answer on the way back: a few flat arrays instead of an object with
 * two byte arrays for each ban, because copying those between threads costs as much as writing some of the indexes.
 */

export interface PackedBatch {
  readonly now: number
  readonly count: number
  /** `perItem` numbers an item; NaN for null. */
  readonly numbers: Float64Array
  /** Address and event id of each item, 16 bytes each; an IPv4 address leaves the last 12 unused. */
  readonly bytes: Uint8Array
  /** `textsPerItem` texts an item. */
  readonly texts: readonly (string | null)[]
}

const kinds = { end: 0, ban: 1, adopted: 2 } as const
const perItem = 9
const textsPerItem = 6
const width = 16
const orNaN = (value: number | null) => value ?? Number.NaN
const orNull = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value)

export const packBatch = ({ items, now }: AppendInput): PackedBatch => {
  const numbers = new Float64Array(items.length * perItem)
  const bytes = new Uint8Array(items.length * 2 * width)
  const texts: (string | null)[] = []
  items.forEach((item, index) => {
    const at = index * perItem
    numbers[at] = item.kind === 'end' ? kinds.end : item.isAdopted ? kinds.adopted : kinds.ban
    numbers[at + 1] = item.serverNo
    numbers[at + 2] = item.ip.length
    numbers[at + 3] = orNaN(item.prefix)
    bytes.set(item.ip, index * 2 * width)
    if (item.kind === 'end') {
      numbers[at + 4] = item.at
      texts.push(item.jail, null, null, null, null, null)
      return
    }
    numbers[at + 4] = item.bannedAt
    numbers[at + 5] = orNaN(item.duration)
    numbers[at + 6] = orNaN(item.asn)
    numbers[at + 7] = orNaN(item.latitude)
    numbers[at + 8] = orNaN(item.longitude)
    bytes.set(item.eventId, (index * 2 + 1) * width)
    texts.push(item.jail, item.country, item.asnOrg, item.city, item.logLines, item.bannedBy)
  })
  return { now, count: items.length, numbers, bytes, texts }
}

/** The items of a batch, in their order. Their bytes are views into the batch's. */
export const unpackBatch = ({ count, numbers, bytes, texts }: PackedBatch): Append[] =>
  Array.from({ length: count }, (_, index): Append => {
    const at = index * perItem
    const text = index * textsPerItem
    const start = index * 2 * width
    const serverNo = numbers[at + 1] ?? 0
    const ip = bytes.subarray(start, start + (numbers[at + 2] ?? 0))
    const prefix = orNull(numbers[at + 3])
    const jail = texts[text] ?? null
    if (numbers[at] === kinds.end) return { kind: 'end', serverNo, jail, ip, prefix, at: numbers[at + 4] ?? 0 }
    const ban: NewBan = {
      kind: 'ban',
      serverNo,
      jail: jail ?? '',
      country: texts[text + 1] ?? null,
      ip,
      prefix,
      bannedAt: numbers[at + 4] ?? 0,
      duration: orNull(numbers[at + 5]),
      asn: orNull(numbers[at + 6]),
      asnOrg: texts[text + 2] ?? null,
      city: texts[text + 3] ?? null,
      latitude: orNull(numbers[at + 7]),
      longitude: orNull(numbers[at + 8]),
      logLines: texts[text + 4] ?? '',
      bannedBy: texts[text + 5] ?? null,
      eventId: bytes.subarray(start + width, start + 2 * width),
    }
    return numbers[at] === kinds.adopted ? { ...ban, isAdopted: true } : ban
  })

/** Four numbers a result: row, whether it changed, time of the ban, event. */
export const packResults = (results: readonly Appended[]): Float64Array => {
  const packed = new Float64Array(results.length * 4)
  results.forEach(({ id, changed, bannedAt, eventId }, index) => {
    packed[index * 4] = orNaN(id)
    packed[index * 4 + 1] = changed ? 1 : 0
    packed[index * 4 + 2] = bannedAt
    packed[index * 4 + 3] = orNaN(eventId)
  })
  return packed
}
export const unpackResults = (packed: Float64Array): Appended[] =>
  Array.from({ length: packed.length / 4 }, (_, index) => ({
    id: orNull(packed[index * 4]),
    changed: packed[index * 4 + 1] === 1,
    bannedAt: packed[index * 4 + 2] ?? 0,
    eventId: orNull(packed[index * 4 + 3]),
  }))
