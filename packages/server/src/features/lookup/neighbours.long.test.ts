import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'

let server: TestServer
let admin: Signed
let hosts: Awaited<ReturnType<typeof aHost>>[]
const day = 86_400_000

beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  hosts = [await aHost(server, admin.client, 'web-01'), await aHost(server, admin.client, 'web-02')]
  const report = (index: number, ip: string, daysAgo: number, ban_duration = -1) =>
    hosts[index]?.client.call('POST /bans', {
      body: {
        ip,
        jail: 'sshd',
        ban_duration,
        banned_at: new Date(Date.now() - daysAgo * day).toISOString(),
        event_id: randomUUID(),
      },
    })
  await report(0, '198.51.100.7', 0)
  await report(1, '198.51.100.7', 2, 60)
  await report(1, '198.51.100.255', 40)
  await report(0, '198.51.101.1', 0)
  for (let network = 0; network < 18; network++)
    for (let times = 0; times <= network; times++)
      await report(0, `2001:db8:0:ab${network.toString(16).padStart(2, '0')}::${times}`, 0, 600)
  await report(0, '2001:db8:0:ac00::1', 0)
})
afterAll(() => server.close())
const around = (ip: string, client = admin.client) =>
  client.call('GET /bans/lookup/{ip}/neighbours', { params: { ip } })

test('a /24 of IPv4: each address with bans, what is in force, and 30 days', async () => {
  const { days, ...found } = await around('198.51.100.1')
  expect(found).toEqual({
    range: '198.51.100.0/24',
    total_bans: 3,
    active_bans: 2,
    addresses: 2,
    entries: [
      { ip: '198.51.100.7', octet: 7, bans: 2, active_bans: 1 },
      { ip: '198.51.100.255', octet: 255, bans: 1, active_bans: 1 },
    ],
  })
  expect(days).toHaveLength(30)
  expect(days.slice(-3)).toEqual([1, 0, 1])
  expect(days.reduce((sum, n) => sum + n, 0)).toBe(2)
})

test('a /56 of IPv6: the 16 networks with the most bans', async () => {
  const { entries, ...found } = await around('2001:db8:0:ab42::5')
  expect(found).toMatchObject({ range: '2001:db8:0:ab00::/56', total_bans: 171, active_bans: 171, addresses: 171 })
  expect(entries).toHaveLength(16)
  expect(entries[0]).toEqual({ ip: '2001:db8:0:ab11::/64', octet: null, bans: 18, active_bans: 18 })
})

test('only of the servers that one sees', async () => {
  const { key } = await admin.client.call('POST /keys', {
    body: { name: 'web-02', permissions: 'read', server_id: hosts[1]?.id ?? '' },
  })
  expect(await around('198.51.100.1', server.client(key))).toMatchObject({
    total_bans: 2,
    active_bans: 1,
    addresses: 2,
  })
})
