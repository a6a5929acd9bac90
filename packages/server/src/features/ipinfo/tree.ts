import type { Reader, Response } from 'maxmind'
import { ipText } from '../../core/ip.ts'

/** So many records are kept read; beyond that all are forgotten. A file of countries has some 250. */
const mostKept = 5000

/** A network of the tree with its record. */
export interface TreeEntry {
  readonly bytes: Uint8Array
  readonly prefix: number
  readonly record: unknown
}
export interface Finder {
  (bytes: Uint8Array): unknown
  /** Every network that has a record: IPv4 first, then IPv6 without the parts that stand for IPv4. */
  entries(): Generator<TreeEntry>
}

/**
 * Finds records of an open MMDB file by the bytes of an address. Many addresses share a record, so it is read once and kept
 * by where it stands; and the first 16 bits of an IPv4 address lead to its part of the tree at once. The tree is walked as
 * MaxMind's DB file format 2.0 describes it ("Binary Search Tree Section"); reading a record is the library's.
 */
export const createFinder = (data: Buffer, reader: Reader<Response>): Finder => {
  const { nodeCount, recordSize, nodeByteSize, ipVersion } = reader.metadata
  const byte = (at: number) => data[at] ?? 0
  const three = (at: number) => (byte(at) << 16) | (byte(at + 1) << 8) | byte(at + 2)
  /** The record of a node on the side of a bit: another node, nothing (`nodeCount`), or where data begin (more). */
  const records: Readonly<Record<number, (node: number, bit: number) => number>> = {
    24: (node, bit) => three(node * nodeByteSize + bit * 3),
    // The byte in the middle holds the highest four bits of both.
    28: (node, bit) => {
      const at = node * nodeByteSize
      return bit === 0 ? ((byte(at + 3) & 0xf0) << 20) | three(at) : ((byte(at + 3) & 0x0f) << 24) | three(at + 4)
    },
    32: (node, bit) => {
      const at = node * nodeByteSize + bit * 4
      return byte(at) * 0x1000000 + three(at + 1)
    },
  }
  const next = records[recordSize]
  if (!next) throw new Error(`records of ${recordSize} bits are unknown`)
  const step = next
  /** On from a node, by the bits of the address from `bit` up to `end`. */
  const walk = (start: number, bytes: Uint8Array, bit: number, end: number): number => {
    let node = start
    for (let at = bit; at < end && node < nodeCount; at++)
      node = next(node, ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1)
    return node
  }
  // IPv4 addresses stand in a tree of IPv6 behind 96 zeros.
  const ipv4Root = ipVersion === 4 ? 0 : walk(0, new Uint8Array(12), 0, 96)
  /** By the first 16 bits of an IPv4 address: the node they lead to, plus one; 0 if not looked up yet. */
  const firsts = new Float64Array(1 << 16)
  const find = (bytes: Uint8Array): number => {
    if (bytes.length !== 4) return ipVersion === 4 ? nodeCount : walk(0, bytes, 0, 128)
    const high = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)
    const knownFirst = firsts[high] ?? 0
    const node = knownFirst > 0 ? knownFirst - 1 : walk(ipv4Root, bytes, 0, 16)
    if (knownFirst === 0) firsts[high] = node + 1
    return walk(node, bytes, 16, 32)
  }
  const recordCache = new Map<number, unknown>()
  const recordAt = (found: number, bytes: Uint8Array): unknown => {
    const cachedRecord = recordCache.get(found)
    if (cachedRecord !== undefined) return cachedRecord
    const record: unknown = reader.get(ipText(bytes, null))
    if (recordCache.size >= mostKept) recordCache.clear()
    recordCache.set(found, record)
    return record
  }
  /** Depth first, so that the networks come in the order of their addresses. */
  function* below(root: number, bytes: Uint8Array): Generator<TreeEntry> {
    const open: { readonly node: number; readonly depth: number; readonly bytes: Uint8Array }[] = [
      { node: root, depth: 0, bytes },
    ]
    for (let top = open.pop(); top; top = open.pop()) {
      const { node, depth, bytes: at } = top
      if (node === nodeCount || (node === ipv4Root && at.length === 16 && depth > 0)) continue
      if (node > nodeCount) {
        yield { bytes: at, prefix: depth, record: recordAt(node, at) }
        continue
      }
      if (depth >= at.length * 8) continue
      const right = Uint8Array.from(at)
      right[depth >> 3] = (right[depth >> 3] ?? 0) | (0x80 >> (depth & 7))
      open.push(
        { node: step(node, 1), depth: depth + 1, bytes: right },
        { node: step(node, 0), depth: depth + 1, bytes: at },
      )
    }
  }
  const finder = (bytes: Uint8Array): unknown => {
    const offset = find(bytes)
    return offset <= nodeCount ? null : recordAt(offset, bytes)
  }
  return Object.assign(finder, {
    *entries() {
      yield* below(ipv4Root, new Uint8Array(4))
      if (ipVersion !== 4) yield* below(0, new Uint8Array(16))
    },
  })
}
