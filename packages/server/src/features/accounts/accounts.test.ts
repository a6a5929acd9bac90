import { describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { testAlone } from '../../testing/alone.ts'
import { aHost, movableClock, password, raw, startServer, within } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'
import { withServer } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
const clock = movableClock()
withServer({ clock }, made => ({ server, admin } = made))

const secret = 'An0ther-secret'
let count = 0
const aUser = async (more: object = {}) => {
  const username = `user_${++count}`
  const made = await admin.client.call('POST /users', {
    body: { username, email: `${username}@stockade.example`, password: secret, ...more },
  })
  return { ...made, signIn: (typed = secret) => signIn(username, typed) }
}
const signIn = async (username: string, typed: string): Promise<Signed & { refresh: string }> => {
  const reply = await server.client().call('POST /auth/login', { body: { username, password: typed } })
  if (!('access_token' in reply)) throw new Error('a second factor is wanted')
  return { token: reply.access_token, refresh: reply.refresh_token, client: server.client(reply.access_token) }
}
const status = async (method: string, path: string, token: string, body?: unknown) =>
  (await raw(server, method, `/api/v1${path}`, { token, body })).status

test('a user is created, read, listed, changed, deleted', async () => {
  const made = await admin.client.call('POST /users', {
    body: { username: 'anna', email: 'Anna@stockade.example', password: secret, role: 'operator' as 'Operator' },
  })
  expect(made).toEqual({
    id: expect.any(Number),
    username: 'anna',
    email: 'Anna@stockade.example',
    role: 'Operator',
    created_at: expect.any(String),
    setup_url: null,
    invite_expires_at: null,
  })
  const params = { userId: made.id }
  expect(await admin.client.call('GET /users/{userId}', { params })).toEqual({
    id: made.id,
    username: 'anna',
    email: 'Anna@stockade.example',
    role: 'Operator',
    mfa_enabled: false,
    mfa_required: false,
    invite_expires_at: null,
    oauth_provider: null,
    server_access: 'all',
    server_ids: [],
    tags: [],
    last_login: null,
    created_at: made.created_at,
    updated_at: made.created_at,
  })
  expect(await admin.client.call('GET /users', { query: { search: 'ANNA@' } })).toMatchObject({
    total: 1,
    users: [{ username: 'anna' }],
  })
  expect((await admin.client.call('GET /users', { query: { search: 'a_na' } })).total).toBe(0)
  expect(await admin.client.call('GET /users', { query: { role: 'admin' as 'Admin' } })).toMatchObject({
    total: 1,
    users: [{ username: 'admin' }],
  })
  expect(
    await admin.client.call('PATCH /users/{userId}', { params, body: { email: 'a@stockade.example', role: 'Viewer' } }),
  ).toEqual({
    id: made.id,
    username: 'anna',
    email: 'a@stockade.example',
    role: 'Viewer',
    updated_at: expect.any(String),
    revoked_keys: 0,
  })
  expect(await admin.client.call('DELETE /users/{userId}', { params })).toEqual({ message: expect.any(String) })
  expect(await status('GET', `/users/${made.id}`, admin.token)).toBe(404)
})

test('names and addresses are taken in any letter case', async () => {
  await aUser()
  for (const body of [
    { username: `USER_${count}`, email: 'new@stockade.example' },
    { username: 'new_name', email: `USER_${count}@stockade.example` },
  ])
    expect(
      await raw(server, 'POST', '/api/v1/users', { token: admin.token, body: { ...body, password: secret } }),
    ).toMatchObject({ status: 409, json: { error: 'Conflict' } })
  const other = await aUser()
  expect(await status('PATCH', `/users/${other.id}`, admin.token, { email: 'admin@stockade.example' })).toBe(409)
  // Its own address is not taken.
  const email = `USER_${count}@stockade.example`
  expect(
    await admin.client.call('PATCH /users/{userId}', { params: { userId: other.id }, body: { email } }),
  ).toMatchObject({ email })
})

test.each([
  ['username', { username: 'ab' }],
  ['username', { username: 'x'.repeat(51) }],
  ['username', { username: 'a-b-c' }],
  ['username', { username: 'раураl' }],
  ['email', { email: 'x' }],
  ['email', { email: `${'x'.repeat(250)}@a.example` }],
  ['password', { password: 'short1A' }],
  ['password', { password: 'alllowercase1' }],
  ['password', { password: 'x'.repeat(257) }],
  ['role', { role: 'root' }],
  ['is_admin', { is_admin: true }],
])('a bad %s is refused', async (path, change) => {
  const body = { username: 'fine_name', email: 'fine@stockade.example', password: secret, ...change }
  expect(await raw(server, 'POST', '/api/v1/users', { token: admin.token, body })).toMatchObject({
    status: 400,
    json: { details: [{ path }] },
  })
})

describe('an invitation', () => {
  let invited = 0
  const invite = (more: object = {}) => {
    const username = `invited_${++invited}`
    return admin.client.call('POST /users', {
      body: { username, email: `${username}@stockade.example`, invite: true, ...more },
    })
  }
  const codeOf = (url: string | null) => /\/invite\?code=(\w{32})$/.exec(url ?? '')?.[1] ?? ''
  const accept = (code: string, typed = secret) =>
    raw(server, 'POST', '/api/v1/auth/invite', { body: { code, password: typed } })
  const look = (code: string) => raw(server, 'GET', `/api/v1/auth/invite?code=${code}`)

  test('lets its user choose a password, once, and signs in', async () => {
    const made = await invite({ role: 'Operator' })
    expect(made.setup_url).toMatch(/^http:\/\/localhost:\d+\/invite\?code=/)
    const code = codeOf(made.setup_url)
    expect(Math.round((Date.parse(made.invite_expires_at ?? '') - Date.now()) / 3_600_000)).toBe(72)
    await expect(signIn(made.username, secret)).rejects.toMatchObject({ status: 401 })
    await expect(signIn(made.username, code)).rejects.toMatchObject({ status: 401 })
    expect(await look(code)).toMatchObject({
      status: 200,
      json: {
        username: made.username,
        mfa_required: false,
        password_rules: { min_length: 8, max_length: 256, upper: true, lower: true, digit: true },
      },
    })
    expect(await accept(code, 'too-weak')).toMatchObject({ status: 400, json: { details: [{ path: 'password' }] } })
    const replies = await Promise.all(Array.from({ length: 4 }, () => accept(code)))
    expect(replies.map(reply => reply.status).sort()).toEqual([200, 401, 401, 401])
    const reply = replies.find(each => each.status === 200)
    expect(reply?.headers.get('set-cookie')).toMatch(/stockade_session=/)
    const { access_token = '' } = (reply?.json ?? {}) as { access_token?: string }
    expect(await server.client(access_token).call('GET /users/me')).toMatchObject({
      username: made.username,
      role: 'Operator',
      invite_expires_at: null,
    })
    await signIn(made.username, secret)
    expect((await look(code)).status).toBe(401)
    const of = async (action: string) =>
      (await admin.client.call('GET /settings/audit', { query: { action } })).entries[0]
    expect(await of('user.create')).toMatchObject({ details: { username: made.username, invited: true } })
    expect(await of('user.accept_invite')).toMatchObject({ user: made.username, ip_address: '127.0.0.1' })
    expect((await raw(server, 'POST', `/api/v1/users/${made.id}/invite`, { token: admin.token })).status).toBe(409)
  })

  test('is replaced by a new one, and gone with its user, or by a reset of the password', async () => {
    const made = await invite()
    const params = { userId: made.id }
    const anew = await admin.client.call('POST /users/{userId}/invite', { params })
    expect((await look(codeOf(made.setup_url))).status).toBe(401)
    expect((await look(codeOf(anew.setup_url))).status).toBe(200)
    const { temporary_password } = await admin.client.call('POST /users/{userId}/reset-password', { params })
    expect((await accept(codeOf(anew.setup_url))).status).toBe(401)
    const third = await admin.client.call('POST /users/{userId}/invite', { params })
    await expect(signIn(made.username, temporary_password ?? '')).rejects.toMatchObject({ status: 401 })
    await admin.client.call('DELETE /users/{userId}', { params })
    expect((await accept(codeOf(third.setup_url))).status).toBe(401)
    expect((await look('')).status).toBe(400)
    expect((await look('nonsense')).status).toBe(401)
  })

  test('ends after three days', async () => {
    const clockOfOther = movableClock()
    const other = await startServer({ clock: clockOfOther })
    try {
      const first = await other.setUp()
      const { setup_url } = await first.client.call('POST /users', {
        body: { username: 'late_one', email: 'late@stockade.example', invite: true },
      })
      const status = async () => (await raw(other, 'GET', `/api/v1/auth/invite?code=${codeOf(setup_url)}`)).status
      clockOfOther.forward(72 * 3600 - 60)
      expect(await status()).toBe(200)
      clockOfOther.forward(60)
      expect(await status()).toBe(401)
      const body = { code: codeOf(setup_url), password: secret }
      expect((await raw(other, 'POST', '/api/v1/auth/invite', { body })).status).toBe(401)
    } finally {
      await other.close()
    }
  })

  test('with a second factor required lets do nothing else before it is set up', async () => {
    const made = await invite({ mfa_required: true })
    expect(await look(codeOf(made.setup_url))).toMatchObject({ json: { mfa_required: true } })
    const reply = (await accept(codeOf(made.setup_url))).json as { access_token: string; mfa_setup_required?: boolean }
    expect(reply.mfa_setup_required).toBe(true)
    expect(await status('GET', '/servers', reply.access_token)).toBe(403)
    expect(await status('POST', '/auth/mfa/enable', reply.access_token)).toBe(200)
    const params = { userId: made.id }
    expect(await admin.client.call('GET /users/{userId}', { params })).toMatchObject({ mfa_required: true })
    await admin.client.call('PATCH /users/{userId}', { params, body: { mfa_required: false } })
    expect(await status('GET', '/servers', reply.access_token)).toBe(200)
  })

  test('and a password exclude each other; without either there is no user', async () => {
    const body = { username: 'neither', email: 'neither@stockade.example' }
    for (const more of [{}, { invite: false }, { invite: true, password: secret }])
      expect(
        await raw(server, 'POST', '/api/v1/users', { token: admin.token, body: { ...body, ...more } }),
      ).toMatchObject({ status: 400, json: { details: [{ path: 'password' }] } })
  })

  test('an administrator who has not accepted yet is none to fall back on', async () => {
    const { id } = await invite({ role: 'Admin' })
    expect(await status('PATCH', '/users/1', admin.token, { role: 'Viewer' })).toBe(409)
    await admin.client.call('DELETE /users/{userId}', { params: { userId: id } })
  })
})

describe('the last administrator', () => {
  test('is neither deleted nor demoted, and nobody deletes oneself', async () => {
    expect(await status('DELETE', '/users/1', admin.token)).toBe(409)
    expect(await status('PATCH', '/users/1', admin.token, { role: 'Viewer' })).toBe(409)
    const second = await aUser({ role: 'Admin' })
    const { token } = await second.signIn()
    expect(await status('DELETE', `/users/${second.id}`, token)).toBe(409)
    expect(await status('DELETE', `/users/${second.id}`, admin.token)).toBe(200)
  })
  test('stays also when two demote each other at the same moment', async () => {
    const other = await startServer()
    try {
      const first = await other.setUp()
      const { id } = await first.client.call('POST /users', {
        body: { username: 'second', email: 's@stockade.example', password: secret, role: 'Admin' },
      })
      const { access_token: token } = (
        await raw(other, 'POST', '/api/v1/auth/login', { body: { username: 'second', password: secret } })
      ).json as { access_token: string }
      const replies = await Promise.all([
        raw(other, 'PATCH', `/api/v1/users/${id}`, { token: first.token, body: { role: 'Viewer' } }),
        raw(other, 'PATCH', '/api/v1/users/1', { token, body: { role: 'Viewer' } }),
      ])
      expect(replies.filter(reply => reply.status === 200)).toHaveLength(1)
    } finally {
      await other.close()
    }
  })
})

describe('what is revoked is dead at once', () => {
  const dead = async (token: string, path = '/servers') => expect(await status('GET', path, token)).toBe(401)

  test('sessions one by one and all, with their refresh tokens', async () => {
    const user = await aUser()
    const [one, two, three] = [await user.signIn(), await user.signIn(), await user.signIn()]
    const params = { userId: user.id }
    const { sessions } = await one.client.call('GET /users/{userId}/sessions', { params })
    expect(sessions).toHaveLength(3)
    expect(sessions.filter(session => session.current)).toHaveLength(1)
    expect(sessions[0]).toEqual({
      id: expect.any(String),
      ip_address: '127.0.0.1',
      user_agent: expect.any(String),
      created_at: expect.any(String),
      last_activity: expect.any(String),
      current: false,
    })
    const twos = (await two.client.call('GET /users/{userId}/sessions', { params })).sessions.find(
      session => session.current,
    )
    await one.client.call('DELETE /users/{userId}/sessions/{sessionId}', {
      params: { ...params, sessionId: twos?.id ?? '' },
    })
    await dead(two.token)
    expect((await raw(server, 'POST', '/api/v1/auth/refresh', { body: { refresh_token: two.refresh } })).status).toBe(
      401,
    )
    expect(await one.client.call('DELETE /users/{userId}/sessions', { params })).toMatchObject({ terminated_count: 1 })
    await dead(three.token)
    expect(await status('GET', '/servers', one.token)).toBe(200)
    expect(
      await one.client.call('DELETE /users/{userId}/sessions', { params, query: { except_current: false } }),
    ).toMatchObject({ terminated_count: 1 })
    await dead(one.token)
  })
  test("nobody ends another's sessions, and a session of another is not found under one's own name", async () => {
    const [user, other] = [await aUser(), await aUser()]
    const [mine, theirs] = [await user.signIn(), await other.signIn()]
    const session = (await theirs.client.call('GET /users/{userId}/sessions', { params: { userId: other.id } }))
      .sessions[0]
    expect(await status('DELETE', `/users/${other.id}/sessions/${session?.id ?? ''}`, mine.token)).toBe(403)
    expect(await status('DELETE', `/users/${user.id}/sessions/${session?.id ?? ''}`, mine.token)).toBe(404)
    expect(await status('GET', '/servers', theirs.token)).toBe(200)
  })
  test('by a new password: the other sessions', async () => {
    const user = await aUser()
    const [here, there] = [await user.signIn(), await user.signIn()]
    const change = (body: object) => raw(server, 'POST', '/api/v1/auth/password', { token: here.token, body })
    expect(await change({ current_password: 'Wrong-secret-1', new_password: 'N3w-secret-word' })).toMatchObject({
      status: 401,
    })
    expect(await change({ current_password: secret, new_password: 'weak' })).toMatchObject({
      status: 400,
      json: { details: [{ path: 'new_password' }] },
    })
    expect(await change({ current_password: secret, new_password: 'N3w-secret-word' })).toMatchObject({ status: 200 })
    await dead(there.token)
    expect(await status('GET', '/servers', here.token)).toBe(200)
    await user.signIn('N3w-secret-word')
  })
  test("by an administrator's reset: all of them, and the temporary password meets the policy", async () => {
    const user = await aUser()
    const session = await user.signIn()
    const { temporary_password } = await admin.client.call('POST /users/{userId}/reset-password', {
      params: { userId: user.id },
    })
    expect(temporary_password).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{20}$/)
    await dead(session.token)
    await user.signIn(temporary_password ?? '')
    expect(
      await admin.client.call('POST /users/{userId}/reset-password', {
        params: { userId: user.id },
        body: { new_password: 'Giv3n-secret' },
      }),
    ).toMatchObject({ temporary_password: null })
    await user.signIn('Giv3n-secret')
    expect(await status('POST', `/users/${user.id}/reset-password`, admin.token, { new_password: 'weak' })).toBe(400)
  })
  test('by deletion: sessions, keys, and the live feed within seconds', async () => {
    const user = await aUser({ role: 'Operator' })
    const session = await user.signIn()
    const { key } = await session.client.call('POST /users/{userId}/keys', {
      params: { userId: user.id },
      body: { name: 'mine', permissions: 'write' },
    })
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, [
      'stockade.v1',
      `bearer.${session.token}`,
    ])
    await within(new Promise(resolve => socket.once('open', resolve)), 'the live feed')
    const closed = new Promise<number>(resolve => socket.once('close', resolve))
    await admin.client.call('DELETE /users/{userId}', { params: { userId: user.id } })
    await dead(session.token)
    await dead(key)
    expect(await within(closed, 'the end of the live feed')).toBe(4401)
  })
})

describe("a user's keys", () => {
  testAlone('never exceed what the user may now', async () => {
    const user = await aUser({ role: 'Operator' })
    const session = await user.signIn()
    const params = { userId: user.id }
    const create = (body: object, token = session.token) =>
      raw(server, 'POST', `/api/v1/users/${user.id}/keys`, { token, body })
    expect(await create({ name: 'too much', permissions: 'admin' })).toMatchObject({ status: 403 })
    // Also an administrator gives nobody more than they have.
    expect(await create({ name: 'too much', permissions: 'admin' }, admin.token)).toMatchObject({ status: 403 })
    expect(await create({ name: 'past', expires_at: '2020-01-01T00:00:00Z' })).toMatchObject({
      status: 400,
      json: { details: [{ path: 'expires_at' }] },
    })
    const expires_at = new Date(clock() + 600_000).toISOString()
    const made = await session.client.call('POST /users/{userId}/keys', {
      params,
      body: { name: 'ci', permissions: 'write', expires_at },
    })
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'ci',
      key: expect.stringMatching(/^svc_\w{32}$/),
      permissions: 'write',
      server_id: null,
      scopes: null,
      source_networks: null,
      tags: null,
      expires_at,
      created_at: expect.any(String),
    })
    const host = await aHost(server, admin.client, `keys-${user.id}`)
    const command = () => status('POST', `/servers/${host.id}/commands`, made.key, { type: 'reload-all' })
    expect(await command()).toBe(201)
    // The use of a key is stored after the answer.
    await expect
      .poll(async () => (await session.client.call('GET /users/{userId}/keys', { params })).keys[0]?.last_used)
      .toEqual(expect.any(String))
    const { keys } = await session.client.call('GET /users/{userId}/keys', { params })
    expect(keys).toMatchObject([
      {
        id: made.id,
        name: 'ci',
        prefix: made.key.slice(0, 8),
        permissions: 'write',
        server_id: null,
        expires_at,
        last_used: expect.any(String),
        last_used_from: '127.0.0.1',
      },
    ])
    expect(JSON.stringify(keys)).not.toContain(made.key)
    await admin.client.call('PATCH /users/{userId}', { params, body: { role: 'Viewer' } })
    expect(await command()).toBe(403)
    expect(await status('GET', '/servers', made.key)).toBe(200)
    clock.forward(601)
    expect(await status('GET', '/servers', made.key)).toBe(401)
  })
  test("are one's own to make and revoke, and nobody else's", async () => {
    const [user, other] = [await aUser(), await aUser()]
    const [mine, theirs] = [await user.signIn(), await other.signIn()]
    const made = await mine.client.call('POST /users/{userId}/keys', {
      params: { userId: user.id },
      body: { name: 'mine' },
    })
    expect(await status('GET', `/users/${user.id}/keys`, theirs.token)).toBe(403)
    expect(await status('POST', `/users/${user.id}/keys`, theirs.token, { name: 'planted' })).toBe(403)
    expect(await status('DELETE', `/keys/${made.id}`, theirs.token)).toBe(403)
    expect(await status('DELETE', `/keys/${made.id}`, mine.token)).toBe(200)
  })
})

test('restricted to some servers, a user sees those and nothing of the others', async () => {
  const [a, b] = [await aHost(server, admin.client, 'mine-only'), await aHost(server, admin.client, 'not-mine')]
  for (const host of [a, b]) await host.client.call('POST /bans', { body: { ip: '198.51.100.9', jail: 'sshd' } })
  const user = await aUser({ role: 'Operator' })
  const params = { userId: user.id }
  expect(
    await admin.client.call('PUT /users/{userId}/server-access', {
      params,
      body: { access_type: 'specific', server_ids: [a.id] },
    }),
  ).toEqual({ message: expect.any(String), access_type: 'specific', server_count: 1 })
  expect(await admin.client.call('GET /users/{userId}', { params })).toMatchObject({
    server_access: 'specific',
    server_ids: [a.id],
  })
  const { client, token } = await user.signIn()
  expect((await client.call('GET /servers')).servers.map(found => found.id)).toEqual([a.id])
  expect(await client.call('GET /bans', { query: { ip: '198.51.100.9' } })).toMatchObject({ total: 1 })
  expect(await status('GET', `/servers/${b.id}`, token)).toBe(403)
  expect(await status('POST', `/servers/${b.id}/bans`, token, { ip: '203.0.113.1' })).toBe(403)
  expect(
    await status('PUT', `/users/${user.id}/server-access`, admin.token, {
      access_type: 'specific',
      server_ids: ['01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'],
    }),
  ).toBe(400)
  const all = await admin.client.call('PUT /users/{userId}/server-access', { params, body: { access_type: 'all' } })
  expect(all.server_count).toBe((await admin.client.call('GET /servers')).total)
  expect(await status('GET', `/servers/${b.id}`, token)).toBe(200)
})

test('guessing is hopeless: ten wrong passwords shut the account for the addresses that guessed', async () => {
  const env = { STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8' }
  const guarded = await startServer({ env })
  try {
    await guarded.setUp()
    const login = (typed: string, from: string, username = 'admin') =>
      raw(guarded, 'POST', '/api/v1/auth/login', {
        body: { username, password: typed },
        headers: { 'x-forwarded-for': from },
      })
    const many = await Promise.all(Array.from({ length: 30 }, () => login('Wrong-secret-1', '203.0.113.66')))
    // Thirty at once get no further than ten one by one.
    expect(many.filter(reply => reply.status === 401).length).toBeLessThanOrEqual(10)
    const shut = await login(password, '203.0.113.66')
    expect(shut).toMatchObject({ status: 429, json: { error: 'Too Many Requests' } })
    expect(Number(shut.headers.get('retry-after'))).toBeGreaterThan(800)
    expect((await login(password, '198.51.100.1')).status).toBe(200)
    // The same for a name that nobody has.
    for (let n = 0; n < 10; n++) expect((await login('x', '203.0.113.66', 'nobody')).status).toBe(401)
    expect((await login('x', '203.0.113.66', 'NOBODY')).status).toBe(429)
  } finally {
    await guarded.close()
  }
})
