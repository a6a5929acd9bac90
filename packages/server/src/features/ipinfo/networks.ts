import { createReadStream } from 'node:fs'

/** Who announces an address to the internet. */
export interface Network {
  readonly asn: number
  readonly org: string
}
export interface Networks {
  /** The network of an address of 4 or 16 bytes. */
  find(bytes: Uint8Array): Network | null
}

/** Ranges of one family in sorted typed arrays, `width` words of 32 bits an address: a few megabytes in all. */
interface Ranges {
  readonly width: number
  readonly count: number
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly owners: Uint32Array
}
/** The networks that own ranges; names stand in one buffer, because strings of their own would cost three times as much. */
interface Owners {
  readonly asns: Uint32Array
  readonly names: Buffer
  readonly nameEnds: Uint32Array
}

export interface NetworkFiles {
  readonly ipv4: string
  readonly ipv6: string
}

/**
 * Reads the ASN tables of ip-location-db: lines `first,last,asn,name`, IPv4 as decimal numbers, IPv6 as text, sorted.
 * In pieces of a quarter megabyte, so that nobody waits for it longer than a few milliseconds.
 */
const readNetworks = async (files: NetworkFiles): Promise<Networks> => {
  const owners = collectOwners()
  const ipv4 = await readRanges(files.ipv4, 1, readDecimal, owners)
  const ipv6 = await readRanges(files.ipv6, 4, readIpv6, owners)
  return networksOf(ipv4, ipv6, owners.finish())
}

const loads = new Map<string, Promise<Networks>>()
/** The shipped tables never change while a process runs, so that several servers in one process share what was read once. */
export const loadNetworks = (files: NetworkFiles): Promise<Networks> => {
  const key = JSON.stringify([files.ipv4, files.ipv6])
  const load = loads.get(key) ?? readNetworks(files)
  loads.set(key, load)
  load.catch(() => loads.delete(key))
  return load
}

/** Attacks come from few networks, so those are made once; beyond this all are forgotten. */
const mostKept = 5000

const networksOf = (ipv4: Ranges, ipv6: Ranges, owners: Owners): Networks => {
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
  }
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

const comma = 0x2c
const newline = 0x0a
const quote = 0x22
const colon = 0x3a

/** Reads the address that ends before `to` into `words` at `at`; false when it is none. */
type ReadAddress = (line: Buffer, from: number, to: number, words: Uint32Array, at: number) => boolean

const readRanges = async (
  file: string,
  width: number,
  readAddress: ReadAddress,
  owners: ReturnType<typeof collectOwners>,
): Promise<Ranges> => {
  let starts = new Uint32Array(1 << 16)
  let ends = new Uint32Array(1 << 16)
  let owned = new Uint32Array((1 << 16) / width)
  let count = 0
  const readLine = (line: Buffer, from: number, to: number) => {
    const first = line.indexOf(comma, from)
    const second = line.indexOf(comma, first + 1)
    const third = line.indexOf(comma, second + 1)
    if (first < 0 || second < 0 || third < 0 || third >= to) return
    const at = count * width
    if (at + width > starts.length) {
      starts = twice(starts)
      ends = twice(ends)
      owned = twice(owned)
    }
    const asn = numberIn(line, second + 1, third)
    if (asn === null || !readAddress(line, from, first, starts, at) || !readAddress(line, first + 1, second, ends, at))
      return
    owned[count++] = owners.number(asn, line, third + 1, to)
  }
  let rest: Buffer = Buffer.alloc(0)
  for await (const read of createReadStream(file, { highWaterMark: 256 * 1024 })) {
    const piece: Buffer = rest.length > 0 ? Buffer.concat([rest, read as Buffer]) : (read as Buffer)
    let from = 0
    for (let to = piece.indexOf(newline); to >= 0; to = piece.indexOf(newline, from)) {
      readLine(piece, from, to)
      from = to + 1
    }
    rest = piece.subarray(from)
  }
  readLine(rest, 0, rest.length)
  return {
    width,
    count,
    starts: starts.slice(0, count * width),
    ends: ends.slice(0, count * width),
    owners: owned.slice(0, count),
  }
}

const twice = (words: Uint32Array<ArrayBuffer>) => {
  const larger = new Uint32Array(words.length * 2)
  larger.set(words)
  return larger
}

const numberIn = (line: Buffer, from: number, to: number): number | null => {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = (line[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return null
    value = value * 10 + digit
  }
  return to > from && value <= 0xffffffff ? value : null
}

const readDecimal: ReadAddress = (line, from, to, words, at) => {
  const value = numberIn(line, from, to)
  if (value === null) return false
  words[at] = value
  return true
}

const groups = new Uint16Array(8)
const readIpv6: ReadAddress = (line, from, to, words, at) => {
  let count = 0
  /** Where `::` stands, as the number of groups before it. */
  let gap = -1
  let value = 0
  let digits = 0
  groups.fill(0)
  for (let index = from; index <= to; index++) {
    const byte = index < to ? (line[index] ?? 0) : colon
    if (byte === colon) {
      if (digits > 0) {
        if (count === 8) return false
        groups[count++] = value
      } else if (index > from && index < to && line[index - 1] === colon) gap = count
      value = 0
      digits = 0
      continue
    }
    const digit = hexDigit(byte)
    if (digit < 0 || ++digits > 4) return false
    value = value * 16 + digit
  }
  if (gap >= 0) {
    groups.copyWithin(8 - (count - gap), gap, count)
    groups.fill(0, gap, 8 - (count - gap))
  } else if (count !== 8) return false
  for (let word = 0; word < 4; word++)
    words[at + word] = (groups[word * 2] ?? 0) * 0x10000 + (groups[word * 2 + 1] ?? 0)
  return true
}
const hexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Gives each ASN a number and keeps its name once, from where it is first seen. */
const collectOwners = () => {
  const numbers = new Map<number, number>()
  const names: Buffer[] = []
  return {
    number(asn: number, line: Buffer, from: number, to: number): number {
      const known = numbers.get(asn)
      if (known !== undefined) return known
      const number = numbers.size
      numbers.set(asn, number)
      names.push(nameIn(line, from, to))
      return number
    },
    finish(): Owners {
      let end = 0
      const nameEnds = Uint32Array.from(names, name => (end += name.length))
      return { asns: Uint32Array.from(numbers.keys()), names: Buffer.concat(names), nameEnds }
    },
  }
}
/** The last field of a line: bare, or in quotes with quotes doubled. A copy, since the line goes away. */
const nameIn = (line: Buffer, from: number, to: number): Buffer => {
  const end = line[to - 1] === 0x0d ? to - 1 : to
  if (line[from] !== quote) return Buffer.from(line.subarray(from, end))
  return Buffer.from(line.toString('utf8', from + 1, end - 1).replaceAll('""', '"'))
}
