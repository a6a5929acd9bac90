import { hash, randomFillSync, randomInt } from 'node:crypto'

/** Randomness is cheap by the page and dear by the drop. */
const pool = new Uint8Array(4096)
let used = pool.length
const sixteen = (): Buffer => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 16
  return Buffer.from(pool.subarray(used - 16, used))
}

/** A UUID of version 7 (RFC 9562): the first 48 bits are the time, so that ids sort by it. */
export const uuid7 = (at: number): string => {
  const bytes = sixteen()
  bytes.writeUIntBE(at, 0, 6)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return uuidText(bytes)
}

/** 16 bytes as `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
export const uuidText = (bytes: Uint8Array): string => {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
/** Its 16 bytes; a slice of Node's shared pool, so nothing to keep for long or to hand to a thread. */
export const uuidBytes = (text: string): Uint8Array => Buffer.from(text.replaceAll('-', ''), 'hex')

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** `length` random characters of 62: 5.95 bits each. */
export const randomText = (length: number): string =>
  Array.from({ length }, () => base62.charAt(randomInt(base62.length))).join('')

/** Secrets with enough randomness of their own are kept as their SHA-256, in hex. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex')
