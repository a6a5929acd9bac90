import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aHost, eventually, movableClock, password, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { startListSource } from '../../testing/list-source.ts'
import { aUser } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let limited: Signed
let web: EnrolledHost
let db: EnrolledHost
const source = await startListSource()
const { url, answers, asked, text } = source

beforeAll(async () => {
  server = await startServer({ clock })
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  db = await aHost(server, admin.client, 'db-01')
  for (const [host, hostname] of [
    [web, 'web-01'],
    [db, 'db-01'],
  ] as const)
    await host.client.call('POST /servers/heartbeat', {
      body: {
        hostname,
        agent_id: host.agentId,
        capabilities: { shield: { supported: true, mode: null, owned: false, driver: null, reason: null } },
      },
    })
  limited = await aUser(server, admin.client, 'limited', 'Operator', [web.id])
})
afterAll(async () => {
  await server.close()
  source.close()
})
beforeEach(async () => {
  clock.forward(120)
  answers.clear()
  for (const { id } of (await admin.client.call('GET /lists')).lists)
    await admin.client.call('DELETE /lists/{id}', { params: { id } })
})

const subscribe = (path: string, more: object = {}) =>
  admin.client.call('POST /lists', {
    body: {
      name: path,
      source: { kind: 'url', url: `${url}${path}` },
      target: { all: true },
      allow_private: true,
      ...more,
    },
  })
const refresh = (id: number, accept_change = false) =>
  admin.client.call('POST /lists/{id}/refresh', { params: { id }, body: { accept_change } })
const entriesOf = async (id: number) => (await admin.client.call('GET /lists/{id}/entries', { params: { id } })).entries
const preview = (path: string, more: object = {}) =>
  admin.client.call('POST /lists/preview', {
    body: { source: { kind: 'url', url: `${url}${path}` }, allow_private: true, ...more },
  })
const contentFor = (host: EnrolledHost, id: number) =>
  host.client.call('GET /agent/shield/lists/{id}', { params: { id } })
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `8.${(n + from) >> 7}.${((n + from) & 127) * 2}.1`).join('\n')

test('a list that its publisher has emptied keeps its entries until somebody accepts that', async () => {
  text('/edrop', '198.51.100.0/24 ; SBL1\n203.0.113.0/24 ; SBL2\n')
  const { id } = await subscribe('/edrop', { mode: 'enforce' })
  expect(await refresh(id)).toMatchObject({ entries: 2, last_error: null })
  text('/edrop', '; This list has been merged into https://lists.example/drop.txt\n; EOF\n')
  expect(await refresh(id)).toMatchObject({ entries: 2, last_error: expect.stringMatching(/accept_change/) })
  expect(await refresh(id, true)).toMatchObject({ entries: 0, addresses: 0, last_error: null })
  // It is no news at the next look, and a list that is filled again is taken.
  expect(await refresh(id)).toMatchObject({ entries: 0, last_error: null })
  text('/edrop', '198.51.100.0/24 ; SBL1\n')
  expect(await refresh(id, true)).toMatchObject({ entries: 1, last_error: null })
  await admin.client.call('DELETE /lists/{id}', { params: { id } })
})

test('a list is fetched, cut, held and taken out again', async () => {
  text(
    '/drop',
    '; Spamhaus DROP\n198.51.100.0/25 ; SBL1\n198.51.100.128/25 ; SBL2\n203.0.113.7 ; SBL3\n10.0.0.0/8 ; SBL4\n',
  )
  const { id, mode, version } = await subscribe('/drop', { mode: 'enforce' })
  expect({ mode, version }).toEqual({ mode: 'enforce', version: 0 })
  const fetched = await refresh(id)
  expect(fetched).toMatchObject({
    entries: 2,
    addresses: 257,
    last_error: null,
    stale: false,
    left_out: { private: 1, duplicates: 0, invalid: 0 },
    held: { applied: 0, pending: 2, failed: 0, not_covered: 0 },
  })
  const state = await web.client.call('GET /agent/state')
  const content = await contentFor(web, id)
  expect(content).toBe('198.51.100.0/24\n203.0.113.7\n')
  const digest = createHash('sha256').update(content).digest('hex')
  expect(state.shield.lists).toEqual([{ id, version: fetched.version, mode: 'enforce', entries: 2, digest }])

  const { bans } = state.shield
  const ack = (told: object) =>
    web.client.call('POST /agent/state/ack', {
      body: {
        version: state.version,
        whitelist_version: state.whitelist.version,
        entry_count: 0,
        shield: {
          bans: { version: bans.version, held: 0, digest: bans.digest, refused: [] },
          lists: [{ id, version: fetched.version, mode: 'enforce', digest, held: 2, ...told }],
        },
      },
    })
  await ack({ digest: '0'.repeat(64) })
  const { servers } = await admin.client.call('GET /lists/{id}/servers', {
    params: { id },
    query: { state: 'refused' },
  })
  expect(servers).toMatchObject([{ server: { id: web.id }, reason: 'The server does not hold what it was given.' }])
  await ack({})
  // What a host held and has no more is not held.
  await ack({ version: 0, held: 0 })
  expect((await admin.client.call('GET /lists/{id}', { params: { id } })).held).toMatchObject({ pending: 2 })
  await ack({})
  expect((await admin.client.call('GET /lists/{id}', { params: { id } })).held).toMatchObject({
    applied: 1,
    pending: 1,
  })

  await web.client.call('POST /servers/heartbeat', {
    body: { hostname: 'web-01', agent_id: web.agentId, listed: [{ id, packets: 5 }] },
  })
  await web.client.call('POST /servers/heartbeat', {
    body: { hostname: 'web-01', agent_id: web.agentId, listed: [{ id, packets: 7 }] },
  })
  const counted = await admin.client.call('GET /lists/{id}', { params: { id } })
  expect(counted.hits.last_day).toBe(7)
  expect(counted.hits.hours).toHaveLength(24)

  const found = await admin.client.call('GET /bans/lookup/{ip}', { params: { ip: '198.51.100.9' } })
  const { fetched_at } = await admin.client.call('GET /lists/{id}', { params: { id } })
  expect(found.blocklists).toEqual([
    { id, name: '/drop', mode: 'enforce', entry: '198.51.100.0/24', servers: 1, fetched_at },
  ])

  await admin.client.call('DELETE /lists/{id}', { params: { id } })
  expect((await web.client.call('GET /agent/state')).shield.lists).toEqual([])
  await expect(contentFor(web, id)).rejects.toMatchObject({ status: 404 })
})

test('a whitelist entry splits a range at once, without a look at the source', async () => {
  text('/net', '198.51.100.0/30\n')
  const { id } = await subscribe('/net')
  await refresh(id)
  const looks = asked.length
  const entry = await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.1' } })
  await eventually(async () => expect(await entriesOf(id)).toEqual(['198.51.100.0', '198.51.100.2/31']))
  expect(asked).toHaveLength(looks)
  expect((await admin.client.call('GET /lists/{id}', { params: { id } })).left_out.whitelisted).toBe(1)
  await admin.client.call('DELETE /whitelist/{id}', { params: { id: entry.id } })
  await eventually(async () => expect(await entriesOf(id)).toEqual(['198.51.100.0/30']))
})

describe('what is not applied keeps the last good version', () => {
  const bad: readonly [name: string, body: string | Buffer, reason: RegExp, headers?: Record<string, string>][] = [
    ['an empty list', '', /holds no entry/],
    ['comments only', '# nothing today\n', /holds no entry/],
    ['everything', '0.0.0.0/0\n::/0\n', /holds no entry/],
    ['a web page', '<!DOCTYPE html><p>198.51.100.1</p>', /web page/],
    ['a web page by its type', '198.51.100.1\n', /web page/, { 'content-type': 'text/html' }],
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]), /not text/],
    ['prose', Array(40).fill('Too many requests, come back later').join('\n'), /no address/],
    ['a sudden growth', many(2000), /changes \d+ % of the entries/],
    ['a sudden loss of nearly all', many(5), /changes \d+ % of the entries/],
    ['a gzip bomb', gzipSync(Buffer.alloc(60 * 1024 * 1024, 'a')), /expands to more than/],
    ['damaged gzip', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]), /damaged/],
  ]
  test.for(bad)('%s', async ([, body, reason, headers]) => {
    text('/list', many(100))
    const { id } = await subscribe('/list')
    const { version } = await refresh(id)
    const before = await entriesOf(id)
    text('/list', body, headers)
    const refused = await refresh(id)
    expect(refused.last_error).toMatch(reason)
    expect(refused).toMatchObject({ version, entries: 100 })
    expect(await entriesOf(id)).toEqual(before)
  })

  test('what was refused is told once, and taken when somebody accepts it', async () => {
    text('/list', many(100))
    const { id } = await subscribe('/list')
    await refresh(id)
    text('/list', many(100, 5000))
    await refresh(id)
    await refresh(id)
    const audit = await admin.client.call('GET /settings/audit', { query: { action: 'list.refuse' } })
    const own = audit.entries.filter(({ details }) => (details as { id?: number }).id === id)
    expect(own).toHaveLength(1)
    expect((await refresh(id, true)).last_error).toBeNull()
    expect(await entriesOf(id)).toContain('8.39.16.1')
  })

  test('a source that is away is tried again later', async () => {
    text('/list', '198.51.100.1\n')
    const { id } = await subscribe('/list')
    await refresh(id)
    answers.set('/list', (_, reply) => reply.writeHead(503).end())
    const { last_error, entries, next_check_at } = await refresh(id)
    expect({ last_error, entries }).toEqual({ last_error: 'The source answered HTTP 503.', entries: 1 })
    expect(Date.parse(next_check_at ?? '') - clock()).toBeLessThan(3600_000)
  })
})

test('a source is asked whether it changed', async () => {
  const conditions: (string | undefined)[] = []
  answers.set('/list', (request, reply) => {
    conditions.push(request.headers['if-none-match'])
    if (request.headers['if-none-match'] === '"a"') reply.writeHead(304).end()
    else reply.writeHead(200, { etag: '"a"', 'content-type': 'text/plain' }).end('198.51.100.1\n')
  })
  const { id } = await subscribe('/list')
  const { version } = await refresh(id)
  expect((await refresh(id)).version).toBe(version)
  expect(conditions).toContain('"a"')
})

test('redirects are followed with care', async () => {
  text('/there', '198.51.100.1\n')
  answers.set('/here', (_, reply) => reply.writeHead(302, { location: '/there' }).end())
  answers.set('/metadata', (_, reply) => reply.writeHead(302, { location: 'http://169.254.169.254/latest' }).end())
  answers.set('/loop', (_, reply) => reply.writeHead(302, { location: '/loop' }).end())
  expect(await preview('/here')).toMatchObject({ entries: 1, samples: ['198.51.100.1'] })
  await expect(preview('/metadata')).rejects.toMatchObject({
    status: 409,
    message: expect.stringMatching(/metadata/) as string,
  })
  await expect(preview('/loop')).rejects.toMatchObject({
    message: expect.stringMatching(/redirects more than/) as string,
  })
})

test('a preview stores nothing and says what of ours the list names', async () => {
  await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.9' } })
  text('/list', gzipSync('203.0.113.0/28\n127.0.0.1\nnot-an-address\n'))
  expect(await preview('/list')).toMatchObject({
    entries: 4,
    addresses: 15,
    left_out: { whitelisted: 1, private: 1, invalid: 1 },
    unread: [{ line: 3, form: 'aaa-aa-aaaaaaa' }],
    conflicts: { whitelist: ['203.0.113.9'], you: true },
  })
  expect((await admin.client.call('GET /lists')).total).toBe(0)
})

test('countries and networks come from the data of places', async () => {
  const country = await admin.client.call('POST /lists/preview', {
    body: { source: { kind: 'countries', countries: ['LI'] } },
  })
  expect(country.format).toBeNull()
  expect(country.entries).toBeGreaterThan(3)
  expect(country.share_percent).toBeLessThan(0.1)
  const network = await admin.client.call('POST /lists/preview', {
    body: { source: { kind: 'networks', asns: [15169] } },
  })
  const [sample = ''] = network.samples
  const { asn } = await admin.client.call('GET /bans/lookup/{ip}', { params: { ip: sample.split('/')[0] ?? '' } })
  expect(asn).toBe('AS15169')
})

test('who has access to some servers sees and changes only what concerns these', async () => {
  text('/list', '198.51.100.1\n')
  const source = { kind: 'url', url: `${url}/list` } as const
  const create = (body: object) =>
    limited.client.call('POST /lists', { body: { name: 'own', source, target: { server_ids: [web.id] }, ...body } })
  await expect(create({ target: { all: true } })).rejects.toMatchObject({ status: 403 })
  const own = await create({})
  const other = await subscribe('/other', { target: { server_ids: [db.id] } })
  const forAll = await subscribe('/all')
  expect((await limited.client.call('GET /lists')).lists.map(({ id }) => id).sort()).toEqual([own.id, forAll.id].sort())
  await expect(limited.client.call('GET /lists/{id}', { params: { id: other.id } })).rejects.toMatchObject({
    status: 404,
  })
  await expect(limited.client.call('DELETE /lists/{id}', { params: { id: forAll.id } })).rejects.toMatchObject({
    status: 403,
  })
  await admin.client.call('PATCH /lists/{id}', { params: { id: own.id }, body: { allow_private: true } })
  await refresh(own.id)
  expect(await contentFor(web, own.id)).toBe('198.51.100.1\n')
  await expect(contentFor(db, own.id)).rejects.toMatchObject({ status: 404 })
})

test('a list that was not read for three intervals is stale, once', async () => {
  text('/list', '198.51.100.1\n')
  const { id } = await subscribe('/list', { interval: 900 })
  await refresh(id)
  answers.clear()
  clock.forward(3 * 900 + 60)
  const reply = await server.client().call('POST /auth/login', { body: { username: 'admin', password } })
  if (!('access_token' in reply)) throw new Error('no token')
  const later = server.client(reply.access_token)
  await eventually(async () =>
    expect(await later.call('GET /lists/{id}', { params: { id } })).toMatchObject({
      entries: 1,
      stale: true,
      last_error: 'The source answered HTTP 404.',
    }),
  )
  const audit = await later.call('GET /settings/audit', { query: { action: 'list.stale' } })
  expect(audit.entries).toHaveLength(1)
})
