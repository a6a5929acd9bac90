import { expect, test } from 'vitest'
import { aHost, movableClock } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withHost } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let host: EnrolledHost
withHost({ clock }, made => ({ server, admin, host } = made))

const ban = async (ip: string, jail = 'stockade') => {
  await host.client.call('POST /bans', { body: { ip, jail, ban_duration: 3600 } })
}
const beat = async (...dropped: { ip: string; packets: number }[]) => {
  clock.forward(30)
  await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01', dropped } })
}
const dropsOf = async (ip: string, jail = 'stockade') => {
  const { bans } = await admin.client.call('GET /bans', { query: { ip, jail } })
  return bans.map(({ dropped_packets, dropped_at }) => [dropped_packets, dropped_at])
}

test('packets that a host dropped add up at its bans, also after it counts from 0 again', async () => {
  await ban('192.0.2.1')
  expect(await dropsOf('192.0.2.1')).toEqual([[null, null]])
  const before = new Date(clock()).toISOString()
  await beat({ ip: '192.0.2.1', packets: 5 })
  const [first] = await dropsOf('192.0.2.1')
  expect(first?.[0]).toBe(5)
  expect(String(first?.[1]) > before).toBe(true)
  // The answer was lost: the same count again is no news.
  await beat({ ip: '192.0.2.1', packets: 5 })
  expect(await dropsOf('192.0.2.1')).toEqual([first])
  await beat({ ip: '192.0.2.1', packets: 12 })
  await beat({ ip: '192.0.2.1', packets: 3 })
  const [last] = await dropsOf('192.0.2.1')
  expect(last?.[0]).toBe(15)
  expect(String(last?.[1]) > String(first?.[1])).toBe(true)
})

test('they belong to the active ban of the shield on that host alone, IPv6 and ranges included', async () => {
  const other = await aHost(server, admin.client, 'web-02')
  for (const ip of ['192.0.2.2', '2001:db8:7::/64', '198.51.100.0/24']) await ban(ip)
  await ban('192.0.2.2', 'sshd')
  await other.client.call('POST /bans', { body: { ip: '192.0.2.2', jail: 'stockade', ban_duration: 3600 } })
  await beat(
    { ip: '192.0.2.2', packets: 1 },
    { ip: '2001:db8:7::/64', packets: 2 },
    { ip: '198.51.100.0/24', packets: 3 },
    { ip: '203.0.113.1', packets: 4 },
    { ip: 'nonsense', packets: 5 },
  )
  expect((await dropsOf('192.0.2.2')).map(([packets]) => packets).sort()).toEqual([1, null])
  expect(await dropsOf('192.0.2.2', 'sshd')).toEqual([[null, null]])
  expect((await dropsOf('2001:db8:7::/64'))[0]?.[0]).toBe(2)
  expect((await dropsOf('198.51.100.0/24'))[0]?.[0]).toBe(3)
  await host.client.call('POST /bans/batch', {
    body: { bans: [], unbans: [{ ip: '192.0.2.2', jail: 'stockade', unbanned_at: new Date(clock()).toISOString() }] },
  })
  await beat({ ip: '192.0.2.2', packets: 9 })
  expect((await dropsOf('192.0.2.2')).map(([packets]) => packets).sort()).toEqual([1, null])
})
