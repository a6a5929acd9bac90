import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints } from '@stockade/contract'
import { aHost, movableClock, password, raw, startServer } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'

/* Somebody has an administrator's session cookie, but neither the password nor the second factor. */

const clock = movableClock()
let server: TestServer
let admin: Signed
let host: EnrolledHost
let cookie: string

const signIn = async () => {
  const reply = await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}
const ask = (method: string, path: string, body?: unknown) =>
  raw(server, method, `/api/v1${path}`, {
    headers: { cookie, origin: server.url },
    ...(body === undefined ? {} : { body }),
  })
const refusal = { status: 403, json: { error: 'Forbidden', step_up: { methods: ['password'] } } }

beforeAll(async () => {
  server = await startServer({ clock })
  admin = await server.setUp()
  host = await aHost(server, admin.client)
  cookie = await signIn()
})
afterAll(() => server.close())

/** What a thief wants: lasting access, the accounts of others, secrets, and root's configuration on hosts. */
const wanted = [
  'POST /keys',
  'POST /users',
  'PATCH /users/{userId}',
  'DELETE /users/{userId}',
  'POST /users/{userId}/invite',
  'POST /users/{userId}/keys',
  'POST /users/{userId}/reset-password',
  'POST /users/{userId}/reset-mfa',
  'PUT /users/{userId}/server-access',
  'POST /auth/mfa/enable',
  'POST /auth/mfa/confirm',
  'PATCH /settings',
  'POST /settings/import',
  'PATCH /settings/chat',
  'PATCH /settings/email',
  'PATCH /settings/oauth',
  'PATCH /settings/reputation',
  'PATCH /siem/settings',
  'POST /templates',
  'PATCH /templates/{templateId}',
  'DELETE /templates/{templateId}',
  'POST /templates/{templateId}/deploy',
  'POST /servers',
  'POST /servers/{serverId}/regenerate-token',
  'POST /servers/{serverId}/forget-reports',
  'DELETE /servers/{serverId}',
  'POST /reports/schedules',
  'PATCH /reports/schedules/{id}',
  'DELETE /reports/schedules/{id}',
  'POST /rules/{id}/arm',
  'POST /rules/{id}/disarm',
  'DELETE /rules/{id}',
  'POST /alerts/rules',
  'PATCH /alerts/rules/{id}',
  'DELETE /alerts/rules/{id}',
  'PUT /alerts/routes',
  'POST /channels',
  'DELETE /channels/{id}',
  'POST /servers/enrolment-tokens',
  'DELETE /servers/enrolment-tokens/{id}',
  'POST /fleet/feeds',
  'PATCH /fleet/feeds/{id}',
  'DELETE /fleet/feeds/{id}',
  'DELETE /siem/queue',
  'POST /whitelist/names',
  'POST /settings/license',
]

test('a cookie alone gets none of it once the last proof is a quarter of an hour old', async () => {
  expect(await ask('POST', '/users/1/keys', { name: 'fresh', permissions: 'read' })).toMatchObject({ status: 201 })
  clock.forward(16 * 60)
  for (const name of wanted) {
    const [method = '', path = ''] = name.split(' ')
    expect(endpoints.some(endpoint => endpoint.method === method && endpoint.path === path)).toBe(true)
    expect(await ask(method, path.replace(/\{\w+\}/g, '1'), {}), name).toMatchObject(refusal)
  }
  for (const ip of ['198.51.0.0/16', '45.33.0.0/23', '2001:db8::/47'])
    for (const [path, body] of [
      ['/whitelist', { ip }],
      ['/whitelist/bulk', { entries: [{ ip }] }],
      ['/whitelist/import', { content: ip }],
    ] as const)
      expect(await ask('POST', path, body), `${path} ${ip}`).toMatchObject(refusal)
  expect((await admin.client.call('GET /whitelist')).total).toBe(0)
})

test('nothing that lasts is done by its content either', async () => {
  const inHours = (hours: number) => new Date(clock() + hours * 3_600_000).toISOString()
  const all = { all: true }
  const here = { server_ids: [host.id] }
  const bans = `/servers/${host.id}/bans`
  const ban = (ip: string) => ({ type: 'ban-ip', params: { jail: 'stockade', ip, duration: -1 } })
  for (const [path, body] of [
    ['/fleet/bans', { entry: '45.9.0.0/16', target: all, duration: -1 }],
    ['/fleet/bans', { entry: '45.9.8.0/23', target: here }],
    ['/fleet/bans', { entry: '2001:db8::/47', target: all }],
    [bans, { ip: '45.9.0.0/16' }],
    [`/servers/${host.id}/commands`, ban('45.9.0.0/16')],
    ['/commands/batch', { ...ban('45.9.0.0/16'), server_ids: [host.id] }],
    [
      '/commands/batch',
      { type: 'ban-ip', server_ids: [host.id], params_list: [ban('45.9.0.1').params, ban('45.8.0.0/23').params] },
    ],
    ['/alerts/silences', { target: all, reason: 'hush', ends_at: inHours(1) }],
    ['/alerts/silences', { target: here, reason: 'hush', ends_at: inHours(25) }],
  ] as const)
    expect(await ask('POST', path, body), `${path} ${JSON.stringify(body)}`).toMatchObject(refusal)
  for (const [path, body] of [
    ['/fleet/bans', { entry: '45.9.8.0/24', target: all }],
    ['/fleet/bans', { entry: '45.9.7.1', target: all, duration: -1 }],
    [bans, { ip: '45.9.6.1' }],
    ['/alerts/silences', { target: here, reason: 'restart', ends_at: inHours(23) }],
  ] as const)
    expect(await ask('POST', path, body), path).toMatchObject({ status: 201 })
  const source = { kind: 'countries', countries: ['AQ'] } as const
  expect(await ask('POST', '/lists', { name: 'a', source, target: all, mode: 'enforce' })).toMatchObject(refusal)
  expect(await ask('POST', '/lists', { name: 'b', source, target: all, allow_wide: true })).toMatchObject(refusal)
  expect(await ask('POST', '/lists', { name: 'c', source, target: all })).toMatchObject({ status: 201 })
  const enforced = await admin.client.call('POST /lists', {
    body: { name: 'd', source: { ...source }, target: here, mode: 'enforce' },
  } as never)
  const list = `/lists/${(enforced as { id: number }).id}`
  for (const change of [
    { target: all },
    { source: { kind: 'countries', countries: ['NL'] } },
    { max_change: 1 },
    { max_addresses: 2 ** 32 },
  ])
    expect(await ask('PATCH', list, change), JSON.stringify(change)).toMatchObject(refusal)
  expect(await ask('POST', `${list}/refresh`, { accept_change: true })).toMatchObject(refusal)
  for (const change of [{ name: 'e' }, { mode: 'observe' }])
    expect(await ask('PATCH', list, change), JSON.stringify(change)).toMatchObject({ status: 200 })
  const { id } = await admin.client.call('POST /fleet/bans', {
    body: { entry: '45.10.0.0/16', target: { server_ids: [host.id] }, duration: 60 },
  })
  expect(await ask('PATCH', `/fleet/bans/${id}`, { duration: -1 })).toMatchObject(refusal)
})

test('a rule that is armed is not loosened', async () => {
  const rule = await admin.client.call('POST /rules', { body: { name: 'crowd', min_servers: 2 } })
  expect(await ask('PATCH', `/rules/${rule.id}`, { per_hour: 9 })).toMatchObject({ status: 200 })
  await admin.client.call('POST /rules/{id}/simulate', { params: { id: rule.id }, body: {} })
  await admin.client.call('POST /rules/{id}/arm', { params: { id: rule.id } })
  expect(await ask('PATCH', `/rules/${rule.id}`, { per_hour: 1000, standing: 10_000 })).toMatchObject(refusal)
})

test('a template is not deployed by the way of commands either', async () => {
  const deployment = { type: 'deploy-template', params: { template_id: 'sshd', settings: {} } }
  const queued = await admin.client.call('POST /servers/{serverId}/commands', {
    params: { serverId: host.id },
    body: deployment as never,
  })
  await host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id }, query: {} })
  const result = { success: false, output: 'refused', exit_code: 1 }
  await host.client.call('POST /commands/{commandId}/result', { params: { commandId: queued.id }, body: result })
  for (const [path, body] of [
    [`/servers/${host.id}/commands`, deployment],
    ['/commands/batch', { server_ids: [host.id], ...deployment }],
    [`/commands/${queued.id}/retry`, {}],
  ] as const)
    expect(await ask('POST', path, body), path).toMatchObject(refusal)
  expect((await admin.client.call('GET /commands', { query: { status: 'pending' } })).total).toBe(0)
})

test('what is harmless goes on, and so does whoever came by token or key', async () => {
  expect(await ask('POST', '/whitelist', { ip: '198.51.100.0/24' })).toMatchObject({ status: 201 })
  expect(await ask('POST', `/servers/${host.id}/commands`, { type: 'reload-all' })).toMatchObject({ status: 201 })
  const { key } = await admin.client.call('POST /keys', { body: { name: 'script', permissions: 'admin' } })
  for (const token of [admin.token, key])
    expect(await raw(server, 'PATCH', '/api/v1/users/1', { token, body: {} })).toMatchObject({ status: 200 })
})

test('guessing the proof is counted like guessing a sign-in; the right one opens for a quarter of an hour', async () => {
  expect(await ask('POST', '/auth/step-up', {})).toMatchObject({ status: 400 })
  expect(await ask('POST', '/auth/step-up', { code: '123456' })).toMatchObject({ status: 409 })
  expect(await ask('POST', '/auth/step-up', { password: 'Wrong-1-password' })).toMatchObject({ status: 401 })
  expect(await ask('PATCH', '/users/1', {})).toMatchObject(refusal)
  const before = clock()
  const proved = await ask('POST', '/auth/step-up', { password })
  expect(proved).toMatchObject({ status: 200, json: { message: expect.any(String) } })
  const until = Date.parse((proved.json as { proved_until: string }).proved_until)
  expect(until).toBeGreaterThanOrEqual(before + 15 * 60_000 - 1000)
  expect(until).toBeLessThanOrEqual(clock() + 15 * 60_000)
  expect(await ask('PATCH', '/users/1', {})).toMatchObject({ status: 200 })
  clock.forward(16 * 60)
  expect(await ask('PATCH', '/users/1', {})).toMatchObject(refusal)
  for (let tries = 0; tries < 10; tries++) await ask('POST', '/auth/step-up', { password: `Wrong-${tries}-password` })
  expect(await ask('POST', '/auth/step-up', { password })).toMatchObject({ status: 429 })
  const told = await admin.client.call('GET /settings/audit', { query: { action: 'auth.step_up' } })
  expect(told.total).toBe(1)
})
