import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SignJWT } from 'jose'
import { times } from '@stockade/contract'
import { movableClock, password, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
beforeAll(async () => {
  server = await startServer({ clock })
})
afterAll(() => server.close())

const login = (typed: object) => raw(server, 'POST', '/api/v1/auth/login', { body: typed })

describe('the first administrator', () => {
  const body = { code: 'wrong', username: 'admin', email: 'admin@stockade.example', password }

  test('is wanted, and only the printed code makes it', async () => {
    expect((await raw(server, 'GET', '/api/v1/setup')).json).toEqual({ required: true })
    expect(await raw(server, 'POST', '/api/v1/setup', { body })).toMatchObject({ status: 401 })
  })
  test.each([
    ['password', { password: 'short1A' }, /8 characters/],
    ['password', { password: 'nouppercase1' }, /upper-case/],
    ['password', { password: 'NOLOWERCASE1' }, /lower-case/],
    ['password', { password: 'NoDigitsHere' }, /digit/],
    ['username', { username: 'ab' }, /at least 3/],
    ['username', { username: 'a b c' }, /letters, digits and underscores/],
    ['username', { username: 'аdmin' }, /letters, digits and underscores/],
    ['email', { email: 'nobody' }, /e-mail/],
    ['site_url', { site_url: 'javascript:alert(1)' }, /http/],
    ['timezone', { timezone: 'Mars/Olympus' }, /IANA/],
  ])('refuses a bad %s: %o', async (path, change, message) => {
    const reply = await raw(server, 'POST', '/api/v1/setup', { body: { ...body, code: server.setupCode, ...change } })
    expect(reply).toMatchObject({ status: 400, json: { error: 'Bad Request', details: [{ path }] } })
    expect((reply.json as { message: string }).message).toMatch(message)
  })
  test('is made once, also when two come at the same moment', async () => {
    const both = await Promise.all(
      [1, 2].map(() => raw(server, 'POST', '/api/v1/setup', { body: { ...body, code: server.setupCode } })),
    )
    expect(both.map(reply => reply.status).sort()).toEqual([201, 409])
    const made = both.find(reply => reply.status === 201)?.json as { access_token: string; user: { username: string } }
    expect(made).toMatchObject({ expires_in: 3600, refresh_token: expect.any(String), user: { id: 1, role: 'Admin' } })
    admin = { token: made.access_token, client: server.client(made.access_token) }
    expect((await raw(server, 'GET', '/api/v1/setup')).json).toEqual({ required: false })
  })
})

describe('signing in', () => {
  test('answers tokens and a cookie, by name in any case or by e-mail', async () => {
    for (const username of ['admin', 'ADMIN', 'admin@stockade.example']) {
      const reply = await login({ username, password })
      expect(reply).toMatchObject({
        status: 200,
        json: { expires_in: 3600, user: { id: 1, username: 'admin', email: 'admin@stockade.example', role: 'Admin' } },
      })
      expect(reply.headers.get('set-cookie')).toMatch(
        /^stockade_session=\w{48}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/,
      )
    }
  })
  test('says the same of an unknown user and a wrong password', async () => {
    const [unknown, wrong] = [
      await login({ username: 'nobody', password }),
      await login({ username: 'admin', password: 'Wrong-password-1' }),
    ]
    expect(unknown).toMatchObject({ status: 401, json: { error: 'Unauthorized' } })
    expect(unknown.text).toBe(wrong.text)
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer')
  })
  test('refuses a password of a megabyte before hashing it', async () => {
    expect(await login({ username: 'admin', password: 'x'.repeat(1_000_000) })).toMatchObject({ status: 400 })
    expect(await login({ username: 'admin', password: 'x'.repeat(2_000_000) })).toMatchObject({
      status: 413,
      json: { error: 'Payload Too Large' },
    })
  })
  test('me and users/me answer who it is', async () => {
    expect(await admin.client.call('GET /auth/me')).toMatchObject({
      id: 1,
      username: 'admin',
      role: 'Admin',
      mfa_enabled: false,
      ip_address: '127.0.0.1',
    })
    expect(await admin.client.call('GET /users/me')).toMatchObject({
      id: 1,
      server_access: 'all',
      oauth_provider: null,
      updated_at: expect.stringMatching(/Z$/),
    })
  })
})

describe('a session', () => {
  test('is refreshed with the same refresh token, and dead at once after logout', async () => {
    const { json } = await login({ username: 'admin', password })
    const { access_token, refresh_token } = json as Record<string, string>
    const refreshed = await server.client().call('POST /auth/refresh', { body: { refresh_token: refresh_token ?? '' } })
    expect(refreshed.expires_in).toBe(3600)
    const client = server.client(refreshed.access_token)
    await client.call('POST /auth/logout')
    for (const token of [access_token, refreshed.access_token])
      expect(await raw(server, 'GET', '/api/v1/auth/me', { token: token ?? '' })).toMatchObject({ status: 401 })
    expect(await raw(server, 'POST', '/api/v1/auth/refresh', { body: { refresh_token } })).toMatchObject({
      status: 401,
    })
  })
  test('by cookie changes nothing from a foreign page', async () => {
    const cookie = (await login({ username: 'admin', password })).headers.get('set-cookie')?.split(';')[0] ?? ''
    const read = await raw(server, 'GET', '/api/v1/servers', { headers: { cookie } })
    expect(read.status).toBe(200)
    const create = (headers: Record<string, string>) =>
      raw(server, 'POST', '/api/v1/servers', { headers: { cookie, ...headers }, body: { hostname: 'web-01' } })
    expect(await create({})).toMatchObject({ status: 403 })
    expect(await create({ origin: 'https://evil.example' })).toMatchObject({ status: 403 })
    expect(await create({ referer: 'https://evil.example/x' })).toMatchObject({ status: 403 })
    expect(await create({ origin: server.url })).toMatchObject({ status: 201 })
    expect(await create({ referer: `${server.url}/servers` })).toMatchObject({ status: 201 })
    const out = await raw(server, 'POST', '/api/v1/auth/logout', { headers: { cookie, origin: server.url } })
    expect(out.status).toBe(200)
    expect(out.headers.get('set-cookie')).toMatch(/stockade_session=; Max-Age=0/)
    expect(await raw(server, 'GET', '/api/v1/servers', { headers: { cookie } })).toMatchObject({ status: 401 })
  })
})

describe('a token that is not ours opens nothing', () => {
  const tokenOf = (alg: string, key: Uint8Array, claims: Record<string, unknown>) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg, typ: 'at+jwt' })
      .setIssuer('stockade')
      .setAudience('stockade-api')
      .setSubject('1')
      .setExpirationTime('1h')
      .sign(key)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test('alg none, another key, cut, changed, nonsense', async () => {
    const [header = '', payload = '', signature = ''] = admin.token.split('.')
    const bad = [
      `${part({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
      await tokenOf('HS256', new Uint8Array(64), { sid: 'x' }),
      admin.token.slice(0, -3),
      `${header}.${part({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: '2' })}.${signature}`,
      'x',
      'svc_short',
      `svc_${'x'.repeat(32)}`,
      `svc_${'x'.repeat(4000)}`,
    ]
    for (const token of bad)
      expect(await raw(server, 'GET', '/api/v1/servers', { token }), token.slice(0, 60)).toMatchObject({ status: 401 })
    for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer  ', `Bearer ${admin.token} x`])
      expect(await raw(server, 'GET', '/api/v1/servers', { headers: { authorization } }), authorization).toMatchObject({
        status: 401,
      })
  })
})

test('options tell the sign-in page what it needs, and no version', async () => {
  expect(await server.client().call('GET /auth/options')).toEqual({
    site_name: 'Stockade',
    base_url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
    timezone: 'UTC',
    providers: [],
    local_login_disabled: false,
    setup_required: false,
    server_time: expect.stringMatching(/Z$/),
    demo: false,
  })
})

test('an access token ends after its time, also one that was used before', async () => {
  const { client } = await server.signIn()
  await client.call('GET /auth/me')
  clock.forward(times.accessToken)
  await expect(client.call('GET /auth/me')).rejects.toMatchObject({ status: 401 })
})
