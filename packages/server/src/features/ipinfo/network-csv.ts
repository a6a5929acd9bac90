import { createReadStream } from 'node:fs'
import type { NetworkTables, Owners, Ranges } from './network-tables.ts'

export interface NetworkFiles {
  readonly ipv4: string
  readonly ipv6: string
}

/**
 * Reads the ASN tables of ip-location-db: lines `first,last,asn,name`, IPv4 as decimal numbers, IPv6 as text, sorted.
 * In pieces of a quarter megabyte, so that the event loop is never blocked for more than a few milliseconds.
 */
export const readNetworkFiles = async (files: NetworkFiles): Promise<NetworkTables> => {
  const owners = collectOwners()
  const ipv4 = await readRanges(files.ipv4, 1, readDecimal, owners)
  const ipv6 = await readRanges(files.ipv6, 4, readIpv6, owners)
  return { ipv4, ipv6, owners: owners.finish() }
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
    const piece: Buffer = rest.length > 0 ? Buffer.concat([rest, read]) : read
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
  return putGroups(count, gap, words, at)
}
/** Puts the groups that were read into four words, with zeros in the gap; false when groups are missing. */
const putGroups = (count: number, gap: number, words: Uint32Array, at: number): boolean => {
  if (gap < 0 && count !== 8) return false
  if (gap >= 0) {
    groups.copyWithin(8 - (count - gap), gap, count)
    groups.fill(0, gap, 8 - (count - gap))
  }
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
      const knownNumber = numbers.get(asn)
      if (knownNumber !== undefined) return knownNumber
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
