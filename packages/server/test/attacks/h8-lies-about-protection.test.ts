import { afterAll, beforeAll, expect, test } from 'vitest'
import WebSocket from 'ws'
import { aHost, raw, startServer, until, within } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { aUser } from '../../src/testing/scene.ts'

/* A stolen host lies about its protection and about that of others, and an operator of one server asks for those of others. */

let server: TestServer
let admin: Signed
let stolen: EnrolledHost
let other: EnrolledHost
let limited: string
beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  stolen = await aHost(server, admin.client, 'stolen')
  other = await aHost(server, admin.client, 'other')
  limited = (await aUser(server, admin.client, 'limited', 'Operator', [other.id])).token
})
afterAll(() => server.close())

const report = (level: 'protected' | 'unprotected', summary: string) => ({
  level,
  since: new Date().toISOString(),
  summary,
  checks: [],
  counted: { ok: 9, not_ok: 0, unknown: 0 },
})
const beat = (host: EnrolledHost, more: object) =>
  raw(server, 'POST', '/api/v1/servers/heartbeat', {
    token: host.key,
    body: { hostname: 'host', agent_id: host.agentId, ...more },
  })
const detail = ({ id }: EnrolledHost) => admin.client.call('GET /servers/{serverId}', { params: { serverId: id } })
const orderTest = async ({ id }: EnrolledHost) =>
  (
    await admin.client.call('POST /servers/{serverId}/commands', {
      params: { serverId: id },
      body: { type: 'self-test', params: {} },
    })
  ).id
const answer = (by: EnrolledHost, commandId: string, result: string) =>
  raw(server, 'POST', `/api/v1/commands/${commandId}/result`, {
    token: by.key,
    body: { success: result !== 'failed', output: JSON.stringify({ result, steps: [] }), exit_code: 0 },
  })

test('the key of a host speaks for that host, whatever its report names', async () => {
  await beat(other, { protection: report('protected', 'All checks are fine.') })
  const lie = { server_id: other.id, id: other.id, protection: report('unprotected', 'The other one is down.') }
  expect((await beat(stolen, { ...lie, hostname: 'other', agent_id: stolen.agentId })).status).toBe(200)
  expect((await detail(other)).protection).toMatchObject({ level: 'protected', summary: 'All checks are fine.' })
  expect((await detail(stolen)).protection).toMatchObject({ level: 'unprotected' })
  // The name that an administrator gave stays.
  expect((await detail(stolen)).hostname).toBe('stolen')
})

test('a host proves nothing for another one, and its word does not cover a test that failed', async () => {
  await beat(stolen, { protection: report('protected', 'All checks are fine.') })
  const ofOther = await orderTest(other)
  expect((await answer(stolen, ofOther, 'proved')).status).toBeGreaterThanOrEqual(403)
  expect((await detail(other)).last_self_test).toBeNull()
  const own = await orderTest(stolen)
  const { commands } = await stolen.client.call('GET /servers/{serverId}/commands/pending', {
    params: { serverId: stolen.id },
  })
  expect(commands.map(({ id }) => id)).toContain(own)
  // A claim in a report is no result.
  await beat(stolen, {
    protection: report('protected', 'All checks are fine.'),
    last_self_test: { result: 'proved', at: new Date().toISOString(), command_id: own },
  })
  expect((await detail(stolen)).last_self_test).toBeNull()
  expect((await answer(stolen, own, 'failed')).status).toBe(200)
  expect(await detail(stolen)).toMatchObject({
    protection: { level: 'protected' },
    last_self_test: { result: 'failed', command_id: own },
  })
})

test('an operator of one server neither sees nor tests the protection of another one', async () => {
  const asked: string[] = []
  const feed = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, ['stockade.v1', `bearer.${limited}`])
  feed.on('message', data => asked.push(String(data)))
  await within(new Promise((resolve, reject) => feed.once('open', resolve).once('error', reject)), 'the live feed')
  await beat(stolen, { protection: report('unprotected', 'A secret of the stolen server.') })
  await beat(other, { protection: report('unprotected', 'A problem of its own server.') })
  // That of the stolen one would have come before it.
  await until(() => asked.some(text => text.includes(other.id) && text.includes('"unprotected"')), 'what is its own')
  feed.close()
  expect(asked.filter(text => text.includes('A secret') || text.includes(stolen.id))).toEqual([])

  const ask = (method: string, path: string, body?: unknown) =>
    raw(server, method, `/api/v1${path}`, { token: limited, ...(body === undefined ? {} : { body }) })
  const list = await ask('GET', '/servers?protection=unprotected')
  expect(JSON.stringify(list.json)).toContain(other.id)
  expect(JSON.stringify(list.json)).not.toContain(stolen.id)
  for (const [method, path, body] of [
    ['GET', `/servers/${stolen.id}`, undefined],
    ['POST', `/servers/${stolen.id}/commands`, { type: 'self-test', params: { level: 'engine' } }],
    ['GET', `/commands?server_id=${stolen.id}&type=self-test`, undefined],
  ] as const) {
    const reply = await ask(method, path, body)
    expect([403, 404], `${method} ${path}`).toContain(reply.status)
    expect(JSON.stringify(reply.json)).not.toContain('A secret')
  }
  expect(
    await admin.client.call('GET /commands', { query: { server_id: stolen.id, type: 'self-test' } }),
  ).toMatchObject({ total: 1 })
})

test('a name and a finding with characters of a shell stay text, in no command', async () => {
  const name = `web';$(touch x)\`id\`"|&`
  const made = await admin.client.call('POST /servers', { body: { hostname: name } })
  expect(made.install_command).not.toContain('touch x')
  expect(made.install_command).not.toContain('`')
  const found = {
    id: 'jail',
    subject: '$(reboot)',
    state: 'bad',
    since: new Date().toISOString(),
    detail: '`id` is down',
  }
  await beat(stolen, { hostname: name, protection: { ...report('unprotected', name), checks: [found] } })
  expect(await detail(stolen)).toMatchObject({
    hostname: 'stolen',
    reported_hostname: name,
    protection: { summary: name, checks: [{ subject: '$(reboot)', detail: '`id` is down' }] },
  })
})
