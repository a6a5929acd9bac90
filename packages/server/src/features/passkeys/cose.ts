import { createPublicKey } from 'node:crypto'
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'

const base64url = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('base64url')

/** A passkey's public key (COSE, RFC 9053) as SubjectPublicKeyInfo in DER, base64url. @throws Error for kinds that are not offered. */
export const spkiOf = (publicKey: Uint8Array<ArrayBuffer>): string => {
  const key = decodeCredentialPublicKey(publicKey)
  return createPublicKey({ key: jwkOf(key), format: 'jwk' })
    .export({ type: 'spki', format: 'der' })
    .toString('base64url')
}
const jwkOf = (key: cose.COSEPublicKey) => {
  if (cose.isCOSEPublicKeyEC2(key))
    return {
      kty: 'EC',
      crv: 'P-256',
      x: base64url(key.get(cose.COSEKEYS.x)),
      y: base64url(key.get(cose.COSEKEYS.y)),
    }
  if (cose.isCOSEPublicKeyOKP(key)) return { kty: 'OKP', crv: 'Ed25519', x: base64url(key.get(cose.COSEKEYS.x)) }
  if (cose.isCOSEPublicKeyRSA(key))
    return { kty: 'RSA', n: base64url(key.get(cose.COSEKEYS.n)), e: base64url(key.get(cose.COSEKEYS.e)) }
  throw new Error('this kind of key is not offered')
}
