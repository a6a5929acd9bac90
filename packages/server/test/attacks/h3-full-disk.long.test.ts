import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, eventually, movableClock, raw, startServer } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'

/* One stolen agent key filled the disk of the server: what a host may report on a day is bounded, and can be taken back. */

const clock = movableClock()
const startedAt = clock()
let server: TestServer
let admin: Signed
let host: EnrolledHost
let other: EnrolledHost
beforeAll(async () => {
  const env = {
    STOCKADE_QUOTA_ROWS: '40',
    STOCKADE_QUOTA_BYTES: '400000',
    STOCKADE_QUOTA_ENDLESS: '5',
    STOCKADE_LOG_LINES: '4096',
  }
  server = await startServer({ env, clock })
  admin = await server.setUp()
  host = await aHost(server, admin.client, 'stolen')
  other = await aHost(server, admin.client, 'honest')
})
afterAll(() => server.close())

const bans = (count: number, more: object = {}, net = '198.51.100') =>
  Array.from({ length: count }, (_, n) => ({ ip: `${net}.${n + 1}`, jail: 'sshd', ban_duration: 600, ...more }))
const report = (given: readonly object[], key = host.key) =>
  raw(server, 'POST', '/api/v1/bans/batch', { token: key, body: { bans: given } })
const errorsOf = (reply: { json: unknown }) =>
  (reply.json as { results: { error: string | null }[] }).results.map(({ error }) => error)
const audit = async (action: string) => (await admin.client.call('GET /settings/audit', { query: { action } })).entries

describe('what one host stores', () => {
  test('a ban says nothing of long before the enrolment, and its lines are cut', async () => {
    const [ban] = bans(1, { banned_at: '1980-01-01T00:00:00Z', ban_duration: -1, log_lines: 'x'.repeat(60_000) })
    const reply = await raw(server, 'POST', '/api/v1/bans', { token: host.key, body: ban })
    expect(reply.status).toBe(201)
    const { id } = reply.json as { id: number }
    const stored = await admin.client.call('GET /bans/{banId}', { params: { banId: id } })
    expect(stored.log_lines).toHaveLength(4096)
    expect(stored.log_lines.endsWith('\n[cut]')).toBe(true)
    expect(Date.parse(stored.banned_at)).toBeGreaterThan(startedAt - 366 * 86_400_000)
  })
  test('so many bans without an end, and no more', async () => {
    const errors = errorsOf(await report(bans(6, { ban_duration: -1 }, '203.0.113')))
    expect(errors.slice(0, 4)).toEqual([null, null, null, null])
    expect(errors.slice(4)).toEqual([expect.stringMatching(/without an end/), expect.stringMatching(/without an end/)])
    expect(
      (await raw(server, 'POST', '/api/v1/bans', { token: host.key, body: { ip: '192.0.2.9', jail: 'sshd' } })).status,
    ).toBe(409)
    expect(errorsOf(await report(bans(1, { ban_duration: -1 }, '203.0.113'), other.key))).toEqual([null])
  })
  test('so many rows a day: then 429 until midnight, told once, and other hosts go on', async () => {
    expect((await report(bans(30))).status).toBe(200)
    const refused = await report(bans(30, {}, '192.0.2'))
    expect(refused).toMatchObject({ status: 429, json: { message: expect.stringMatching(/what it may on a day/) } })
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(86_400)
    expect((await report(bans(30, {}, '192.0.2'))).status).toBe(429)
    expect((await report(bans(3), other.key)).status).toBe(200)
    await eventually(async () => expect(await audit('server.quota')).toHaveLength(1))
    // Heartbeats are no reports.
    const beat = { hostname: 'stolen', agent_id: host.agentId }
    expect((await raw(server, 'POST', '/api/v1/servers/heartbeat', { token: host.key, body: beat })).status).toBe(200)
  })
  test('a repeated report takes nothing', async () => {
    const event_id = '0193a000-0000-7000-8000-000000000001'
    for (let n = 0; n < 45; n++) expect(errorsOf(await report(bans(1, { event_id }), other.key))).toEqual([null])
  })
  test('so many bytes a day', async () => {
    const third = await aHost(server, admin.client, 'bytes')
    const wide = bans(20, { log_lines: 'y'.repeat(50_000) })
    const statuses: number[] = []
    for (let n = 0; n < 8; n++) statuses.push((await report(wide.slice(0, 20), third.key)).status)
    expect(statuses).toContain(429)
  })
  test('the next day it reports again', async () => {
    clock.forward(86_400)
    admin = await server.signIn()
    expect((await report(bans(5, {}, '192.0.2'))).status).toBe(200)
  })
  test('so many names of jails', async () => {
    const free = await startServer({ env: { STOCKADE_QUOTA_ROWS: '0', STOCKADE_QUOTA_BYTES: '0' } })
    try {
      const { client } = await free.setUp()
      const { key } = await aHost(free, client, 'jails')
      const named = async (from: number, count: number) => {
        const given = Array.from({ length: count }, (_, n) => ({
          ip: '192.0.2.1',
          jail: `j${from + n}`,
          ban_duration: 9,
        }))
        return errorsOf(await raw(free, 'POST', '/api/v1/bans/batch', { token: key, body: { bans: given } }))
      }
      expect((await named(0, 1000)).every(error => error === null)).toBe(true)
      expect(await named(999, 2)).toEqual([null, expect.stringMatching(/1000 jails/)])
    } finally {
      await free.close()
    }
  })
})

describe('quarantine', () => {
  const place = () => ({ params: { serverId: host.id } })
  const stats = () => admin.client.call('GET /bans/stats', { query: { period: 'month' } })
  const command = { type: 'reload-all' }
  let before: Awaited<ReturnType<typeof stats>>
  let since = ''
  test('refuses reports, withholds orders and takes the bans out of the statistics', async () => {
    before = await stats()
    since = new Date(clock()).toISOString()
    expect((await report(bans(7, {}, '203.0.113'))).status).toBe(200)
    const waits = await admin.client.call('POST /servers/{serverId}/commands', { ...place(), body: command as never })
    const reply = await admin.client.call('POST /servers/{serverId}/quarantine', {
      ...place(),
      body: { reason: 'Key leaked.' },
    })
    expect(reply.quarantined).toMatchObject({ by: 'admin', reason: 'Key leaked.' })
    expect(
      await raw(server, 'POST', `/api/v1/servers/${host.id}/quarantine`, { token: admin.token, body: { reason: 'x' } }),
    ).toMatchObject({ status: 409 })
    const refused = { status: 403, json: { message: expect.stringMatching(/in quarantine since .*Key leaked/) } }
    expect(await report(bans(1))).toMatchObject(refused)
    expect(await raw(server, 'POST', '/api/v1/bans', { token: host.key, body: bans(1)[0] })).toMatchObject(refused)
    expect(await raw(server, 'POST', '/api/v1/agent/knocks', { token: host.key, body: { events: [] } })).toMatchObject(
      refused,
    )
    const beat = { hostname: 'stolen', agent_id: host.agentId }
    const heartbeat = await host.client.call('POST /servers/heartbeat', { body: beat })
    expect(heartbeat.commands).toEqual([])
    for (const [method, path] of [
      ['GET', `/servers/${host.id}/commands/pending`],
      ['PUT', '/agent/jails'],
      ['PUT', '/agent/adopted'],
      ['PUT', '/agent/active'],
      ['GET', '/agent/shield/bans'],
      ['GET', '/whitelist.txt'],
    ] as const)
      expect(await raw(server, method, `/api/v1${path}`, { token: host.key }), path).toMatchObject(refused)
    const order = (path: string, body: object) => raw(server, 'POST', `/api/v1${path}`, { token: admin.token, body })
    expect(await order(`/servers/${host.id}/commands`, command)).toMatchObject({ status: 409 })
    expect(await order('/commands/batch', { ...command, server_ids: [host.id, other.id] })).toMatchObject({
      status: 409,
    })
    expect(await order(`/servers/${host.id}/bans`, { ip: '203.0.113.200' })).toMatchObject({ status: 409 })
    const all = await admin.client.call('GET /servers', {})
    expect(all.servers.filter(({ quarantined }) => quarantined !== null).map(({ hostname }) => hostname)).toEqual([
      'stolen',
    ])
    const own = await admin.client.call('GET /servers/{serverId}/stats', { ...place(), query: { period: 'month' } })
    expect((await stats()).total_bans).toBe(before.total_bans + 7 - own.bans_period)
    const { bans_by_server } = await admin.client.call('GET /bans/top', { query: { period: 'month' } })
    expect(bans_by_server.map(({ server: { hostname } }) => hostname)).not.toContain('stolen')
    const { status } = await admin.client.call('GET /commands/{commandId}', { params: { commandId: waits.id } })
    expect(status).toBe('pending')
  })
  test('its reports since a moment are forgotten: rows, lists and sums agree, on the row', async () => {
    const forget = (at: string) =>
      raw(server, 'POST', `/api/v1/servers/${host.id}/forget-reports`, { token: admin.token, body: { since: at } })
    expect(await forget(since)).toMatchObject({ status: 200, json: { forgotten: 7 } })
    expect(await forget(since)).toMatchObject({ status: 200, json: { forgotten: 0 } })
    await admin.client.call('DELETE /servers/{serverId}/quarantine', place())
    expect(await forget(since)).toMatchObject({ status: 409 })
    const after = await stats()
    const plain = ({ window: _, to: __, from: ___, series, ...rest }: Record<string, unknown>) => ({
      ...rest,
      n: (series as unknown[]).length,
    })
    expect(plain(after)).toEqual(plain(before))
    const { total } = await admin.client.call('GET /bans', { query: { server_id: host.id } })
    const one = await admin.client.call('GET /servers/{serverId}', place())
    expect(one.total_bans).toBe(total)
    expect((await admin.client.call('GET /bans', { query: { server_id: host.id, limit: 100 } })).bans).toHaveLength(
      total,
    )
    expect(await audit('server.forget_reports')).toMatchObject([
      { details: { forgotten: 0 } },
      { details: { forgotten: 7 } },
    ])
  })
  test('a released host reports again, and its orders go out', async () => {
    expect((await report(bans(2, {}, '192.0.2'))).status).toBe(200)
    const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', place())
    expect(commands).toMatchObject([command])
    expect((await audit('server.')).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['server.quarantine', 'server.release']),
    )
  })
})
