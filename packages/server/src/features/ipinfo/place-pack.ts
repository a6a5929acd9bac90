import { fstatSync, openSync, readSync } from 'node:fs'
import type { Owners } from './network-tables.ts'
import type { Step } from './place-steps.ts'

/*
 * The networks and countries of all addresses as one file that stays on the disk: in memory it would take 20 MB. `npm run
 * build` makes it from the files of two packages, whose reading takes seconds of CPU.
 *
 * Words of 32 bits, little-endian. Header: magic, steps of IPv4, steps of IPv6, owners, bytes of the label, bytes of names.
 * Then the label of the country data in UTF-8. Then for IPv4 and IPv6 the index: the first address of each block. Then the
 * blocks of IPv4 and IPv6, each of 64 steps: their first addresses, their owners (words) and their countries (16 bits); see
 * place-steps.ts. Then for each owner its ASN, and where its name ends; then the names in UTF-8. Addresses are in network
 * byte order, 4 or 16 bytes.
 */

/** "SNP1": the format above. Another format gets another number. */
const magic = 0x31504e53
const headerBytes = 6 * 4
const blockSteps = 64
const ownerBytes = 8

const widths = [4, 16] as const
type Width = (typeof widths)[number]
const blockBytes = (width: Width) => blockSteps * (width + 4 + 2)
const blocksOf = (steps: number) => Math.ceil(steps / blockSteps)

export interface PlaceTables {
  readonly ipv4: readonly Step[]
  readonly ipv6: readonly Step[]
  readonly owners: Owners
  /** Kind and date of the country data. */
  readonly label: string
}

const addressOf = (start: bigint, width: Width): Buffer =>
  Buffer.from(start.toString(16).padStart(width * 2, '0'), 'hex')

const packFamily = (steps: readonly Step[], width: Width) => {
  const count = blocksOf(steps.length)
  const index = Buffer.alloc(count * width)
  const blocks = Buffer.alloc(count * blockBytes(width))
  for (const [position, { start, owner, country }] of steps.entries()) {
    const [block, place] = [Math.floor(position / blockSteps), position % blockSteps]
    const at = block * blockBytes(width)
    const address = addressOf(start, width)
    if (place === 0) address.copy(index, block * width)
    address.copy(blocks, at + place * width)
    blocks.writeUInt32LE(owner, at + blockSteps * width + place * 4)
    blocks.writeUInt16LE(country, at + blockSteps * (width + 4) + place * 2)
  }
  return { index, blocks }
}

/** The tables as the bytes of the file. */
export const packPlaces = ({ ipv4, ipv6, owners, label }: PlaceTables): Buffer => {
  const text = Buffer.from(label)
  const header = Buffer.alloc(headerBytes)
  const counts = [magic, ipv4.length, ipv6.length, owners.asns.length, text.length, owners.names.length]
  for (const [word, count] of counts.entries()) header.writeUInt32LE(count, word * 4)
  const table = Buffer.alloc(owners.asns.length * ownerBytes)
  for (const [owner, asn] of owners.asns.entries()) {
    table.writeUInt32LE(asn, owner * ownerBytes)
    table.writeUInt32LE(owners.nameEnds[owner] ?? 0, owner * ownerBytes + 4)
  }
  const [four, six] = [packFamily(ipv4, 4), packFamily(ipv6, 16)]
  return Buffer.concat([header, text, four.index, six.index, four.blocks, six.blocks, table, owners.names])
}

/** Where packed tables are read from, a few hundred bytes at a time. */
export interface PackSource {
  readonly size: number
  /** @throws when there are not as many bytes. */
  read(at: number, length: number): Buffer
}
export const inMemory = (bytes: Buffer): PackSource => ({
  size: bytes.length,
  read: (at, length) => bytes.subarray(at, at + length),
})
/** An open file; null where there is none. It is never closed: a file that is replaced stays readable for who has it open. */
export const inFile = (file: string): PackSource | null => {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch {
    return null
  }
  return {
    size: fstatSync(descriptor).size,
    read(at, length) {
      const bytes = Buffer.alloc(length)
      if (readSync(descriptor, bytes, 0, length, at) !== length) throw new Error(`${file} is shorter than it was`)
      return bytes
    },
  }
}

interface Family {
  readonly width: Width
  readonly steps: number
  readonly index: Buffer
  readonly blocksAt: number
}
export interface PlaceNumbers {
  readonly owner: number
  readonly country: number
}
export interface PackedPlaces {
  readonly label: string
  /** Of an address of 4 or 16 bytes. */
  find(address: Uint8Array): PlaceNumbers
  /** All blocks of steps, in the order of the addresses of each family. */
  blocks(): Generator<{
    readonly width: Width
    readonly steps: readonly { readonly start: Uint8Array; readonly place: PlaceNumbers }[]
  }>
  /** The ASN of an owner. */
  asn(owner: number): number
  /** The ASNs of all owners, in their order. */
  asns(): Generator<number>
  /** Name of an owner, as the network's holder gave it. */
  ownerName(owner: number): string
}

const nothing: PlaceNumbers = { owner: 0, country: 0 }
/** Attacks come from few networks, so the blocks read last stay in memory, at most 1.4 KB each. When these are full, all are dropped. */
const mostBlocks = 256

const compareAt = (sorted: Buffer, at: number, address: Uint8Array): number => {
  for (let index = 0; index < address.length; index++) {
    const difference = (sorted[at + index] ?? 0) - (address[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
/** The last of `count` sorted addresses that is not above this one; -1 when all are above. */
const lastAtMost = (sorted: Buffer, count: number, address: Uint8Array): number => {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareAt(sorted, middle * address.length, address) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}
const placeAt = (block: Buffer, width: Width, step: number): PlaceNumbers => ({
  owner: block.readUInt32LE(blockSteps * width + step * 4),
  country: block.readUInt16LE(blockSteps * (width + 4) + step * 2),
})

/** Null where the source is none that this version can read. */
export const openPacked = (source: PackSource | null): PackedPlaces | null => {
  if (source === null || source.size < headerBytes) return null
  const header = source.read(0, headerBytes)
  const word = (at: number) => header.readUInt32LE(at * 4)
  const [labelBytes, nameBytes, ownerCount] = [word(4), word(5), word(3)]
  const indexAt = headerBytes + labelBytes
  const [fours, sixes] = [blocksOf(word(1)), blocksOf(word(2))]
  const blocksAt = indexAt + fours * 4 + sixes * 16
  const sixesAt = blocksAt + fours * blockBytes(4)
  const ownersAt = sixesAt + sixes * blockBytes(16)
  const namesAt = ownersAt + ownerCount * ownerBytes
  if (word(0) !== magic || source.size !== namesAt + nameBytes) return null
  const ipv4: Family = { width: 4, steps: word(1), index: source.read(indexAt, fours * 4), blocksAt }
  const ipv6: Family = {
    width: 16,
    steps: word(2),
    index: source.read(indexAt + fours * 4, sixes * 16),
    blocksAt: sixesAt,
  }
  const blockCache = new Map<number, Buffer>()
  const read = ({ width, blocksAt: first }: Family, block: number) =>
    source.read(first + block * blockBytes(width), blockBytes(width))
  const keptBlock = (family: Family, block: number): Buffer => {
    const key = family.width === 4 ? block : -1 - block
    const cachedBlock = blockCache.get(key)
    if (cachedBlock) return cachedBlock
    if (blockCache.size >= mostBlocks) blockCache.clear()
    const bytes = read(family, block)
    blockCache.set(key, bytes)
    return bytes
  }
  const stepsIn = ({ steps }: Family, block: number) => Math.min(blockSteps, steps - block * blockSteps)
  return {
    label: source.read(headerBytes, labelBytes).toString(),
    find(address) {
      const family = address.length === 4 ? ipv4 : ipv6
      const block = lastAtMost(family.index, blocksOf(family.steps), address)
      if (block < 0) return nothing
      const bytes = keptBlock(family, block)
      return placeAt(bytes, family.width, lastAtMost(bytes, stepsIn(family, block), address))
    },
    *blocks() {
      for (const family of [ipv4, ipv6])
        for (let block = 0; block < blocksOf(family.steps); block++) {
          const bytes = read(family, block)
          const { width } = family
          const steps = Array.from({ length: stepsIn(family, block) }, (_, step) => ({
            start: bytes.subarray(step * width, (step + 1) * width),
            place: placeAt(bytes, width, step),
          }))
          yield { width, steps }
        }
    },
    asn: owner => source.read(ownersAt + owner * ownerBytes, 4).readUInt32LE(),
    *asns() {
      const table = source.read(ownersAt, ownerCount * ownerBytes)
      for (let owner = 0; owner < ownerCount; owner++) yield table.readUInt32LE(owner * ownerBytes)
    },
    ownerName(owner) {
      const endOf = (of: number) => source.read(ownersAt + of * ownerBytes + 4, 4).readUInt32LE()
      const nameStart = owner === 0 ? 0 : endOf(owner - 1)
      return source.read(namesAt + nameStart, endOf(owner) - nameStart).toString()
    },
  }
}
