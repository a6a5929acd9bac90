import { expect, test } from 'vitest'
import { createSecrets } from '../../src/core/secrets.ts'
import { createTokens } from '../../src/features/sessions/tokens.ts'
import { password, raw } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'
import { withServer } from '../../src/testing/scene.ts'

/* Somebody copied the database and the secret key while sessions were alive. */

const secretKey = 'test-secret-of-thirty-two-characters'
let server: TestServer
let admin: Signed
withServer({ env: { STOCKADE_SECRET_KEY: secretKey } }, made => ({ server, admin } = made))

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as { sid: string; ssk: string }

test('a token that is signed with the key for a living session needs what only its owner has', async () => {
  const tokens = createTokens(createSecrets(secretKey).tokens, Date.now)
  const { sid: id, ssk: secret } = claimsOf(admin.token)
  const me = (token: string) => raw(server, 'GET', '/api/v1/auth/me', { token })
  // The same key and session, so that what follows fails for the secret alone.
  expect(await me(await tokens.sign(1, { id, secret }))).toMatchObject({ status: 200 })
  for (const wrong of ['', 'a'.repeat(64), id])
    expect(await me(await tokens.sign(1, { id, secret: wrong }))).toMatchObject({ status: 401 })
})

test('a refresh goes on with the same session', async () => {
  const { json } = await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })
  const { refresh_token, access_token } = json as { refresh_token: string; access_token: string }
  const again = await raw(server, 'POST', '/api/v1/auth/refresh', { body: { refresh_token } })
  const { access_token: fresh } = again.json as { access_token: string }
  expect(claimsOf(fresh)).toMatchObject({ sid: claimsOf(access_token).sid, ssk: claimsOf(access_token).ssk })
  expect(await raw(server, 'GET', '/api/v1/auth/me', { token: fresh })).toMatchObject({ status: 200 })
})
