import { expect } from 'vitest'
import { testAlone as test } from '../../testing/alone.ts'
import { aHost, eventually, movableClock, raw } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withServer } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
withServer({ clock }, made => ({ server, admin } = made))

const beat = async (
  host: EnrolledHost,
  agent_version = '1.0.0',
  level: string | null = 'protected',
  supported = true,
) => {
  const capabilities = { shield: { supported, mode: null, owned: false, driver: null, reason: null } }
  const counted = { ok: 9, not_ok: 0, unknown: 0 }
  const protection = level && { level, since: new Date(clock()).toISOString(), summary: 'Fine.', checks: [], counted }
  const body = { hostname: 'web', agent_id: host.agentId, agent_version, protection, capabilities }
  const reply = await raw(server, 'POST', '/api/v1/servers/heartbeat', { token: host.key, body })
  expect(reply.status).toBe(200)
}
const read = ({ id }: EnrolledHost) => admin.client.call('GET /servers/{serverId}', { params: { serverId: id } })
const testsOf = async ({ id }: EnrolledHost) =>
  (await admin.client.call('GET /commands', { query: { server_id: id, type: 'self-test' } })).commands
/** Takes the command that Stockade sent by itself, and answers it. */
const answer = async (host: EnrolledHost, output: string, success = true) => {
  const [command] = await eventually(async () => {
    const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: host.id },
    })
    expect(commands).toMatchObject([{ type: 'self-test' }])
    return commands
  })
  const params = { commandId: command?.id ?? '' }
  await host.client.call('POST /commands/{commandId}/result', { params, body: { success, output } })
  return params.commandId
}
const daily = (self_tests: 'off' | 'enrolment' | 'daily') =>
  admin.client.call('PATCH /settings', { body: { security: { self_tests } } })
const proved = JSON.stringify({ result: 'proved', steps: [] })
/** Every host reports again, so that a run of the job has passed once `other` was asked. */
const othersAreAsked = async (name: string) => {
  const other = await aHost(server, admin.client, name)
  await beat(other)
  await answer(other, proved)
}

test('a host is asked once after its enrolment, and shows how the test ended', async () => {
  const host = await aHost(server, admin.client, 'first')
  expect((await read(host)).last_self_test).toBeNull()
  await beat(host)
  const command_id = await answer(host, proved)
  expect((await read(host)).last_self_test).toEqual({ result: 'proved', at: expect.any(String), command_id })
  expect(await testsOf(host)).toMatchObject([{ initiated_by: 'system', status: 'completed' }])
  await othersAreAsked('second')
  expect(await testsOf(host)).toHaveLength(1)
})

test('an upgraded agent is asked again, and a test that failed is shown as failed', async () => {
  const host = await aHost(server, admin.client, 'upgraded')
  await beat(host)
  await answer(host, proved)
  await beat(host, '1.1.0')
  const command_id = await answer(host, JSON.stringify({ result: 'failed', steps: [] }), false)
  expect((await read(host)).last_self_test).toMatchObject({ result: 'failed', command_id })
})

test('daily: it is asked again after a day, unless it does not test', async () => {
  await daily('daily')
  const host = await aHost(server, admin.client, 'daily')
  const old = await aHost(server, admin.client, 'old')
  await beat(host)
  await beat(old)
  await answer(host, proved)
  await answer(old, 'Unknown command: self-test.', false)
  expect((await read(old)).last_self_test).toMatchObject({ result: 'untried' })
  clock.forward(86_401)
  admin = await server.signIn()
  await beat(old)
  await beat(host)
  await answer(host, proved)
  expect(await testsOf(host)).toHaveLength(2)
  expect(await testsOf(old)).toHaveLength(1)
  await daily('enrolment')
})

test('off, silent about its protection, without a shield, or in quarantine: nobody is asked', async () => {
  const silent = await aHost(server, admin.client, 'silent')
  const held = await aHost(server, admin.client, 'held')
  const bare = await aHost(server, admin.client, 'bare')
  await beat(silent, '1.0.0', null)
  await beat(bare, '1.0.0', 'protected', false)
  await admin.client.call('POST /servers/{serverId}/quarantine', {
    params: { serverId: held.id },
    body: { reason: 'looks odd' },
  })
  await beat(held)
  await othersAreAsked('third')
  expect(await testsOf(silent)).toEqual([])
  expect(await testsOf(held)).toEqual([])
  expect(await testsOf(bare)).toEqual([])
  await daily('off')
  const off = await aHost(server, admin.client, 'off')
  await beat(off)
  // The job runs every two seconds: this host would be asked in the run that asks the other one.
  await daily('enrolment')
  expect(await testsOf(off)).toEqual([])
  await answer(off, proved)
})

test('a host can name a result for its own command only, and no other result', async () => {
  const host = await aHost(server, admin.client, 'liar')
  await beat(host)
  await answer(host, JSON.stringify({ result: 'excellent', steps: '<b>' }))
  expect((await read(host)).last_self_test).toMatchObject({ result: 'untried' })
})
