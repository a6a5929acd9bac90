import { hash, randomFillSync, randomInt } from 'node:crypto'

/** Randomness is cheap by the page and dear by the drop. */
const pool = new Uint8Array(4096)
let used = pool.length
const sixteen = (): Uint8Array => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 16
  return pool.slice(used - 16, used)
}

/** The bytes of a UUID of version 7 (RFC 9562): the first 48 bits are the time, so that ids sort by it. */
export const uuid7Bytes = (at: number): Uint8Array => {
  const bytes = sixteen()
  const high = Math.floor(at / 0x10000)
  bytes[0] = high >>> 24
  bytes[1] = high >>> 16
  bytes[2] = high >>> 8
  bytes[3] = high
  bytes[4] = at >>> 8
  bytes[5] = at
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes
}
export const uuid7 = (at: number): string => uuidText(uuid7Bytes(at))

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
