import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { domainOf } from '../../src/features/oauth/providers.ts'
import { freePort, raw, startServer } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'

/*
 * Strangers sign in by a provider: with an ID token that somebody on the way made, with a consumer account of a corporate
 * address, with a login that its owner gave up. The providers are real servers on loopback that say what the attacker wants.
 */
let server: TestServer
let admin: Signed
let provider: Server
/** What the provider says of whoever comes next, and with which key it signs. */
let claims: Record<string, unknown>
let forged: boolean
let github: { id: number; login: string }
const nonces = new Map<string, string>()

const startProvider = async (): Promise<Server> => {
  const own = await generateKeyPair('RS256', { extractable: true })
  const other = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const listening = createServer((request, response) => {
    const issuer = `http://${request.headers.host ?? ''}`
    const url = new URL(request.url ?? '/', issuer)
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    let text = ''
    request.on('data', data => (text += String(data)))
    request.on('end', async () => {
      switch (url.pathname) {
        case '/.well-known/openid-configuration':
          return json({
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/jwks`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
          })
        case '/jwks':
          return json({ keys: [jwk] })
        case '/login/oauth/authorize':
        case '/authorize': {
          const back = new URL(url.searchParams.get('redirect_uri') ?? '')
          const code = crypto.randomUUID()
          nonces.set(code, url.searchParams.get('nonce') ?? '')
          back.searchParams.set('state', url.searchParams.get('state') ?? '')
          back.searchParams.set('code', code)
          return response.writeHead(302, { location: back.href }).end()
        }
        case '/token': {
          const nonce = nonces.get(new URLSearchParams(text).get('code') ?? '')
          const id_token = await new SignJWT({ ...claims, nonce })
            .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
            .setIssuer(issuer)
            .setAudience('oidc-id')
            .setIssuedAt()
            .setExpirationTime('5m')
            .sign(forged ? other.privateKey : own.privateKey)
          return json({ access_token: 'a', token_type: 'bearer', id_token })
        }
        case '/login/oauth/access_token':
          return json({ access_token: 'a', token_type: 'bearer' })
        case '/api/user':
          return json(github)
        case '/api/user/emails':
          return json([{ email: `${github.id}@cats.example`, primary: true, verified: true }])
        default:
          return response.writeHead(404).end()
      }
    })
  })
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  return listening
}

beforeAll(async () => {
  provider = await startProvider()
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const port = await freePort()
  server = await startServer({
    port,
    env: {
      STOCKADE_BASE_URL: `http://127.0.0.1:${port}`,
      STOCKADE_PROVIDER_A_URL: url,
      STOCKADE_PROVIDER_A_API_URL: `${url}/api`,
      STOCKADE_PROVIDER_B_ISSUER: url,
    },
  })
  admin = await server.setUp()
  await admin.client.call('PATCH /settings/oauth', {
    body: {
      provider_a: { enabled: true, client_id: 'gh-id', client_secret: 's', allowed_users: ['octo-cat'] },
      provider_b: { enabled: true, client_id: 'oidc-id', client_secret: 's', allowed_domains: ['corp.example'] },
    },
  })
})
afterAll(async () => {
  await server.close()
  await new Promise(resolve => provider.close(resolve))
})

/** Goes the whole way of a browser; answers where it ends, and the cookies that it has then. */
const visit = async (id: 'provider_a' | 'provider_b') => {
  const begun = await raw(server, 'GET', `/api/v1/auth/${id}`)
  const cookie = begun.headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
  const asked = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' })
  const back = new URL(asked.headers.get('location') ?? '')
  const done = await raw(server, 'GET', back.pathname + back.search, { headers: { cookie } })
  const ended = new URL(done.headers.get('location') ?? '')
  return {
    at: ended.pathname + ended.search,
    session: done.headers.getSetCookie().join().includes('stockade_session='),
  }
}

test('an ID token with a wrong signature signs nobody in', async () => {
  claims = { sub: 'anna', email: 'anna@corp.example', email_verified: true }
  forged = true
  expect(await visit('provider_b')).toEqual({ at: '/login?error=provider_unavailable', session: false })
  expect((await admin.client.call('GET /users')).total).toBe(1)
  forged = false
  expect(await visit('provider_b')).toEqual({ at: '/', session: true })
})

test('an account that is not of the domain itself does not pass by its address', async () => {
  forged = false
  claims = { sub: 'former', email: 'former@corp.example', email_verified: true, hd: 'elsewhere.example' }
  expect(await visit('provider_b')).toEqual({ at: '/login?error=not_allowed', session: false })
  // At Google a consumer account bears no hd at all.
  const iss = 'https://accounts.google.com'
  expect(domainOf({ iss, email: 'former+1@corp.example', hd: undefined })).toBeNull()
  expect(domainOf({ iss, email: 'anna@corp.example', hd: 'CORP.example' })).toBe('corp.example')
  expect(domainOf({ iss: 'https://login.corp.example', email: 'anna@Corp.example', hd: undefined })).toBe(
    'corp.example',
  )
})

test('a login that was registered anew is not the person that it was', async () => {
  github = { id: 7, login: 'Octo-Cat' }
  expect(await visit('provider_a')).toEqual({ at: '/', session: true })
  github = { id: 666, login: 'octo-cat' }
  expect(await visit('provider_a')).toEqual({ at: '/login?error=not_allowed', session: false })
  github = { id: 7, login: 'octo-cat' }
  expect(await visit('provider_a')).toEqual({ at: '/', session: true })
})
