import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import { aHost, eventually, freshDatabase, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'
import { touchKeys } from './keys.store.ts'
import { aUser, withServer } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
withServer({}, made => ({ server, admin } = made))

test('a key is shown once, works, and is dead at once when revoked', async () => {
  const made = await admin.client.call('POST /keys', { body: { name: 'backup', permissions: 'read' } })
  expect(made).toEqual({
    id: expect.any(Number),
    name: 'backup',
    key: expect.stringMatching(/^svc_[A-Za-z0-9]{32}$/),
    permissions: 'read',
    server_id: null,
    scopes: null,
    source_networks: null,
    tags: null,
    expires_at: null,
    created_at: expect.stringMatching(/Z$/),
  })
  const client = server.client(made.key)
  expect((await client.call('GET /servers')).total).toBe(0)
  expect(await raw(server, 'POST', '/api/v1/servers', { token: made.key, body: { hostname: 'x' } })).toMatchObject({
    status: 403,
  })
  expect(await raw(server, 'GET', '/api/v1/auth/me', { token: made.key })).toMatchObject({ status: 403 })
  expect(await admin.client.call('DELETE /keys/{keyId}', { params: { keyId: made.id } })).toEqual({
    message: expect.any(String),
  })
  expect(await raw(server, 'GET', '/api/v1/servers', { token: made.key })).toMatchObject({ status: 401 })
  expect(await raw(server, 'DELETE', `/api/v1/keys/${made.id}`, { token: admin.token })).toMatchObject({ status: 404 })
})

test('a key is bound and ends as it was made, and its rows tell from where it was used', async () => {
  const host = await aHost(server, admin.client, 'keyed')
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const body = { name: 'both', server_id: host.id, expires_at }
  const one = await admin.client.call('POST /keys', { body })
  const two = await admin.client.call('POST /users/{userId}/keys', { params: { userId: 1 }, body })
  for (const made of [one, two]) {
    expect(made).toMatchObject({ server_id: host.id, expires_at })
    expect((await server.client(made.key).call('GET /servers')).servers.map(({ id }) => id)).toEqual([host.id])
  }
  const never = await admin.client.call('POST /keys', { body: { name: 'never used' } })
  const of = async (id: number) => {
    const { keys } = await admin.client.call('GET /users/{userId}/keys', { params: { userId: 1 } })
    return keys.find(key => key.id === id)
  }
  // Another process hears of a use with the next writing of uses.
  for (const { id } of [one, two])
    await eventually(async () =>
      expect(await of(id)).toMatchObject({ server_id: host.id, expires_at, last_used_from: '127.0.0.1' }),
    )
  expect(await of(never.id)).toMatchObject({ server_id: null, expires_at: null, last_used: null, last_used_from: null })
})

test('a key for a user is not bound to a server that the user may not see', async () => {
  const [mine, other] = [await aHost(server, admin.client, 'seen'), await aHost(server, admin.client, 'unseen')]
  const { id: userId, token } = await aUser(server, admin.client, 'narrow', 'Operator', [mine.id])
  const make = (by: string, server_id: string) =>
    raw(server, 'POST', `/api/v1/users/${userId}/keys`, { token: by, body: { name: 'x', server_id } })
  expect(await make(token, mine.id)).toMatchObject({ status: 201, json: { server_id: mine.id } })
  expect(await make(token, other.id)).toMatchObject({ status: 403 })
  expect(await make(admin.token, other.id)).toMatchObject({ status: 400, json: { details: [{ path: 'server_id' }] } })
})

test('a key of a restricted user sees the servers of this user only', async () => {
  const [mine, other] = [await aHost(server, admin.client, 'own'), await aHost(server, admin.client, 'foreign')]
  const { id: userId, client } = await aUser(server, admin.client, 'restricted', 'Operator', [mine.id])
  const { key } = await client.call('POST /users/{userId}/keys', { params: { userId }, body: { name: 'unbound' } })
  expect((await server.client(key).call('GET /servers')).servers.map(({ id }) => id)).toEqual([mine.id])
  expect(await raw(server, 'GET', `/api/v1/servers/${other.id}`, { token: key })).toMatchObject({ status: 403 })
})

test('read is the default permission', async () => {
  expect(await admin.client.call('POST /keys', { body: { name: 'plain' } })).toMatchObject({ permissions: 'read' })
})

test('a key bound to a server sees and changes that server only', async () => {
  const [mine, other] = [await aHost(server, admin.client, 'mine'), await aHost(server, admin.client, 'other')]
  for (const host of [mine, other]) await host.client.call('POST /bans', { body: { ip: '203.0.113.5', jail: 'sshd' } })
  const { key } = await admin.client.call('POST /keys', {
    body: { name: 'bound', permissions: 'admin', server_id: mine.id },
  })
  const bound = server.client(key)
  expect((await bound.call('GET /servers')).servers.map(found => found.id)).toEqual([mine.id])
  expect(await bound.call('GET /bans')).toMatchObject({ total: 1, bans: [{ server: { id: mine.id } }] })
  await bound.call('POST /servers/{serverId}/commands', { params: { serverId: mine.id }, body: { type: 'reload-all' } })
  const refused: [string, string, unknown][] = [
    ['GET', `/servers/${other.id}`, undefined],
    ['GET', `/servers/${other.id}/jails`, undefined],
    ['GET', `/bans?server_id=${other.id}`, undefined],
    ['POST', `/servers/${other.id}/commands`, { type: 'reload-all' }],
    ['POST', `/servers/${other.id}/bans`, { ip: '203.0.113.9' }],
    ['POST', '/commands/batch', { server_ids: [mine.id, other.id], type: 'reload-all' }],
    ['POST', '/servers', { hostname: 'new' }],
    ['POST', '/keys', { name: 'more' }],
    ['DELETE', '/keys/1', undefined],
  ]
  for (const [method, path, body] of refused)
    expect(await raw(server, method, `/api/v1${path}`, { token: key, body }), `${method} ${path}`).toMatchObject({
      status: 403,
      json: { error: 'Forbidden' },
    })
})

test('a key of a removed server is dead', async () => {
  const host = await aHost(server, admin.client, 'gone')
  const { key } = await admin.client.call('POST /keys', { body: { name: 'of gone', server_id: host.id } })
  await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: host.id } })
  for (const token of [host.key, key])
    expect(await raw(server, 'GET', '/api/v1/servers', { token })).toMatchObject({ status: 401 })
})

test.each([
  ['name', {}],
  ['name', { name: '' }],
  ['name', { name: 'x'.repeat(101) }],
  ['permissions', { name: 'x', permissions: 'root' }],
  ['server_id', { name: 'x', server_id: 'nope' }],
  ['server_id', { name: 'x', server_id: '01a1fd3e-b8a1-7afb-9a73-996f3d0480f9' }],
  ['expires_at', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }],
  ['expires_at', { name: 'x', expires_at: 'soon' }],
  ['sever_id', { name: 'x', sever_id: 'typo' }],
])('a bad %s is named: %o', async (path, body) => {
  expect(await raw(server, 'POST', '/api/v1/keys', { token: admin.token, body })).toMatchObject({
    status: 400,
    json: { details: [{ path }] },
  })
})

test('a key with scopes calls only what belongs to them', async () => {
  const made = await admin.client.call('POST /keys', {
    body: { name: 'scoped', permissions: 'admin', scopes: ['bans', 'metrics'] },
  })
  expect(made).toMatchObject({ scopes: ['bans', 'metrics'], source_networks: null })
  const ask = (method: string, path: string, body?: object) =>
    raw(server, method, path, { token: made.key, ...(body ? { body } : {}) })
  expect(await ask('GET', '/api/v1/bans')).toMatchObject({ status: 200 })
  for (const [method, path] of [
    ['GET', '/api/v1/servers'],
    ['POST', '/api/v1/whitelist'],
    ['POST', '/api/v1/keys'],
    ['GET', '/api/v1/settings/audit'],
    ['GET', '/api/v1/commands'],
  ] as const)
    expect(await ask(method, path, method === 'GET' ? undefined : {}), path).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining('bans, metrics') },
    })
  const { keys } = await admin.client.call('GET /users/{userId}/keys', { params: { userId: 1 } })
  expect(keys.find(({ id }) => id === made.id)).toMatchObject({ scopes: ['bans', 'metrics'] })
  for (const scopes of [[], ['nonsense'], ['bans', 'bans']])
    expect(
      await raw(server, 'POST', '/api/v1/keys', { token: admin.token, body: { name: 'x', scopes } }),
    ).toMatchObject({ status: 400 })
})

test('a key with networks is for requests from there', async () => {
  const key = async (source_networks: string[]) =>
    (await admin.client.call('POST /keys', { body: { name: 'placed', source_networks } })).key
  expect(
    await raw(server, 'GET', '/api/v1/servers', { token: await key(['198.51.100.0/24', '2001:db8::/32']) }),
  ).toMatchObject({ status: 403, json: { message: expect.stringContaining('127.0.0.1') } })
  expect(await raw(server, 'GET', '/api/v1/servers', { token: await key(['127.0.0.9/8']) })).toMatchObject({
    status: 200,
  })
  for (const source_networks of [['nonsense'], [], Array.from({ length: 33 }, () => '192.0.2.1')])
    expect(
      await raw(server, 'POST', '/api/v1/keys', { token: admin.token, body: { name: 'x', source_networks } }),
    ).toMatchObject({ status: 400 })
})
test('the last use of each key is stored, and an earlier use that another process saw changes nothing', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-keys-'))
  const database = await freshDatabase()
  const own = await startServer({ dataDir, ...(database ? { databaseUrl: database.url } : {}) })
  const { client } = await own.setUp()
  const began = Date.now()
  const ids: number[] = []
  for (const name of ['one', 'two', 'three']) {
    const { id, key } = await client.call('POST /keys', { body: { name } })
    await own.client(key).call('GET /servers')
    ids.push(id)
  }
  await own.close()
  const db = await openStorage(
    readConfig({
      STOCKADE_DATA_DIR: dataDir,
      ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
    }),
  )
  onTestFinished(async () => {
    await db.close()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const uses = () =>
    db.read
      .selectFrom('api_keys')
      .select(['last_used', 'last_used_from'])
      .where('id', 'in', ids)
      .orderBy('id')
      .execute()
  const stored = await uses()
  for (const { last_used } of stored) expect(last_used).toBeGreaterThanOrEqual(began)
  expect(stored.map(row => row.last_used_from)).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1'])

  const [first = 0, second = 0] = ids
  const seen = { at: began + 3_600_000, from: '192.0.2.1' }
  const earlier = { at: began - 1, from: '192.0.2.2' }
  await touchKeys(
    db.write,
    db.engine,
    new Map([
      [second, seen],
      [first, earlier],
    ]),
  )
  expect(await uses()).toEqual([stored[0], { last_used: seen.at, last_used_from: seen.from }, stored[2]])
})
