import {
  attribute,
  attributesOf,
  flag,
  listAttributes,
  nested,
  readAttributes,
  readText,
  textAttribute,
  u32Attribute,
} from './codec.ts'
import type { Draft, Message } from './codec.ts'

/* Messages of nf_tables. The numbers are those of the kernel's linux/netfilter/nf_tables.h. */

export const nftablesSubsystem = 10

const type = {
  newTable: 0,
  getTable: 1,
  deleteTable: 2,
  newChain: 3,
  deleteChain: 5,
  newRule: 6,
  getRule: 7,
  deleteRule: 8,
  newSet: 9,
  deleteSet: 11,
  newElement: 12,
  getElement: 13,
  deleteElement: 14,
  getGeneration: 16,
}

/** NFPROTO_INET: rules for IPv4 and IPv6. */
const inet = 1
const acceptPolicy = 1
const timeoutFlag = 0x10
/** A nested attribute holds at most 64 kB. */
const maxElementBytes = 60_000

export const tableFlag = { dormant: 1, owner: 2, persist: 4 } as const

const draft = (kind: number, flags: number, ...parts: readonly Buffer[]): Draft => ({
  type: (nftablesSubsystem << 8) | kind,
  flags,
  family: inet,
  body: Buffer.concat(parts),
})

export const newTable = (table: string, flags: number): Draft =>
  draft(type.newTable, flag.create, textAttribute(1, table), u32Attribute(2, flags))

export const deleteTable = (table: string): Draft => draft(type.deleteTable, 0, textAttribute(1, table))

export const getTable = (table: string): Draft => draft(type.getTable, 0, textAttribute(1, table))

/** `priority`: the place in the prerouting hook; null makes a chain without a hook. */
export const newChain = (table: string, chain: string, priority: number | null): Draft => {
  const hook = [
    nested(4, u32Attribute(1, 0), u32Attribute(2, priority ?? 0)),
    u32Attribute(5, acceptPolicy),
    textAttribute(7, 'filter'),
  ]
  const name = [textAttribute(1, table), textAttribute(3, chain)]
  return draft(type.newChain, flag.create, ...name, ...(priority === null ? [] : hook))
}

/** `expressions` is the value of the attribute as the kernel dumps it. */
export const newRule = (table: string, chain: string, expressions: Buffer): Draft =>
  draft(
    type.newRule,
    flag.create | flag.append,
    textAttribute(1, table),
    textAttribute(2, chain),
    attribute(4 | 0x8000, expressions),
  )

/** Deletes all rules of a chain. */
export const deleteRules = (table: string, chain: string): Draft =>
  draft(type.deleteRule, 0, textAttribute(1, table), textAttribute(2, chain))

export const deleteChain = (table: string, chain: string): Draft =>
  draft(type.deleteChain, 0, textAttribute(1, table), textAttribute(3, chain))

export const deleteSet = (table: string, set: string): Draft =>
  draft(type.deleteSet, 0, textAttribute(1, table), textAttribute(2, set))

/** Deletes all elements of a set. */
export const flushSet = (table: string, set: string): Draft =>
  draft(type.deleteElement, 0, textAttribute(1, table), textAttribute(2, set))

/** The rules of a table, or of one chain. */
export const getRules = (table: string, chain?: string): Draft =>
  draft(type.getRule, flag.dump, textAttribute(1, table), ...(chain === undefined ? [] : [textAttribute(2, chain)]))

export interface SetShape {
  readonly name: string
  readonly family: 4 | 6
  /** Whether elements end by themselves. */
  readonly hasTimeout: boolean
  /** Whether each element counts the packets that matched it. */
  readonly hasCounter: boolean
  readonly size: number
}

/** A hash set of addresses. `id` is different for each set of a transaction. */
export const newSet = (table: string, set: SetShape, id: number): Draft =>
  draft(
    type.newSet,
    flag.create,
    textAttribute(1, table),
    textAttribute(2, set.name),
    u32Attribute(3, set.hasTimeout ? timeoutFlag : 0),
    // The numbers that nft gives to ipv4_addr and ipv6_addr.
    u32Attribute(4, set.family === 4 ? 7 : 8),
    u32Attribute(5, set.family === 4 ? 4 : 16),
    u32Attribute(10, id),
    nested(9, u32Attribute(1, set.size)),
    // For nft: the byte order of the keys, which are big-endian.
    attribute(13, Buffer.from([0, 4, 2, 0, 0, 0])),
    ...(set.hasCounter ? [nested(17, textAttribute(1, 'counter'), nested(2))] : []),
  )

export interface SetElement {
  readonly key: Buffer
  /** Milliseconds until the element ends; null: it stays. */
  readonly timeout: number | null
}

export const newElements = (table: string, set: string, elements: readonly SetElement[]): Draft[] =>
  elementDrafts(type.newElement, flag.create, table, set, elements, true)

export const deleteElements = (table: string, set: string, elements: readonly SetElement[]): Draft[] =>
  elementDrafts(type.deleteElement, 0, table, set, elements, false)

const elementDrafts = (
  kind: number,
  flags: number,
  table: string,
  set: string,
  elements: readonly SetElement[],
  hasTimeout: boolean,
): Draft[] => {
  const perMessage = Math.max(1, Math.floor(maxElementBytes / elementBytes(elements[0]?.key.length ?? 4, true)))
  const drafts: Draft[] = []
  for (let i = 0; i < elements.length; i += perMessage) {
    const list = elementList(elements.slice(i, i + perMessage), hasTimeout)
    drafts.push(draft(kind, flags, textAttribute(1, table), textAttribute(2, set), attribute(3 | 0x8000, list)))
  }
  return drafts
}

const timeoutBytes = 12
const elementBytes = (keyLength: number, hasTimeout: boolean): number =>
  12 + keyLength + (hasTimeout ? timeoutBytes : 0)

/** Written into one buffer, because 100,000 elements of several small buffers each take a second. */
const elementList = (elements: readonly SetElement[], hasTimeout: boolean): Buffer => {
  const bytes = Buffer.alloc(elements.reduce((sum, { key }) => sum + elementBytes(key.length, hasTimeout), 0))
  let at = 0
  const header = (length: number, attributeType: number): void => {
    bytes[at] = length & 255
    bytes[at + 1] = length >> 8
    bytes[at + 2] = attributeType & 255
    bytes[at + 3] = attributeType >> 8
    at += 4
  }
  for (const { key, timeout } of elements) {
    const isTimed = hasTimeout && timeout !== null
    header(elementBytes(key.length, isTimed), 1 | 0x8000)
    if (isTimed) {
      header(timeoutBytes, 4)
      bytes.writeUInt32BE(Math.floor(timeout / 2 ** 32), at)
      at = bytes.writeUInt32BE(timeout >>> 0, at + 4)
    }
    header(8 + key.length, 1 | 0x8000)
    header(4 + key.length, 1)
    bytes.set(key, at)
    at += key.length
  }
  return bytes.subarray(0, at)
}

/** One element of a set, or all of them. */
export const getElements = (table: string, set: string, key?: Buffer): Draft =>
  key === undefined
    ? draft(type.getElement, flag.dump, textAttribute(1, table), textAttribute(2, set))
    : draft(
        type.getElement,
        0,
        textAttribute(1, table),
        textAttribute(2, set),
        nested(3, nested(1, nested(1, attribute(1, key)))),
      )

export const getGeneration: Draft = { ...draft(type.getGeneration, 0), family: 0 }

export interface FoundElement {
  readonly key: Buffer
  /** Milliseconds until the element ends; null: it stays. */
  readonly expires: number | null
  /** How many packets matched; null without a counter. */
  readonly packets: number | null
}

export const readElements = (messages: readonly Message[]): FoundElement[] =>
  messages.flatMap(message =>
    listAttributes(attributesOf(message).get(3) ?? Buffer.alloc(0)).map(([, value]) => readElement(value)),
  )

/** The keys of elements without anything else: of 100,000 elements the objects of a full read would take 100 MB. */
export const readKeys = (messages: readonly Message[], keyLength: number): Buffer => {
  let keys = Buffer.allocUnsafe(4096)
  let bytes = 0
  for (const message of messages) {
    const list = attributesOf(message).get(3)
    if (list === undefined) continue
    for (let at = 0; at + 4 <= list.length;) {
      const length = list.readUInt16LE(at)
      if (length < 4) break
      const start = keyAt(list, at + 4, at + length, keyLength)
      if (bytes + keyLength > keys.length) keys = Buffer.concat([keys, Buffer.allocUnsafe(keys.length)])
      if (start >= 0) bytes += list.copy(keys, bytes, start, start + keyLength)
      at += (length + 3) & ~3
    }
  }
  return keys.subarray(0, bytes)
}

/** Where the value of the key attribute begins among those of an element; -1: there is none. */
const keyAt = (bytes: Buffer, start: number, end: number, keyLength: number): number => {
  for (let at = start; at + 4 <= end;) {
    const length = bytes.readUInt16LE(at)
    if (length < 4) return -1
    // The key is nested in an attribute of its own: two headers of 4 bytes.
    if ((bytes.readUInt16LE(at + 2) & 0x3fff) === 1 && length >= 8 + keyLength) return at + 8
    at += (length + 3) & ~3
  }
  return -1
}

const readElement = (value: Buffer): FoundElement => {
  const fields = readAttributes(value)
  const key = readAttributes(fields.get(1) ?? Buffer.alloc(0)).get(1) ?? Buffer.alloc(0)
  const expiration = fields.get(5)
  const expression = readAttributes(fields.get(7) ?? Buffer.alloc(0))
  const packets =
    readText(expression.get(1)) === 'counter' ? readAttributes(expression.get(2) ?? Buffer.alloc(0)).get(2) : null
  return {
    key,
    expires: expiration ? Number(expiration.readBigUInt64BE()) : null,
    packets: packets ? Number(packets.readBigUInt64BE()) : null,
  }
}

export interface FoundRule {
  readonly chain: string
  readonly handle: string
  readonly expressions: Buffer
}

export const readRules = (messages: readonly Message[]): FoundRule[] =>
  messages.map(message => {
    const fields = attributesOf(message)
    return {
      chain: readText(fields.get(2)),
      handle: fields.get(3)?.toString('hex') ?? '',
      expressions: fields.get(4) ?? Buffer.alloc(0),
    }
  })

/** The packets that the first counter of a rule has seen; null if the rule has none. */
export const readRuleCounter = ({ expressions }: FoundRule): number | null => {
  for (const [, value] of listAttributes(expressions)) {
    const fields = readAttributes(value)
    if (readText(fields.get(1)) !== 'counter') continue
    const packets = readAttributes(fields.get(2) ?? Buffer.alloc(0)).get(2)
    return packets === undefined ? null : Number(packets.readBigUInt64BE())
  }
  return null
}

export const readTableFlags = (messages: readonly Message[]): number =>
  messages[0] === undefined ? 0 : (attributesOf(messages[0]).get(2)?.readUInt32BE() ?? 0)

export const readGeneration = (messages: readonly Message[]): number =>
  messages[0] === undefined ? 0 : (attributesOf(messages[0]).get(1)?.readUInt32BE() ?? 0)
