import { expect, it } from 'vitest'
import { readLicenceKey } from './licence-key.ts'

const keyOf = (document: unknown) => `stk1.${Buffer.from(JSON.stringify(document)).toString('base64url')}.c2lnbmVk`
const document = { tier: 'pro', server_limit: 25, registered_to: 'Bäcker ÷ Söhne', expires_at: Date.UTC(2027, 0, 1) }

it('reads what a key says of itself, also when it was wrapped', () => {
  const key = keyOf(document)
  const read = { tier: 'pro', serverLimit: 25, registeredTo: 'Bäcker ÷ Söhne', expiresAt: '2027-01-01T00:00:00.000Z' }
  expect(readLicenceKey(key)).toEqual(read)
  expect(readLicenceKey(` ${key.slice(0, 30)}\n${key.slice(30)} `)).toEqual(read)
  expect(readLicenceKey(keyOf({ ...document, expires_at: null }))?.expiresAt).toBeNull()
})
it.each([
  '',
  'stk1',
  'stk1.e30.',
  'stk1.e30.x',
  'stk1.%%%.x',
  'stk2.e30.x',
  keyOf(document).replace('stk1', 'stk9'),
  keyOf({ ...document, expires_at: 1e99 }),
])('%j is no key', key => expect(readLicenceKey(key)).toBeNull())
