import { describe, expect, test } from 'vitest'
import { times } from '@stockade/contract'
import { aHost, eventually, movableClock, openPoll, raw } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withHost } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let host: EnrolledHost
withHost({ clock }, made => ({ server, admin, host } = made))
const unknown = '01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'
const create = (type: string, params?: object, on = host) =>
  admin.client.call('POST /servers/{serverId}/commands', {
    params: { serverId: on.id },
    body: { type, ...(params ? { params } : {}) } as never,
  })
const read = (commandId: string) => admin.client.call('GET /commands/{commandId}', { params: { commandId } })
const poll = (wait = 0, on = host) =>
  on.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: on.id }, query: { wait } })
const answer = (commandId: string, body: { success: boolean; output?: string; exit_code?: number | null }, on = host) =>
  on.client.call('POST /commands/{commandId}/result', { params: { commandId }, body })

test('a command goes from pending to running to completed', async () => {
  const made = await create('jail-reload', { jail: 'sshd' })
  expect(made).toEqual({
    id: expect.any(String),
    type: 'jail-reload',
    status: 'pending',
    created_at: expect.any(String),
  })
  expect(await read(made.id)).toMatchObject({
    status: 'pending',
    result: null,
    started_at: null,
    completed_at: null,
    initiated_by: 'admin',
    retry_of: null,
    cancelled: false,
  })
  expect(await poll()).toMatchObject({ commands: [{ id: made.id, type: 'jail-reload', params: { jail: 'sshd' } }] })
  expect(await read(made.id)).toMatchObject({ status: 'running', started_at: expect.any(String), completed_at: null })
  expect(await poll()).toMatchObject({ commands: [] })
  expect(await answer(made.id, { success: true, output: 'done\u0000', exit_code: 0 })).toEqual({
    message: expect.any(String),
  })
  expect(await read(made.id)).toMatchObject({
    status: 'completed',
    result: { success: true, output: 'done\ufffd', exit_code: 0 },
    completed_at: expect.any(String),
    server: { id: host.id },
  })
})

test('the same result again is fine, another one is refused', async () => {
  const { id } = await create('reload-all')
  await poll()
  for (let time = 0; time < 2; time++) await answer(id, { success: false, output: 'broken', exit_code: 1 })
  await expect(answer(id, { success: true })).rejects.toMatchObject({ status: 409 })
  expect(await read(id)).toMatchObject({ status: 'failed', result: { success: false, output: 'broken', exit_code: 1 } })
})

test('a heartbeat carries commands, and a long poll wakes for one', async () => {
  const { id } = await create('reload-all')
  expect((await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01' } })).commands).toEqual([
    { id, type: 'reload-all', params: {} },
  ])
  await answer(id, { success: true })
  const before = await openPoll(await aHost(server, admin.client, 'waits'))
  const waiting = poll(times.longPollMaximum)
  await new Promise(resolve => setTimeout(resolve, 100))
  const second = await create('jail-status', { jail: 'sshd' })
  expect((await waiting).commands.map(order => order.id)).toEqual([second.id])
  expect(before.isOpen()).toBe(true)
  await before.close()
  await answer(second.id, { success: true })
  expect(await poll(1)).toMatchObject({ commands: [] })
})

test('a long poll that was broken off claims nothing', async () => {
  const gone = new AbortController()
  const broken = host.client
    .call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: host.id },
      query: { wait: 20 },
      signal: gone.signal,
    })
    .catch(() => 'broken')
  await new Promise(resolve => setTimeout(resolve, 100))
  gone.abort()
  expect(await broken).toBe('broken')
  await new Promise(resolve => setTimeout(resolve, 100))
  const { id } = await create('reload-all')
  expect(await read(id)).toMatchObject({ status: 'pending' })
  await poll()
  await answer(id, { success: true })
})

test('an unanswered command is handed out again after 30 s, three times in all, then times out', async () => {
  const { id } = await create('jail-status', { jail: 'sshd' })
  for (let time = 0; time < 3; time++) {
    expect((await poll()).commands.map(order => order.id)).toEqual([id])
    expect((await poll()).commands).toEqual([])
    clock.forward(31)
  }
  expect((await poll()).commands).toEqual([])
  clock.forward(300)
  await eventually(async () =>
    expect(await read(id)).toMatchObject({ status: 'timeout', result: null, completed_at: expect.any(String) }),
  )
  // The truth wins, also when it comes late.
  await answer(id, { success: true, output: 'late' })
  expect(await read(id)).toMatchObject({ status: 'completed', result: { output: 'late' } })
})

test('what nobody fetched in time surprises nobody later', async () => {
  const quick = await create('service-restart')
  const short = await create('ban-ip', { jail: 'sshd', ip: '203.0.113.40', duration: 1800 })
  const long = await create('unban-ip', { jail: '*', ip: '203.0.113.41' })
  clock.forward(3601)
  admin = await server.signIn()
  await eventually(async () => expect(await read(quick.id)).toMatchObject({ status: 'timeout' }))
  await eventually(async () => expect(await read(short.id)).toMatchObject({ status: 'timeout' }))
  expect((await poll()).commands.map(order => order.id)).toEqual([long.id])
  await answer(long.id, { success: true })
})

test('a server in quarantine gets no command before it is released', async () => {
  const other = await aHost(server, admin.client, 'quarantined')
  const params = { serverId: other.id }
  const { id } = await create('reload-all', undefined, other)
  await admin.client.call('POST /servers/{serverId}/quarantine', { params, body: { reason: 'Key leaked.' } })
  await expect(poll(0, other)).rejects.toMatchObject({ status: 403 })
  expect((await other.client.call('POST /agent/turn', { body: { results: [], wait: 0 } })).commands).toEqual([])
  expect(await read(id)).toMatchObject({ status: 'pending', started_at: null })
  await admin.client.call('DELETE /servers/{serverId}/quarantine', { params })
  expect(await poll(0, other)).toMatchObject({ commands: [{ id }] })
})

test('only a pending command is cancelled, and it is never handed out', async () => {
  const { id } = await create('reload-all')
  await admin.client.call('DELETE /commands/{commandId}', { params: { commandId: id } })
  expect(await read(id)).toMatchObject({
    status: 'failed',
    cancelled: true,
    result: { success: false, output: 'Cancelled by admin', exit_code: null },
  })
  expect((await poll()).commands).toEqual([])
  await expect(answer(id, { success: true })).rejects.toMatchObject({ status: 409 })
  const running = await create('reload-all')
  await poll()
  await expect(
    admin.client.call('DELETE /commands/{commandId}', { params: { commandId: running.id } }),
  ).rejects.toMatchObject({ status: 409 })
  await answer(running.id, { success: true })
})

test('of many, those that wait are cancelled, and each is answered', async () => {
  const [near, far] = [await aHost(server, admin.client, 'near'), await aHost(server, admin.client, 'far')]
  const type = 'jail-status'
  const params_list = Array.from({ length: 300 }, (_, n) => ({ jail: `jail-${n}` }))
  const { commands } = await admin.client.call('POST /commands/batch', {
    body: { server_ids: [near.id, far.id], type, params_list },
  })
  const taken = new Set((await poll(0, near)).commands.map(({ id }) => id))
  expect(taken.size).toBeGreaterThan(0)
  const ids = commands.map(({ id }) => id)
  const { key } = await admin.client.call('POST /keys', {
    body: { name: 'of one', permissions: 'write', server_id: near.id },
  })
  const nearOnes = commands.filter(({ server_id }) => server_id === near.id).slice(-1)
  const farOnes = commands.filter(({ server_id }) => server_id === far.id).slice(-1)
  const [seen = '', unseen = ''] = [...nearOnes, ...farOnes].map(({ id }) => id)
  expect(await server.client(key).call('POST /commands/cancel', { body: { ids: [unseen, seen] } })).toEqual({
    cancelled: 1,
    commands: [
      { id: unseen, cancelled: false, status: null, error: expect.stringMatching(/no access/) },
      { id: seen, cancelled: true, status: 'failed', error: null },
    ],
  })
  expect(await read(seen)).toMatchObject({ cancelled: true, result: { output: 'Cancelled by key:of one' } })
  expect(await read(unseen)).toMatchObject({ status: 'pending' })

  const { cancelled, commands: told } = await admin.client.call('POST /commands/cancel', {
    body: { ids: [...ids, ids[0]?.toUpperCase() ?? '', unknown] },
  })
  expect(cancelled).toBe(600 - taken.size - 1)
  expect(told.map(({ id }) => id)).toEqual([...ids, unknown])
  for (const one of told.slice(0, -1)) {
    const status = taken.has(one.id) ? 'running' : 'failed'
    const done = !taken.has(one.id) && one.id !== seen
    expect(one).toMatchObject({
      cancelled: done,
      status,
      error: done ? null : expect.stringMatching(/^Only a pending/),
    })
  }
  expect(told.at(-1)).toEqual({ id: unknown, cancelled: false, status: null, error: `There is no command ${unknown}.` })
  // What was cancelled is never handed out, and what was handed out can end.
  expect((await poll(0, far)).commands).toEqual([])
  for (const id of taken) await answer(id, { success: true }, near)
  expect((await poll(0, near)).commands).toEqual([])
  const audit = await admin.client.call('GET /settings/audit', { query: { q: 'action:command.cancel', limit: 1 } })
  expect(audit).toMatchObject({ total: expect.any(Number), entries: [{ user: 'admin', details: { type } }] })
  expect(audit.total).toBeGreaterThanOrEqual(600 - taken.size)
})
test.each([[[]], [['1']], [undefined], [Array.from({ length: 10_001 }, () => unknown)]])(
  'a wrong list of what to cancel is refused: %#',
  async ids => {
    const reply = await raw(server, 'POST', '/api/v1/commands/cancel', { token: admin.token, body: { ids } })
    expect(reply).toMatchObject({ status: 400, json: { details: [{ path: expect.stringMatching(/^ids/) }] } })
  },
)

test('a failed one is tried again as a new one; a completed one is not', async () => {
  const { id } = await create('jail-enable', { jail: 'nginx' })
  await poll()
  await answer(id, { success: false })
  const again = await admin.client.call('POST /commands/{commandId}/retry', { params: { commandId: id } })
  expect(again).toMatchObject({ type: 'jail-enable', status: 'pending', retry_of: id })
  expect(again.id).not.toBe(id)
  await poll()
  await answer(again.id, { success: true })
  await expect(
    admin.client.call('POST /commands/{commandId}/retry', { params: { commandId: again.id } }),
  ).rejects.toMatchObject({ status: 409 })
})

test('one answer carries fifty, oldest first, and a hundred results go in one', async () => {
  const many = await aHost(server, admin.client, 'many')
  const ids: string[] = []
  for (let n = 0; n < 60; n++) ids.push((await create('jail-status', { jail: `j${n}` }, many)).id)
  expect((await poll(0, many)).commands.map(order => order.id)).toEqual(ids.slice(0, 50))
  expect((await poll(0, many)).commands.map(order => order.id)).toEqual(ids.slice(50))
  const results = [...ids, unknown].map(id => ({ id, success: true }))
  const reply = await many.client.call('POST /agent/results', { body: { results } })
  expect(reply.results.filter(result => result.error === null).map(result => result.id)).toEqual(ids)
  expect(reply.results.at(-1)).toEqual({ id: unknown, error: expect.stringMatching(/no command/) })
})

test('a batch is all or nothing', async () => {
  const [a, b] = [await aHost(server, admin.client, 'batch-a'), await aHost(server, admin.client, 'batch-b')]
  const before = (await admin.client.call('GET /commands')).total
  const bad = await raw(server, 'POST', '/api/v1/commands/batch', {
    token: admin.token,
    body: { server_ids: [a.id, unknown], type: 'reload-all' },
  })
  expect(bad).toMatchObject({ status: 400, json: { message: expect.stringContaining(unknown) } })
  expect((await admin.client.call('GET /commands')).total).toBe(before)
  const made = await admin.client.call('POST /commands/batch', {
    body: { server_ids: [a.id, b.id, a.id], type: 'unban-ip', params: { ip: '::ffff:203.0.113.9', jail: '*' } },
  })
  expect(made.commands.map(command => command.server_id)).toEqual([a.id, b.id])
  expect(made.commands.every(command => command.status === 'pending')).toBe(true)
  expect(await admin.client.call('GET /commands', { query: { batch_id: made.batch_id } })).toMatchObject({
    total: 2,
    commands: [{ params: { ip: '203.0.113.9', jail: '*' } }, {}],
  })
  expect(
    (await admin.client.call('GET /commands', { query: { server_id: a.id, status: 'pending', type: 'unban-ip' } }))
      .total,
  ).toBe(1)
  expect((await admin.client.call('GET /commands', { query: { to: '2020-01-01T00:00:00+02:00' } })).total).toBe(0)
})

const batch = (body: object) => raw(server, 'POST', '/api/v1/commands/batch', { token: admin.token, body })

test('a list of parameters is a command for each entry and server, in one batch', async () => {
  const [a, b] = [await aHost(server, admin.client, 'list-a'), await aHost(server, admin.client, 'list-b')]
  const params_list = ['198.51.100.1', '198.51.100.2', '2001:DB8::3'].map(ip => ({ ip, jail: 'sshd' }))
  const made = await admin.client.call('POST /commands/batch', {
    body: { server_ids: [a.id, b.id], type: 'ban-ip', params_list },
  })
  expect(made.commands.map(({ server_id, params_index }) => [params_index, server_id])).toEqual(
    [0, 1, 2].flatMap(index => [
      [index, a.id],
      [index, b.id],
    ]),
  )
  const { total, commands } = await admin.client.call('GET /commands', { query: { batch_id: made.batch_id } })
  expect(total).toBe(6)
  expect(new Set(commands.map(({ params }) => params.ip))).toEqual(
    new Set(['198.51.100.1', '198.51.100.2', '2001:db8::3']),
  )
  expect((await poll(0, b)).commands.map(order => order.params.ip)).toEqual([
    '198.51.100.1',
    '198.51.100.2',
    '2001:db8::3',
  ])
})

test('targets are commands each for a server of its own', async () => {
  const [a, b] = [await aHost(server, admin.client, 'target-a'), await aHost(server, admin.client, 'target-b')]
  const targets = [
    { server_id: b.id, params: { ip: '198.51.100.1', jail: 'sshd' } },
    { server_id: a.id.toUpperCase(), params: { ip: '198.51.100.2', jail: '*' } },
    { server_id: b.id, params: { ip: '198.51.100.3', jail: 'nginx' } },
  ]
  const made = await admin.client.call('POST /commands/batch', { body: { type: 'unban-ip', targets } })
  expect(made.commands.map(({ server_id, params_index }) => [params_index, server_id])).toEqual([
    [0, b.id],
    [1, a.id],
    [2, b.id],
  ])
  expect((await poll(0, b)).commands.map(order => order.params)).toEqual([targets[0]?.params, targets[2]?.params])
  expect((await poll(0, a)).commands.map(order => order.params)).toEqual([targets[1]?.params])
  expect(
    (await admin.client.call('POST /commands/batch', { body: { type: 'reload-all', targets: [{ server_id: a.id }] } }))
      .commands,
  ).toHaveLength(1)
})

test('a refused entry is named, and nothing of the batch is queued', async () => {
  const before = (await admin.client.call('GET /commands')).total
  const listed = await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.0/28' } })
  const server_ids = [host.id]
  const bans = ['198.51.100.1', '192.0.2.7', '127.0.0.1'].map(ip => ({ ip, jail: 'sshd' }))
  for (const [at, body] of [
    ['params_list.{}', { type: 'ban-ip', server_ids, params_list: bans }],
    ['targets.{}.params', { type: 'ban-ip', targets: bans.map(params => ({ server_id: host.id, params })) }],
  ] as const) {
    const [one, two] = [1, 2].map(place => `${at.replace('{}', String(place))}.ip`)
    expect(await batch(body)).toMatchObject({
      status: 409,
      json: {
        message: expect.stringMatching(
          /\.ip: 192\.0\.2\.7 is covered by the whitelist entry 192\.0\.2\.0\/28.* 1 more /,
        ),
        details: [{ path: one }, { path: two, message: expect.stringMatching(/loopback/) }],
      },
    })
  }
  const lift = { ip: '198.51.100.1', jail: '*' }
  for (const [path, body] of [
    ['params_list.1.ip', { type: 'unban-ip', server_ids, params_list: [lift, { ...lift, ip: 'x' }] }],
    ['params_list.1.x', { type: 'unban-ip', server_ids, params_list: [lift, { ...lift, x: 1 }] }],
    ['params_list.1', { type: 'unban-ip', server_ids, params_list: [lift, 7] }],
    ['params_list', { type: 'unban-ip', server_ids, params_list: [] }],
    ['params_list', { type: 'unban-ip', server_ids, params: lift, params_list: [lift] }],
    ['params_list', { type: 'unban-ip', server_ids, params_list: Array.from({ length: 1001 }, () => lift) }],
    ['params_list', { type: 'remove-template', server_ids, params_list: [{ template_name: 'x' }] }],
    ['server_ids', { type: 'unban-ip', params_list: [lift] }],
    ['server_ids', { type: 'reload-all' }],
    ['targets', { type: 'reload-all', server_ids, targets: [{ server_id: host.id }] }],
    [
      'targets',
      { type: 'deploy-template', targets: [{ server_id: host.id, params: { template_id: 1, settings: {} } }] },
    ],
    ['targets', { type: 'reload-all', targets: Array.from({ length: 5001 }, () => ({ server_id: host.id })) }],
    [
      'targets.1.params.ip',
      {
        type: 'unban-ip',
        targets: [
          { server_id: host.id, params: lift },
          { server_id: host.id, params: { jail: '*' } },
        ],
      },
    ],
    ['targets.1.server_id', { type: 'reload-all', targets: [{ server_id: host.id }, { server_id: unknown }] }],
  ] as const)
    expect(await batch(body), path).toMatchObject({ status: 400, json: { details: [{ path }] } })
  expect((await admin.client.call('GET /commands')).total).toBe(before)
  await admin.client.call('DELETE /whitelist/{id}', { params: { id: listed.id } })
})

test('a list for many servers has an end', async () => {
  const ids: string[] = []
  for (let n = 0; n < 11; n++)
    ids.push((await admin.client.call('POST /servers', { body: { hostname: `end-${n}` } })).id)
  const params_list = Array.from({ length: 1000 }, () => ({ jail: '*', ip: '198.51.100.1' }))
  expect(await batch({ type: 'unban-ip', server_ids: ids, params_list })).toMatchObject({
    status: 400,
    json: { message: expect.stringMatching(/1000 entries for 11 servers are 11000 commands/) },
  })
  const made = await batch({ type: 'unban-ip', server_ids: ids.slice(0, 10), params_list: params_list.slice(0, 300) })
  expect((made.json as { commands: unknown[] }).commands).toHaveLength(3000)
})

test("another server's commands are none of an agent's business", async () => {
  const other = await aHost(server, admin.client, 'other')
  const { id } = await create('reload-all')
  await expect(answer(id, { success: true }, other)).rejects.toMatchObject({ status: 403 })
  await expect(
    other.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id } }),
  ).rejects.toMatchObject({ status: 403 })
  await expect(answer(unknown, { success: true })).rejects.toMatchObject({ status: 404 })
  await poll()
  await answer(id, { success: true })
})

describe('bad input', () => {
  test.each([
    ['type', { type: 'rm' }],
    ['type', {}],
    ['params.jail', { type: 'jail-status' }],
    ['params.jail', { type: 'jail-status', params: { jail: '-x' } }],
    ['params.jail', { type: 'jail-status', params: { jail: '../etc' } }],
    ['params.jail', { type: 'jail-status', params: { jail: 'a;b' } }],
    ['params.jail', { type: 'jail-status', params: { jail: 'x'.repeat(65) } }],
    ['params.jail', { type: 'ban-ip', params: { jail: '*', ip: '203.0.113.1' } }],
    ['params.ip', { type: 'ban-ip', params: { jail: 'sshd' } }],
    ['params.ip', { type: 'ban-ip', params: { jail: 'sshd', ip: '010.0.0.1' } }],
    ['params.ip', { type: 'ban-ip', params: { jail: 'sshd', ip: '203.0.0.0/15' } }],
    ['params.ip', { type: 'ban-ip', params: { jail: 'sshd', ip: '2001:db8::/31' } }],
    ['params.duration', { type: 'ban-ip', params: { jail: 'sshd', ip: '203.0.113.1', duration: 0 } }],
    ['params.duration', { type: 'ban-ip', params: { jail: 'sshd', ip: '203.0.113.1', duration: 31557601 } }],
    ['params.reason', { type: 'ban-ip', params: { jail: 'sshd', ip: '203.0.113.1', reason: 'x'.repeat(501) } }],
    ['params.bantime', { type: 'ban-ip', params: { jail: 'sshd', ip: '203.0.113.1', bantime: 1 } }],
    ['params.x', { type: 'reload-all', params: { x: 1 } }],
    ['params.template_id', { type: 'deploy-template', params: { template_id: 999999, settings: {} } }],
    ['params.template_name', { type: 'remove-template', params: { template_name: 'X' } }],
  ])('%s %o', async (path, body) => {
    expect(
      await raw(server, 'POST', `/api/v1/servers/${host.id}/commands`, { token: admin.token, body }),
    ).toMatchObject({ status: 400, json: { details: [{ path }] } })
  })
  test('filters', async () => {
    for (const query of [
      'status=done',
      'type=rm',
      'from=yesterday',
      'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
      'from=',
      `server_id=${unknown}`,
      'limit=101',
      'x=1',
    ])
      expect(await raw(server, 'GET', `/api/v1/commands?${query}`, { token: admin.token }), query).toMatchObject({
        status: 400,
      })
    expect(await raw(server, 'GET', `/api/v1/commands/${unknown}`, { token: admin.token })).toMatchObject({
      status: 404,
    })
  })
})
