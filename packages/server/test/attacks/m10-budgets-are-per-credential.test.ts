import { afterAll, beforeAll, expect, test } from 'vitest'
import { bounds } from '@stockade/contract'
import { password, raw, startServer } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'

/* A Viewer multiplies the budget by many keys and sessions; a stranger downloads without end. */

let server: TestServer
let admin: Signed
let viewer: { id: number; token: string }
const limit = 20
beforeAll(async () => {
  server = await startServer({ env: { STOCKADE_RATE_LIMIT: String(limit) } })
  admin = await server.setUp()
  const { id } = await admin.client.call('POST /users', {
    body: { username: 'viewer', email: 'viewer@stockade.example', password },
  })
  viewer = { id, token: await signIn() }
})
afterAll(() => server.close())

const signIn = async () => {
  const reply = await server.client().call('POST /auth/login', { body: { username: 'viewer', password } })
  if (!('access_token' in reply)) throw new Error('a second factor is wanted')
  return reply.access_token
}
const addKey = (name: string) =>
  raw(server, 'POST', `/api/v1/users/${viewer.id}/keys`, {
    token: viewer.token,
    body: { name, permissions: 'read' },
  })

test('many credentials of one user have ten budgets together', async () => {
  const keys = await Promise.all(
    Array.from({ length: 14 }, async (_, index) => ((await addKey(`k${index}`)).json as { key: string }).key),
  )
  const statuses: number[] = []
  for (const token of keys)
    statuses.push(
      ...(await Promise.all(
        Array.from({ length: limit }, async () => (await raw(server, 'GET', '/api/v1/servers', { token })).status),
      )),
    )
  const passed = statuses.filter(status => status === 200).length
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  // A minute may pass meanwhile on a busy machine: then there are two minutes' budgets, and 14 keys have 280.
  expect(passed).toBeLessThanOrEqual(10 * limit)
  // Others are not concerned.
  expect(await raw(server, 'GET', '/api/v1/servers', { token: admin.token })).toMatchObject({ status: 200 })
})

test('a user has so many keys and sessions, and no more', async () => {
  const quiet = await startServer()
  try {
    const { client, token } = await quiet.setUp()
    for (let made = 0; made < bounds.keysPerUser; made++)
      await client.call('POST /keys', { body: { name: `k${made}`, permissions: 'read' } })
    const more = { token, body: { name: 'one more', permissions: 'read' } }
    expect(await raw(quiet, 'POST', '/api/v1/keys', more)).toMatchObject({ status: 409 })
    expect(await raw(quiet, 'POST', '/api/v1/users/1/keys', more)).toMatchObject({ status: 409 })
    for (let begun = 0; begun < bounds.sessionsPerUser; begun++) await quiet.signIn()
    const last = await quiet.signIn()
    const { sessions } = await last.client.call('GET /users/{userId}/sessions', { params: { userId: 1 } })
    expect(sessions).toHaveLength(bounds.sessionsPerUser)
    // The one that was idle longest had to go.
    expect(await raw(quiet, 'GET', '/api/v1/servers', { token })).toMatchObject({ status: 401 })
  } finally {
    await quiet.close()
  }
})

test('what hosts download has a budget by address', async () => {
  const ask = async (path: string) => (await raw(server, 'GET', path)).status
  const runtimes = await Promise.all(Array.from({ length: limit + 1 }, () => ask('/agent/node-linux-arm64.gz')))
  expect(runtimes.filter(status => status === 429).length).toBeGreaterThan(0)
  const scripts = await Promise.all(Array.from({ length: 10 * limit + 1 }, () => ask('/install.sh')))
  expect(scripts.filter(status => status === 429).length).toBeGreaterThan(0)
  expect(scripts.filter(status => status === 200).length).toBeGreaterThan(limit)
})
