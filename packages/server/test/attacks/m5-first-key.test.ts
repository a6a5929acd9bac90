import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { raw } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'
import { withServer } from '../../src/testing/scene.ts'

/* The key of a registration outlived the enrolment of an agent, and stood in no list. */

let server: TestServer
let admin: Signed
withServer({}, made => ({ server, admin } = made))

const beat = async (key: string, agent_id?: string) =>
  (await raw(server, 'POST', '/api/v1/servers/heartbeat', { token: key, body: { hostname: 'web', agent_id } })).status
const register = () => admin.client.call('POST /servers', { body: { hostname: 'web' } })
const enrol = async (command: string) => {
  const agentId = randomUUID()
  const body = { token: command.split(' ').at(-1) ?? '', hostname: 'web', agent_id: agentId }
  const { api_key } = await server.client().call('POST /agent/enroll', { body })
  return { key: api_key, agentId }
}
const keysOf = async (serverId: string) =>
  (await admin.client.call('GET /servers/{serverId}', { params: { serverId } })).keys

test('it is listed by its number, and ends when the enrolled agent is first heard of', async () => {
  const made = await register()
  expect(await keysOf(made.id)).toMatchObject([
    { id: made.api_key_id, kind: 'server', last_used: null, prefix: made.api_key.slice(0, 8) },
  ])
  const agent = await enrol(made.install_command)
  expect((await keysOf(made.id))?.map(({ kind }) => kind)).toEqual(['server', 'agent'])
  expect(await beat(agent.key, agent.agentId)).toBe(200)
  expect(await beat(made.api_key)).toBe(401)
  expect((await keysOf(made.id))?.map(({ kind }) => kind)).toEqual(['agent'])
})
test('one that was used goes on, until it is revoked', async () => {
  const made = await register()
  expect(await beat(made.api_key)).toBe(200)
  const agent = await enrol(made.install_command)
  expect(await beat(agent.key, agent.agentId)).toBe(200)
  expect(await beat(made.api_key)).toBe(200)
  await admin.client.call('DELETE /keys/{keyId}', { params: { keyId: made.api_key_id } })
  expect(await beat(made.api_key)).toBe(401)
  expect(await beat(agent.key, agent.agentId)).toBe(200)
})
test('the list is for administrators', async () => {
  const made = await register()
  const key = await admin.client.call('POST /keys', { body: { name: 'reader' } })
  const read = await server.client(key.key).call('GET /servers/{serverId}', { params: { serverId: made.id } })
  expect(read.keys).toBe(null)
})
