import { expect, test } from 'vitest'
import { raw } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'
import { withServer } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
withServer({}, made => ({ server, admin } = made))

const path = '/api/v1/users/me/preferences'
const put = (preferences: unknown, token = admin.token) => raw(server, 'PUT', path, { token, body: { preferences } })

test('nothing at first, then what was put, whole and as it was', async () => {
  expect(await admin.client.call('GET /users/me/preferences')).toEqual({ preferences: {} })
  const preferences = {
    theme: 'dark',
    views: [{ name: 'Mine — только мои', url: '/bans?q=by:admin', columns: { asn: true, city: null }, width: 1.5 }],
  }
  expect(await admin.client.call('PUT /users/me/preferences', { body: { preferences } })).toEqual({ preferences })
  expect(await admin.client.call('GET /users/me/preferences')).toEqual({ preferences })
  await put({ density: 'compact' })
  expect(await admin.client.call('GET /users/me/preferences')).toEqual({ preferences: { density: 'compact' } })
})

test('they are no change that the audit log is for', async () => {
  const before = (await admin.client.call('GET /settings/audit')).total
  await put({ theme: 'light' })
  expect((await admin.client.call('GET /settings/audit')).total).toBe(before)
})

test('64 KiB, no more and no other form', async () => {
  const most = { note: 'x'.repeat(64 * 1024 - '{"note":""}'.length) }
  expect(await put(most)).toMatchObject({ status: 200, json: { preferences: most } })
  expect(await put({ note: `${most.note}x` })).toMatchObject({
    status: 400,
    json: { details: [{ path: 'preferences', message: expect.stringMatching(/65536 bytes/) }] },
  })
  expect(await put({ note: 'x'.repeat(128 * 1024) })).toMatchObject({ status: 413 })
  const nested = (levels: number) => `{"preferences":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`
  const deep = (levels: number) => raw(server, 'PUT', path, { token: admin.token, body: nested(levels) })
  expect((await deep(31)).status).toBe(200)
  for (const levels of [40, 30_000])
    expect(await deep(levels)).toMatchObject({ status: 400, json: { details: [{ path: 'preferences' }] } })
  for (const wrong of [null, [], 'dark', 7, undefined]) expect(await put(wrong)).toMatchObject({ status: 400 })
})

test("they are a user's own and go with the user; a key has none", async () => {
  const secret = 'An0ther-secret'
  const { id } = await admin.client.call('POST /users', {
    body: { username: 'habits', email: 'habits@stockade.example', password: secret },
  })
  const reply = await server.client().call('POST /auth/login', { body: { username: 'habits', password: secret } })
  const token = 'access_token' in reply ? reply.access_token : ''
  expect((await raw(server, 'GET', path, { token })).json).toEqual({ preferences: {} })
  expect(await put({ theme: 'dark' }, token)).toMatchObject({ status: 200 })
  const { key } = await admin.client.call('POST /keys', { body: { name: 'script', permissions: 'admin' } })
  expect(await raw(server, 'GET', path, { token: key })).toMatchObject({ status: 403 })
  await admin.client.call('DELETE /users/{userId}', { params: { userId: id } })
  expect(await raw(server, 'GET', path, { token })).toMatchObject({ status: 401 })
})
