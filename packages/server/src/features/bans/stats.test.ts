import type { Reply } from '@stockade/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, aServerKey, eventually, movableClock, raw, startServer } from '../../testing/index.ts'
import type { Client } from '@stockade/client'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'

const day = 86_400_000
// Neither at the start of an hour nor of a day, so that every window has edges.
const clock = movableClock()
let server: TestServer
let admin: { token: string; client: Client }
let hosts: EnrolledHost[]
interface Row {
  readonly host: number
  readonly ip: string
  readonly jail: string
  readonly at: number
}
const rows: Row[] = []
const places: Record<string, string> = { '8': 'US', '193': 'NL', '10': 'ZZ' }
/** The same draw in every run. */
let state = 7
const draw = (below: number) => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below

const send = async (made: readonly Row[]) => {
  for (const [index, host] of hosts.entries())
    for (let start = 0; start < made.length; start += 500)
      await host.client.call('POST /bans/batch', {
        body: {
          bans: made
            .slice(start, start + 500)
            .filter(row => row.host === index)
            .map(row => ({ ip: row.ip, jail: row.jail, banned_at: new Date(row.at).toISOString(), ban_duration: 60 })),
        },
      })
  rows.push(...made)
}
const some = (count: number, spread: number): Row[] =>
  Array.from({ length: count }, () => {
    const first = ['8.8', '193.0', '10.0'][draw(3)] ?? ''
    return {
      host: draw(2),
      ip: `${first}.${draw(6)}.${draw(9)}`,
      jail: ['sshd', 'nginx-http-auth', 'postfix'][draw(3)] ?? '',
      at: clock() - draw(spread),
    }
  })
beforeAll(async () => {
  server = await startServer({ clock })
  const first = await server.setUp()
  // A key, since tokens end while this test moves the time.
  const { key } = await first.client.call('POST /keys', { body: { name: 'statistics', permissions: 'admin' } })
  admin = { token: key, client: server.client(key) }
  hosts = [await aHost(server, admin.client, 'stats-a'), await aHost(server, admin.client, 'stats-b')]
  await send(some(600, 70 * day))
  await send(some(200, 2 * day))
})
afterAll(() => server.close())

const counted = (values: readonly string[]) => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
}
const lengths = { day, week: 7 * day, month: 30 * day }
type Period = keyof typeof lengths
const expected = (period: Period, host?: number) => {
  const from = clock() - lengths[period]
  const mine = rows.filter(row => host === undefined || row.host === host)
  const inside = mine.filter(row => row.at >= from)
  const hours = Array.from({ length: 24 }, (_, hour) => ({
    hour,
    count: inside.filter(row => new Date(row.at).getUTCHours() === hour).length,
  }))
  const dates = []
  for (let start = Math.floor(from / day) * day; start <= clock(); start += day)
    dates.push({
      date: new Date(start).toISOString().slice(0, 10),
      count: inside.filter(row => Math.floor(row.at / day) * day === start).length,
    })
  return {
    total_bans: inside.length,
    unique_ips: new Set(inside.map(row => row.ip)).size,
    bans_by_jail: counted(inside.map(row => row.jail)).map(([jail, count]) => ({ jail, count })),
    bans_by_country: counted(inside.map(row => places[row.ip.split('.')[0] ?? ''] ?? '')),
    bans_by_hour: hours,
    bans_by_day: dates,
    previous_total: mine.filter(row => row.at < from && row.at >= from - lengths[period]).length,
  }
}
const simple = (reply: { bans_by_country: { code: string; count: number }[] }) => ({
  ...reply,
  bans_by_country: reply.bans_by_country
    .map(({ code, count }): [string, number] => [code, count])
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)),
})
/** Each series sums up to its jail's total, and no step has more bans of the jails than bans. */
const checkJailSeries = (reply: Reply<'GET /bans/stats'>) => {
  expect(
    reply.series_by_jail.map(({ jail, counts }) => ({ jail, count: counts.reduce((sum, n) => sum + n, 0) })),
  ).toEqual(reply.bans_by_jail.slice(0, 5))
  for (const [index, { count }] of reply.series.entries()) {
    const ofJails = reply.series_by_jail.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0)
    if (reply.bans_by_jail.length <= 5) expect(ofJails).toBe(count)
    else expect(ofJails).toBeLessThanOrEqual(count)
  }
}
const periods: Period[] = ['day', 'week', 'month']
const check = async () => {
  for (const period of periods) {
    const reply = await admin.client.call('GET /bans/stats', { query: { period } })
    expect(simple(reply)).toMatchObject(expected(period))
    expect(reply.series.reduce((sum, { count }) => sum + count, 0)).toBe(reply.total_bans)
    checkJailSeries(reply)
    for (const [index, host] of hosts.entries()) {
      const one = await admin.client.call('GET /bans/stats', { query: { period, server_id: host.id } })
      expect(simple(one)).toMatchObject(expected(period, index))
      checkJailSeries(one)
    }
  }
}

describe('statistics of bans', () => {
  test('are exact for every period, of the fleet and of a server', check)
  test('stay exact while bans come in, late ones too, whether they are summed yet or not', async () => {
    await new Promise(resolve => setTimeout(resolve, 1200))
    await check()
    await send(some(150, 3 * day))
    await check()
    await new Promise(resolve => setTimeout(resolve, 1200))
    await check()
  })
  test('are the same once the list of attackers has read the bans into memory, and follow what comes', async () => {
    await admin.client.call('GET /bans/attackers')
    await check()
    await send(some(50, 40 * day))
    await check()
  })
  test('roll on with the time', async () => {
    clock.forward(5 * 3600 + 1234)
    await check()
  })
  test('end where the list of as many bans ends, also for a host whose clock is ahead', async () => {
    const at = Math.floor(clock()) + 45_000
    await send([{ host: 0, ip: '8.8.4.4', jail: 'sshd', at }])
    const { from, to, total_bans } = await admin.client.call('GET /bans/stats', { query: { period: 'week' } })
    expect(Date.parse(to)).toBe(at + 1)
    expect((await admin.client.call('GET /bans', { query: { from, to, limit: 1 } })).total).toBe(total_bans)
    // The other one's is right.
    const other = await admin.client.call('GET /bans/stats', { query: { server_id: hosts[1]?.id ?? '' } })
    expect(Date.parse(other.to)).toBeLessThanOrEqual(clock())
  })
  test('of a server have ranked lists and hours as text', async () => {
    const [host] = hosts
    if (!host) return
    const stats = await admin.client.call('GET /servers/{serverId}/stats', {
      params: { serverId: host.id },
      query: { period: 'month' },
    })
    const wanted = expected('month', 0)
    expect(stats).toMatchObject({
      total_bans: rows.filter(row => row.host === 0).length,
      bans_period: wanted.total_bans,
      unique_ips: wanted.unique_ips,
      top_jails: wanted.bans_by_jail.map(({ jail, count }) => ({ name: jail, count })),
    })
    expect(stats.bans_by_hour).toHaveLength(24)
    expect(stats.bans_by_hour[7]).toEqual({ hour: '07:00', count: wanted.bans_by_hour[7]?.count })
  })
  test('show a caller the servers that he may see', async () => {
    const [host] = hosts
    if (!host) return
    const script = await aServerKey(server, admin.client, host.id)
    const stats = await script.client.call('GET /bans/stats', { query: { period: 'month' } })
    expect(simple(stats)).toMatchObject(expected('month', 0))
    await expect(
      script.client.call('GET /bans/stats', { query: { server_id: hosts[1]?.id ?? '' } }),
    ).rejects.toMatchObject({ status: 403 })
  })
  test.each([
    ['period', 'period=year'],
    ['period', 'period='],
    ['server_id', 'server_id=x'],
    ['server_id', 'server_id=01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'],
    ['perod', 'perod=day'],
  ])('refuse a bad %s: %s', async (path, query) => {
    expect(await raw(server, 'GET', `/api/v1/bans/stats?${query}`, { token: admin.token })).toMatchObject({
      status: 400,
      json: { details: [{ path }] },
    })
  })
  test('of nothing are zeros', async () => {
    const empty = await aHost(server, admin.client, 'stats-empty')
    expect(await admin.client.call('GET /servers/{serverId}/stats', { params: { serverId: empty.id } })).toMatchObject({
      total_bans: 0,
      bans_period: 0,
      unique_ips: 0,
      top_jails: [],
      top_countries: [],
      active_now: 0,
    })
  })
})

describe('top lists', () => {
  /** Network and count by the address, as `/bans/{id}` tells of each. */
  const networkOf = new Map<string, string | null>()
  const check = async (period: Period, host?: number) => {
    const server_id = host === undefined ? undefined : hosts[host]?.id
    const top = await admin.client.call('GET /bans/top', {
      query: { period, limit: 100, ...(server_id === undefined ? {} : { server_id }) },
    })
    const inside = rows.filter(
      row => (host === undefined || row.host === host) && row.at >= Date.parse(top.from) && row.at < Date.parse(top.to),
    )
    expect(Date.parse(top.to) - Date.parse(top.from)).toBe(lengths[period])
    expect(top.total_bans).toBe(inside.length)
    const counts = new Map(counted(inside.map(({ ip }) => ip)))
    expect(top.top_ips.map(({ count }) => count)).toEqual([...counts.values()].slice(0, 100))
    for (const { ip, count, country } of top.top_ips) {
      expect(count).toBe(counts.get(ip))
      expect(country ?? 'ZZ').toBe(places[ip.split('.')[0] ?? ''])
    }
    const networks = counted(inside.map(({ ip }) => String(networkOf.get(ip))))
    expect(new Map(top.bans_by_asn.map(({ asn, count }) => [String(asn), count]))).toEqual(new Map(networks))
    const perHost = counted(inside.map(row => hosts[row.host]?.id ?? ''))
    expect(top.bans_by_server.map(({ server: { id }, count }) => [id, count])).toEqual(perHost)
    return top
  }
  beforeAll(async () => {
    for (let page = 1; networkOf.size < new Set(rows.map(({ ip }) => ip)).size; page++) {
      const { bans } = await admin.client.call('GET /bans', { query: { limit: 100, page } })
      for (const { ip, asn } of bans) networkOf.set(ip, asn)
      if (bans.length === 0) break
    }
  })
  test('are exact for the window they name, of the fleet and of a server', async () => {
    for (const period of periods) for (const host of [undefined, 0, 1]) await check(period, host)
  })
  test('count what came since, once the kept answer is old', async () => {
    const ip = rows[0]?.ip ?? ''
    await send(Array.from({ length: 30 }, () => ({ host: 1, ip, jail: 'sshd', at: clock() - 1000 })))
    await eventually(async () => expect((await check('day')).top_ips[0]).toMatchObject({ ip }))
  })
  test('show a caller the servers that he may see, and no more rows than asked for', async () => {
    const [host] = hosts
    const script = await aServerKey(server, admin.client, host?.id ?? '')
    const top = await script.client.call('GET /bans/top', { query: { period: 'month', limit: 2 } })
    expect(top.bans_by_server.map(({ server: { id } }) => id)).toEqual([host?.id])
    expect(top.top_ips).toHaveLength(2)
    expect(await raw(server, 'GET', '/api/v1/bans/top?limit=101', { token: admin.token })).toMatchObject({
      status: 400,
    })
  })
})

describe('statistics of commands', () => {
  test('count ends, cancellations apart, and time only what ran', async () => {
    const [host] = hosts
    if (!host) return
    const serverId = host.id
    const none = await admin.client.call('GET /commands/stats', {})
    expect(none).toEqual({
      total: 0,
      by_status: { completed: 0, failed: 0, timeout: 0, cancelled: 0 },
      by_type: { other: 0 },
      avg_execution_time_ms: null,
      success_rate: null,
    })
    const queue = async (type: 'reload-all' | 'service-restart') =>
      (await admin.client.call('POST /servers/{serverId}/commands', { params: { serverId }, body: { type } })).id
    const ids = [await queue('reload-all'), await queue('reload-all'), await queue('service-restart')]
    await admin.client.call('DELETE /commands/{commandId}', { params: { commandId: await queue('reload-all') } })
    await host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId } })
    clock.forward(1.5)
    for (const [index, commandId] of ids.entries())
      await host.client.call('POST /commands/{commandId}/result', {
        params: { commandId },
        body: { success: index !== 2, output: 'done', exit_code: 0 },
      })
    const stats = await admin.client.call('GET /commands/stats', { query: { server_id: serverId } })
    expect(stats).toEqual({
      total: 4,
      by_status: { completed: 2, failed: 1, timeout: 0, cancelled: 1 },
      by_type: { 'reload-all': 3, 'service-restart': 1, other: 0 },
      avg_execution_time_ms: expect.any(Number),
      success_rate: 66.7,
    })
    expect(stats.avg_execution_time_ms).toBeGreaterThanOrEqual(1500)
    const took = await Promise.all(
      ids.map(async commandId => {
        const { started_at, completed_at } = await admin.client.call('GET /commands/{commandId}', {
          params: { commandId },
        })
        return Date.parse(completed_at ?? '') - Date.parse(started_at ?? '')
      }),
    )
    expect(stats.avg_execution_time_ms).toBe(Math.round(took.reduce((sum, ms) => sum + ms, 0) / took.length))
    clock.forward(86_401)
    expect(await admin.client.call('GET /commands/stats', {})).toMatchObject({ total: 0 })
    expect(await admin.client.call('GET /commands/stats', { query: { period: 'week' } })).toMatchObject({ total: 4 })
  })
})
