import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freePort, raw, startServer } from '../../testing/index.ts'
import type { TestServer } from '../../testing/index.ts'

/* One issuer on loopback that answers as the common ones do: what their metadata names, where they put the address, how they write it. */

interface Manners {
  /** Of the issuer, behind its origin. */
  path: string
  /** What it writes into its metadata; null: nothing. */
  methods: readonly string[] | null
  /** How its client is registered. */
  registered: 'client_secret_basic' | 'client_secret_post'
  inToken: Record<string, unknown>
  /** Null: it has no UserInfo. */
  userInfo: Record<string, unknown> | null
  /** Seconds by which its clock is ahead. */
  clock: number
  /** Whether a token says from when on it is good. */
  notBefore: boolean
}
const verified = { email: 'jo@stockade.example', email_verified: true }
const secret = 'a~secret/with+signs'
const usual: Manners = {
  path: '',
  methods: ['client_secret_basic', 'client_secret_post'],
  registered: 'client_secret_post',
  inToken: verified,
  userInfo: null,
  clock: 0,
  notBefore: false,
}
let manners: Manners
let peer: Server
let server: TestServer | undefined
let asked: string[]

const startPeer = async (): Promise<Server> => {
  const keys = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const nonces = new Map<string, string>()
  const knowsClient = (authorization: string | undefined, form: URLSearchParams) => {
    if (manners.registered === 'client_secret_post') return form.get('client_secret') === secret
    const [user, pass] = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64')
      .toString()
      .split(':')
    const decoded = (text = '') => new URLSearchParams(`text=${text}`).get('text')
    return form.get('client_secret') === null && decoded(user) === 'oidc-id' && decoded(pass) === secret
  }
  const listening = createServer((request, response) => {
    const origin = `http://${request.headers.host ?? ''}`
    const base = origin + manners.path.replace(/\/$/, '')
    const url = new URL(request.url ?? '/', origin)
    const what = url.pathname.replace(/^.*\/(?=[^/]+$)/, '')
    const json = (body: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    let text = ''
    request.on('data', data => (text += String(data)))
    request.on('end', async () => {
      asked.push(what)
      if (what === 'openid-configuration')
        return json({
          issuer: origin + manners.path,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          jwks_uri: `${base}/jwks`,
          ...(manners.userInfo ? { userinfo_endpoint: `${base}/userinfo` } : {}),
          ...(manners.methods ? { token_endpoint_auth_methods_supported: manners.methods } : {}),
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        })
      if (what === 'jwks') return json({ keys: [jwk] })
      if (what === 'userinfo') {
        if (request.headers.authorization !== 'Bearer a') return json({}, 401)
        return json(manners.userInfo)
      }
      if (what === 'authorize') {
        const back = new URL(url.searchParams.get('redirect_uri') ?? '')
        const code = crypto.randomUUID()
        nonces.set(code, url.searchParams.get('nonce') ?? '')
        back.searchParams.set('state', url.searchParams.get('state') ?? '')
        back.searchParams.set('code', code)
        return response.writeHead(302, { location: back.href }).end()
      }
      const form = new URLSearchParams(text)
      if (!knowsClient(request.headers.authorization, form)) return json({ error: 'invalid_client' }, 401)
      const nonce = nonces.get(form.get('code') ?? '')
      nonces.delete(form.get('code') ?? '')
      const now = Math.floor(Date.now() / 1000) + manners.clock
      const id_token = await new SignJWT({ ...manners.inToken, nonce, ...(manners.notBefore ? { nbf: now } : {}) })
        .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
        .setIssuer(origin + manners.path)
        .setSubject('sub-1')
        .setAudience('oidc-id')
        .setIssuedAt(now)
        .setExpirationTime(now + 300)
        .sign(keys.privateKey)
      return json({ access_token: 'a', token_type: 'bearer', id_token })
    })
  })
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  return listening
}

beforeEach(async () => {
  asked = []
  peer = await startPeer()
})
afterEach(async () => {
  await server?.close()
  server = undefined
  peer.closeAllConnections()
  await new Promise(resolve => peer.close(resolve))
})

/** A fresh server whose second provider is the peer; answers where one sign-in ends. */
const signIn = async (
  given: Partial<Manners>,
  env: Record<string, string> = {},
  pathWritten = given.path ?? '',
): Promise<string> => {
  manners = { ...usual, ...given }
  const origin = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`
  const port = await freePort()
  server = await startServer({
    port,
    env: {
      STOCKADE_BASE_URL: `http://127.0.0.1:${port}`,
      STOCKADE_PROVIDER_B_ISSUER: origin + pathWritten,
      ...env,
    },
  })
  const { client } = await server.setUp()
  await client.call('PATCH /settings/oauth', {
    body: {
      provider_b: { enabled: true, client_id: 'oidc-id', client_secret: secret, allowed_domains: ['stockade.example'] },
    },
  })
  const begun = await raw(server, 'GET', '/api/v1/auth/provider_b')
  const cookie = begun.headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
  const location = new URL(begun.headers.get('location') ?? '')
  if (location.pathname === '/login') return location.pathname + location.search
  const away = await fetch(location, { redirect: 'manual' })
  const back = new URL(away.headers.get('location') ?? '')
  const done = await raw(server, 'GET', back.pathname + back.search, { headers: { cookie } })
  const ended = new URL(done.headers.get('location') ?? '')
  return ended.pathname + ended.search
}

describe('the secret goes as the token endpoint takes it', () => {
  test.each<[string, Partial<Manners>]>([
    ['basic alone is named', { methods: ['client_secret_basic'], registered: 'client_secret_basic' }],
    ['nothing is named, so basic is the default', { methods: null, registered: 'client_secret_basic' }],
    ['nothing is named, and the client is registered for post', { methods: null, registered: 'client_secret_post' }],
    ['post alone is named', { methods: ['client_secret_post', 'private_key_jwt'] }],
    ['both are named, and the client is registered for basic', { registered: 'client_secret_basic' }],
  ])('%s', async (_, given) => {
    expect(await signIn(given)).toBe('/')
    expect(asked.filter(what => what === 'token').length).toBeLessThanOrEqual(2)
  })
})

describe('the address', () => {
  const bare = { sub: 'sub-1' }
  const unsaid = { email: verified.email }
  test.each<[string, Partial<Manners>, string]>([
    ['is in UserInfo alone', { inToken: {}, userInfo: { ...bare, ...verified } }, '/'],
    ['is called verified in UserInfo alone', { inToken: unsaid, userInfo: { ...bare, ...verified } }, '/'],
    ['is verified in a word', { inToken: { ...unsaid, email_verified: 'true' } }, '/'],
    [
      'is said to be unverified in a word',
      { inToken: { ...unsaid, email_verified: 'false' } },
      '/login?error=email_unverified',
    ],
    ['is unverified in UserInfo', { inToken: {}, userInfo: { ...bare, ...unsaid } }, '/login?error=email_unverified'],
    [
      'is of another subject in UserInfo',
      { inToken: {}, userInfo: { sub: 'sub-2', ...verified } },
      '/login?error=provider_unavailable',
    ],
    ['is nowhere', { inToken: {}, userInfo: bare }, '/login?error=email_missing'],
    ['is nowhere, and there is no UserInfo', { inToken: {} }, '/login?error=email_missing'],
    ['is not said to be verified', { inToken: unsaid }, '/login?error=email_unverified'],
    ['is said to be unverified', { inToken: { ...unsaid, email_verified: false } }, '/login?error=email_unverified'],
  ])('%s', async (_, given, end) => {
    expect(await signIn(given)).toBe(end)
  })
  test.each([{}, { email_verified: false }])('counts as verified by the word of the administrator: %j', async said => {
    expect(await signIn({ inToken: { ...unsaid, ...said } }, { STOCKADE_PROVIDER_B_EMAILS_VERIFIED: '1' })).toBe('/')
  })
  test('of a foreign domain does not pass by that word', async () => {
    const inToken = { email: 'jo@evil.example' }
    expect(await signIn({ inToken }, { STOCKADE_PROVIDER_B_EMAILS_VERIFIED: '1' })).toBe('/login?error=not_allowed')
  })
  test('is not vouched for where every organisation writes its own', async () => {
    const env = {
      STOCKADE_PROVIDER_B_ISSUER: 'https://login.microsoftonline.com/common/v2.0',
      STOCKADE_PROVIDER_B_EMAILS_VERIFIED: '1',
    }
    await expect(startServer({ env })).rejects.toThrow('needs an issuer of one tenant')
  })
})

describe('the issuer', () => {
  test.each([
    ['/application/o/stockade/', '/application/o/stockade/'],
    ['/application/o/stockade/', '/application/o/stockade'],
    ['/realms/corp', '/realms/corp/'],
  ])('that calls itself %s is found by %s', async (path, written) => {
    expect(await signIn({ path }, {}, written)).toBe('/')
  })
})

describe('the clock', () => {
  test('may be 20 s ahead', async () => {
    expect(await signIn({ clock: 20, notBefore: true })).toBe('/')
  })
  test.each([
    [120, 'ahead'],
    [-330, 'behind'],
  ])('is told when it is %i s %s', async seconds => {
    const end = new URL(await signIn({ clock: seconds, notBefore: true }), 'http://localhost')
    expect(end.searchParams.get('error')).toBe('clock_differs')
    // The second may have changed in between.
    expect(Math.abs(Number(end.searchParams.get('seconds')) - Math.abs(seconds))).toBeLessThanOrEqual(30)
  })
})
