import type { Ranges } from './network-tables.ts'
import type { TreeEntry } from './tree.ts'

/** From `start` up to the next step an address belongs to this network and this country; 0 is none. */
export interface Step {
  /** An address as one number. */
  readonly start: bigint
  /** The number of the network's owner plus one. */
  readonly owner: number
  /** The two letters of the country, the first one in the high byte. */
  readonly country: number
}

type Value = readonly [start: bigint, value: number]
interface Interval {
  readonly first: bigint
  readonly last: bigint
  readonly value: number
}

/**
 * Sorted intervals as steps: each ends where the next one begins. The table of networks has ranges inside of others; what is
 * left of the outer one behind the inner one belongs to nobody.
 */
const stepsOf = (intervals: Iterable<Interval>): Value[] => {
  const steps: Value[] = []
  let end = 0n
  for (const { first, last, value } of intervals) {
    if (first > end) steps.push([end, 0])
    if (steps.at(-1)?.[0] === first) steps.pop()
    steps.push([first, value])
    end = last + 1n
  }
  steps.push([end, 0])
  return steps
}

const numberOf = (words: Uint32Array, at: number, width: number): bigint => {
  let value = 0n
  for (let word = 0; word < width; word++) value = (value << 32n) | BigInt(words[at + word] ?? 0)
  return value
}
function* ownedIntervals({ width, count, starts, ends, owners }: Ranges): Generator<Interval> {
  for (let range = 0; range < count; range++)
    yield {
      first: numberOf(starts, range * width, width),
      last: numberOf(ends, range * width, width),
      value: (owners[range] ?? 0) + 1,
    }
}
function* countryIntervals(
  entries: Iterable<TreeEntry>,
  countryOf: (record: unknown) => string | null,
): Generator<Interval> {
  for (const { bytes, prefix, record } of entries) {
    const code = countryOf(record)
    if (code === null) continue
    const first = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
    const last = first + (1n << BigInt(bytes.length * 8 - prefix)) - 1n
    yield { first, last, value: (code.charCodeAt(0) << 8) | code.charCodeAt(1) }
  }
}

/** Both tables of one family in one row of steps, so that one search finds the network and the country. */
export const mergeSteps = (
  ranges: Ranges,
  entries: Iterable<TreeEntry>,
  countryOf: (record: unknown) => string | null,
): Step[] => {
  const owned = stepsOf(ownedIntervals(ranges))
  const countries = stepsOf(countryIntervals(entries, countryOf))
  const end = 1n << BigInt(ranges.width * 32)
  const merged: Step[] = []
  let owner = 0
  let country = 0
  for (let left = 0, right = 0; left < owned.length || right < countries.length;) {
    const [ownedAt, nextOwner] = owned[left] ?? [end, 0]
    const [countryAt, nextCountry] = countries[right] ?? [end, 0]
    const start = ownedAt < countryAt ? ownedAt : countryAt
    if (start >= end) break
    const [ownerBefore, countryBefore] = [owner, country]
    if (ownedAt === start) {
      owner = nextOwner
      left++
    }
    if (countryAt === start) {
      country = nextCountry
      right++
    }
    if (merged.length === 0 || owner !== ownerBefore || country !== countryBefore)
      merged.push({ start, owner, country })
  }
  return merged
}
