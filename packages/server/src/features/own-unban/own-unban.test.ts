import { describe, expect, test } from 'vitest'
import { raw, standingClock } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser, withTwoHosts } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost
let viewer: Signed & { readonly id: number }

// The proxy in front of it is the test's own machine.
const clock = standingClock()
withTwoHosts({ clock, env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.1' } }, async scene => {
  ;({ server, admin, web, db } = scene)
  viewer = await aUser(server, admin.client, 'viewer', 'Viewer')
  await admin.client.call('PATCH /settings', { body: { security: { own_unban: true } } })
})

/** Each test has an address of its own, so that none meets what another one left. */
let last = 0
const address = () => `198.51.100.${++last}`
const lift = (from: string, token = viewer.token, more: { headers?: Record<string, string>; body?: object } = {}) =>
  raw(server, 'POST', '/api/v1/bans/own-unban', {
    token,
    headers: { 'x-forwarded-for': from, ...more.headers },
    ...(more.body === undefined ? {} : { body: more.body }),
  })
const ban = (ip: string, host = web) =>
  host.client.call('POST /bans/batch', { body: { bans: [{ ip, jail: 'sshd', ban_duration: 3600 }] } })
const ordersOf = async (host: EnrolledHost) => {
  const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
    params: { serverId: host.id },
  })
  return commands.map(({ type, params }) => ({ type, params }))
}
const entriesFor = async (ip: string) =>
  (await admin.client.call('GET /whitelist', { query: { search: ip } })).whitelist.filter(entry => entry.ip === ip)
/** A viewer of its own, whose turns nobody took. */
const aViewer = (name: string) => aUser(server, admin.client, name, 'Viewer')
const message = (text: string) => ({ json: { message: expect.stringContaining(text) } })

describe('a user at a banned address', () => {
  test('lifts its bans on all servers, for an hour, and that is recorded', async () => {
    const ip = address()
    await ban(ip)
    await ban(ip, db)
    const reply = await lift(ip)
    expect(reply).toMatchObject({ status: 200, json: { ip, lifted_bans: 2, left: 2 } })
    const { expires_at } = reply.json as { expires_at: string }
    expect(Date.parse(expires_at)).toBe(clock() + 3_600_000)
    expect(await entriesFor(ip)).toMatchObject([{ ip, created_by: 'viewer', expires_at }])
    for (const host of [web, db])
      expect(await ordersOf(host)).toContainEqual({ type: 'unban-ip', params: { ip, jail: '*' } })
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'ban.own_unban' } })
    expect(entries[0]).toMatchObject({ user: 'viewer', details: { ip, expires_at } })
    expect(await lift(ip)).toMatchObject({ status: 409, ...message('on the whitelist already') })
  })

  test('lifts what a sharing rule made of it, too', async () => {
    const { id } = await admin.client.call('POST /rules', {
      body: { name: 'two servers', jails: ['sshd'], within: 3600, duration: 7200 },
    })
    await admin.client.call('POST /rules/{id}/simulate', { params: { id }, body: {} })
    await admin.client.call('POST /rules/{id}/arm', { params: { id } })
    const ip = address()
    await ban(ip)
    await ban(ip, db)
    const fleetBans = () => admin.client.call('GET /fleet/bans', { query: { source: `rule:${id}`, active: true } })
    await expect.poll(async () => (await fleetBans()).fleet_bans.map(({ entry }) => entry)).toEqual([ip])
    const { token } = await aViewer('ruled')
    expect(await lift(ip, token)).toMatchObject({ status: 200, json: { ip, lifted_bans: 2 } })
    // Hosts refuse a fleet ban of a whitelisted address.
    expect(await entriesFor(ip)).toHaveLength(1)
    await admin.client.call('POST /rules/{id}/disarm', { params: { id }, body: { lift: true } })
  })

  test('does so three times in 24 hours, also where requests come at the same moment', async () => {
    const { token } = await aViewer('often')
    const ips = Array.from({ length: 5 }, address)
    for (const ip of ips) await ban(ip)
    const replies = await Promise.all(ips.map(ip => lift(ip, token)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409])
    expect(replies.find(({ status }) => status === 409)).toMatchObject(message('3 bans of your own within 24 hours'))
    const entries = await Promise.all(ips.map(entriesFor))
    expect(entries.flat()).toHaveLength(3)
  })

  test('is told in `GET /auth/me` that it may', async () => {
    const me = (token: string) => server.client(token).call('GET /auth/me')
    expect((await me(viewer.token)).own_unban).toBe(true)
    const limited = await aUser(server, admin.client, 'of_one', 'Viewer', [web.id])
    expect((await me(limited.token)).own_unban).toBe(false)
  })
})

describe('nothing is lifted', () => {
  test('where it is switched off', async () => {
    const ip = address()
    await ban(ip)
    await admin.client.call('PATCH /settings', { body: { security: { own_unban: false } } })
    expect(await lift(ip)).toMatchObject({ status: 409, ...message('switched off') })
    await admin.client.call('PATCH /settings', { body: { security: { own_unban: true } } })
    expect(await entriesFor(ip)).toEqual([])
  })

  test('of another address, whatever the request says', async () => {
    const banned = address()
    await ban(banned)
    const here = address()
    const { token } = await aViewer('elsewhere')
    expect(await lift(here, token)).toMatchObject({ status: 409, ...message(`${here} itself is not banned`) })
    expect((await lift(here, token, { body: { ip: banned } })).status).toBe(400)
    // The address that the client wrote stands before the one that the proxy saw.
    expect(await lift(`${banned}, ${here}`, token)).toMatchObject({
      status: 409,
      ...message(`${here} itself is not banned`),
    })
    for (const name of ['x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip'])
      expect(await lift(here, token, { headers: { [name]: banned } })).toMatchObject({
        status: 409,
        ...message(`${here} itself is not banned`),
      })
    expect(await entriesFor(banned)).toEqual([])
  })

  test('by an API key, nor without a session', async () => {
    const ip = address()
    await ban(ip)
    const { key } = await admin.client.call('POST /keys', { body: { name: 'robot', permissions: 'admin' } })
    expect((await lift(ip, key)).status).toBe(403)
    expect((await lift(ip, 'nonsense')).status).toBe(401)
    expect(await entriesFor(ip)).toEqual([])
  })

  test('by a user of some servers, neither on others nor on these', async () => {
    for (const [role, hosts] of [
      ['Viewer', [web.id]],
      ['Operator', [web.id]],
    ] as const) {
      const ip = address()
      await ban(ip, db)
      await ban(ip)
      const { token } = await aUser(server, admin.client, `limited_${role.toLowerCase()}`, role, hosts)
      expect(await lift(ip, token)).toMatchObject({ status: 403, ...message('some servers only') })
      expect(await entriesFor(ip)).toEqual([])
    }
  })

  test('by a user who must set up a second factor first', async () => {
    const ip = address()
    await ban(ip)
    const { id, token } = await aViewer('no_factor')
    await admin.client.call('PATCH /users/{userId}', { params: { userId: id }, body: { mfa_required: true } })
    expect((await lift(ip, token)).status).toBe(403)
  })

  test('that a person banned: on a server, on all of them, or by a range', async () => {
    const { token } = await aViewer('banned_on_purpose')
    const ip = address()
    const { command_id } = await admin.client.call('POST /servers/{serverId}/bans', {
      params: { serverId: web.id },
      body: { ip, jail: 'sshd', duration: 600 },
    })
    await web.client.call('POST /bans', { body: { ip, jail: 'sshd', ban_duration: 600, command_id } })
    expect(await lift(ip, token)).toMatchObject({ status: 409, ...message('on purpose') })

    const fleet = address()
    await ban(fleet)
    await admin.client.call('POST /fleet/bans', { body: { entry: fleet, target: { all: true }, reason: 'abuse' } })
    expect(await lift(fleet, token)).toMatchObject({ status: 409, ...message('on purpose') })

    await web.client.call('POST /bans/batch', {
      body: { bans: [{ ip: '203.0.113.0/28', jail: 'sshd', ban_duration: 600 }] },
    })
    expect(await lift('203.0.113.5', token)).toMatchObject({
      status: 409,
      ...message('203.0.113.5 itself is not banned'),
    })
    for (const each of [ip, fleet, '203.0.113.5']) expect(await entriesFor(each)).toEqual([])
    // What was refused took no turn.
    const own = address()
    await ban(own)
    expect(await lift(own, token)).toMatchObject({ status: 200, json: { left: 2 } })
  })

  test('where a range of the whitelist covers the address already', async () => {
    await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.64/26' } })
    expect(await lift('203.0.113.70')).toMatchObject({
      status: 409,
      ...message('203.0.113.70 is on the whitelist already (203.0.113.64/26)'),
    })
  })
})

test('users behind one address share its entry: the second is told that it is there, and takes no turn', async () => {
  const ip = address()
  await ban(ip)
  const [one, other] = [await aViewer('office_one'), await aViewer('office_two')]
  expect((await lift(ip, one.token)).status).toBe(200)
  expect(await lift(ip, other.token)).toMatchObject({ status: 409, ...message('on the whitelist already') })
  const own = address()
  await ban(own)
  expect(await lift(own, other.token)).toMatchObject({ status: 200, json: { left: 2 } })
})
