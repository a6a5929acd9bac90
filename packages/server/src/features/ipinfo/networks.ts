import { readNetworkFiles } from './network-csv.ts'
import type { NetworkFiles } from './network-csv.ts'
import { readPackedNetworks } from './network-pack.ts'
import type { NetworkTables, Ranges } from './network-tables.ts'

/** The network that announces an address to the internet. */
export interface Network {
  readonly asn: number
  readonly org: string
}
export interface Networks {
  /** The network of an address of 4 or 16 bytes. */
  find(bytes: Uint8Array): Network | null
  /** First and last address of each range of these networks. */
  ranges(asns: ReadonlySet<number>): Generator<readonly [first: Uint8Array, last: Uint8Array]>
}

/** Where the shipped tables lie: packed by `npm run build`, and the files that they were packed from. */
export interface NetworkSources {
  readonly packed: string
  /** Asked for only where the packed table can't be used. */
  readonly files: () => NetworkFiles
}

const loads = new Map<string, Promise<Networks>>()
/** The shipped tables never change while a process runs, so that several servers in one process share what was read once. */
export const loadNetworks = (sources: NetworkSources): Promise<Networks> => {
  const key = sources.packed
  const load = loads.get(key) ?? readTables(sources).then(networksOf)
  loads.set(key, load)
  load.catch(() => loads.delete(key))
  return load
}
const readTables = async (sources: NetworkSources): Promise<NetworkTables> =>
  readPackedNetworks(sources.packed) ?? (await readNetworkFiles(sources.files()))

/** Attacks come from few networks, so those are made once; beyond this all are forgotten. */
const mostKept = 5000

const networksOf = ({ ipv4, ipv6, owners }: NetworkTables): Networks => {
  const kept = new Map<number, Network>()
  const networkOf = (owner: number): Network => {
    const nameStart = owner === 0 ? 0 : (owners.nameEnds[owner - 1] ?? 0)
    return {
      asn: owners.asns[owner] ?? 0,
      org: owners.names.toString('utf8', nameStart, owners.nameEnds[owner]),
    }
  }
  const parts = partsOf(ipv4)
  return {
    find(bytes) {
      const owner = bytes.length === 4 ? ownerOfIpv4(ipv4, parts, ipv4Word(bytes)) : ownerOf(ipv6, wordsOf(bytes))
      if (owner === null) return null
      const known = kept.get(owner)
      if (known) return known
      if (kept.size >= mostKept) kept.clear()
      const made = networkOf(owner)
      kept.set(owner, made)
      return made
    },
    *ranges(asns) {
      for (const { width, count, starts, ends, owners: owned } of [ipv4, ipv6])
        for (let range = 0; range < count; range++)
          if (asns.has(owners.asns[owned[range] ?? 0] ?? 0))
            yield [addressOf(starts, range * width, width), addressOf(ends, range * width, width)]
    },
  }
}

const addressOf = (words: Uint32Array, at: number, width: number): Uint8Array => {
  const view = new DataView(new ArrayBuffer(width * 4))
  for (let word = 0; word < width; word++) view.setUint32(word * 4, words[at + word] ?? 0)
  return new Uint8Array(view.buffer)
}

/** How many ranges begin below each /16, and in all: a look-up searches a few of them, not hundreds of thousands. */
const partsOf = ({ starts, count }: Ranges): Uint32Array => {
  const parts = new Uint32Array(0x10001).fill(count)
  for (let range = count - 1; range >= 0; range--) parts[(starts[range] ?? 0) >>> 16] = range
  for (let part = 0xffff; part >= 0; part--) parts[part] = Math.min(parts[part] ?? count, parts[part + 1] ?? count)
  return parts
}
const ownerOfIpv4 = ({ starts, ends, owners }: Ranges, parts: Uint32Array, address: number): number | null => {
  let low = parts[address >>> 16] ?? 0
  let high = parts[(address >>> 16) + 1] ?? 0
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle] ?? 0) <= address) low = middle + 1
    else high = middle
  }
  if (low === 0 || (ends[low - 1] ?? 0) < address) return null
  return owners[low - 1] ?? null
}

const ownerOf = (ranges: Ranges, address: readonly number[]): number | null => {
  let low = 0
  let high = ranges.count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(ranges.starts, middle * ranges.width, address) <= 0) low = middle + 1
    else high = middle
  }
  const found = low - 1
  if (found < 0 || compare(ranges.ends, found * ranges.width, address) < 0) return null
  return ranges.owners[found] ?? null
}

const compare = (words: Uint32Array, at: number, address: readonly number[]): number => {
  for (let index = 0; index < address.length; index++) {
    const difference = (words[at + index] ?? 0) - (address[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** An IPv4 address as one unsigned number. */
export const ipv4Word = (bytes: Uint8Array): number =>
  (bytes[0] ?? 0) * 0x1000000 + (((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0))

/** The address as unsigned 32-bit words, the highest first. */
export const wordsOf = (bytes: Uint8Array): number[] => {
  const words: number[] = []
  for (let at = 0; at < bytes.length; at += 4)
    words.push(
      (bytes[at] ?? 0) * 0x1000000 +
        (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)),
    )
  return words
}
