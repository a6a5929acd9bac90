import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Keys made from the one secret of the installation, one a purpose (HKDF-SHA256, RFC 5869). */
export interface Secrets {
  /** Signs access tokens. */
  readonly tokens: Uint8Array
  /** AES-256-GCM at rest: `v1.` + base64url of nonce, ciphertext, tag. */
  seal(plain: string): string
  /** Throws when the text was sealed with another key or changed. */
  open(sealed: string): string
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
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', rest, nonce)
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${sealed.toString('base64url')}`
    },
    open(sealed) {
      const bytes = Buffer.from(sealed.slice(3), 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', rest, bytes.subarray(0, 12))
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
