/**
 * The netlink wire format (RFC 3549) as far as nfnetlink needs it. Headers are in the byte order of the machine, and every
 * machine that the agent runs on is little-endian. Values inside nfnetlink attributes are big-endian.
 */

const headerBytes = 16
/** The nfnetlink header: family, version, resource id. */
const familyBytes = 4
const attributeHeaderBytes = 4
const nestedFlag = 0x8000
const typeMask = 0x3fff

export const flag = { request: 1, ack: 4, dump: 0x300, create: 0x400, append: 0x800 } as const

/** A message without its sequence number, which the connection assigns. */
export interface Draft {
  readonly type: number
  readonly flags: number
  readonly family: number
  /** The resource id; only the two frames of a transaction have one. */
  readonly resource?: number
  readonly body: Buffer
}

export interface Message {
  readonly type: number
  readonly flags: number
  readonly sequence: number
  /** What follows the header of netlink. */
  readonly payload: Buffer
}

const padded = (length: number): number => (length + 3) & ~3

export const attribute = (type: number, value: Buffer): Buffer => {
  const length = attributeHeaderBytes + value.length
  const bytes = Buffer.alloc(padded(length))
  bytes.writeUInt16LE(length, 0)
  bytes.writeUInt16LE(type, 2)
  value.copy(bytes, attributeHeaderBytes)
  return bytes
}

export const nested = (type: number, ...parts: readonly Buffer[]): Buffer =>
  attribute(type | nestedFlag, Buffer.concat(parts))

/** A text that ends with a zero byte. */
export const textAttribute = (type: number, text: string): Buffer => attribute(type, Buffer.from(`${text}\0`, 'utf8'))

export const u32Attribute = (type: number, value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value | 0)
  return attribute(type, bytes)
}

export const encode = ({ type, flags, family, resource, body }: Draft, sequence: number): Buffer => {
  const bytes = Buffer.alloc(headerBytes + familyBytes + body.length)
  bytes.writeUInt32LE(bytes.length, 0)
  bytes.writeUInt16LE(type, 4)
  bytes.writeUInt16LE(flags | flag.request, 6)
  bytes.writeUInt32LE(sequence, 8)
  bytes.writeUInt8(family, headerBytes)
  bytes.writeUInt16BE(resource ?? 0, headerBytes + 2)
  body.copy(bytes, headerBytes + familyBytes)
  return bytes
}

/** The messages of one datagram. A message that was cut short ends the list. */
export const decode = (bytes: Buffer): Message[] => {
  const messages: Message[] = []
  let at = 0
  while (at + headerBytes <= bytes.length) {
    const length = bytes.readUInt32LE(at)
    if (length < headerBytes || at + length > bytes.length) break
    messages.push({
      type: bytes.readUInt16LE(at + 4),
      flags: bytes.readUInt16LE(at + 6),
      sequence: bytes.readUInt32LE(at + 8),
      payload: bytes.subarray(at + headerBytes, at + length),
    })
    at += padded(length)
  }
  return messages
}

/** The attributes after the nfnetlink header of a message. */
export const attributesOf = (message: Message): Map<number, Buffer> =>
  readAttributes(message.payload.subarray(familyBytes))

/** The attributes in a row, by type. Of several with the same type, the last one. */
export const readAttributes = (bytes: Buffer): Map<number, Buffer> => new Map(listAttributes(bytes))

export const listAttributes = (bytes: Buffer): (readonly [type: number, value: Buffer])[] => {
  const attributes: (readonly [number, Buffer])[] = []
  let at = 0
  while (at + attributeHeaderBytes <= bytes.length) {
    const length = bytes.readUInt16LE(at)
    if (length < attributeHeaderBytes || at + length > bytes.length) break
    attributes.push([bytes.readUInt16LE(at + 2) & typeMask, bytes.subarray(at + attributeHeaderBytes, at + length)])
    at += padded(length)
  }
  return attributes
}

export const readText = (value: Buffer | undefined): string => value?.toString('utf8').replace(/\0.*$/s, '') ?? ''
