import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()

/** CBOR (RFC 8949) of what an attestation holds: whole numbers, texts, bytes and maps. */
const cbor = (value: number | string | Buffer | Map<number | string, unknown>): Buffer => {
  const head = (major: number, n: number) =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255])
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item as never)])])
}

/** What an answer gets wrong, for attacks. */
export interface Wrong {
  readonly origin?: string
  readonly rpId?: string
  readonly flags?: number
  readonly challenge?: string
  readonly key?: KeyObject
}

/** A passkey in software: real keys and signatures, and an attestation of none, as browsers send it. */
export const anAuthenticator = (origin: string) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const id = randomBytes(16)
  const jwk = publicKey.export({ format: 'jwk' })
  const cose = new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(String(jwk.x), 'base64url')],
    [-3, Buffer.from(String(jwk.y), 'base64url')],
  ])
  let counter = 0
  const client = (type: string, challenge: unknown, wrong: Wrong) =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: false,
      }),
    )
  const data = (flags: number, wrong: Wrong) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(++counter)
    const site = sha256(wrong.rpId ?? new URL(origin).hostname)
    return Buffer.concat([site, Buffer.from([wrong.flags ?? flags]), count])
  }
  const common = { id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' as const }
  return {
    credentialId: common.id,
    spki: publicKey.export({ type: 'spki', format: 'der' }).toString('base64url'),
    /** Answers `POST /auth/passkeys/options`. */
    create(options: Record<string, unknown>, wrong: Wrong = {}) {
      const length = Buffer.from([0, id.length])
      const authData = Buffer.concat([data(0x45, wrong), Buffer.alloc(16), length, id, cbor(cose)])
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ])
      return {
        ...common,
        clientExtensionResults: {},
        response: {
          clientDataJSON: client('webauthn.create', options.challenge, wrong).toString('base64url'),
          attestationObject: cbor(attestation).toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    /** Answers options of a sign-in or a proof. */
    get(options: Record<string, unknown>, wrong: Wrong = {}) {
      const authenticatorData = data(0x05, wrong)
      const clientData = client('webauthn.get', options.challenge, wrong)
      const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), wrong.key ?? privateKey)
      return {
        ...common,
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData.toString('base64url'),
          authenticatorData: authenticatorData.toString('base64url'),
          signature: signature.toString('base64url'),
        },
      }
    },
  }
}
