import { createHash } from 'node:crypto'

/** Of a public key in DER, base64url: as OpenSSH writes fingerprints, and as agents show them. */
export const fingerprintOf = (spki: string): string =>
  `SHA256:${createHash('sha256').update(Buffer.from(spki, 'base64url')).digest('base64').replace(/=+$/, '')}`
