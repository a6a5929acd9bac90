import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import WebSocket from 'ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LiveMessage } from '@stockade/contract'
import { aHost, eventually, freshDatabase, movableClock, raw, startServer, within } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withTwoHosts } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost
withTwoHosts({ clock }, scene => ({ server, admin, web, db } = scene))

const add = (ip: string) => admin.client.call('POST /whitelist', { body: { ip } })
const remove = (id: number) => admin.client.call('DELETE /whitelist/{id}', { params: { id } })
const stateOf = (host: EnrolledHost) => host.client.call('GET /agent/state')
const acknowledge = async (host: EnrolledHost, more: { error?: string; entry_count?: number } = {}) => {
  const { version, whitelist } = await stateOf(host)
  const { error = null, entry_count = whitelist.count } = more
  await host.client.call('POST /agent/state/ack', {
    body: { version, whitelist_version: whitelist.version, entry_count, error },
  })
}
const statusOf = async (host: EnrolledHost, who = admin.client) =>
  (await who.call('GET /whitelist/sync-status')).servers.find(({ id }) => id === host.id)
const poll = async (host: EnrolledHost, query: { wait: number; state?: string; with?: 'state' }) => {
  const started = performance.now()
  const reply = await host.client.call('GET /servers/{serverId}/commands/pending', {
    params: { serverId: host.id },
    query,
  })
  return { ...reply, took: performance.now() - started }
}
const drain = async (host: EnrolledHost) => {
  const orders: { type: string; params: Record<string, unknown> }[] = []
  for (;;) {
    const { commands } = await poll(host, { wait: 0 })
    if (commands.length === 0) return orders.sort((a, b) => String(a.params.ip).localeCompare(String(b.params.ip)))
    for (const { id, type, params } of commands) {
      orders.push({ type, params })
      await host.client.call('POST /commands/{commandId}/result', {
        params: { commandId: id },
        body: { success: true },
      })
    }
  }
}

describe('the state that a host should hold', () => {
  test('is told by state, poll and heartbeat alike, and conditional', async () => {
    const state = await stateOf(web)
    expect(state).toEqual({
      version: expect.any(String),
      whitelist: { version: expect.any(String), count: 0, spread_seconds: 0 },
      portknock: { sequences: [], openings: [], blocked: [], cuts: [] },
      shield: { bans: { version: 0, count: 0, digest: expect.any(String) }, lists: [] },
      move: null,
    })
    expect((await poll(web, { wait: 0 })).desired_state).toEqual({ version: state.version })
    const beat = await web.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })
    expect(beat.desired_state).toEqual({ version: state.version })
    const ask = (tag: string) =>
      raw(server, 'GET', '/api/v1/agent/state', { token: web.key, headers: { 'if-none-match': tag } })
    expect(await ask(`"${state.version}"`)).toMatchObject({ status: 304, text: '' })
    const other = await ask('"other"')
    expect(other.status).toBe(200)
    expect(other.headers.get('etag')).toBe(`"${state.version}"`)
    // The list that it names is the one that is served.
    const { headers } = await raw(server, 'GET', '/api/v1/whitelist.txt', {
      token: web.key,
      headers: { 'accept-encoding': 'identity' },
    })
    expect(headers.get('etag')).toBe(`"${state.whitelist.version}"`)
  })
  test('a poll can ask for the changed state with it, and gets a short whitelist too', async () => {
    const before = await stateOf(web)
    const waiting = poll(web, { wait: 20, state: before.version, with: 'state' })
    const { id } = await add('192.0.2.1')
    const answer = await waiting
    const state = await stateOf(web)
    const { text } = await raw(server, 'GET', '/api/v1/whitelist.txt', { token: web.key })
    expect(answer).toMatchObject({ desired_state: { version: state.version }, state })
    expect(answer.whitelist).toEqual({ version: state.whitelist.version, text })
    expect(text).toContain('192.0.2.1\n')
    // Nothing that the host has already, and nothing that it did not ask for.
    const current = await poll(web, { wait: 0, state: state.version, with: 'state' })
    expect(Object.keys(current)).toEqual(['commands', 'desired_state', 'turns', 'took'])
    expect(Object.keys(await poll(web, { wait: 0, state: before.version }))).not.toContain('state')
    await admin.client.call('POST /whitelist/sync', { body: { server_ids: [web.id] } })
    const again = await poll(web, { wait: 0, state: state.version, with: 'state' })
    expect(again.state?.whitelist).toEqual(state.whitelist)
    expect(again.whitelist).toBeUndefined()
    const { entries } = await admin.client.call('POST /whitelist/bulk', {
      body: {
        entries: Array.from({ length: 300 }, (_, n) => ({ ip: `2001:db8:ffff:ffff:ffff:ffff:ffff:${1000 + n}` })),
      },
    })
    const long = await poll(web, { wait: 0, state: state.version, with: 'state' })
    expect(long.state?.whitelist.count).toBe(301)
    expect(long.whitelist).toBeUndefined()
    await admin.client.call('POST /whitelist/remove', { body: { ids: [id, ...entries.map(entry => entry.id)] } })
  })
  test('a poll that knows another state is answered at once, one that waits as soon as it changes', async () => {
    const { version } = await stateOf(web)
    const differing = await poll(web, { wait: 20, state: 'other' })
    expect(differing).toMatchObject({ commands: [], desired_state: { version } })
    const waiting = [poll(web, { wait: 20, state: version }), poll(db, { wait: 20 })]
    await new Promise(resolve => setTimeout(resolve, 200))
    const { id } = await add('192.0.2.1')
    const answered = await Promise.all(waiting)
    expect(answered.map(({ commands }) => commands)).toEqual([[], []])
    expect(answered[0]?.desired_state.version).toBe((await stateOf(web)).version)
    expect(answered[0]?.desired_state.version).not.toBe(version)
    await remove(id)
  })
  test('a description changes nothing for hosts', async () => {
    const { id } = await add('192.0.2.1')
    const { version } = await stateOf(web)
    await admin.client.call('PATCH /whitelist/{id}', { params: { id }, body: { description: 'x' } })
    expect((await stateOf(web)).version).toBe(version)
    await remove(id)
    expect((await stateOf(web)).version).not.toBe(version)
  })
  test('outlives the process', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'stockade-test-'))
    const database = await freshDatabase()
    const place = { dataDir, ...(database ? { databaseUrl: database.url } : {}) }
    let again = await startServer(place)
    try {
      const { client } = await again.setUp()
      const host = await aHost(again, client)
      await client.call('POST /whitelist', { body: { ip: '192.0.2.0/24' } })
      await client.call('POST /whitelist/sync')
      const before = await host.client.call('GET /agent/state')
      await again.close()
      again = await startServer(place)
      expect(await again.client(host.key).call('GET /agent/state')).toEqual(before)
      expect((await raw(again, 'GET', '/api/v1/whitelist.txt', { token: host.key })).text).toContain('192.0.2.0/24')
    } finally {
      await again.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

describe('sync status', () => {
  test('never, synced, pending, failed, synced again', async () => {
    expect(await statusOf(web)).toEqual({
      id: web.id,
      hostname: 'web-01',
      last_sync: null,
      sync_status: 'never',
      entry_count: null,
      error: null,
    })
    await acknowledge(web)
    const first = await statusOf(web)
    expect(first).toMatchObject({ sync_status: 'synced', entry_count: 0, error: null, last_sync: expect.any(String) })
    expect(await statusOf(db)).toMatchObject({ sync_status: 'never' })
    const { id } = await add('192.0.2.1')
    expect(await statusOf(web)).toEqual({ ...first, sync_status: 'pending' })
    clock.forward(5)
    await acknowledge(web, { error: 'The engine does not answer.\u001b' })
    expect(await statusOf(web)).toEqual({ ...first, sync_status: 'failed', error: 'The engine does not answer.\ufffd' })
    await acknowledge(web)
    const second = await statusOf(web)
    expect(second).toMatchObject({ sync_status: 'synced', entry_count: 1, error: null })
    expect(Date.parse(second?.last_sync ?? '')).toBeGreaterThan(Date.parse(first?.last_sync ?? ''))
    await remove(id)
    await acknowledge(web)
  })
  test('a request to apply it again makes it pending until the host has said so', async () => {
    const { client } = admin
    await acknowledge(web)
    await acknowledge(db)
    const old = await stateOf(web)
    const waiting = poll(web, { wait: 20, state: old.version })
    const idle = poll(db, { wait: 1, state: (await stateOf(db)).version })
    await new Promise(resolve => setTimeout(resolve, 100))
    const reply = await client.call('POST /whitelist/sync', { body: { server_ids: [web.id, web.id.toUpperCase()] } })
    expect(reply).toEqual({ message: expect.any(String), servers_notified: 1 })
    await waiting
    expect((await idle).took).toBeGreaterThan(900)
    expect([await statusOf(web), await statusOf(db)]).toMatchObject([
      { sync_status: 'pending' },
      { sync_status: 'synced' },
    ])
    const { version, whitelist } = await stateOf(web)
    expect(whitelist).toEqual(old.whitelist)
    expect(version).not.toBe(old.version)
    // What was on its way before the request is no answer to it.
    const late = { version: old.version, whitelist_version: whitelist.version, entry_count: 0 }
    await web.client.call('POST /agent/state/ack', { body: late })
    expect(await statusOf(web)).toMatchObject({ sync_status: 'pending' })
    await acknowledge(web)
    expect(await statusOf(web)).toMatchObject({ sync_status: 'synced' })
    expect(await client.call('POST /whitelist/sync')).toMatchObject({ servers_notified: 2 })
    expect([await statusOf(web), await statusOf(db)]).toMatchObject([
      { sync_status: 'pending' },
      { sync_status: 'pending' },
    ])
  })
  test('nonsense from a host is no confirmation', async () => {
    await acknowledge(web)
    const { version, whitelist } = await stateOf(web)
    for (const body of [
      { version: 'x', whitelist_version: whitelist.version, entry_count: 0 },
      { version, whitelist_version: 'x', entry_count: 0 },
      { version },
      { version: `${version}9`.replace(/^w/, 'v'), whitelist_version: whitelist.version },
    ]) {
      await web.client.call('POST /agent/state/ack', { body })
      expect(await statusOf(web), JSON.stringify(body)).toMatchObject({ sync_status: 'pending' })
    }
    await acknowledge(web)
  })
  test.each([
    [{}, 'version'],
    [{ version: '' }, 'version'],
    [{ version: 'x'.repeat(129) }, 'version'],
    [{ version: 'x', entry_count: -1 }, 'entry_count'],
    [{ version: 'x', error: 7 }, 'error'],
  ])('refused: %j', async (body, path) =>
    expect(await raw(server, 'POST', '/api/v1/agent/state/ack', { token: web.key, body })).toMatchObject({
      status: 400,
      json: { details: [{ path }] },
    }),
  )
  test('many at once are all on disk when they are answered', async () => {
    const hosts = [web, db]
    await Promise.all(Array.from({ length: 40 }, (_, n) => acknowledge(hosts[n % 2] ?? web)))
    for (const host of hosts) expect(await statusOf(host)).toMatchObject({ sync_status: 'synced' })
  })
  test('whoever sees one server sees and syncs that one', async () => {
    const { key } = await admin.client.call('POST /keys', {
      body: { name: 'web only', permissions: 'write', server_id: web.id },
    })
    const bound = server.client(key)
    expect((await bound.call('GET /whitelist/sync-status')).servers.map(({ id }) => id)).toEqual([web.id])
    expect(await bound.call('POST /whitelist/sync')).toMatchObject({ servers_notified: 1 })
    expect(await statusOf(db)).toMatchObject({ sync_status: 'synced' })
    await expect(bound.call('POST /whitelist/sync', { body: { server_ids: [db.id] } })).rejects.toMatchObject({
      status: 403,
    })
  })
  test.each([
    [{ server_ids: [] }, 'server_ids'],
    [{ server_ids: ['x'] }, 'server_ids.0'],
    [{ server_ids: ['01a1fd7c-9fbc-7c1a-b85d-420904417028'] }, 'server_ids'],
    [{ servers: [] }, 'servers'],
  ])('refused: %j', async (body, path) => {
    const before = await stateOf(web)
    expect(await raw(server, 'POST', '/api/v1/whitelist/sync', { token: admin.token, body })).toMatchObject({
      status: 400,
      json: { details: [{ path }] },
    })
    expect(await stateOf(web)).toEqual(before)
  })
})

describe('what the whitelist covers is not banned', () => {
  let ids: number[]
  beforeAll(async () => {
    ids = [(await add('198.51.100.0/24')).id, (await add('203.0.113.7')).id]
    await drain(web)
  })
  afterAll(async () => {
    for (const id of ids) await remove(id)
  })
  const refused = { status: 409, json: { error: 'Conflict', message: expect.stringContaining('whitelist entry') } }
  test.each([
    ['198.51.100.1', '198.51.100.0/24'],
    ['::ffff:198.51.100.1', '198.51.100.0/24'],
    ['198.51.100.128/25', '198.51.100.0/24'],
    ['198.51.100.0/24', '198.51.100.0/24'],
    ['198.51.0.0/16', '198.51.100.0/24'],
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.0/24', '203.0.113.7'],
  ])('%s: by every way, and force does not help', async (ip, entry) => {
    const ask = (path: string, body: object) => raw(server, 'POST', `/api/v1${path}`, { token: admin.token, body })
    const replies = [
      await ask(`/servers/${web.id}/bans`, { ip }),
      await ask(`/servers/${web.id}/bans`, { ip, force: true }),
      await ask(`/servers/${web.id}/commands`, { type: 'ban-ip', params: { jail: 'sshd', ip, force: true } }),
      await ask('/commands/batch', { server_ids: [web.id, db.id], type: 'ban-ip', params: { jail: 'sshd', ip } }),
    ]
    for (const reply of replies) {
      expect(reply).toMatchObject(refused)
      expect((reply.json as { message: string }).message).toContain(entry)
    }
    expect(await drain(web)).toEqual([])
  })
  test.each(['198.51.101.1', '203.0.113.8/30', '203.0.113.6'])('%s beside it may be', async ip => {
    await admin.client.call('POST /servers/{serverId}/bans', { params: { serverId: web.id }, body: { ip } })
    expect(await drain(web)).toHaveLength(1)
  })
  test('a retry of what is covered by now is refused', async () => {
    const { id } = await admin.client.call('POST /servers/{serverId}/commands', {
      params: { serverId: web.id },
      body: { type: 'ban-ip', params: { jail: 'sshd', ip: '192.0.2.200' } },
    })
    await admin.client.call('DELETE /commands/{commandId}', { params: { commandId: id } })
    const entry = await add('192.0.2.200')
    expect(await raw(server, 'POST', `/api/v1/commands/${id}/retry`, { token: admin.token })).toMatchObject(refused)
    await remove(entry.id)
    expect(await raw(server, 'POST', `/api/v1/commands/${id}/retry`, { token: admin.token })).toMatchObject({
      status: 201,
    })
    await drain(web)
  })
})

describe('a new entry lifts what it covers', () => {
  const ban = (host: EnrolledHost, ip: string, jail = 'sshd') =>
    host.client.call('POST /bans', { body: { ip, jail, ban_duration: 3600 } })
  const lift = (ip: string) => ({ type: 'unban-ip', params: { jail: '*', ip } })
  test('each address once, on each server that bans it', async () => {
    await ban(web, '192.0.2.10')
    await ban(web, '192.0.2.10', 'nginx')
    await ban(web, '192.0.2.11')
    await ban(web, '192.0.3.1')
    await ban(web, '192.0.2.128/25')
    await ban(db, '192.0.2.10')
    await ban(db, '2001:db8::1')
    const added = await add('192.0.2.0/24')
    expect(added.lifted_bans).toBe(5)
    expect(await drain(web)).toEqual([lift('192.0.2.10'), lift('192.0.2.11'), lift('192.0.2.128/25')])
    expect(await drain(db)).toEqual([lift('192.0.2.10')])
    const { commands } = await admin.client.call('GET /commands', { query: { type: 'unban-ip', limit: 1 } })
    expect(commands[0]).toMatchObject({ initiated_by: 'admin', status: 'completed' })
    // They are over now: the next entry finds nothing left.
    expect(await add('192.0.2.10')).toMatchObject({ lifted_bans: 0 })
    expect(await drain(web)).toEqual([])
  })
  test('also the ban of a range that holds the address', async () => {
    await ban(db, '203.0.112.0/23')
    await ban(db, '2001:db8:1::/48')
    expect(await add('203.0.113.99')).toMatchObject({ lifted_bans: 1 })
    expect(await add('2001:db8:1::7')).toMatchObject({ lifted_bans: 1 })
    expect(await drain(db)).toEqual([lift('2001:db8:1::/48'), lift('203.0.112.0/23')])
  })
  test('not what ended before', async () => {
    await web.client.call('POST /bans', { body: { ip: '198.51.100.77', jail: 'sshd', ban_duration: 60 } })
    clock.forward(61)
    expect(await add('198.51.100.77')).toMatchObject({ lifted_bans: 0 })
    expect(await drain(web)).toEqual([])
  })
  test('by bulk and import, few and many', async () => {
    await ban(web, '192.0.4.1')
    await ban(db, '192.0.5.1')
    await ban(db, '192.0.6.1')
    await admin.client.call('POST /whitelist/bulk', { body: { entries: [{ ip: '192.0.4.1' }] } })
    expect(await drain(web)).toEqual([lift('192.0.4.1')])
    const content = Array.from({ length: 200 }, (_, n) => `192.0.5.${n}`).join('\n')
    await admin.client.call('POST /whitelist/import', { body: { content } })
    expect(await drain(db)).toEqual([lift('192.0.5.1')])
  })
})

test('live feeds hear of changes and of hosts that have them', async () => {
  const heard: LiveMessage[] = []
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, [
    'stockade.v1',
    `bearer.${admin.token}`,
  ])
  socket.on('message', data => heard.push(JSON.parse(String(data)) as LiveMessage))
  await within(new Promise(resolve => socket.once('open', resolve)), 'the live feed')
  await acknowledge(web)
  await admin.client.call('POST /whitelist/bulk', { body: { entries: [{ ip: '192.0.9.1' }, { ip: '192.0.9.2' }] } })
  await acknowledge(web)
  await acknowledge(web)
  const { whitelist } = await stateOf(web)
  // What was changed before may still be on its way.
  const told = () =>
    heard.flatMap(message =>
      message.type === 'whitelist' && message.data.version === whitelist.version ? [message.data] : [],
    )
  await eventually(() =>
    expect(told()).toEqual([
      { version: whitelist.version, server_id: null, sync_status: null },
      { version: whitelist.version, server_id: web.id, sync_status: 'synced' },
    ]),
  )
  await new Promise(resolve => setTimeout(resolve, 100))
  expect(told()).toHaveLength(2)
  socket.close()
})
