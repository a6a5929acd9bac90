import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecrets } from './secrets.ts'

const key = 'test-secret-of-thirty-two-characters'
const secrets = createSecrets(key)

test('a sealed secret opens in its place only', () => {
  const sealed = secrets.seal('hunter2', 'email.smtp_pass')
  expect(secrets.open(sealed, 'email.smtp_pass')).toBe('hunter2')
  expect(() => secrets.open(sealed, 'siem.token')).toThrow()
  expect(() => secrets.open(sealed.replace('v2.', 'v1.'), 'email.smtp_pass')).toThrow()
  expect(() => createSecrets(`${key}x`).open(sealed, 'email.smtp_pass')).toThrow()
})

test('secrets from before places were bound are still read', () => {
  const rest = new Uint8Array(hkdfSync('sha256', key, 'stockade', 'at rest', 32))
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', rest, nonce)
  const sealed = Buffer.concat([nonce, cipher.update('old', 'utf8'), cipher.final(), cipher.getAuthTag()])
  expect(secrets.open(`v1.${sealed.toString('base64url')}`, 'anywhere')).toBe('old')
})
