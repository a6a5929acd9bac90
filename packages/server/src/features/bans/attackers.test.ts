import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let web: Awaited<ReturnType<typeof aHost>>
let mail: Awaited<ReturnType<typeof aHost>>
const hour = 3_600_000
const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * hour).toISOString()
const line = (user: string) => `sshd[10]: Failed password for invalid user ${user} from 192.0.2.7 port 4000 ssh2`

beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  mail = await aHost(server, admin.client, 'mail-01')
  const report = (host: typeof web, ip: string, jail: string, hoursAgo: number, ban_duration: number, log_lines = '') =>
    host.client.call('POST /bans', {
      body: { ip, jail, banned_at: at(hoursAgo), ban_duration, log_lines, event_id: randomUUID() },
    })
  await report(web, '192.0.2.7', 'sshd', 30, 3600, line('root'))
  await report(web, '192.0.2.7', 'sshd', 3, 3600, line('root'))
  await report(mail, '192.0.2.7', 'recidive', 2.5, 86_400, '[sshd] Ban 192.0.2.7')
  await report(web, '192.0.2.8', 'sshd', 1, -1, [line('admin'), line('root'), line('root')].join('\n'))
  await report(mail, '2001:db8::1', 'postfix', 5, 600)
})
afterAll(() => server.close())

describe('GET /bans/attackers', () => {
  test('one row an address, the last one first, with what is true now', async () => {
    const { attackers, totals, total } = await admin.client.call('GET /bans/attackers')
    expect(attackers.map(({ ip }) => ip)).toEqual(['192.0.2.8', '192.0.2.7', '2001:db8::1'])
    expect({ total, totals }).toEqual({ total: 3, totals: { attackers: 3, bans: 5, active_addresses: 2 } })
    const [permanent, often, over] = attackers
    expect(permanent).toMatchObject({
      bans: 1,
      servers: 1,
      state: 'banned',
      permanent: true,
      expires_at: null,
      reason: { kind: 'failed-logins', attempts: 3, users: ['root', 'admin'] },
    })
    expect(often).toMatchObject({
      bans: 3,
      servers: 2,
      jails: ['sshd', 'recidive'],
      jail_count: 2,
      active_bans: 1,
      active_servers: 1,
      state: 'banned',
      permanent: false,
    })
    expect(often?.hours).toHaveLength(24)
    expect(often?.hours.slice(-4)).toEqual([1, 1, 0, 0])
    expect(over).toMatchObject({ state: 'expired', active_bans: 0, expires_at: null, reason: null, permanent: false })
  })

  test('filters choose the bans that count; the state stays that of the address', async () => {
    const { attackers, totals } = await admin.client.call('GET /bans/attackers', {
      query: { jail: 'sshd', from: at(24), sort: 'bans', order: 'asc' },
    })
    expect(totals).toEqual({ attackers: 2, bans: 2, active_addresses: 2 })
    expect(attackers.find(({ ip }) => ip === '192.0.2.7')).toMatchObject({
      bans: 1,
      servers: 1,
      jails: ['sshd'],
      state: 'banned',
    })
    const none = await admin.client.call('GET /bans/attackers', { query: { jail: 'unheard-of' } })
    expect(none).toMatchObject({ attackers: [], total: 0, totals: { attackers: 0, bans: 0, active_addresses: 0 } })
  })

  test('a user sees the bans of the own servers only', async () => {
    const { client } = await aUser(server, admin.client, 'mailer', 'Viewer', [mail.id])
    const { attackers, totals } = await client.call('GET /bans/attackers')
    expect(attackers.map(({ ip, bans }) => [ip, bans])).toEqual([
      ['192.0.2.7', 1],
      ['2001:db8::1', 1],
    ])
    expect(totals).toEqual({ attackers: 2, bans: 2, active_addresses: 1 })
    const booted = await client.call('GET /bootstrap')
    expect(booted.summary?.servers.map(({ hostname }) => hostname)).toEqual(['mail-01'])
    expect(booted.license).toBeNull()
  })

  test('a page past the end is empty with the right total', async () => {
    const { attackers, total } = await admin.client.call('GET /bans/attackers', { query: { page: 9, limit: 2 } })
    expect({ attackers, total }).toEqual({ attackers: [], total: 3 })
  })

  test('the whitelist shows in the state, and who lifted a ban', async () => {
    await admin.client.call('POST /whitelist', { body: { ip: '2001:db8::/64', description: 'Partner' } })
    const { attackers } = await admin.client.call('GET /bans/attackers', { query: { ip: '2001:db8::1' } })
    expect(attackers).toMatchObject([{ state: 'whitelisted', whitelist_description: 'Partner' }])
  })
})

test('the bootstrap has each reply in its own shape', async () => {
  const booted = await admin.client.call('GET /bootstrap')
  const options = await admin.client.call('GET /auth/options')
  const me = await admin.client.call('GET /auth/me')
  expect(booted).toEqual({
    // Each request is activity of the session.
    me: { ...me, addresses: me.addresses.map(address => ({ ...address, last_activity: anyText })) },
    options: { ...options, server_time: anyText },
    preferences: await admin.client.call('GET /users/me/preferences'),
    summary: await admin.client.call('GET /servers/summary'),
    license: await admin.client.call('GET /settings/license'),
    live_position: anyText,
  })
})
const anyText: unknown = expect.any(String)
