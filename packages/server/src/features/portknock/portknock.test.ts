import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Insertable } from 'kysely'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import type { Schema } from '../../db/schema.ts'
import {
  aHost,
  aLicence,
  eventually,
  freshDatabase,
  movableClock,
  openPoll,
  raw,
  startServer,
} from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { sweepKnocks } from './sweep.ts'
import { jsonText } from '../../core/json-text.ts'

const clock = movableClock()
const dataDir = mkdtempSync(join(tmpdir(), 'stockade-knocks-'))
/** Seconds until the licence ends; the last test waits for it. */
const licensed = 3000
let place: Parameters<typeof startServer>[0]
let dropDatabase = async () => {}
/** The server's storage, by a connection of its own. */
let storage: Database
let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost
beforeAll(async () => {
  const database = await freshDatabase()
  dropDatabase = database?.drop ?? dropDatabase
  place = {
    clock,
    dataDir,
    licence: aLicence({ expiresAt: Date.now() + licensed * 1000 }),
    env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.1' },
    ...(database ? { databaseUrl: database.url } : {}),
  }
  server = await startServer(place)
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  db = await aHost(server, admin.client, 'db-01')
  storage = await openStorage(
    readConfig({
      STOCKADE_DATA_DIR: dataDir,
      ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
    }),
  )
})
afterAll(async () => {
  await storage.close()
  await server.close()
  await dropDatabase()
  rmSync(dataDir, { recursive: true, force: true })
})
afterEach(async () => {
  for (const { id } of (await admin.client.call('GET /portknock/sequences')).sequences) await remove(id)
})

const ssh = { name: 'ssh', protected_port: 22, knock_ports: [7000, 9000, 8000] }
const add = (more: object = {}, hosts: EnrolledHost[] = [web]) =>
  admin.client.call('POST /portknock/sequences', {
    body: { ...ssh, server_ids: hosts.map(({ id }) => id), ...more },
  })
const change = (sequenceId: number, body: object) =>
  admin.client.call('PATCH /portknock/sequences/{sequenceId}', { params: { sequenceId }, body })
const remove = (sequenceId: number) =>
  admin.client.call('DELETE /portknock/sequences/{sequenceId}', { params: { sequenceId } })
const read = (sequenceId: number, who = admin.client) =>
  who.call('GET /portknock/sequences/{sequenceId}', { params: { sequenceId } })
const ask = (method: string, path: string, body?: object, more: { token?: string; from?: string } = {}) =>
  raw(server, method, `/api/v1/portknock${path}`, {
    token: more.token ?? admin.token,
    ...(body ? { body } : {}),
    ...(more.from ? { headers: { 'x-forwarded-for': more.from } } : {}),
  })
const stateOf = (host: EnrolledHost) => host.client.call('GET /agent/state')
type State = Awaited<ReturnType<typeof stateOf>>

/** The host says that it applied a state. */
const acknowledge = async (
  host: EnrolledHost,
  more: { state?: State; outcome?: 'enforced' | 'unsupported' | 'failed'; error?: string } = {},
) => {
  const state = more.state ?? (await stateOf(host))
  const { outcome = 'enforced', error = null } = more
  await host.client.call('POST /agent/state/ack', {
    body: {
      version: state.version,
      whitelist_version: state.whitelist.version,
      portknock: {
        sequences: state.portknock.sequences.map(({ id, revision }) => ({ id, revision, state: outcome, error })),
        openings: state.portknock.openings.map(({ id }) => id),
      },
    },
  })
}
const statesOf = async (sequenceId: number) =>
  Object.fromEntries((await read(sequenceId)).servers.map(({ hostname, state }) => [hostname, state]))
const iso = (secondsAgo = 0) => new Date(clock() - secondsAgo * 1000).toISOString()

interface Told {
  event_id?: string
  sequence_id: number
  status?: 'success' | 'failed' | 'blocked'
  ip?: string
  timestamp?: string
  reason?: string | null
}
const report = async (host: EnrolledHost, ...events: Told[]) =>
  (
    await host.client.call('POST /agent/knocks', {
      body: {
        events: events.map(event => ({
          event_id: randomUUID(),
          ip: '192.0.2.1',
          status: 'success' as const,
          timestamp: iso(),
          ...event,
        })),
      },
    })
  ).results
const active = async (who = admin.client) => (await who.call('GET /portknock/active')).openings
const blocked = async (who = admin.client) => (await who.call('GET /portknock/blocked')).blocked
const historyOf = async (sequence_id: number, query: object = {}) =>
  (await admin.client.call('GET /portknock/history', { query: { sequence_id, ...query } })).history
const knock = async (host: EnrolledHost, more: { from?: string; sequence_name?: string } = {}) => {
  const { from, sequence_name = 'ssh' } = more
  const began = performance.now()
  const { status, json } = await ask('POST', '/knock', { server_id: host.id, sequence_name }, from ? { from } : {})
  return {
    status,
    ...(json as { ip: string; confirmed: boolean; expires_at: string; message: string; protected_port: number }),
    took: performance.now() - began,
  }
}
const poll = async (host: EnrolledHost, state: string, signal?: AbortSignal) => {
  const reply = await fetch(`${server.url}/api/v1/servers/${host.id}/commands/pending?wait=10&state=${state}`, {
    headers: { authorization: `Bearer ${host.key}` },
    ...(signal ? { signal } : {}),
  })
  return ((await reply.json()) as { desired_state: { version: string } }).desired_state.version
}
/** A host that applies and acknowledges whatever it is told while `work` runs. */
const withAgent = async <T>(host: EnrolledHost, work: () => Promise<T>): Promise<T> => {
  const stop = new AbortController()
  let { version } = await stateOf(host)
  const running = (async () => {
    while (!stop.signal.aborted) {
      const next = await poll(host, version, stop.signal)
      if (next === version) continue
      const state = await stateOf(host)
      version = state.version
      await acknowledge(host, { state })
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  try {
    return await work()
  } finally {
    stop.abort()
    await running
  }
}
const audit = async () => (await admin.client.call('GET /settings/audit', { query: { action: 'portknock.' } })).entries
/** Addresses of a sequence on web-01. */
const rowsOf = async (sequence_id: number, count: number) => {
  const { no } = await storage.read
    .selectFrom('servers')
    .select('no')
    .where('id', '=', web.id)
    .executeTakeFirstOrThrow()
  const ipOf = (n: number) => `10.0.${n >> 8}.${n & 255}`
  return Array.from({ length: count }, (_, n) => ({
    server_no: no,
    sequence_id,
    ip: ipOf(n),
    expires_at: clock() + 60_000,
  }))
}
const insertMany = async <T extends 'knock_openings' | 'knock_blocked'>(
  table: T,
  rows: readonly Insertable<Schema[T]>[],
) => {
  for (let start = 0; start < rows.length; start += 1000)
    await storage.write
      .insertInto(table)
      .values(rows.slice(start, start + 1000))
      .execute()
}
/** Somebody who sees one server only. */
const keyFor = async (host: EnrolledHost, permissions: 'read' | 'write') =>
  (await admin.client.call('POST /keys', { body: { name: 'here', permissions, server_id: host.id } })).key

describe('sequences', () => {
  test('made, listed, read', async () => {
    const name = `It's "ours"; drop`
    const made = await add({ name, protocol: 'udp' }, [web, db])
    const { id, created_at } = made
    expect(made).toEqual({
      id: expect.any(Number),
      name,
      protected_port: 22,
      knock_ports: [7000, 9000, 8000],
      created_at: expect.any(String),
      warnings: [],
    })
    const whole = {
      id,
      name,
      protected_port: 22,
      knock_ports: [7000, 9000, 8000],
      protocol: 'udp',
      timeout: 30,
      knock_timeout: 10,
      max_attempts: 5,
      block_duration: 3600,
      servers: [
        { id: db.id, hostname: 'db-01', state: 'pending', error: null },
        { id: web.id, hostname: 'web-01', state: 'pending', error: null },
      ],
      created_at,
      updated_at: created_at,
    }
    expect(await read(id)).toEqual(whole)
    expect(await admin.client.call('GET /portknock/sequences')).toEqual({ sequences: [whole], total: 1 })
    expect(await ask('GET', '/sequences/987654')).toMatchObject({ status: 404 })
  })
  test('a host gets its own, and says what became of them', async () => {
    const { id } = await add({ timeout: 60 })
    const other = await add({ name: 'pg', protected_port: 5432, knock_ports: [1, 3, 2] }, [db])
    const state = await stateOf(web)
    // When its openings were read counts, so the host requests them by themselves.
    const polled = await web.client.call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: web.id },
      query: { state: 'other', with: 'state' },
    })
    expect(polled).toEqual({ commands: [], desired_state: { version: state.version }, turns: true })
    const order = { id, protected_port: 22, knock_ports: [7000, 9000, 8000], protocol: 'tcp', timeout: 60 }
    expect(state.portknock).toEqual({
      sequences: [{ ...order, revision: expect.any(Number), knock_timeout: 10, max_attempts: 5, block_duration: 3600 }],
      openings: [],
      blocked: [],
      cuts: [],
    })
    await acknowledge(web, { state })
    expect(await statesOf(id)).toEqual({ 'web-01': 'enforced' })
    await acknowledge(web, { outcome: 'failed', error: 'Port 7000 has a listener.\u001b' })
    expect((await read(id)).servers).toMatchObject([{ state: 'failed', error: 'Port 7000 has a listener.\ufffd' }])
    const reader = server.client(
      (await admin.client.call('POST /keys', { body: { name: 'reads', permissions: 'read' } })).key,
    )
    expect(JSON.stringify(await reader.call('GET /portknock/sequences'))).not.toMatch(/[:[, ]7000\b/)
    await acknowledge(db, { outcome: 'unsupported', error: 'no nft' })
    expect((await read(other.id)).servers).toMatchObject([{ state: 'unsupported', error: 'no nft' }])
    // Nothing that another host says of it counts, nor what was never given out.
    await acknowledge(db, { state })
    for (const revision of [0, (state.portknock.sequences[0]?.revision ?? 0) + 1, 1e300])
      await web.client.call('POST /agent/state/ack', {
        body: { version: 'x', portknock: { sequences: [{ id, revision, state: 'enforced' }], openings: [] } },
      })
    expect(await statesOf(id)).toEqual({ 'web-01': 'failed' })
  })
  test('a change is pending until the host has it; what was on its way before is no answer', async () => {
    const { id } = await add({}, [web, db])
    const [before, there] = [await stateOf(web), await stateOf(db)]
    await acknowledge(web, { state: before })
    await acknowledge(db, { state: there })
    expect(await statesOf(id)).toEqual({ 'web-01': 'enforced', 'db-01': 'enforced' })
    // Names are no news for hosts.
    await change(id, { name: 'SSH' })
    expect(await stateOf(web)).toEqual(before)
    const waiting = poll(web, before.version)
    expect(await change(id, { knock_ports: [1, 3, 2], timeout: 7 })).toMatchObject({
      name: 'SSH',
      knock_ports: [1, 3, 2],
      timeout: 7,
    })
    const version = await waiting
    const after = await stateOf(web)
    expect(after.version).toBe(version)
    expect(after.portknock.sequences).toMatchObject([{ knock_ports: [1, 3, 2], timeout: 7, max_attempts: 5 }])
    await acknowledge(web, { state: before })
    expect(await statesOf(id)).toEqual({ 'web-01': 'pending', 'db-01': 'pending' })
    await acknowledge(web, { state: after })
    expect(await statesOf(id)).toEqual({ 'web-01': 'enforced', 'db-01': 'pending' })
    // An older answer that arrives late changes nothing.
    await acknowledge(web, { state: before, outcome: 'failed' })
    expect(await statesOf(id)).toMatchObject({ 'web-01': 'enforced' })
  })
  test('taken off a server it leaves nothing there, and is new when it comes back', async () => {
    const { id } = await add({}, [web, db])
    const old = await stateOf(web)
    await acknowledge(web, { state: old })
    await acknowledge(db)
    await report(web, { sequence_id: id }, { sequence_id: id, status: 'blocked', ip: '192.0.2.2' })
    const elsewhere = await stateOf(db)
    await change(id, { server_ids: [db.id.toUpperCase(), db.id] })
    expect((await stateOf(web)).portknock).toEqual({ sequences: [], openings: [], blocked: [], cuts: [] })
    expect((await stateOf(web)).version).not.toBe(old.version)
    expect(await stateOf(db)).toEqual(elsewhere)
    expect([await active(), await blocked()]).toEqual([[], []])
    expect(await statesOf(id)).toEqual({ 'db-01': 'enforced' })
    // What the host reports late is history only.
    expect(await report(web, { sequence_id: id })).toMatchObject([{ ok: true }])
    expect(await active()).toEqual([])
    await change(id, { server_ids: [web.id, db.id] })
    await acknowledge(web, { state: old })
    expect(await statesOf(id)).toEqual({ 'web-01': 'pending', 'db-01': 'enforced' })
  })
  test('a change of nothing is none', async () => {
    const { id } = await add()
    const [before, state, entries] = [await read(id), await stateOf(web), await audit()]
    clock.forward(1)
    await change(id, {})
    await change(id, { name: 'ssh', timeout: 30, server_ids: [web.id] })
    expect([await read(id), await stateOf(web), await audit()]).toEqual([before, state, entries])
  })
  test('deleted: hosts hear of it, the name is free, nothing stays', async () => {
    const { id } = await add()
    await report(web, { sequence_id: id })
    const { version } = await stateOf(web)
    const waiting = poll(web, version)
    expect(await remove(id)).toEqual({ message: 'The sequence "ssh" is deleted.' })
    expect(await waiting).not.toBe(version)
    expect((await stateOf(web)).portknock).toEqual({ sequences: [], openings: [], blocked: [], cuts: [] })
    expect(await active()).toEqual([])
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const)
      expect(await ask(method, `/sequences/${id}`, body)).toMatchObject({ status: 404 })
    expect((await add()).id).not.toBe(id)
    // What happened before it was deleted is told all the same; its name is known.
    expect(await report(web, { sequence_id: id })).toMatchObject([{ ok: true }])
    expect(await historyOf(id)).toMatchObject([{ sequence_name: 'ssh' }, { sequence_name: 'ssh' }])
    expect(await active()).toEqual([])
  })
  test('with `read` the ports stay secret; of other servers not even the name is known', async () => {
    const { id } = await add({}, [web, db])
    const other = await add({ name: 'elsewhere' + id, protected_port: 5432, knock_ports: [1, 3, 2] }, [db])
    const [reader, writer] = [server.client(await keyFor(web, 'read')), server.client(await keyFor(web, 'write'))]
    expect(await read(id, reader)).toMatchObject({ knock_ports: null, servers: [{ hostname: 'web-01' }] })
    expect(await read(id, writer)).toMatchObject({ knock_ports: [7000, 9000, 8000] })
    expect(await reader.call('GET /portknock/sequences')).toMatchObject({ total: 1, sequences: [{ id }] })
    await expect(read(other.id, writer)).rejects.toMatchObject({ status: 403 })
    const { key } = await admin.client.call('POST /keys', { body: { name: 'all', permissions: 'read' } })
    const { sequences } = await server.client(key).call('GET /portknock/sequences')
    expect(sequences.map(({ knock_ports }) => knock_ports)).toEqual([null, null])
  })
  test('the audit log tells of every change, never of the ports', async () => {
    const { id } = await add({ knock_ports: [61_234, 51_234] })
    await change(id, { knock_ports: [61_235, 51_235], timeout: 60, server_ids: [db.id] })
    await remove(id)
    const entries = (await audit()).slice(0, 3)
    expect(entries).toMatchObject([
      { action: 'portknock.delete', user: 'admin', details: { id, name: 'ssh', hostnames: ['db-01'] } },
      {
        action: 'portknock.update',
        details: {
          fields: ['knock_ports', 'timeout', 'server_ids'],
          old: { timeout: 30 },
          new: { timeout: 60 },
          added_hostnames: ['db-01'],
          removed_hostnames: ['web-01'],
        },
      },
      { action: 'portknock.create', details: { id, name: 'ssh', protected_port: 22, hostnames: ['web-01'] } },
    ])
    expect(JSON.stringify(entries)).not.toMatch(/[65]123[45]/)
  })
  test.each([
    [{ protected_port: 0 }, 'protected_port'],
    [{ protected_port: 65_536 }, 'protected_port'],
    [{ knock_ports: [7000] }, 'knock_ports'],
    [{ knock_ports: Array.from({ length: 11 }, (_, n) => n + 1) }, 'knock_ports'],
    [{ knock_ports: [7000, 0] }, 'knock_ports.1'],
    [{ knock_ports: [7000, '8000'] }, 'knock_ports.1'],
    [{ knock_ports: [7000, 8000, 8000] }, 'knock_ports.2'],
    [{ knock_ports: [7000, 22, 8000] }, 'knock_ports.1'],
    [{ protocol: 'icmp' }, 'protocol'],
    [{ timeout: 0 }, 'timeout'],
    [{ knock_timeout: 301 }, 'knock_timeout'],
    [{ max_attempts: 101 }, 'max_attempts'],
    [{ block_duration: 1.5 }, 'block_duration'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ server_ids: ['x'] }, 'server_ids.0'],
    [{ server_ids: ['01a1fd7c-9fbc-7c1a-b85d-420904417028'] }, 'server_ids.0'],
    [{ servers: [] }, 'servers'],
  ])('refused: %j', async (body, path) => {
    const refused = { status: 400, json: { details: [{ path }] } }
    expect(await ask('POST', '/sequences', { ...ssh, server_ids: [], ...body })).toMatchObject(refused)
    const { id } = await add()
    const before = await read(id)
    expect(await ask('PATCH', `/sequences/${id}`, body)).toMatchObject(refused)
    expect(await read(id)).toEqual(before)
  })
  test('a change is judged with what stays', async () => {
    const { id } = await add()
    expect(await ask('PATCH', `/sequences/${id}`, { protected_port: 9000 })).toMatchObject({
      status: 400,
      json: { details: [{ path: 'knock_ports.1' }] },
    })
    expect((await change(id, { protected_port: 9000, knock_ports: [22, 7000] })).knock_ports).toEqual([22, 7000])
  })
  test.each([
    [[1, 2, 3], 'rise'],
    [[3, 1], 'fall'],
  ])('%j is allowed, with a warning', async (knock_ports, word) => {
    const { id, warnings } = await add({ knock_ports })
    expect(warnings).toEqual([expect.stringContaining(word)])
    expect((await change(id, { knock_ports: [5, 9, 7] })).warnings).toEqual([])
  })
  test.each([
    ['the protected port', { knock_ports: [1, 3, 2] }],
    ['a knock', { protected_port: 23, knock_ports: [1, 8000, 2] }],
    ['the protected port as a knock', { protected_port: 23, knock_ports: [1, 22, 2], protocol: 'udp' }],
    ['a knock as the protected port', { protected_port: 9000, knock_ports: [1, 3, 2], protocol: 'udp' }],
  ])('refused with the name of the other one: both have %s', async (_, body) => {
    await add({ name: `Anna's` }, [db, web])
    const refused = {
      status: 409,
      json: { message: expect.stringMatching(/"Anna's".*\(on web-01\)/) },
    }
    const server_ids = [web.id]
    expect(await ask('POST', '/sequences', { ...ssh, ...body, name: 'two', server_ids })).toMatchObject(refused)
    // Off that host they live side by side; only there they meet.
    const { id } = await add({ ...body, name: 'two' }, [])
    expect(await ask('PATCH', `/sequences/${id}`, { server_ids })).toMatchObject(refused)
    expect((await read(id)).servers).toEqual([])
    const apart = await add({ name: 'three', protected_port: 99, knock_ports: [990, 991, 990] })
    const { protected_port, knock_ports } = { ...ssh, ...body }
    expect(await ask('PATCH', `/sequences/${apart.id}`, { ...body, protected_port, knock_ports })).toMatchObject(
      refused,
    )
  })
  test('the same knocks by another protocol are other knocks', async () => {
    await add()
    await add({ name: 'two', protected_port: 23, protocol: 'udp' })
  })
  test('a name is taken in any letter case', async () => {
    await add({ name: 'Ärger' })
    const other = { ...ssh, protected_port: 23, knock_ports: [1, 3], server_ids: [] }
    expect(await ask('POST', '/sequences', { ...other, name: 'äRGER' })).toMatchObject({ status: 409 })
    const { id } = await add({ ...other, name: 'two' }, [])
    expect(await ask('PATCH', `/sequences/${id}`, { name: 'ärger' })).toMatchObject({ status: 409 })
    expect((await change(id, { name: 'Two' })).name).toBe('Two')
  })
  test('of two that meet at the same time one is refused', async () => {
    const bodies = [1, 2, 3].map(n => ({ ...ssh, name: `n${n}`, server_ids: [web.id] }))
    const replies = await Promise.all(bodies.map(body => ask('POST', '/sequences', body)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })
  test('a thousand of them, and not one more', async () => {
    const row = {
      ...ssh,
      knock_ports: jsonText([1, 3]),
      protocol: 'tcp',
      timeout: 1,
      knock_timeout: 1,
      max_attempts: 1,
    } as const
    const at = { block_duration: 1, created_at: 1, updated_at: 1, deleted_at: null }
    const rows = Array.from({ length: 999 }, (_, n) => ({ ...row, ...at, name: `n${n}`, name_key: `n${n}` }))
    await storage.write.insertInto('knock_sequences').values(rows).execute()
    await add()
    expect((await admin.client.call('GET /portknock/sequences')).total).toBe(1000)
    expect(await ask('POST', '/sequences', { ...ssh, name: 'more', server_ids: [] })).toMatchObject({
      status: 409,
      json: { message: expect.stringContaining('1000 sequences') },
    })
    await storage.write.deleteFrom('knock_sequences').where('timeout', '=', 1).execute()
  })
})

describe('POST /portknock/knock', () => {
  test('opens on the host, for the address that the request comes from', async () => {
    const { id } = await add({ name: 'Door' })
    const before = clock()
    const opened = await withAgent(web, () => knock(web, { sequence_name: 'DOOR', from: '2001:DB8:0::7' }))
    expect(opened).toMatchObject({ status: 200, ip: '2001:db8::7', protected_port: 22, confirmed: true })
    expect(opened.message).toBe('Port 22 of web-01 is open for 2001:db8::7.')
    expect(Date.parse(opened.expires_at)).toBeGreaterThanOrEqual(before + 30_000 - 1000)
    const [opening] = await active()
    expect(opening).toEqual({
      id: expect.any(String),
      server: { id: web.id, hostname: 'web-01' },
      sequence_name: 'Door',
      ip: '2001:db8::7',
      protected_port: 22,
      opened_at: expect.any(String),
      expires_at: opened.expires_at,
      confirmed: true,
    })
    const { portknock } = await stateOf(web)
    expect(portknock.openings).toEqual([
      { id: opening?.id, sequence_id: id, ip: '2001:db8::7', expires_at: opened.expires_at },
    ])
    expect((await audit())[0]).toMatchObject({
      action: 'portknock.knock',
      ip_address: '2001:db8::7',
      details: { sequence_name: 'Door', ip: '2001:db8::7', protected_port: 22 },
    })
  })
  test('where the host does not answer it says so after 2 s, and the opening stands', async () => {
    await add()
    const before = await openPoll(db)
    const opened = await knock(web, { from: '::ffff:192.0.2.9' })
    expect(before.isOpen()).toBe(true)
    await before.close()
    expect(opened).toMatchObject({ status: 200, ip: '192.0.2.9', confirmed: false })
    expect(opened.message).toContain('not confirmed')
    expect(opened.took).toBeGreaterThan(1900)
    expect(await active()).toMatchObject([{ ip: '192.0.2.9', confirmed: false }])
    await acknowledge(web)
    expect(await active()).toMatchObject([{ confirmed: true }])
  })
  test('a second one extends the first; an answer to the first does not confirm the second', async () => {
    await add()
    await withAgent(web, () => knock(web))
    const [first] = await active()
    const state = await stateOf(web)
    clock.forward(10)
    const again = knock(web)
    await new Promise(resolve => setTimeout(resolve, 300))
    await acknowledge(web, { state })
    const [pending] = await active()
    expect(pending).toMatchObject({ id: first?.id, opened_at: first?.opened_at, confirmed: false })
    await acknowledge(web)
    expect(await again).toMatchObject({ confirmed: true, expires_at: pending?.expires_at })
    expect(Date.parse(pending?.expires_at ?? '') - Date.parse(first?.expires_at ?? '')).toBeGreaterThanOrEqual(10_000)
    expect(await active()).toHaveLength(1)
    // After the end the next one is another.
    clock.forward(31)
    expect(await active()).toEqual([])
    await withAgent(web, () => knock(web))
    expect((await active())[0]?.id).not.toBe(first?.id)
  })
  test('two at once are one opening', async () => {
    await add()
    const replies = await withAgent(web, () => Promise.all([knock(web), knock(web), knock(web, { from: '192.0.2.5' })]))
    expect(replies.map(({ confirmed }) => confirmed)).toEqual([true, true, true])
    expect((await active()).map(({ ip }) => ip).sort()).toEqual(['127.0.0.1', '192.0.2.5'])
  })
  test('whoever waits hears when the sequence or the opening goes meanwhile', async () => {
    const { id } = await add()
    const one = knock(web)
    await eventually(async () => expect(await active()).toHaveLength(1))
    await remove(id)
    expect(await one).toMatchObject({ status: 200, confirmed: false })
    await add()
    const two = knock(web)
    const [opening] = await eventually(async () => {
      const found = await active()
      expect(found).toHaveLength(1)
      return found
    })
    await ask('DELETE', `/active/${opening?.id ?? ''}`)
    expect(await two).toMatchObject({ status: 200, confirmed: false, message: expect.stringContaining('was closed') })
    expect(await active()).toEqual([])
  })
  test('refused', async () => {
    await add({}, [db])
    const body = { server_id: web.id, sequence_name: 'ssh' }
    expect(await ask('POST', '/knock', body)).toMatchObject({ status: 404 })
    expect(await ask('POST', '/knock', { ...body, server_id: randomUUID() })).toMatchObject({
      status: 400,
      json: { details: [{ path: 'server_id' }] },
    })
    expect(await ask('POST', '/knock', { ...body, ip: '192.0.2.1' })).toMatchObject({ status: 400 })
    const token = await keyFor(web, 'write')
    expect(await ask('POST', '/knock', { ...body, server_id: db.id }, { token })).toMatchObject({ status: 403 })
    expect(await active()).toEqual([])
  })
})

describe('closing', () => {
  test('the host hears of it at once; cutting is told for a minute', async () => {
    const { id } = await add()
    await withAgent(web, () => Promise.all([knock(web), knock(web, { from: '192.0.2.5' })]))
    const openings = await active()
    const close = async (ip: string, query = '') =>
      ask('DELETE', `/active/${openings.find(opening => opening.ip === ip)?.id ?? ''}${query}`)
    const { version } = await stateOf(web)
    const waiting = poll(web, version)
    expect(await close('127.0.0.1')).toMatchObject({
      status: 200,
      json: { message: 'Port 22 of web-01 is closed for 127.0.0.1.' },
    })
    expect(await waiting).not.toBe(version)
    expect(await stateOf(web)).toMatchObject({ portknock: { openings: [{ ip: '192.0.2.5' }], cuts: [] } })
    expect(await close('127.0.0.1')).toMatchObject({ status: 404 })
    const before = clock()
    expect(await close('192.0.2.5', '?cut=true')).toMatchObject({ status: 200 })
    const { portknock } = await stateOf(web)
    expect(portknock).toMatchObject({ openings: [], cuts: [{ sequence_id: id, ip: '192.0.2.5' }] })
    expect(Date.parse(portknock.cuts[0]?.expires_at ?? '')).toBeGreaterThanOrEqual(before + 50_000)
    expect((await audit())[0]).toMatchObject({ action: 'portknock.close', details: { ip: '192.0.2.5', cut: true } })
    clock.forward(61)
    expect((await stateOf(web)).portknock.cuts).toEqual([])
  })
  test('what was knocked before the closing does not open again, what comes after does', async () => {
    const { id } = await add()
    await report(web, { sequence_id: id, timestamp: iso(5) })
    const [opening] = await active()
    await ask('DELETE', `/active/${opening?.id ?? ''}`)
    clock.forward(1)
    expect(await report(web, { sequence_id: id, timestamp: iso(3) })).toMatchObject([{ ok: true }])
    expect(await active()).toEqual([])
    await report(web, { sequence_id: id })
    expect(await active()).toHaveLength(1)
  })
  test('refused', async () => {
    const { id } = await add()
    await report(web, { sequence_id: id })
    const [opening] = await active()
    const path = `/active/${opening?.id ?? ''}`
    expect(await ask('DELETE', path, undefined, { token: await keyFor(db, 'write') })).toMatchObject({ status: 403 })
    expect(await ask('DELETE', `${path}?cut=maybe`)).toMatchObject({ status: 400 })
    expect(await ask('DELETE', `/active/${randomUUID()}`)).toMatchObject({ status: 404 })
    expect(await ask('DELETE', '/active/x')).toMatchObject({ status: 400 })
    expect(await active()).toHaveLength(1)
    clock.forward(31)
    expect(await ask('DELETE', path)).toMatchObject({ status: 404 })
  })
})

describe('what hosts report', () => {
  test('a success opens until its end, under its own id, and is no news for the host', async () => {
    const { id } = await add({ timeout: 60 })
    const before = await stateOf(web)
    const event_id = randomUUID()
    const event = { event_id, sequence_id: id, ip: '::ffff:192.0.2.1', timestamp: iso(10) }
    expect(await report(web, event)).toEqual([{ event_id, ok: true, error: null }])
    const expires_at = new Date(Date.parse(event.timestamp) + 60_000).toISOString()
    expect(await active()).toMatchObject([
      { id: event_id, ip: '192.0.2.1', opened_at: event.timestamp, expires_at, confirmed: true },
    ])
    const after = await stateOf(web)
    expect(after.version).toBe(before.version)
    // After a reboot the host knows from here what was open.
    expect(after.portknock.openings).toEqual([{ id: event_id, sequence_id: id, ip: '192.0.2.1', expires_at }])
    // Again, later: the same opening, longer. Earlier: no shorter.
    await report(web, { ...event, event_id: randomUUID(), timestamp: iso(2) })
    await report(web, { ...event, event_id: randomUUID(), timestamp: iso(8) })
    const [opening] = await active()
    expect(opening).toMatchObject({ id: event_id, opened_at: event.timestamp })
    expect(Date.parse(opening?.expires_at ?? '')).toBeGreaterThan(Date.parse(expires_at) + 7000)
    expect(await historyOf(id)).toHaveLength(3)
  })
  test('each event once, however often and by however many it is sent', async () => {
    const { id } = await add()
    const events = Array.from({ length: 30 }, (_, n) => ({
      event_id: randomUUID(),
      sequence_id: id,
      status: (['failed', 'failed', 'success'] as const)[n % 3],
      ip: `192.0.2.${n}`,
    })) as Told[]
    await Promise.all([report(web, ...events), report(web, ...events), report(web, ...events, ...events)])
    expect(await report(web, ...events)).toEqual(events.map(({ event_id }) => ({ event_id, ok: true, error: null })))
    // Another host's event of the same id is another event.
    await change(id, { server_ids: [web.id, db.id] })
    await report(db, events[0] as Told)
    const { total } = await admin.client.call('GET /portknock/history', { query: { sequence_id: id } })
    expect(total).toBe(31)
    expect(await active()).toHaveLength(10)
  })
  test('what is no good is said for each, and holds up nothing', async () => {
    const { id } = await add()
    const results = await report(
      web,
      { sequence_id: id, ip: '192.0.2.300' },
      { sequence_id: 987_654 },
      { sequence_id: 1e300 },
      { sequence_id: id, timestamp: '2026-06-30T23:59:60Z' },
      { sequence_id: id, status: 'failed', reason: `wrong order\u0007 ${'x'.repeat(400)}` },
      { sequence_id: id, timestamp: '2999-01-01T00:00:00Z' },
      { sequence_id: id, timestamp: '1970-01-01T00:00:00Z', ip: '192.0.2.8' },
    )
    expect(results.map(({ ok, error }) => (ok ? 'ok' : error))).toEqual([
      expect.stringContaining('address'),
      expect.stringContaining('987654'),
      expect.stringContaining('sequence'),
      expect.stringContaining('time'),
      'ok',
      'ok',
      'ok',
    ])
    // A clock that is ahead is put right; what is over is history only.
    expect(await active()).toMatchObject([{ ip: '192.0.2.1' }])
    expect(Date.parse((await active())[0]?.expires_at ?? '') - clock()).toBeLessThanOrEqual(30_000)
    const [newest, failed, oldest] = await historyOf(id)
    expect(Date.parse(newest?.timestamp ?? '')).toBeLessThanOrEqual(clock())
    expect(failed).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^wrong order\ufffd x+$/) })
    expect(oldest).toMatchObject({ ip: '192.0.2.8', timestamp: '1970-01-01T00:00:00.000Z' })
  })
  test('no host takes the opening of another by its id', async () => {
    const { id } = await add({}, [web, db])
    const event_id = randomUUID()
    await report(web, { sequence_id: id, event_id })
    expect(await report(db, { sequence_id: id, event_id })).toMatchObject([{ ok: true }])
    const [one, other] = (await active()).sort((a, b) => a.server.hostname.localeCompare(b.server.hostname))
    expect([one?.server.hostname, other?.id]).toEqual(['db-01', event_id])
    expect(one?.id).not.toBe(event_id)
  })
  test('ten thousand addresses of a host are listed, more are history', async () => {
    const { id } = await add()
    const rows = await rowsOf(id, 9999)
    await insertMany(
      'knock_blocked',
      rows.map(row => ({ ...row, failed_attempts: 5, blocked_at: clock() })),
    )
    const block = (ip: string) => ({ sequence_id: id, status: 'blocked', ip }) as const
    expect(await report(web, block('192.0.2.1'), block('192.0.2.2'), block('192.0.2.1'))).toMatchObject([
      { ok: true },
      { ok: false, error: expect.stringContaining('10000 blocked addresses') },
      { ok: true },
    ])
    expect(await blocked()).toHaveLength(10_000)
    expect((await stateOf(web)).portknock.blocked).toHaveLength(10_000)
    expect(await historyOf(id)).toHaveLength(3)
  })
  test('ten thousand openings likewise, by whatever way', async () => {
    const { id } = await add()
    const own = await withAgent(web, () => knock(web))
    const rows = await rowsOf(id, 9999)
    await insertMany(
      'knock_openings',
      rows.map(row => ({ ...row, id: randomUUID(), opened_at: clock(), revision: 0 })),
    )
    expect(await knock(web, { from: '192.0.2.9' })).toMatchObject({ status: 409 })
    expect(await report(web, { sequence_id: id, ip: '192.0.2.9' })).toMatchObject([{ ok: false }])
    // What is open already may last longer.
    expect(await report(web, { sequence_id: id, ip: own.ip })).toMatchObject([{ ok: true }])
    // How long a host takes to confirm 10,000 openings depends on the machine.
    expect(await withAgent(web, () => knock(web))).toMatchObject({ status: 200 })
    expect(await active()).toHaveLength(10_000)
  })
  test.each([
    [{ events: Array.from({ length: 1001 }, () => ({})) }, 'events'],
    [{ events: [{ event_id: 'x' }] }, 'events.0'],
    [{}, 'events'],
  ])('refused as a whole only where it has no form: %#', async (body, path) => {
    const reply = await raw(server, 'POST', '/api/v1/agent/knocks', { token: web.key, body })
    expect(reply.status).toBe(400)
    expect(JSON.stringify(reply.json)).toContain(path)
  })
  test('a block, attempts during it, and its end', async () => {
    const { id } = await add({ block_duration: 60 })
    const failed = (n: number, ip = '192.0.2.1') =>
      Array.from({ length: n }, () => ({ sequence_id: id, status: 'failed', ip, timestamp: iso(1) }) as const)
    await report(web, ...failed(2))
    clock.forward(2)
    await report(web, { sequence_id: id })
    clock.forward(2)
    // The failures since the last success count, also those that are told of later.
    await report(web, ...failed(3), ...failed(1, '192.0.2.2'), { sequence_id: id, status: 'blocked' })
    expect(await blocked()).toEqual([
      {
        ip: '192.0.2.1',
        server_id: web.id,
        sequence_name: 'ssh',
        failed_attempts: 3,
        blocked_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ])
    await report(web, ...failed(2), { sequence_id: id, status: 'blocked', reason: 'attempt while blocked' })
    const [entry, other] = await blocked()
    expect(other).toBeUndefined()
    expect(entry?.failed_attempts).toBe(5)
    expect(Date.parse(entry?.expires_at ?? '') - Date.parse(entry?.blocked_at ?? '')).toBe(60_000)
    expect((await historyOf(id, { status: 'blocked' })).map(({ reason }) => reason)).toEqual([
      'attempt while blocked',
      null,
    ])
    expect((await stateOf(web)).portknock.blocked).toEqual([
      { sequence_id: id, ip: '192.0.2.1', expires_at: entry?.expires_at },
    ])
    clock.forward(61)
    expect(await blocked()).toEqual([])
    expect((await stateOf(web)).portknock.blocked).toEqual([])
    await report(web, { sequence_id: id, status: 'blocked' })
    expect(await blocked()).toHaveLength(1)
  })
  test('unblocked here or everywhere; what was reported before does not block again', async () => {
    const { id } = await add({ block_duration: 600 }, [web, db])
    const block = { sequence_id: id, status: 'blocked', ip: '2001:db8::1' } as const
    const everywhere = async () => {
      clock.forward(1)
      await report(web, block)
      await report(db, block)
      expect(await blocked()).toHaveLength(2)
    }
    const unblock = (query = '', token = admin.token) =>
      ask('DELETE', `/blocked/2001:DB8:0::1${query}`, undefined, { token })
    await everywhere()
    const { version } = await stateOf(web)
    const waiting = poll(web, version)
    expect(await unblock(`?server_id=${web.id}`)).toMatchObject({
      status: 200,
      json: { message: '2001:db8::1 is unblocked on web-01.' },
    })
    expect(await waiting).not.toBe(version)
    expect((await stateOf(web)).portknock.blocked).toEqual([])
    expect(await unblock(`?server_id=${web.id}`)).toMatchObject({ status: 404 })
    expect(await unblock(`?server_id=${randomUUID()}`)).toMatchObject({ status: 400 })
    clock.forward(1)
    await report(web, { ...block, timestamp: iso(2) })
    expect((await blocked()).map(({ server_id }) => server_id)).toEqual([db.id])
    await everywhere()
    expect(await unblock()).toMatchObject({ json: { message: '2001:db8::1 is unblocked on 2 servers.' } })
    expect((await audit())[0]).toMatchObject({ action: 'portknock.unblock', details: { servers: 2 } })
    await everywhere()
    // Who sees one server sees and unblocks there.
    const token = await keyFor(db, 'write')
    expect((await blocked(server.client(token))).map(({ server_id }) => server_id)).toEqual([db.id])
    expect(await unblock('', token)).toMatchObject({ status: 200 })
    expect((await blocked()).map(({ server_id }) => server_id)).toEqual([web.id])
    expect(await unblock(`?server_id=${web.id}`, token)).toMatchObject({ status: 403 })
  })
})

describe('history and statistics', () => {
  test('filters, pages, totals', async () => {
    const one = await add({}, [web, db])
    const two = await add({ name: 'two', protected_port: 23, protocol: 'udp' })
    const at = Date.now() - 30 * 86_400_000
    const times = Array.from({ length: 9 }, (_, n) => new Date(at + n * 1000).toISOString())
    const status = (n: number) => (['success', 'failed', 'blocked'] as const)[n % 3] ?? 'failed'
    await report(web, ...times.map((timestamp, n) => ({ sequence_id: one.id, timestamp, status: status(n) })))
    await report(db, { sequence_id: one.id, timestamp: times[8] ?? '', status: 'failed' })
    await report(web, { sequence_id: two.id, timestamp: times[8] ?? '', status: 'failed' })
    const [from, to] = [times[0] ?? '', new Date(at + 9000).toISOString()]
    const list = async (query: object) => {
      const { history, total } = await admin.client.call('GET /portknock/history', { query: { from, to, ...query } })
      return [history.length, total]
    }
    expect(await list({})).toEqual([11, 11])
    expect(await list({ limit: 4, page: 3 })).toEqual([3, 11])
    expect(await list({ page: 9 })).toEqual([0, 11])
    expect(await list({ sequence_id: one.id })).toEqual([10, 10])
    expect(await list({ server_id: db.id })).toEqual([1, 1])
    expect(await list({ status: 'failed' })).toEqual([5, 5])
    await report(web, { sequence_id: one.id, timestamp: times[8] ?? '', status: 'failed', ip: '2001:db8::77' })
    expect(await list({ ip: '2001:DB8:0::77' })).toEqual([1, 1])
    expect(await list({ ip: '2001:db8::78' })).toEqual([0, 0])
    expect(await list({ ip: '2001:db8::77', status: 'success' })).toEqual([0, 0])
    expect(await list({})).toEqual([12, 12])
    expect(await list({ from: times[3], to: times[6] })).toEqual([3, 3])
    expect(await list({ status: 'failed', server_id: web.id, sequence_id: one.id, from: times[2] })).toEqual([3, 3])
    const newest = (await historyOf(one.id, { status: 'success' })).map(({ timestamp }) => timestamp)
    expect(newest).toEqual([times[6], times[3], times[0]])
    const scoped = server.client(await keyFor(db, 'read'))
    expect((await scoped.call('GET /portknock/history')).history.map(({ server }) => server.hostname)).not.toContain(
      'web-01',
    )
    for (const query of [
      'sequence_id=987654',
      `server_id=${randomUUID()}`,
      'status=open',
      'ip=nobody',
      'limit=101',
      `from=${to}&to=${from}`,
    ])
      expect(await ask('GET', `/history?${query}`), query).toMatchObject({ status: 400 })
  })
  test('statistics are those of the rows', async () => {
    const scoped = server.client(await keyFor(db, 'read'))
    const one = await add({ name: 'stats one' }, [web, db])
    await add({ name: 'stats none', protected_port: 23, knock_ports: [1, 3] })
    const before = await admin.client.call('GET /portknock/stats', { query: { period: 'week' } })
    const there = await scoped.call('GET /portknock/stats', { query: { period: 'week' } })
    const days = (n: number) => iso(n * 86_400)
    const told = (n: number, status: Told['status'], timestamp: string): Told[] =>
      Array.from({ length: n }, () => ({ sequence_id: one.id, status, timestamp, ip: '198.51.100.77' }) as Told)
    await report(web, ...told(300, 'failed', days(2)), ...told(3, 'success', days(6)), ...told(5, 'failed', days(8)))
    await report(db, ...told(4, 'blocked', days(1)), ...told(1, 'success', iso()))
    const after = await admin.client.call('GET /portknock/stats', { query: { period: 'week' } })
    const rise = (key: 'total_attempts' | 'successful' | 'failed' | 'blocked') => after[key] - before[key]
    expect([rise('total_attempts'), rise('successful'), rise('failed'), rise('blocked')]).toEqual([308, 4, 300, 4])
    expect(after.by_sequence).toContainEqual({ name: 'stats one', attempts: 308, success_rate: 1.3 })
    expect(after.by_sequence).toContainEqual({ name: 'stats none', attempts: 0, success_rate: null })
    expect(after.top_ips[0]).toEqual({ ip: '198.51.100.77', attempts: 308 })
    const sum = (rows: readonly { attempts: number }[]) => rows.reduce((total, { attempts }) => total + attempts, 0)
    expect([sum(after.by_sequence), sum(after.by_server)]).toEqual([after.total_attempts, after.total_attempts])
    expect(after.by_server.map(({ hostname }) => hostname)).toEqual(['web-01', 'db-01'])
    const day = await admin.client.call('GET /portknock/stats')
    expect(day.by_sequence).toContainEqual({ name: 'stats one', attempts: 1, success_rate: 100 })
    const seen = await scoped.call('GET /portknock/stats', { query: { period: 'week' } })
    expect(seen.total_attempts - there.total_attempts).toBe(5)
    expect(seen.by_sequence.map(({ name }) => name)).not.toContain('stats none')
    expect(seen.by_server).toMatchObject([{ hostname: 'db-01' }])
  })
  test('what is older than it has to be kept goes, and what is over', async () => {
    const { id } = await add({ block_duration: 1 })
    const ips = ['192.0.2.70', '192.0.2.71']
    await report(web, ...ips.map(ip => ({ sequence_id: id, ip, timestamp: iso(40 * 86_400) })))
    await report(web, { sequence_id: id }, { sequence_id: id, status: 'blocked' })
    const count = async (table: 'knock_openings' | 'knock_blocked') =>
      (await storage.read.selectFrom(table).select('ip').where('sequence_id', '=', id).execute()).length
    expect([await count('knock_openings'), await count('knock_blocked')]).toEqual([1, 1])
    clock.forward(31)
    await sweepKnocks({ db: storage, clock, keptDays: 39 })
    expect([await count('knock_openings'), await count('knock_blocked')]).toEqual([0, 0])
    expect((await historyOf(id)).map(({ ip }) => ip)).toEqual(['192.0.2.1', '192.0.2.1'])
  })
})

test('a server takes its openings and blocks along', async () => {
  const gone = await aHost(server, admin.client, 'gone-01')
  const { id } = await add({}, [gone, web])
  await report(gone, { sequence_id: id }, { sequence_id: id, status: 'blocked', ip: '192.0.2.2' })
  await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: gone.id } })
  expect(await statesOf(id)).toEqual({ 'web-01': 'pending' })
  expect([await active(), await blocked()]).toEqual([[], []])
  expect((await historyOf(id)).map(({ server }) => server.hostname)).toEqual(['gone-01', 'gone-01'])
})

test('all of it outlives the process', async () => {
  const { id } = await add({ timeout: 600 })
  await acknowledge(web)
  await report(web, { sequence_id: id, status: 'blocked', ip: '192.0.2.2' })
  await withAgent(web, () => knock(web))
  const look = async () => [await read(id), await active(), await blocked(), await stateOf(web)]
  const before = await look()
  await server.close()
  server = await startServer({ ...place, port: server.port })
  expect(await look()).toEqual(before)
  expect(before[3]).toMatchObject({ portknock: { sequences: [{ id }], openings: [{}], blocked: [{}] } })
})

test('when the licence ends hosts go on as they are, and what they report is taken', async () => {
  const { id } = await add({ timeout: 86_400 })
  await report(web, { sequence_id: id })
  const before = await stateOf(web)
  clock.forward(licensed)
  expect(await ask('GET', '/sequences')).toMatchObject({ status: 402 })
  expect(await ask('POST', '/knock', { server_id: web.id, sequence_name: 'ssh' })).toMatchObject({ status: 402 })
  expect(await stateOf(web)).toEqual(before)
  expect(await report(web, { sequence_id: id, status: 'failed' })).toMatchObject([{ ok: true }])
  await acknowledge(web)
  await admin.client.call('POST /settings/license', { body: { license_key: aLicence({ issuedAt: clock() }) } })
  expect(await statesOf(id)).toEqual({ 'web-01': 'enforced' })
  expect(await historyOf(id)).toHaveLength(2)
})
