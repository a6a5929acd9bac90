import { describe, expect, test } from 'vitest'
import { testAlone } from '../../testing/alone.ts'
import { aHost, aServerKey, movableClock, raw } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'
import { withServer } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
withServer({ clock }, made => ({ server, admin } = made))
const path = (id: string, more = '') => `/api/v1/servers/${id}${more}`
const unknown = '01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'

test('registering answers a key, a command, and a server that waits', async () => {
  const made = await admin.client.call('POST /servers', {
    body: { hostname: 'web-01', ip_address: '2001:DB8::0:7', description: 'shop' },
  })
  expect(made).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/),
    hostname: 'web-01',
    ip_address: '2001:db8::7',
    description: 'shop',
    api_key: expect.stringMatching(/^svc_\w{32}$/),
    api_key_id: expect.any(Number),
    install_command: expect.stringMatching(
      /^curl -fsSL http:\/\/localhost:\d+\/install\.sh \| sudo sh -s -- --token sit_\w{32}$/,
    ),
    status: 'pending',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
  expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: made.id } })).toEqual({
    id: made.id,
    hostname: 'web-01',
    reported_hostname: null,
    last_self_test: null,
    ip_address: '2001:db8::7',
    description: 'shop',
    tags: [],
    status: 'pending',
    protection: {
      level: 'unknown',
      since: null,
      summary: null,
      reported_level: null,
      reported_at: null,
      problem: null,
      marks: { engine: 'none', jails: 'none', logs: 'none', firewall: 'none', containers: 'none', whitelist: 'none' },
      checks: [],
      counted: null,
    },
    clone: null,
    os: null,
    engine_version: null,
    agent_version: null,
    total_bans: 0,
    bans_today: 0,
    key_rotated_at: null,
    keys: [expect.objectContaining({ id: made.api_key_id, kind: 'server' })],
    quarantined: null,
    active_jails: 0,
    current_bans: 0,
    jails: [],
    metrics: null,
    policy: null,
    sealed: null,
    last_heartbeat: null,
    created_at: made.created_at,
    updated_at: made.created_at,
    install: {
      token_expires_at: expect.any(String),
      token_used_at: null,
      token_used_from: null,
      script_fetched_at: null,
      first_heartbeat_at: null,
      first_ban_at: null,
    },
  })
})

test('lists by hostname, by state, by search, by page', async () => {
  for (const hostname of ['zebra', 'Alpha', 'beta'])
    await admin.client.call('POST /servers', { body: { hostname, ip_address: `192.0.2.${hostname.length}` } })
  const online = await aHost(server, admin.client, 'online-1')
  await online.client.call('POST /servers/heartbeat', { body: { hostname: 'online-1' } })
  const list = (query: object) => admin.client.call('GET /servers', { query })
  const names = async (query: object) => (await list(query)).servers.map(({ hostname }) => hostname)
  expect(await names({})).toEqual(['Alpha', 'beta', 'online-1', 'web-01', 'zebra'])
  expect(await names({ status: 'online' })).toEqual(['online-1'])
  expect(await names({ status: 'pending', search: 'BET' })).toEqual(['beta'])
  expect(await names({ search: '2001:db8:0::7' })).toEqual(['web-01'])
  expect(await names({ search: '192.0.2.5' })).toEqual(['Alpha', 'zebra'])
  expect(await list({ page: 2, limit: 2 })).toMatchObject({
    total: 5,
    page: 2,
    limit: 2,
    servers: [{ hostname: 'online-1' }, { hostname: 'web-01' }],
  })
  expect(await list({ page: 99 })).toMatchObject({ total: 5, page: 99, servers: [] })
  expect(await admin.client.call('GET /servers/summary')).toMatchObject({
    counts: { online: 1, offline: 0, pending: 4 },
  })
})

test('the jails of one name, of the servers that the caller sees', async () => {
  const jail = { name: 'logins', enabled: true, current_bans: 0 }
  const one = await aHost(server, admin.client, 'jails-1')
  const two = await aHost(server, admin.client, 'jails-2')
  await one.client.call('PUT /agent/jails', { body: { jails: [{ ...jail, filter: 'sshd[mode=aggressive]' }] } })
  await two.client.call('PUT /agent/jails', {
    body: {
      jails: [
        { ...jail, filter: 'dovecot', template: 'logins' },
        { ...jail, name: 'LOGINS' },
      ],
    },
  })
  const at = (host: typeof one, hostname: string) => ({
    server: { id: host.id, hostname },
    name: 'logins',
    enabled: true,
  })
  const first = { ...at(one, 'jails-1'), filter: 'sshd[mode=aggressive]', template: null }
  const query = { name: 'logins' }
  expect(await admin.client.call('GET /servers/jails', { query })).toEqual({
    jails: [first, { ...at(two, 'jails-2'), filter: 'dovecot', template: 'logins' }],
  })
  expect(await (await aServerKey(server, admin.client, one.id)).client.call('GET /servers/jails', { query })).toEqual({
    jails: [first],
  })
  expect(await admin.client.call('GET /servers/jails', { query: { name: 'nothing' } })).toEqual({ jails: [] })
  for (const [more, field] of [
    ['', 'name'],
    ['?name=', 'name'],
    [`?name=${'x'.repeat(256)}`, 'name'],
  ] as const)
    expect(await raw(server, 'GET', `/api/v1/servers/jails${more}`, { token: admin.token }), more).toMatchObject({
      status: 400,
      json: { details: [{ path: field }] },
    })
})

describe('bad input is named', () => {
  test.each([
    ['?limit=101', 'limit'],
    ['?limit=0', 'limit'],
    ['?page=0', 'page'],
    ['?page=1.5', 'page'],
    ['?page=', 'page'],
    ['?status=gone', 'status'],
    ['?search=', 'search'],
    ['?serach=x', 'serach'],
  ])('GET /servers%s', async (query, field) => {
    expect(await raw(server, 'GET', `/api/v1/servers${query}`, { token: admin.token })).toMatchObject({
      status: 400,
      json: { error: 'Bad Request', details: [{ path: field }] },
    })
  })
  test.each([
    ['hostname', {}],
    ['hostname', { hostname: '' }],
    ['hostname', { hostname: 'x'.repeat(254) }],
    ['hostname', { hostname: 7 }],
    ['ip_address', { hostname: 'x', ip_address: '010.0.0.1' }],
    ['ip_address', { hostname: 'x', ip_address: '192.0.2.1:22' }],
    ['ip_address', { hostname: 'x', ip_address: 'fe80::1%eth0' }],
    ['description', { hostname: 'x', description: 'x'.repeat(1001) }],
    ['hostnme', { hostname: 'x', hostnme: 'typo' }],
  ])('POST /servers %s %o', async (field, body) => {
    expect(await raw(server, 'POST', '/api/v1/servers', { token: admin.token, body })).toMatchObject({
      status: 400,
      json: { details: [{ path: field }] },
    })
  })
  test('unknown servers', async () => {
    for (const [method, more] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/jails'],
      ['POST', '/regenerate-token'],
    ] as const)
      expect(await raw(server, method, path(unknown, more), { token: admin.token }), method + more).toMatchObject({
        status: 404,
        json: { error: 'Not Found' },
      })
  })
})

test('renames and describes; an empty change changes nothing', async () => {
  const { id, created_at } = await admin.client.call('POST /servers', { body: { hostname: 'old' } })
  const params = { serverId: id }
  expect(await admin.client.call('PATCH /servers/{serverId}', { params, body: {} })).toEqual({
    id,
    hostname: 'old',
    description: '',
    tags: [],
    updated_at: created_at,
  })
  expect(
    await admin.client.call('PATCH /servers/{serverId}', { params, body: { hostname: 'new', description: 'd' } }),
  ).toMatchObject({ hostname: 'new', description: 'd' })
  expect(await admin.client.call('GET /servers/{serverId}', { params })).toMatchObject({
    hostname: 'new',
    description: 'd',
  })
})

test('a removed server leaves its bans and takes its pending commands along', async () => {
  const host = await aHost(server, admin.client, 'leaving')
  await host.client.call('POST /bans', { body: { ip: '198.51.100.20', jail: 'sshd' } })
  const { id } = await admin.client.call('POST /servers/{serverId}/commands', {
    params: { serverId: host.id },
    body: { type: 'reload-all' },
  })
  expect(await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: host.id } })).toEqual({
    message: expect.any(String),
  })
  expect(await raw(server, 'GET', path(host.id), { token: admin.token })).toMatchObject({ status: 404 })
  expect(await admin.client.call('GET /commands/{commandId}', { params: { commandId: id } })).toMatchObject({
    status: 'failed',
    cancelled: true,
  })
  expect(await admin.client.call('GET /bans', { query: { ip: '198.51.100.20' } })).toMatchObject({
    total: 1,
    bans: [{ server: { id: host.id, hostname: 'leaving' } }],
  })
  expect(
    await raw(server, 'POST', '/api/v1/servers/heartbeat', { token: host.key, body: { hostname: 'x' } }),
  ).toMatchObject({ status: 401 })
})

describe('enrolment', () => {
  const enrol = (token: string, agent_id = crypto.randomUUID()) =>
    raw(server, 'POST', '/api/v1/agent/enroll', { body: { token, hostname: 'h', agent_id, from_the_future: 1 } })
  const tokenOf = (command: string) => command.split(' ').at(-1) ?? ''

  test('the token works once', async () => {
    const { install_command } = await admin.client.call('POST /servers', { body: { hostname: 'once' } })
    expect(await enrol(tokenOf(install_command))).toMatchObject({
      status: 201,
      json: { api_key: expect.stringMatching(/^svc_/) },
    })
    expect(await enrol(tokenOf(install_command))).toMatchObject({ status: 401 })
    expect(await enrol('sit_unknown')).toMatchObject({ status: 401 })
  })
  test('of twenty at the same moment one gets in', async () => {
    const { install_command } = await admin.client.call('POST /servers', { body: { hostname: 'race' } })
    const replies = await Promise.all(Array.from({ length: 20 }, () => enrol(tokenOf(install_command))))
    expect(replies.filter(reply => reply.status === 201)).toHaveLength(1)
  })
  test('the token ends after a day, and a new one voids it', async () => {
    const made = await admin.client.call('POST /servers', { body: { hostname: 'late' } })
    const renewed = await admin.client.call('POST /servers/{serverId}/regenerate-token', {
      params: { serverId: made.id },
    })
    expect(await enrol(tokenOf(made.install_command))).toMatchObject({ status: 401 })
    clock.forward(86_400)
    expect(await enrol(tokenOf(renewed.install_command))).toMatchObject({ status: 401 })
    admin = await server.signIn()
  })
  testAlone('a new agent takes the place of the old one at its first heartbeat', async () => {
    const old = await aHost(server, admin.client, 'moved')
    await old.client.call('POST /servers/heartbeat', { body: { hostname: 'moved', agent_id: old.agentId } })
    const first = (await admin.client.call('GET /servers/{serverId}', { params: { serverId: old.id } })).key_rotated_at
    expect(first).toEqual(expect.any(String))
    const { install_command } = await admin.client.call('POST /servers/{serverId}/regenerate-token', {
      params: { serverId: old.id },
    })
    const agent_id = crypto.randomUUID()
    const { api_key } = (await enrol(tokenOf(install_command), agent_id)).json as { api_key: string }
    const rotatedAt = async () =>
      (await admin.client.call('GET /servers/{serverId}', { params: { serverId: old.id } })).key_rotated_at
    expect(await rotatedAt()).toBe(null)
    // The old agent may still report and fetch, but is not the one any more.
    await old.client.call('POST /bans', { body: { ip: '198.51.100.30', jail: 'sshd' } })
    await expect(
      old.client.call('POST /servers/heartbeat', { body: { hostname: 'moved', agent_id: old.agentId } }),
    ).rejects.toMatchObject({ status: 409 })
    const heardAt = clock()
    await server.client(api_key).call('POST /servers/heartbeat', { body: { hostname: 'moved', agent_id } })
    const rotated = await rotatedAt()
    expect(Date.parse(rotated ?? '')).toBeGreaterThanOrEqual(heardAt - 1000)
    await server.client(api_key).call('POST /servers/heartbeat', { body: { hostname: 'moved', agent_id } })
    expect(await rotatedAt()).toBe(rotated)
    await expect(old.client.call('POST /bans', { body: { ip: '198.51.100.31', jail: 'sshd' } })).rejects.toMatchObject({
      status: 401,
    })
  })
})

test('registering a server ends no poll of another one', async () => {
  const host = await aHost(server, admin.client, 'polls-01')
  const params = { serverId: host.id }
  const poll = host.client.call('GET /servers/{serverId}/commands/pending', { params, query: { wait: 50 } })
  for (const hostname of ['beside-01', 'beside-02', 'beside-03', 'beside-04'])
    await admin.client.call('POST /servers', { body: { hostname } })
  const { id } = await admin.client.call('POST /servers/{serverId}/commands', {
    params,
    body: { type: 'jail-status', params: { jail: 'sshd' } },
  })
  expect((await poll).commands).toEqual([expect.objectContaining({ id })])
})
