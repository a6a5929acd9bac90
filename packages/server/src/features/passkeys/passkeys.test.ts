import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anAuthenticator } from '../../testing/authenticator.ts'
import type { Wrong } from '../../testing/authenticator.ts'
import { movableClock, password, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let origin: string
let authenticator: ReturnType<typeof anAuthenticator>

beforeAll(async () => {
  server = await startServer({ clock })
  admin = await server.setUp()
  origin = `http://localhost:${server.port}`
  authenticator = anAuthenticator(origin)
})
afterAll(() => server.close())

const ask = (path: string, body: object, token?: string) =>
  raw(server, 'POST', `/api/v1${path}`, { body, ...(token ? { headers: { authorization: `Bearer ${token}` } } : {}) })
const optionsOf = async (path: string, body: object = {}, token?: string) =>
  ((await ask(path, body, token)).json as { options: Record<string, unknown> }).options
const enrol = async (token: string, made = anAuthenticator(origin)) => {
  const options = await optionsOf('/auth/passkeys/options', {}, token)
  return { made, reply: await ask('/auth/passkeys', { name: 'Laptop', response: made.create(options) }, token) }
}
const signInWith = async (made: typeof authenticator, wrong: Wrong = {}) =>
  ask('/auth/passkey', { response: made.get(await optionsOf('/auth/passkey/options'), wrong) })

describe('adding a passkey', () => {
  test('wants the answer to one’s own question, once, by a verified user on this site', async () => {
    const options = () => optionsOf('/auth/passkeys/options', {}, admin.token)
    const add = (response: object, token = admin.token) => ask('/auth/passkeys', { name: 'Laptop', response }, token)
    const refused = { status: 401, json: { error: 'Unauthorized' } }
    const wrongs: Wrong[] = [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { flags: 0x41 },
      { flags: 0x44 },
      { challenge: 'AAAA' },
    ]
    for (const wrong of wrongs)
      expect(await add(authenticator.create(await options(), wrong)), JSON.stringify(wrong)).toMatchObject(refused)
    const asked = await options()
    const other = await admin.client.call('POST /users', {
      body: { username: 'otto', email: 'otto@stockade.example', password, role: 'Viewer' },
    })
    const otto = (await ask('/auth/login', { username: 'otto', password })).json as { access_token: string }
    expect(await add(authenticator.create(asked), otto.access_token)).toMatchObject(refused)
    await admin.client.call('DELETE /users/{userId}', { params: { userId: other.id } })
    // The question was used up by that.
    expect(await add(authenticator.create(asked))).toMatchObject(refused)
    const late = await options()
    clock.forward(6 * 60)
    expect(await add(authenticator.create(late))).toMatchObject(refused)

    const response = authenticator.create(await options())
    const reply = await add(response)
    expect(reply).toMatchObject({ status: 201, json: { id: expect.any(Number), name: 'Laptop', last_used: null } })
    expect(reply.json).toMatchObject({
      fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
      operator_key: expect.stringMatching(/^stockade-operator-key-v1:/),
    })
    expect(await add(response)).toMatchObject(refused)
    expect(await add(authenticator.create(await options()))).toMatchObject({ status: 409 })
    const { passkeys } = (await admin.client.call('GET /auth/passkeys')) as { passkeys: { name: string }[] }
    expect(passkeys).toHaveLength(1)
  })

  test('junk is refused in words', async () => {
    for (const response of [
      {},
      { id: 'x', rawId: 'x', type: 'public-key', response: { clientDataJSON: '' } },
      { id: '*', rawId: 'x', type: 'public-key', response: { clientDataJSON: '' } },
    ])
      expect((await ask('/auth/passkeys', { name: 'x', response }, admin.token)).status).toBeOneOf([400, 401])
  })
})

describe('signing in', () => {
  test('with the passkey alone begins a session', async () => {
    const reply = await signInWith(authenticator)
    expect(reply).toMatchObject({ status: 200, json: { user: { username: 'admin' } } })
    expect(reply.headers.get('set-cookie')).toContain('HttpOnly')
    const { passkeys } = (await admin.client.call('GET /auth/passkeys')) as { passkeys: { last_used: string | null }[] }
    expect(passkeys[0]?.last_used).not.toBeNull()
  })

  test.each<[string, Wrong]>([
    ['another site', { origin: 'https://evil.example' }],
    ['a site below ours', { origin: 'http://a.localhost:1' }],
    ['another site’s key', { rpId: 'evil.example' }],
    ['no user verification', { flags: 0x01 }],
    ['nobody present', { flags: 0x04 }],
    ['another question', { challenge: 'AAAA' }],
    ['another key', { key: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey }],
    ['another curve', { key: generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey }],
  ])('from %s is refused', async (_, wrong) => {
    expect(await signInWith(authenticator, wrong)).toMatchObject({ status: 401 })
  })

  test('a recorded answer works once, also for many at once', async () => {
    const response = authenticator.get(await optionsOf('/auth/passkey/options'))
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask('/auth/passkey', { response })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)])
  })

  test('a stranger’s passkey is not known', async () => {
    expect(await signInWith(anAuthenticator(origin))).toMatchObject({ status: 401 })
  })

  test('with the password then wants the passkey', async () => {
    const half = (await ask('/auth/login', { username: 'admin', password })).json as { mfa_token: string }
    expect(half).toMatchObject({ mfa_required: true, methods: ['passkey'] })
    expect(await ask('/auth/mfa/verify', { mfa_token: half.mfa_token, code: '123456' })).toMatchObject({ status: 401 })
    const ask2 = async (mfa_token: string, made = authenticator) => {
      const options = await optionsOf('/auth/passkey/options', { mfa_token })
      return ask('/auth/passkey', { mfa_token, response: made.get(options) })
    }
    expect(await ask2(half.mfa_token)).toMatchObject({ status: 200, json: { user: { username: 'admin' } } })
    expect((await ask('/auth/passkey/options', { mfa_token: half.mfa_token })).status).toBe(401)
    // An answer to the question of the other kind is none.
    const again = (await ask('/auth/login', { username: 'admin', password })).json as { mfa_token: string }
    const foreign = authenticator.get(await optionsOf('/auth/passkey/options'))
    expect(await ask('/auth/passkey', { mfa_token: again.mfa_token, response: foreign })).toMatchObject({ status: 401 })
  })
})

test('somebody else’s passkey is no second factor', async () => {
  await admin.client.call('POST /users', {
    body: { username: 'eve', email: 'eve@stockade.example', password, role: 'Viewer' },
  })
  const eve = (await ask('/auth/login', { username: 'eve', password })).json as { access_token: string }
  const { made } = await enrol(eve.access_token)
  const half = (await ask('/auth/login', { username: 'admin', password })).json as { mfa_token: string }
  const options = await optionsOf('/auth/passkey/options', { mfa_token: half.mfa_token })
  expect(await ask('/auth/passkey', { mfa_token: half.mfa_token, response: made.get(options) })).toMatchObject({
    status: 401,
  })
})

test('a passkey proves again who one is, one’s own only', async () => {
  const signedIn = await signInWith(authenticator)
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const byCookie = (path: string, body: object) =>
    raw(server, 'POST', `/api/v1${path}`, { body, headers: { cookie, origin: server.url } })
  clock.forward(16 * 60)
  const wanted = () => byCookie('/users/1/keys', { name: 'fresh', permissions: 'read' })
  expect(await wanted()).toMatchObject({ status: 403, json: { step_up: { methods: ['password', 'passkey'] } } })
  const options = async () => ((await byCookie('/auth/step-up/options', {})).json as { options: object }).options
  const foreign = anAuthenticator(origin).get({ ...(await options()) })
  expect(await byCookie('/auth/step-up', { passkey: foreign })).toMatchObject({ status: 401 })
  const own = authenticator.get({ ...(await options()) })
  expect(await byCookie('/auth/step-up', { passkey: own })).toMatchObject({ status: 200 })
  expect(await wanted()).toMatchObject({ status: 201 })
})

test('administrators can be required to have one, and then a code is not enough', async () => {
  const change = (passkey_required: 'off' | 'admins' | 'all') =>
    admin.client.call('PATCH /settings', { body: { security: { passkey_required } } })
  await change('admins')
  const { id } = await admin.client.call('POST /users', {
    body: { username: 'ada', email: 'ada@stockade.example', password, role: 'Admin' },
  })
  const ada = (await ask('/auth/login', { username: 'ada', password })).json as { access_token: string }
  expect(ada).toMatchObject({ mfa_setup_required: true })
  const read = () => server.client(ada.access_token).call('GET /users')
  await expect(read()).rejects.toMatchObject({ status: 403 })
  const { made } = await enrol(ada.access_token)
  await expect(read()).resolves.toMatchObject({ total: expect.any(Number) })
  const half = (await ask('/auth/login', { username: 'ada', password })).json
  expect(half).toMatchObject({ mfa_required: true, methods: ['passkey'] })
  expect(await signInWith(made)).toMatchObject({ status: 200 })
  await admin.client.call('POST /users/{userId}/reset-mfa', { params: { userId: id } })
  expect(await signInWith(made)).toMatchObject({ status: 401 })
  await change('off')
})

test('a removed passkey signs in no more; names are kept short; a twenty-first is refused', async () => {
  await admin.client.call('POST /users', {
    body: { username: 'many', email: 'many@stockade.example', password, role: 'Viewer' },
  })
  const { access_token } = (await ask('/auth/login', { username: 'many', password })).json as { access_token: string }
  const { made, reply } = await enrol(access_token)
  for (let count = 1; count < 20; count++) expect((await enrol(access_token)).reply.status).toBe(201)
  expect(await ask('/auth/passkeys/options', {}, access_token)).toMatchObject({ status: 409 })
  const client = server.client(access_token)
  const { id } = reply.json as { id: number }
  await expect(
    client.call('PATCH /auth/passkeys/{passkeyId}', { params: { passkeyId: id }, body: { name: 'x'.repeat(65) } }),
  ).rejects.toMatchObject({ status: 400 })
  await expect(
    admin.client.call('DELETE /auth/passkeys/{passkeyId}', { params: { passkeyId: id } }),
  ).rejects.toMatchObject({
    status: 404,
  })
  await client.call('DELETE /auth/passkeys/{passkeyId}', { params: { passkeyId: id } })
  expect(await signInWith(made)).toMatchObject({ status: 401 })
})

test('under a base URL that browsers know no passkeys of, it is said why', async () => {
  const elsewhere = await startServer({ env: { STOCKADE_BASE_URL: 'http://192.0.2.7:8420' } })
  try {
    const { token } = await elsewhere.setUp()
    const reply = await raw(elsewhere, 'POST', '/api/v1/auth/passkeys/options', {
      body: {},
      headers: { authorization: `Bearer ${token}` },
    })
    expect(reply).toMatchObject({ status: 409, json: { message: expect.stringContaining('https') } })
  } finally {
    await elsewhere.close()
  }
})
