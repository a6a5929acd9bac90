import { expect, test } from 'vitest'
import { aHost, raw } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'
import { aUser, withServer } from '../../src/testing/scene.ts'

/*
 * Whoever had an account for a moment makes a key of it and goes on with that key after the administrator has thrown the
 * account's thief out. What happens to people of a provider is in the tests of oauth.
 */
let server: TestServer
let admin: Signed
withServer({}, made => ({ server, admin } = made))

let people = 0
const taken = async (role: 'Operator' | 'Viewer' = 'Operator') => {
  const { id, token, client } = await aUser(server, admin.client, `owned_${++people}`, role)
  const body = { name: 'backdoor', permissions: 'read' } as const
  const { key } = await client.call('POST /users/{userId}/keys', { params: { userId: id }, body })
  return { id, key, token }
}
const status = async (token: string) => (await raw(server, 'GET', '/api/v1/servers', { token })).status
const reset = (id: number, what: string, body: object = {}) =>
  raw(server, 'POST', `/api/v1/users/${id}/${what}`, { token: admin.token, body })

test('a reset of the password or the second factor ends keys with the sessions, and tells how many', async () => {
  for (const what of ['reset-password', 'reset-mfa']) {
    const { id, key, token } = await taken()
    expect([await status(key), await status(token)]).toEqual([200, 200])
    expect(await reset(id, what)).toMatchObject({ status: 200, json: { revoked_keys: 1 } })
    expect([await status(key), await status(token)], what).toEqual([401, 401])
    expect((await admin.client.call('GET /users/{userId}/keys', { params: { userId: id } })).keys).toEqual([])
  }
  const { id, key } = await taken()
  expect(await reset(id, 'reset-password', { keep_keys: true })).toMatchObject({ json: { revoked_keys: 0 } })
  expect(await status(key)).toBe(200)
})

test('a new invitation ends what the account had', async () => {
  const made = await admin.client.call('POST /users', {
    body: { username: 'invited', email: 'invited@stockade.example', invite: true },
  })
  const { key } = await admin.client.call('POST /users/{userId}/keys', {
    params: { userId: made.id },
    body: { name: 'early', permissions: 'read' },
  })
  expect(await reset(made.id, 'invite')).toMatchObject({ status: 200, json: { revoked_keys: 1 } })
  expect(await status(key)).toBe(401)
})

test('a lower role takes keys away where the administrator says so', async () => {
  const { id, key } = await taken()
  const change = (body: object) => raw(server, 'PATCH', `/api/v1/users/${id}`, { token: admin.token, body })
  expect(await change({ role: 'Viewer' })).toMatchObject({ json: { revoked_keys: 0 } })
  expect(await status(key)).toBe(200)
  expect(await change({ keep_keys: false })).toMatchObject({ json: { revoked_keys: 1 } })
  expect(await status(key)).toBe(401)
})

test('a required second factor holds for the keys of whoever has none, and never silences a host', async () => {
  const host = await aHost(server, admin.client, 'reporting')
  const { id, key } = await taken()
  const adminKey = await admin.client.call('POST /keys', { body: { name: 'all', permissions: 'admin' } })
  const own = await admin.client.call('POST /keys', {
    body: { name: 'an agent of my own', permissions: 'write', server_id: host.id },
  })
  await raw(server, 'PATCH', `/api/v1/users/${id}`, { token: admin.token, body: { mfa_required: true } })
  expect(await raw(server, 'GET', '/api/v1/servers', { token: key })).toMatchObject({
    status: 403,
    json: { message: expect.stringContaining('2FA') },
  })
  expect(await status(adminKey.key)).toBe(200)

  await admin.client.call('PATCH /settings', { body: { security: { mfa_required: true } } })
  const off = await raw(server, 'PATCH', '/api/v1/settings', {
    token: adminKey.key,
    body: { security: { mfa_required: false } },
  })
  expect(off.status).toBe(403)
  for (const token of [host.key, own.key])
    expect(
      await raw(server, 'POST', '/api/v1/bans', { token, body: { ip: '203.0.113.9', jail: 'sshd' } }),
    ).toMatchObject({ status: 201 })
})
