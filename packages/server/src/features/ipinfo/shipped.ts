import { readFileSync } from 'node:fs'
import { readOr } from '@stockade/contract/untrusted.ts'
import { readNetworkFiles } from './network-csv.ts'
import type { NetworkFiles } from './network-csv.ts'
import { openMmdb } from './mmdb.ts'
import { inFile, inMemory, openPacked, packPlaces } from './place-pack.ts'
import type { PackedPlaces, PlaceNumbers } from './place-pack.ts'
import { mergeSteps } from './place-steps.ts'
import { countryOf } from './records.ts'

/** The network that announces an address to the internet. */
export interface Network {
  readonly asn: number
  readonly org: string
}
export interface ShippedPlace {
  readonly network: Network | null
  readonly country: string | null
}
/** A range by its first and last address. */
type Range = readonly [first: Uint8Array, last: Uint8Array]

/** The data that ships: networks and countries of all addresses. */
export interface Shipped {
  /** Kind and date of the country data. */
  readonly label: string
  /** Of an address of 4 or 16 bytes. */
  find(address: Uint8Array): ShippedPlace
  /** The ranges of these countries and networks; null now and then, for a pause where nothing matches. */
  ranges(asked: {
    readonly countries: ReadonlySet<string>
    readonly asns: ReadonlySet<number>
  }): Generator<Range | null>
}

/** Where the shipped data lie: packed by `npm run build`, and the files that they were packed from. */
export interface ShippedSources {
  readonly packed: string
  /** Asked for only where the packed file can't be used. */
  readonly files: () => NetworkFiles & { readonly countries: string }
}

/** The bytes of the packed file, made from the files of the packages. */
export const packFiles = async ({ countries, ...networks }: NetworkFiles & { readonly countries: string }) => {
  const { ipv4, ipv6, owners } = await readNetworkFiles(networks)
  const file = openMmdb(readFileSync(countries))
  const entriesOf = function* (width: number) {
    for (const entry of file.find.entries()) if (entry.bytes.length === width) yield entry
  }
  return packPlaces({
    ipv4: mergeSteps(ipv4, entriesOf(4), countryOf),
    ipv6: mergeSteps(ipv6, entriesOf(16), countryOf),
    owners,
    label: file.label,
  })
}

/** A disk that does not answer must not keep the server from starting. */
const openedOrNull = (file: string): PackedPlaces | null => readOr(null, () => openPacked(inFile(file)))

const opened = new Map<string, Shipped>()
/** The packed file, which never changes while a process runs: its servers share it. Null where it can't be used. */
export const openShipped = (file: string): Shipped | null => {
  const openFile = opened.get(file)
  if (openFile) return openFile
  const packed = openedOrNull(file)
  if (packed === null) return null
  const shipped = shippedOf(packed)
  opened.set(file, shipped)
  return shipped
}

const loads = new Map<string, Promise<Shipped>>()
/** From the files of the packages where there is no packed file: seconds of CPU, and 20 MB. */
const loadFiles = (sources: ShippedSources): Promise<Shipped> => {
  const load = async () => {
    const packed = openPacked(inMemory(await packFiles(sources.files())))
    if (packed === null) throw new Error('what was packed can not be read')
    return shippedOf(packed)
  }
  const loading = loads.get(sources.packed) ?? load()
  loads.set(sources.packed, loading)
  loading.catch(() => loads.delete(sources.packed))
  return loading
}
export const loadShipped = async (sources: ShippedSources): Promise<Shipped> =>
  openShipped(sources.packed) ?? (await loadFiles(sources))

/** Attacks come from few networks, so those are made once; beyond this all are forgotten. */
const mostKept = 5000

const lettersOf = (country: number): string | null =>
  country === 0 ? null : String.fromCharCode(country >> 8, country & 0xff)

const shippedOf = (packed: PackedPlaces): Shipped => {
  const networkCache = new Map<number, Network>()
  const networkOf = (owner: number): Network => {
    const cachedNetwork = networkCache.get(owner)
    if (cachedNetwork) return cachedNetwork
    if (networkCache.size >= mostKept) networkCache.clear()
    const network = { asn: packed.asn(owner), org: packed.ownerName(owner) }
    networkCache.set(owner, network)
    return network
  }
  return {
    label: packed.label,
    find(address) {
      const { owner, country } = packed.find(address)
      return { network: owner === 0 ? null : networkOf(owner - 1), country: lettersOf(country) }
    },
    ranges({ countries, asns }) {
      const owners = ownersOf(packed, asns)
      return joined(packed, ({ owner, country }) => owners.has(owner) || countries.has(lettersOf(country) ?? ''))
    },
  }
}

/** The owners with these ASNs, as steps name them. */
const ownersOf = (packed: PackedPlaces, asns: ReadonlySet<number>): ReadonlySet<number> => {
  const owners = new Set<number>()
  if (asns.size === 0) return owners
  let owner = 0
  for (const asn of packed.asns()) {
    owner++
    if (asns.has(asn)) owners.add(owner)
  }
  return owners
}

/** Steps that are wanted as ranges, one for all that follow one another; and null after each block. */
function* joined(packed: PackedPlaces, isWanted: (place: PlaceNumbers) => boolean): Generator<Range | null> {
  let first: Uint8Array | null = null
  let family = 4
  for (const { width, steps } of packed.blocks()) {
    if (width !== family && first) {
      yield [first, last(family)]
      first = null
    }
    family = width
    for (const { start, place } of steps) {
      const isOpen = isWanted(place)
      if (first && !isOpen) yield [first, before(start)]
      first = isOpen ? (first ?? start) : null
    }
    yield null
  }
  if (first) yield [first, last(family)]
}

const last = (width: number): Uint8Array => new Uint8Array(width).fill(0xff)
/** The address below another one. */
const before = (address: Uint8Array): Uint8Array => {
  const below = Uint8Array.from(address)
  for (let at = below.length - 1; at >= 0; at--) {
    const byte = below[at] ?? 0
    below[at] = byte === 0 ? 0xff : byte - 1
    if (byte !== 0) break
  }
  return below
}
