import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs'
import { endianness } from 'node:os'
import type { NetworkTables, Ranges } from './network-tables.ts'

/*
 * The tables of networks as one file that is read into memory as it is: `npm run build` makes it from the CSV files, whose
 * reading takes a second of CPU and leaves 75 MB of memory behind.
 *
 * Little-endian words of 32 bits. Header: magic, ranges of IPv4, ranges of IPv6, owners, bytes of names. Then for IPv4 and
 * IPv6 the starts, ends and owners; the ASN of each owner; where its name ends; the names in UTF-8.
 */

/** "SNT1": the format above. Another format gets another number. */
const magic = 0x31544e53
const headerWords = 5
const ipv4Width = 1
const ipv6Width = 4

/** Writes the tables; answers how many bytes. */
export const writePackedNetworks = (file: string, { ipv4, ipv6, owners }: NetworkTables): number => {
  const header = Uint32Array.of(magic, ipv4.count, ipv6.count, owners.asns.length, owners.names.length)
  const parts: readonly ArrayBufferView[] = [
    header,
    ...[ipv4, ipv6].flatMap(ranges => [ranges.starts, ranges.ends, ranges.owners]),
    owners.asns,
    owners.nameEnds,
    owners.names,
  ]
  const bytes = Buffer.concat(parts.map(part => Buffer.from(part.buffer, part.byteOffset, part.byteLength)))
  writeFileSync(file, bytes)
  return bytes.length
}

/** Reads a packed file; null where there is none, or none that this version and this machine can read. */
export const readPackedNetworks = (file: string): NetworkTables | null => {
  const buffer = endianness() === 'LE' ? readWhole(file) : null
  if (!buffer || buffer.byteLength < headerWords * 4) return null
  const [found, ipv4Count = 0, ipv6Count = 0, ownerCount = 0, nameBytes = 0] = new Uint32Array(buffer, 0, headerWords)
  const words = headerWords + ipv4Count * (2 * ipv4Width + 1) + ipv6Count * (2 * ipv6Width + 1) + ownerCount * 2
  if (found !== magic || buffer.byteLength !== words * 4 + nameBytes) return null
  let at = headerWords * 4
  const take = (length: number): Uint32Array => {
    const part = new Uint32Array(buffer, at, length)
    at += part.byteLength
    return part
  }
  const rangesOf = (width: number, count: number): Ranges => ({
    width,
    count,
    starts: take(width * count),
    ends: take(width * count),
    owners: take(count),
  })
  const ipv4 = rangesOf(ipv4Width, ipv4Count)
  const ipv6 = rangesOf(ipv6Width, ipv6Count)
  const asns = take(ownerCount)
  const nameEnds = take(ownerCount)
  return { ipv4, ipv6, owners: { asns, nameEnds, names: Buffer.from(buffer, at, nameBytes) } }
}

/** Straight into one buffer of the right size: `readFileSync` would leave the words unaligned or copy them. */
const readWhole = (file: string): ArrayBuffer | null => {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch {
    return null
  }
  try {
    const bytes = new Uint8Array(fstatSync(descriptor).size)
    let length = 0
    while (length < bytes.length) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null)
      if (read === 0) return null
      length += read
    }
    return bytes.buffer
  } finally {
    closeSync(descriptor)
  }
}
