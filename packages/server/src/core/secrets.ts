import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Keys made from the one secret of the installation, one a purpose (HKDF-SHA256, RFC 5869). */
export interface Secrets {
  /** Signs access tokens. */
  readonly tokens: Uint8Array
  /**
   * AES-256-GCM at rest: `v2.` + base64url of nonce, ciphertext, tag. `place` says where it is stored and is authenticated with it, so that
   * a sealed text cannot be moved to another row or column.
   */
  seal(plain: string, place: string): string
  /** Throws when the text was sealed with another key or for another place, or was changed. Texts from before, `v1.`, know no place. */
  open(sealed: string, place: string): string
  /** A keyed digest (HMAC-SHA256, hex) of a short secret, so that a stolen table alone can't be searched. */
  digest(text: string): string
}

export const createSecrets = (secretKey: string): Secrets => {
  const derive = (purpose: string, length: number) =>
    new Uint8Array(hkdfSync('sha256', secretKey, 'stockade', purpose, length))
  const rest = derive('at rest', 32)
  const digests = derive('digests', 32)
  return {
    digest: text => createHmac('sha256', digests).update(text).digest('hex'),
    tokens: derive('access tokens', 64),
    seal(plain, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', rest, nonce).setAAD(Buffer.from(place))
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v2.${sealed.toString('base64url')}`
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed.slice(3), 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', rest, bytes.subarray(0, 12))
      if (sealed.startsWith('v2.')) decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
    },
  }
}

/** Makes the data folder (0700) and returns the secret in it, made with mode 0600 on the first start. */
export const secretKeyIn = (dataDir: string): string => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, 'secret.key')
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(48).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  chmodSync(file, 0o600)
  return readFileSync(file, 'utf8').trim()
}
