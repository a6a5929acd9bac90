import { parseIp } from '../core/ip.ts'

/* DER (ITU-T X.690), as far as certificates and requests for them need it. */

/** A tag, the length of the content, the content. */
export const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content])
  const length = Buffer.from(content.length.toString(16).padStart(content.length > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content])
}
export const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
export const bytes = (hex: string) => Buffer.from(hex, 'hex')
/** Object identifiers in DER: RFC 5280, RFC 5758 and RFC 2985. */
export const oid = {
  commonName: bytes('0603550403'),
  subjectAltName: bytes('0603551d11'),
  keyUsage: bytes('0603551d0f'),
  extendedKeyUsage: bytes('0603551d25'),
  serverAuth: bytes('06082b06010505070301'),
  ecdsaWithSha256: bytes('06082a8648ce3d040302'),
  extensionRequest: bytes('06092a864886f70d01090e'),
} as const
export const extension = (id: Buffer, value: Buffer) => sequence(id, der(0x04, value))
const generalName = (name: string) => {
  const address = parseIp(name)
  return address ? der(0x87, address.bytes) : der(0x82, Buffer.from(name, 'ascii'))
}
/** The extension that names DNS names and addresses. */
export const namesExtension = (names: readonly string[]) =>
  extension(oid.subjectAltName, sequence(...names.map(generalName)))
