import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, aServerKey, raw, startServer } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { aUser } from '../../src/testing/scene.ts'

/* Whoever sees one server asks for addresses until the names of the others come up. */

let server: TestServer
let admin: Signed
let here: EnrolledHost
const callers = new Map<string, string>()
const hidden = 'db-internal-prod'

beforeAll(async () => {
  server = await startServer({ env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8' } })
  admin = await server.setUp()
  here = await aHost(server, admin.client, 'here')
  const made = await admin.client.call('POST /servers', { body: { hostname: hidden } })
  const enrolled = await raw(server, 'POST', '/api/v1/agent/enroll', {
    body: {
      token: made.install_command.split(' ').at(-1) ?? '',
      hostname: hidden,
      agent_id: '0198c0de-0000-7000-8000-000000000001',
    },
    headers: { 'x-forwarded-for': '198.51.100.20' },
  })
  expect(enrolled.status).toBe(201)
  callers.set('operator', (await aUser(server, admin.client, 'limited', 'Operator', [here.id])).token)
  callers.set('key of the server', (await aServerKey(server, admin.client, here.id)).token)
})
afterAll(() => server.close())

const ban = (token: string, ip: string) =>
  raw(server, 'POST', `/api/v1/servers/${here.id}/bans`, { token, body: { ip } })

test('neither the look-up nor the refusal of a ban names a server that one does not see', async () => {
  expect(await raw(server, 'GET', '/api/v1/bans/lookup/198.51.100.20', { token: admin.token })).toMatchObject({
    json: { is_server: { hostname: hidden } },
  })
  expect(await ban(admin.token, '198.51.100.20')).toMatchObject({
    status: 409,
    json: { message: expect.stringContaining(hidden) },
  })
  for (const [who, token] of callers) {
    const found = await raw(server, 'GET', '/api/v1/bans/lookup/198.51.100.20', { token })
    expect(found, who).toMatchObject({ status: 200, json: { is_server: null } })
    const refused = [await ban(token, '198.51.100.20'), await ban(token, '198.51.100.0/24')]
    for (const { status, text } of refused) {
      expect(status, who).toBe(409)
      expect(text).toContain('a managed server')
    }
    for (const { text } of [found, ...refused]) expect(text, who).not.toContain(hidden)
  }
})
