import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { aHost, eventually, raw, standingClock, startServer } from '../../testing/index.ts'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'

/* Rules, routes and channels together, over HTTP: from what a host reports to what a receiver gets. */

interface Post {
  readonly title: string
  readonly status: string
  readonly key: string
  readonly severity: string
  readonly delivery: string
}
let posts: (Post & { readonly path: string })[] = []
let answer: ((reply: ServerResponse, path: string) => boolean) | null = null
const receiver = createServer((request, reply) => {
  let sent = ''
  request.on('data', (piece: Buffer) => (sent += piece.toString()))
  request.on('end', () => {
    const path = request.url ?? ''
    posts.push({ ...(JSON.parse(sent) as Post), path })
    if (!answer?.(reply, path)) reply.writeHead(204).end()
  })
})
/** Hosts report one after the other, and an alert waits for others for 15 s only: no time passes between their reports. */
const clock = standingClock()
let server: TestServer
let admin: Client
let key = ''
const hosts: EnrolledHost[] = []
let reports = 0

const beat = async (level: 'protected' | 'unprotected', from = 0, to = hosts.length) => {
  reports++
  for (const [index, host] of hosts.entries())
    if (index >= from && index < to)
      await host.client.call('POST /servers/heartbeat', {
        body: {
          hostname: `a-${index + 1}`,
          agent_id: host.agentId,
          report: { boot: host.agentId, number: reports },
          jails: [{ name: 'sshd', enabled: true, current_bans: 0 }],
          protection: {
            level,
            since: new Date(clock()).toISOString(),
            summary: level === 'protected' ? 'fine' : 'fail2ban does not answer.',
            checks:
              level === 'protected'
                ? []
                : [
                    {
                      id: 'engine',
                      subject: null,
                      state: 'bad',
                      since: new Date(clock()).toISOString(),
                      detail: 'no answer',
                    } as never,
                  ],
            counted: { ok: 1, not_ok: level === 'protected' ? 0 : 1, unknown: 0 },
          },
        },
      })
}
const firing = async (client = admin) =>
  (await client.call('GET /alerts', { query: { state: 'firing', limit: 200 } })).alerts
/**
 * Lets the time go on about ten times as fast, with heartbeats, until a check passes. In steps: a clock that jumps by more than a minute
 * between two looks is taken for one that was set.
 */
const liveUntil = async (level: 'protected' | 'unprotected', check: () => Promise<void> | void) => {
  let beatAt = 0
  await eventually(async () => {
    clock.forward(0.5)
    if (clock() - beatAt > 15_000) {
      await beat(level)
      beatAt = clock()
    }
    await check()
  })
}
const channelAt = async (path: string) => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`
  const body = { name: path, preset: 'webhook' as const, fields: [{ name: 'url', value: url }] }
  return (await admin.call('POST /channels', { body })).id
}
const route = (channels: string[], more: object = {}) => ({
  severities: [],
  rules: [],
  hours: null,
  channels,
  ...more,
})
const titles = (path = '/all') => posts.filter(post => post.path === path).map(({ title }) => title)
let all = ''
let web = ''

beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  server = await startServer({ clock })
  const first = await server.setUp()
  key = (await first.client.call('POST /keys', { body: { name: 'test', permissions: 'admin' } })).key
  admin = server.client(key)
  for (let index = 1; index <= 6; index++) hosts.push(await aHost(server, admin, `a-${index}`))
  await beat('protected')
  all = await channelAt('/all')
  web = await channelAt('/web')
  const target = { server_ids: hosts.slice(0, 1).map(({ id }) => id) }
  await admin.call('PUT /alerts/routes', {
    body: { routes: [route([all]), route([web], { severities: ['critical'], target })] },
  })
})
afterAll(async () => {
  await server.close()
  receiver.closeAllConnections()
  receiver.close()
})

test('there is a built-in rule for each condition, and routes name what exists', async () => {
  const { rules } = await admin.call('GET /alerts/rules')
  expect(rules.length).toBeGreaterThanOrEqual(19)
  expect(rules.every(({ enabled, builtin, state }) => enabled && builtin && state === 'calm')).toBe(true)
  for (const body of [{ routes: [route(['99'])] }, { routes: [route([all], { rules: ['no-such-rule'] })] }]) {
    const refused = await raw(server, 'PUT', '/api/v1/alerts/routes', { token: key, body })
    expect(refused.status, refused.text).toBe(400)
  }
  const routes = await admin.call('GET /alerts/routes')
  expect(routes.routes).toMatchObject([{ channels: [all] }, { channels: [web], severities: ['critical'] }])
})

test('servers that lose their protection are one message, acknowledged, and told when it is over', async () => {
  await liveUntil('unprotected', () => expect(titles()).toEqual(['Server unprotected: 6']))
  // The route of one server gets that one; what says the same with less is shown only.
  await eventually(() => expect(titles('/web')).toEqual(['a-1 is unprotected']))
  const unprotected = async () => (await firing()).filter(({ kind }) => kind === 'server-unprotected')
  await liveUntil('unprotected', async () => expect(await unprotected()).toHaveLength(6))
  const one = (await unprotected()).find(({ server: of }) => of?.hostname === 'a-2')
  if (!one) throw new Error('no alert of a-2')
  const acked = await admin.call('POST /alerts/{id}/ack', { params: { id: one.id }, body: { note: 'on it' } })
  expect(acked.acknowledged).toMatchObject({ by: 'key:test', note: 'on it' })
  await liveUntil('unprotected', async () => {
    const engine = (await firing()).filter(({ kind }) => kind === 'engine-down')
    expect(engine).toHaveLength(6)
    expect(engine.every(({ told_at, channels }) => told_at !== null && channels.length === 0)).toBe(true)
    const covers = await unprotected()
    for (const { covered_by, server: of } of engine)
      expect(covers.find(({ id }) => id === covered_by)?.server?.id).toBe(of?.id)
    // Six faults, of which one is acknowledged.
    expect((await admin.call('GET /alerts')).firing).toEqual({ critical: 5, warning: 0, info: 0 })
  })
  await liveUntil('protected', () => expect(titles()).toEqual(['Server unprotected: 6', 'Over: Server unprotected: 6']))
  // Each channel delivers by itself.
  await eventually(() => expect(titles('/web')).toHaveLength(2))
  const [told, over] = posts.filter(({ path }) => path === '/web')
  expect(over).toMatchObject({ status: 'resolved', key: told?.key })
  // What was shown only may be over some looks later.
  await liveUntil('protected', async () => expect(await firing()).toEqual([]))
  const recent = await admin.call('GET /alerts', { query: { state: 'resolved' } })
  expect(recent.total).toBeGreaterThanOrEqual(12)
  expect(recent.alerts.filter(({ kind, covered_by }) => (kind === 'engine-down') !== (covered_by !== null))).toEqual([])
  expect((await raw(server, 'POST', `/api/v1/alerts/${one.id}/ack`, { token: key, body: {} })).status).toBe(409)
})

test('a silence holds alerts back until it ends', async () => {
  posts = []
  const [first] = hosts
  if (!first) throw new Error('no host')
  const ends_at = new Date(clock() + 3_600_000).toISOString()
  const silence = await admin.call('POST /alerts/silences', {
    body: { rule: 'server-unprotected', target: { all: true }, reason: 'maintenance', ends_at },
  })
  await liveUntil('unprotected', async () => {
    const alerts = (await firing()).filter(({ kind }) => kind === 'server-unprotected')
    expect(alerts).toHaveLength(6)
    expect(alerts.every(({ silenced, told_at }) => silenced && told_at === null)).toBe(true)
  })
  expect(titles().filter(title => title.includes('unprotected'))).toEqual([])
  await admin.call('DELETE /alerts/silences/{id}', { params: { id: silence.id } })
  await liveUntil('unprotected', () => expect(titles()).toContain('Server unprotected: 6'))
  await liveUntil('protected', async () => expect(await firing()).toEqual([]))
})

test('who has access to some servers sees and silences those', async () => {
  const [first] = hosts
  if (!first) throw new Error('no host')
  const { client, token } = await aUser(server, admin, 'olga', 'Operator', [first.id])
  const seen = await client.call('GET /alerts', { query: { limit: 200 } })
  expect(seen.total).toBeGreaterThan(0)
  expect(new Set(seen.alerts.map(({ server: of }) => of?.hostname))).toEqual(new Set(['a-1']))
  const mine = await admin.call('GET /alerts', { query: { limit: 200 } })
  const foreign = mine.alerts.find(({ server: of }) => of?.hostname === 'a-2')
  const ack = await raw(server, 'POST', `/api/v1/alerts/${foreign?.id ?? 0}/ack`, { token, body: {} })
  expect(ack.status).toBe(404)
  const ends_at = new Date(clock() + 3_600_000).toISOString()
  const silence = (target: object) =>
    raw(server, 'POST', '/api/v1/alerts/silences', { token, body: { target, reason: 'mine', ends_at } })
  expect((await silence({ all: true })).status).toBe(403)
  expect((await silence({ server_ids: [hosts[1]?.id] })).status).toBe(403)
  expect((await silence({ server_ids: [first.id] })).status).toBe(201)
  expect((await raw(server, 'GET', '/api/v1/alerts/routes', { token })).status).toBe(403)
  const { silences } = await admin.call('GET /alerts/silences')
  for (const { id } of silences) await admin.call('DELETE /alerts/silences/{id}', { params: { id } })
})

test('rules of bans compare sums, say when a jail is gone, and are tried on the past', async () => {
  posts = []
  const [first] = hosts
  if (!first) throw new Error('no host')
  const body = { name: 'Storm', kind: 'bans-over' as const, conditions: { threshold: 40, jail: 'sshd' } }
  const rule = await admin.call('POST /alerts/rules', { body })
  const gone = await admin.call('POST /alerts/rules', {
    body: { ...body, name: 'Gone', conditions: { threshold: 1, jail: 'no-such-jail' } },
  })
  const fresh = await admin.call('POST /alerts/rules', { body: { name: 'New', kind: 'new-jail' } })
  expect(gone.state).toBe('no_data')
  await first.client.call('POST /bans/batch', {
    body: {
      bans: Array.from({ length: 60 }, (_, index) => ({
        ip: `203.0.113.${index + 1}`,
        jail: 'sshd',
        ban_duration: 600,
      })),
      unbans: [],
    } as never,
  })
  await liveUntil('protected', () => {
    expect(titles().find(title => title.startsWith('Storm: 60 bans in sshd'))).toBeDefined()
    expect(titles()).toContain('Bans of a new jail: sshd')
  })
  const { rules } = await admin.call('GET /alerts/rules')
  expect(rules.find(({ id }) => id === rule.id)).toMatchObject({ state: 'firing', firing: 1 })
  expect(rules.find(({ id }) => id === gone.id)).toMatchObject({ state: 'no_data' })
  expect(rules.find(({ id }) => id === fresh.id)).toMatchObject({ conditions: {} })
  const preview = await admin.call('POST /alerts/rules/preview', { body })
  expect(preview).toMatchObject({ supported: true, times: [{ highest: 60 }] })
  const other = { name: 'x', kind: 'server-silent' as const }
  expect(await admin.call('POST /alerts/rules/preview', { body: other })).toEqual({ supported: false, times: [] })
  for (const wrong of [
    { name: 'x', kind: 'bans-over' },
    { name: 'x', kind: 'server-silent', conditions: { jail: 'sshd' } },
    { name: 'x', kind: 'bans-over', conditions: { threshold: 1, jail: 'sshd', country: 'NL' } },
    { name: 'x', kind: 'bans-over', conditions: { threshold: 1, jail: 'sshd', asn: 64500 } },
    { name: 'x', kind: 'bans-over', conditions: { threshold: 1, asn: 0 } },
    { name: 'x', kind: 'near-whitelist', conditions: { asn: -1 } },
  ])
    expect((await raw(server, 'POST', '/api/v1/alerts/rules', { token: key, body: wrong })).status).toBe(400)
  await admin.call('DELETE /alerts/rules/{id}', { params: { id: rule.id } })
  expect((await raw(server, 'DELETE', '/api/v1/alerts/rules/server-silent', { token: key })).status).toBe(409)
})

test('a built-in rule that is off finds nothing; deliveries are tried again as the receiver says', async () => {
  const off = await admin.call('PATCH /alerts/rules/{id}', {
    params: { id: 'server-unprotected' },
    body: { enabled: false },
  })
  expect(off).toMatchObject({ state: 'off', builtin: true })
  posts = []
  let refusals = 0
  answer = (reply, path) => {
    if (path !== '/all' || refusals >= 2) return false
    refusals++
    reply.writeHead(429, { 'retry-after': '30' }).end('slow down')
    return true
  }
  // Without the graver alert, the other one is told.
  await liveUntil('unprotected', () => {
    expect(posts.filter(({ title, path }) => path === '/all' && title === 'fail2ban down: 6')).toHaveLength(3)
  })
  // Each attempt names the same delivery.
  expect(new Set(posts.filter(({ title }) => title === 'fail2ban down: 6').map(({ delivery }) => delivery)).size).toBe(
    1,
  )
  await eventually(async () => {
    const { deliveries } = await admin.call('GET /channels/{id}/deliveries', { params: { id: all } })
    expect(deliveries.slice(0, 3).map(({ outcome }) => outcome)).toEqual(['sent', 'retry', 'retry'])
    expect(deliveries[2]).toMatchObject({ attempt: 1, detail: 'HTTP 429: slow down' })
  })
  answer = null
  await admin.call('PATCH /alerts/rules/{id}', { params: { id: 'server-unprotected' }, body: { enabled: true } })
  const renamed = await raw(server, 'PATCH', '/api/v1/alerts/rules/server-unprotected', {
    token: key,
    body: { name: 'Mine' },
  })
  expect(renamed.status).toBe(409)
  const { entries } = await admin.call('GET /settings/audit', { query: { limit: 100 } })
  const actions = new Set(entries.map(({ action }) => action))
  for (const action of [
    'alert.ack',
    'alert_rule.create',
    'alert_rule.update',
    'alert_rule.delete',
    'alert_routes.update',
  ])
    expect(actions).toContain(action)
})

test('a receiver that never answers holds up no other channel', async () => {
  posts = []
  answer = (_, path) => path === '/web'
  await liveUntil('protected', () => expect(titles()).toContain('Over: fail2ban down: 6'))
  const [first] = hosts
  if (!first) throw new Error('no host')
  await liveUntil('unprotected', () => expect(titles()).toContain('Server unprotected: 6'))
  answer = null
})

test('rules of bans compare one network, and tell of a ban beside the whitelist', async () => {
  const [first] = hosts
  if (!first) throw new Error('no host')
  const report = (...ips: string[]) =>
    first.client.call('POST /bans/batch', {
      body: { bans: ips.map(ip => ({ ip, jail: 'sshd', ban_duration: 600 })), unbans: [] } as never,
    })
  await report('8.8.8.1')
  const { bans } = await admin.call('GET /bans', { query: { ip: '8.8.8.1' } })
  const asn = Number(bans[0]?.asn?.replace('AS', ''))
  expect(asn).toBeGreaterThan(0)
  const body = { name: 'Network', kind: 'bans-over' as const, conditions: { threshold: 4, asn } }
  await admin.call('POST /alerts/rules', { body })
  await admin.call('POST /alerts/rules', { body: { name: 'Beside', kind: 'near-whitelist' } })
  await admin.call('POST /whitelist', { body: { ip: '198.51.100.7', description: 'office' } })
  await admin.call('POST /whitelist', { body: { ip: '2001:db8:5::/64', description: 'branch' } })
  await report('8.8.8.2', '8.8.8.3', '8.8.8.4', '198.51.100.99', '198.51.101.99', '2001:db8:6::1')
  const found = async (wanted: string) => {
    const { alerts } = await admin.call('GET /alerts', { query: { limit: 200 } })
    const titlesFound = alerts.filter(({ rule_name }) => rule_name === wanted).map(({ title }) => title)
    return titlesFound.sort()
  }
  const beside = () => found('Beside')
  await liveUntil('protected', async () => {
    expect(await found('Network')).toEqual([`Network: 4 bans from AS${asn} in the last hour`])
    expect(await beside()).toEqual(['Ban beside the whitelist: 198.51.100.99 on a-1'])
  })
  // The second ban of the address is no news. The bans of the network are counted on from the last look.
  await report('198.51.100.99', '198.51.100.98', '8.8.8.5', '8.8.8.6')
  await liveUntil('protected', async () =>
    expect(await beside()).toEqual([
      'Ban beside the whitelist: 198.51.100.98 on a-1',
      'Ban beside the whitelist: 198.51.100.99 on a-1',
    ]),
  )
  const preview = await admin.call('POST /alerts/rules/preview', { body })
  expect(preview).toMatchObject({ supported: true, times: [{ highest: 6 }] })
})
