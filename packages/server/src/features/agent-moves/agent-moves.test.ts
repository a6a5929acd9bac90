import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressClaimText } from '@stockade/contract/address-proof.ts'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { aHost, freshDatabase, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'

const baseUrl = 'https://stockade.example/fort'
let server: TestServer
let admin: Signed
let web: EnrolledHost
const dataDir = mkdtempSync(join(tmpdir(), 'stockade-moves-'))
let storage: Database
let drop: (() => Promise<void>) | null = null
beforeAll(async () => {
  const database = await freshDatabase()
  drop = database?.drop ?? null
  server = await startServer({
    env: { STOCKADE_BASE_URL: baseUrl },
    // So coarse that orders at once are of one millisecond.
    clock: () => Math.floor(Date.now() / 1000) * 1000,
    dataDir,
    ...(database ? { databaseUrl: database.url } : {}),
  })
  admin = await server.setUp()
  web = await aHost(server, admin.client)
  storage = await openStorage(
    readConfig({
      STOCKADE_DATA_DIR: dataDir,
      ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
    }),
  )
})
afterAll(async () => {
  await storage?.close()
  await server.close()
  await drop?.()
  rmSync(dataDir, { recursive: true, force: true })
})

/** What a host does with its desired state, as far as addresses are concerned. */
const stateOf = (host: EnrolledHost) => host.client.call('GET /agent/state')
const say = async (
  host: EnrolledHost,
  move: { revision: number; state: 'trying' | 'moved' | 'failed'; reason?: string },
) => {
  const { version, whitelist } = await stateOf(host)
  const body = { version, whitelist_version: whitelist.version, entry_count: 0, move }
  await host.client.call('POST /agent/state/ack', { body })
}

describe('the order to use another address', () => {
  const order = (url: string | null) => admin.client.call('PUT /agents/address', { body: { url } })
  const counts = { waiting: 0, trying: 0, moved: 0, failed: 0 }
  const none = { base_url: baseUrl, url: null, ordered_at: null, ordered_by: null, counts }
  let db: EnrolledHost
  beforeAll(async () => {
    db = await aHost(server, admin.client, 'db-01')
    for (const host of [web, db]) await host.client.call('POST /servers/heartbeat', { body: { hostname: 'h' } })
  })

  test('only an address at which the server can prove itself', async () => {
    expect(await admin.client.call('GET /agents/address')).toEqual(none)
    expect(await order(null)).toEqual(none)
    const put = (url: unknown) => raw(server, 'PUT', '/api/v1/agents/address', { token: admin.token, body: { url } })
    for (const url of ['https://evil.example', 'https://stockade.example', 'http://stockade.example/fort'])
      expect(await put(url), url).toMatchObject({
        status: 409,
        json: { message: expect.stringContaining('Set STOCKADE_BASE_URL') },
      })
    // What a session can set by itself is not enough.
    await admin.client.call('PATCH /settings', { body: { service: { site_url: 'https://evil.example' } } })
    expect(await put('https://evil.example')).toMatchObject({ status: 409 })
    // A dry run judges an address as the order does, and orders nothing.
    const judge = (url: string) =>
      raw(server, 'PUT', '/api/v1/agents/address', { token: admin.token, body: { url, dry_run: true } })
    expect(await judge('https://evil.example')).toMatchObject({ status: 409 })
    expect(await judge('ftp://stockade.example')).toMatchObject({ status: 400 })
    expect(await judge(baseUrl)).toMatchObject({ status: 200, json: { url: null } })
    expect(await admin.client.call('GET /agents/address')).toMatchObject({ url: null })
    for (const url of ['', 'ftp://stockade.example', `${baseUrl}?a=b`, 7])
      expect(await put(url)).toMatchObject({ status: 400, json: { details: [{ path: 'url' }] } })
    expect((await stateOf(web)).move).toBeNull()
    expect(await admin.client.call('GET /agents/address/servers', { query: {} })).toMatchObject({
      servers: [],
      total: 0,
    })
  })
  test('is part of the desired state; hosts say how far they are', async () => {
    const before = await stateOf(web)
    expect(await order(`${baseUrl}/`)).toMatchObject({
      url: baseUrl,
      ordered_at: expect.any(String),
      ordered_by: 'admin',
      counts: { ...counts, waiting: 2 },
    })
    const { version, move } = await stateOf(web)
    expect(version).not.toBe(before.version)
    expect(move).toEqual({ revision: expect.any(Number), url: baseUrl })
    const revision = move?.revision ?? 0
    await say(web, { revision, state: 'trying' })
    await say(db, { revision, state: 'failed', reason: 'no answer\u001b' })
    // Of an order that nobody gave.
    await say(db, { revision: revision + 1, state: 'moved' })
    expect((await admin.client.call('GET /agents/address')).counts).toEqual({ ...counts, trying: 1, failed: 1 })
    const list = (query: object = {}) => admin.client.call('GET /agents/address/servers', { query })
    const failed = { server: { id: db.id, hostname: 'db-01' }, state: 'failed', reason: 'no answer\ufffd' }
    expect(await list()).toMatchObject({ servers: [failed, { state: 'trying', reason: null }], total: 2 })
    expect(await list({ state: 'failed', limit: 1 })).toMatchObject({ servers: [failed], total: 1, limit: 1 })
    // Who failed tells why until it has moved.
    await say(db, { revision, state: 'trying' })
    expect(await list({ state: 'trying' })).toMatchObject({
      servers: [{ reason: 'no answer\ufffd' }, { reason: null }],
    })
    await say(db, { revision, state: 'failed', reason: 'no answer' })
    await say(web, { revision, state: 'moved' })
    expect(await list({ state: 'moved' })).toMatchObject({ servers: [{ server: { id: web.id } }], total: 1 })
    const sync = (await admin.client.call('GET /whitelist/sync-status')).servers
    expect(sync.find(({ id }) => id === web.id)).toMatchObject({ sync_status: 'synced' })
  })
  test('a host that reports without end fills nothing', async () => {
    const { version, whitelist, move } = await stateOf(web)
    const tell = (told: unknown) =>
      raw(server, 'POST', '/api/v1/agent/state/ack', {
        token: web.key,
        body: { version, whitelist_version: whitelist.version, entry_count: 0, move: told },
      })
    const revision = move?.revision ?? 0
    for (let times = 1; times <= 80; times++)
      expect(await tell({ revision, state: 'failed', reason: `reason ${times}` })).toMatchObject({ status: 200 })
    const events = await storage.read
      .selectFrom('events')
      .select(({ fn }) => fn.countAll().as('n'))
      .where('name', '=', 'server.move')
      .executeTakeFirst()
    expect(Number(events?.n)).toBeGreaterThan(10)
    // Each of two processes counts for itself.
    expect(Number(events?.n)).toBeLessThanOrEqual(70)
    const { servers } = await admin.client.call('GET /agents/address/servers', { query: {} })
    expect(servers.find(({ server: of }) => of.id === web.id)).toMatchObject({ state: 'failed', reason: 'reason 80' })
    // What is no report is refused, and changes nothing.
    for (const wrong of [
      { revision, state: 'waiting' },
      { revision: -1, state: 'moved' },
      { revision: 1e300, state: 'moved' },
      { revision, state: 'failed', reason: 'a'.repeat(1001) },
      [],
      7,
    ])
      expect(await tell(wrong), JSON.stringify(wrong)).toMatchObject({ status: 400 })
    expect((await admin.client.call('GET /agents/address/servers', { query: {} })).servers).toEqual(servers)
  })
  test('orders at once come one after the other', async () => {
    const before = (await stateOf(web)).move?.revision ?? 0
    const orders = [null, baseUrl, null, baseUrl, baseUrl, null, baseUrl, baseUrl]
    const replies = await Promise.all(
      orders.map(url => raw(server, 'PUT', '/api/v1/agents/address', { token: admin.token, body: { url } })),
    )
    expect(replies.map(({ status, text }) => [status, text.slice(0, 60)])).toEqual(
      replies.map(() => [200, expect.any(String)]),
    )
    await order(baseUrl)
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'agents.move', limit: 100 } })
    const times = entries.map(({ details }) => Date.parse(String(details.at)))
    expect(new Set(times).size).toBe(times.length)
    expect(Math.max(...times)).toBe((await stateOf(web)).move?.revision)
    expect(Math.max(...times)).toBeGreaterThan(before)
    // Two processes agree.
    const twice = [await stateOf(web), await stateOf(web)].map(({ move }) => move)
    expect(twice[0]).toEqual(twice[1])
  })
  test('given again it is another one, and withdrawn it is none', async () => {
    const first = (await stateOf(web)).move?.revision ?? 0
    expect(await order(baseUrl)).toMatchObject({ counts: { ...counts, waiting: 2 } })
    expect((await stateOf(web)).move?.revision).toBeGreaterThan(first)
    expect(await order(null)).toEqual(none)
    expect((await stateOf(web)).move).toBeNull()
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'agents.move' } })
    expect(entries.slice(0, 2).map(({ user, details }) => [user, details.url])).toEqual([
      ['admin', null],
      ['admin', baseUrl],
    ])
  })
})

describe('the proof of a server to a host', () => {
  const nonce = randomBytes(32).toString('base64url')
  const prove = (server_id: string, address = baseUrl) =>
    server.client().call('POST /agent/challenge', { body: { server_id, nonce, address } })
  /** What a host of this key expects. */
  const wanted = (key: string, claim: { known_as: 'configuration' | 'settings' | null }, address = baseUrl) =>
    createHmac('sha256', createHash('sha256').update(key).digest())
      .update(addressClaimText({ nonce, serverId: web.id, address, knownAs: claim.known_as, tlsKey: null }))
      .digest('hex')

  test('names its own addresses, and covers what it says of them', async () => {
    await admin.client.call('PATCH /settings', { body: { service: { site_url: 'https://site.example' } } })
    for (const [address, known_as] of [
      [baseUrl, 'configuration'],
      ['https://site.example', 'settings'],
      ['https://other.example', null],
      ['https://stockade.example', null],
    ] as const) {
      const reply = await prove(web.id.toUpperCase(), address)
      expect(reply).toEqual({ proof: wanted(web.key, { known_as }, address), known_as, tls_key: null })
    }
  })
  test('tells nobody which servers exist', async () => {
    const stranger = randomUUID()
    const [known, unknown] = [await prove(web.id), await prove(stranger)]
    expect(unknown).toEqual({ ...known, proof: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(unknown.proof).not.toBe(known.proof)
    expect(await prove(stranger)).toEqual(unknown)
    expect(await prove(web.id)).toEqual(known)
  })
  test('is made with the key of the newest agent', async () => {
    const params = { serverId: web.id }
    const { install_command } = await admin.client.call('POST /servers/{serverId}/regenerate-token', { params })
    const { api_key } = await server.client().call('POST /agent/enroll', {
      body: { token: install_command.split(' ').at(-1) ?? '', hostname: 'web-01', agent_id: randomUUID() },
    })
    expect((await prove(web.id)).proof).toBe(wanted(api_key, { known_as: 'configuration' }))
  })
  test.each([
    [{ nonce: 'short' }, 'nonce'],
    [{ nonce: `${nonce}A` }, 'nonce'],
    [{ server_id: 'web-01' }, 'server_id'],
    [{ address: 'ftp://stockade.example' }, 'address'],
    [{ address: 'https://a.example\nhttps://b.example' }, 'address'],
    [{ address: `https://a.example/${'a'.repeat(2048)}` }, 'address'],
  ])('refused: %j', async (wrong, path) => {
    const body = { server_id: web.id, nonce, address: baseUrl, ...wrong }
    expect(await raw(server, 'POST', '/api/v1/agent/challenge', { body })).toMatchObject({
      status: 400,
      json: { details: [{ path }] },
    })
  })
})
