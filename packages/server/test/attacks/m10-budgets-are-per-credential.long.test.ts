import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bounds } from '@stockade/contract'
import { openStorage } from '../../src/admin/storage.ts'
import { readConfig } from '../../src/config.ts'
import { aHost, freshDatabase, password, raw, startServer } from '../../src/testing/index.ts'
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
  const began = Date.now()
  for (const token of keys)
    statuses.push(
      ...(await Promise.all(
        Array.from({ length: limit }, async () => (await raw(server, 'GET', '/api/v1/servers', { token })).status),
      )),
    )
  const passed = statuses.filter(status => status === 200).length
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  // On a busy machine a minute may pass meanwhile: then there are two minutes' budgets.
  const minutes = 1 + Math.floor((Date.now() - began) / 60_000)
  expect(passed).toBeLessThanOrEqual(10 * limit * minutes)
  // Others are not concerned.
  expect(await raw(server, 'GET', '/api/v1/servers', { token: admin.token })).toMatchObject({ status: 200 })
})

test('questions for a proof have the budget of strangers, and hosts go on', async () => {
  const host = await aHost(server, admin.client)
  const ask = () =>
    raw(server, 'POST', '/api/v1/agent/challenge', {
      body: {
        server_id: randomUUID(),
        nonce: randomBytes(32).toString('base64url'),
        address: 'https://stockade.example',
      },
    })
  const replies = await Promise.all(Array.from({ length: 5 * limit }, ask))
  // A minute may pass meanwhile: then there are two minutes' budgets.
  expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(2 * limit)
  const refused = replies.filter(({ status }) => status !== 200)
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]))
  for (const { headers } of refused) expect(headers.get('retry-after')).toMatch(/^\d+$/)
  expect(
    await raw(server, 'POST', '/api/v1/servers/heartbeat', { token: host.key, body: { hostname: 'web-01' } }),
  ).toMatchObject({ status: 200 })
})

test('a user has so many keys, and no more', async () => {
  const quiet = await startServer()
  try {
    const { client, token } = await quiet.setUp()
    const addKeys = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          client.call('POST /keys', { body: { name: `k${index}`, permissions: 'read' } }),
        ),
      )
    for (let count = 0; count < bounds.keysPerUser; count += 20) await addKeys(20)
    const more = { token, body: { name: 'one more', permissions: 'read' } }
    expect(await raw(quiet, 'POST', '/api/v1/keys', more)).toMatchObject({ status: 409 })
    expect(await raw(quiet, 'POST', '/api/v1/users/1/keys', more)).toMatchObject({ status: 409 })
  } finally {
    await quiet.close()
  }
})

test('a user has so many sessions; the idlest goes for a new one', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-sessions-'))
  const database = await freshDatabase()
  const kept = { dataDir, ...(database ? { databaseUrl: database.url } : {}) }
  const storage = {
    STOCKADE_DATA_DIR: dataDir,
    ...(database
      ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'test-secret-of-thirty-two-characters' }
      : {}),
  }
  try {
    const before = await startServer(kept)
    await before.setUp()
    await before.close()
    // A sign-in costs a tenth of a second of hashing: most sessions are written to the database instead.
    const db = await openStorage(readConfig(storage))
    const now = Date.now()
    const sessions = Array.from({ length: bounds.sessionsPerUser - 2 }, (_, index) => ({
      id: `session-${index}`,
      user_id: 1,
      refresh_hash: `refresh-${index}`,
      access_hash: '',
      cookie_hash: `cookie-${index}`,
      method: 'password' as const,
      ip_address: '192.0.2.1',
      user_agent: 'tests',
      created_at: now,
      last_activity: now,
      proved_at: now,
    }))
    await db.write.insertInto('sessions').values(sessions).execute()
    await db.close()
    const refilled = await startServer(kept)
    try {
      const older = await refilled.signIn()
      const newer = await refilled.signIn()
      const { sessions: left } = await newer.client.call('GET /users/{userId}/sessions', { params: { userId: 1 } })
      expect(left).toHaveLength(bounds.sessionsPerUser)
      // The set-up's own session was idle longest.
      expect(left.filter(({ user_agent }) => user_agent === 'tests')).toHaveLength(bounds.sessionsPerUser - 2)
      expect(await raw(refilled, 'GET', '/api/v1/servers', { token: older.token })).toMatchObject({ status: 200 })
    } finally {
      await refilled.close()
    }
  } finally {
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('what hosts download has a budget by address', async () => {
  const own = await startServer({ env: { STOCKADE_RATE_LIMIT: String(limit) } })
  try {
    // A runtime has tens of megabytes; its status is enough.
    const statusOf = async (path: string) => {
      const reply = await fetch(own.url + path)
      await reply.body?.cancel()
      return reply.status
    }
    const statusesOf = async (path: string, requests: number) => {
      const statuses: number[] = []
      while (statuses.length < requests) statuses.push(await statusOf(path))
      return statuses
    }
    expect(await statusesOf('/agent/node-linux-arm64.gz', limit + 1)).toContain(429)
    const scripts = await statusesOf('/install.sh', 10 * limit + 1)
    expect(scripts).toContain(429)
    expect(scripts.filter(status => status === 200).length).toBeGreaterThan(limit)
  } finally {
    await own.close()
  }
})
