import { lastOf } from '@stockade/contract/spans.ts'
import type { Network } from '@stockade/contract/spans.ts'
import { ipText } from '../../core/ip.ts'

/**
 * The entries of a version in order, each as the bytes of its address and the length of its prefix: 5 bytes for IPv4, 17 for IPv6. A look among them halves
 * and reads no text.
 */
export interface ListIndex {
  readonly v4: Uint8Array
  readonly v6: Uint8Array
}
/** Places of entries, from the first one on, IPv4 before IPv6. */
interface Places {
  readonly from: number
  readonly to: number
}

const width = { 4: 4 + 1, 16: 16 + 1 } as const
type Length = keyof typeof width
const countOf = (entries: Uint8Array, length: Length): number => entries.length / width[length]

/** Reads entries that are canonical, ordered and disjoint. */
export const indexOf = (networks: readonly Network[]): ListIndex => {
  const packed = (length: Length): Uint8Array => {
    const own = networks.filter(({ bytes }) => bytes.length === length)
    const entries = new Uint8Array(own.length * width[length])
    own.forEach(({ bytes, prefix }, place) => {
      entries.set(bytes, place * width[length])
      entries[place * width[length] + length] = prefix ?? length * 8
    })
    return entries
  }
  return { v4: packed(4), v6: packed(16) }
}

export const allPlaces = ({ v4, v6 }: ListIndex): Places => ({ from: 0, to: countOf(v4, 4) + countOf(v6, 16) })
/** The entries that cover an address or a network, or lie in it. */
export const placesOf = ({ v4, v6 }: ListIndex, network: Network): Places => {
  const isV4 = network.bytes.length === 4
  const [entries, length, before] = isV4 ? ([v4, 4, 0] as const) : ([v6, 16, countOf(v4, 4)] as const)
  /** How many entries begin before, or at, an address. */
  const beginningUpTo = (address: Uint8Array, most: -1 | 0): number => {
    let [low, high] = [0, countOf(entries, length)]
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = middle * width[length]
      if (Buffer.compare(entries.subarray(at, at + length), address) <= most) low = middle + 1
      else high = middle
    }
    return low
  }
  const from = beginningUpTo(network.bytes, -1)
  const previous = from > 0 ? networkAt(entries, length, from - 1) : null
  const isCovered = previous !== null && Buffer.compare(lastOf(previous), network.bytes) >= 0
  return { from: before + from - Number(isCovered), to: before + beginningUpTo(lastOf(network), 0) }
}
export const entryAt = ({ v4, v6 }: ListIndex, place: number): string => {
  const first = countOf(v4, 4)
  const { bytes, prefix } = place < first ? networkAt(v4, 4, place) : networkAt(v6, 16, place - first)
  return ipText(bytes, prefix === bytes.length * 8 ? null : prefix)
}
const networkAt = (entries: Uint8Array, length: Length, place: number): Network => {
  const at = place * width[length]
  return { bytes: entries.subarray(at, at + length), prefix: entries[at + length] ?? 0 }
}
