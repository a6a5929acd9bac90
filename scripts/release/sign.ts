import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/* Signatures of a release: ECDSA P-256, which `openssl` checks on every host, and minisign, for people. */

/** A private key in PEM, of the kind that is asked for. @throws Error with a sentence. */
const keyOf = (pem: string, type: 'ec' | 'ed25519', words: string): KeyObject => {
  const key = createPrivateKey(pem)
  const isWanted =
    key.asymmetricKeyType === type && (type !== 'ec' || key.asymmetricKeyDetails?.namedCurve === 'prime256v1')
  if (!isWanted) throw new Error(`the key is not ${words}`)
  return key
}

/** A private key for `signEcdsa`, in PEM. */
export const newEcdsaKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'sec1', format: 'pem' }).toString()

/** DER, as `openssl dgst -sha256 -verify` reads it. */
export const signEcdsa = (content: string, pem: string): Buffer =>
  sign('sha256', Buffer.from(content), keyOf(pem, 'ec', 'an ECDSA key on P-256'))

/** The public half as minisign has it: algorithm, number of the key, 32 bytes. */
const minisignId = (publicKey: KeyObject) => {
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return { raw, id: createHash('sha256').update(raw).digest().subarray(0, 8) }
}
const encode = (...parts: (string | Buffer)[]): string =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part))).toString('base64')

/** The text of a minisign public key file. */
export const minisignPublicKey = (pem: string): string => {
  const { raw, id } = minisignId(createPublicKey(keyOf(pem, 'ed25519', 'an Ed25519 key')))
  return `untrusted comment: release key of Stockade\n${encode('Ed', id, raw)}\n`
}
/** The text of a `.minisig` file: of the BLAKE2b sum of the content, as minisign 0.10 and newer make it. */
export const signMinisign = (content: string, pem: string, comment: string): string => {
  const key = keyOf(pem, 'ed25519', 'an Ed25519 key')
  const { id } = minisignId(createPublicKey(key))
  const signature = sign(null, createHash('blake2b512').update(content).digest(), key)
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key)
  return [
    'untrusted comment: signature by the release key of Stockade',
    encode('ED', id, signature),
    `trusted comment: ${comment}`,
    `${encode(whole)}\n`,
  ].join('\n')
}
