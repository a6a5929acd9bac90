import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, password, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'

/* GET /auth/me tells which of one's own addresses are banned: who is locked out comes from another one. */

let server: TestServer
let admin: Signed
let here: EnrolledHost
let there: EnrolledHost
beforeAll(async () => {
  server = await startServer({ env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.1' } })
  admin = await server.setUp()
  here = await aHost(server, admin.client, 'here')
  there = await aHost(server, admin.client, 'there')
})
afterAll(() => server.close())

const from = (ip: string) => ({ 'x-forwarded-for': ip, 'user-agent': `Browser of ${ip}` })
const login = async (ip: string, username = 'admin') =>
  (
    (await raw(server, 'POST', '/api/v1/auth/login', { body: { username, password }, headers: from(ip) })).json as {
      access_token: string
    }
  ).access_token
interface Me {
  server_count: number
  addresses: { ip: string; user_agent: string; current: boolean; whitelisted: boolean; active_bans: unknown[] }[]
}
const me = async (token: string, ip: string) =>
  (await raw(server, 'GET', '/api/v1/auth/me', { token, headers: from(ip) })).json as Me

test('the address of another session is known, with where it is banned', async () => {
  await login('198.51.100.7')
  const token = await login('203.0.113.9')
  await here.client.call('POST /bans', { body: { ip: '198.51.100.7', jail: 'sshd', ban_duration: 3600 } })
  await there.client.call('POST /bans', { body: { ip: '198.51.100.7', jail: 'recidive', ban_duration: -1 } })
  await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.0/24' } })
  const { addresses, server_count } = await me(token, '203.0.113.9')
  expect(server_count).toBe(2)
  const by = new Map(addresses.map(address => [address.ip, address]))
  expect(by.get('203.0.113.9')).toMatchObject({ current: true, whitelisted: true, active_bans: [] })
  const banned = by.get('198.51.100.7')
  expect(banned).toMatchObject({ current: false, whitelisted: false, user_agent: 'Browser of 198.51.100.7' })
  expect(banned?.active_bans).toHaveLength(2)
  expect(banned?.active_bans).toContainEqual({
    id: expect.any(Number),
    jail: 'sshd',
    server: 'here',
    server_id: here.id,
  })
})
test('whoever moved since signing in is listed where they are now', async () => {
  const token = await login('203.0.113.10')
  const { addresses } = await me(token, '2001:db8::5')
  expect(addresses[0]).toMatchObject({ ip: '2001:db8::5', current: true })
  expect(addresses.find(({ ip }) => ip === '203.0.113.10')).toMatchObject({ current: false })
})
test('at most ten, and nobody hears of servers that are not theirs', async () => {
  const { id } = await admin.client.call('POST /users', {
    body: { username: 'viewer', email: 'viewer@stockade.example', password, role: 'Viewer' },
  })
  await admin.client.call('PUT /users/{userId}/server-access', {
    params: { userId: id },
    body: { access_type: 'specific', server_ids: [there.id] },
  })
  await login('198.51.100.7', 'viewer')
  for (let n = 20; n < 32; n++) await login(`203.0.113.${n}`, 'viewer')
  const token = await login('198.51.100.7', 'viewer')
  const { addresses, server_count } = await me(token, '198.51.100.7')
  expect(server_count).toBe(1)
  expect(addresses).toHaveLength(10)
  expect(addresses.find(({ ip }) => ip === '198.51.100.7')?.active_bans).toMatchObject([{ server: 'there' }])
})
test('the name of an address is asked for only on demand', async () => {
  const plain = await admin.client.call('GET /bans/lookup/{ip}', { params: { ip: '198.51.100.7' } })
  expect(plain.reverse_name).toBeNull()
  // Nobody gives names to this range, whatever resolver there is.
  const asked = await admin.client.call('GET /bans/lookup/{ip}', {
    params: { ip: '198.51.100.7' },
    query: { reverse: true },
  })
  expect(asked).toEqual(plain)
  expect(
    await raw(server, 'GET', '/api/v1/bans/lookup/198.51.100.7?reverse=perhaps', { token: admin.token }),
  ).toMatchObject({ status: 400 })
})
