import { describe, expect, test } from 'vitest'
import { testAlone } from '../../testing/alone.ts'
import { aHost, eventually, raw, standingClock } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withServer } from '../../testing/scene.ts'

const clock = standingClock()
let server: TestServer
let admin: Signed
withServer({ clock }, made => ({ server, admin } = made))
const read = (serverId: string) => admin.client.call('GET /servers/{serverId}', { params: { serverId } })

describe('a heartbeat', () => {
  testAlone('brings a server online, with all that it says', async () => {
    const host = await aHost(server, admin.client, 'typed-name')
    const reply = await host.client.call('POST /servers/heartbeat', {
      body: {
        hostname: 'real-name',
        os: 'Debian GNU/Linux 12',
        engine_version: '1.0.2',
        agent_version: '0.1.0',
        agent_id: host.agentId,
        metrics: { cpu_percent: 12.5, memory_percent: 40, disk_percent: 71.2, uptime: 3600.7 },
        jails: [
          { name: 'sshd', enabled: true, current_bans: 3 },
          { name: 'nginx', enabled: false, current_bans: 0 },
        ],
        capabilities: { nftables: true },
      },
    })
    expect(reply).toEqual({
      message: 'ok',
      commands: [],
      desired_state: { version: expect.any(String) as string },
      heartbeat_interval: 30,
    })
    expect(await read(host.id)).toMatchObject({
      hostname: 'typed-name',
      reported_hostname: 'real-name',
      status: 'online',
      os: 'Debian GNU/Linux 12',
      engine_version: '1.0.2',
      agent_version: '0.1.0',
      ip_address: '127.0.0.1',
      active_jails: 1,
      jails: [
        { name: 'sshd', enabled: true, current_bans: 3 },
        { name: 'nginx', enabled: false, current_bans: 0 },
      ],
      metrics: { cpu_percent: 12.5, memory_percent: 40, disk_percent: 71.2, uptime: 3600 },
      install: { token_used_from: '127.0.0.1', first_heartbeat_at: expect.any(String) },
    })
    // The name that an operator gave stays, before and after the first heartbeat.
    await admin.client.call('PATCH /servers/{serverId}', { params: { serverId: host.id }, body: { hostname: 'mine' } })
    await host.client.call('POST /servers/heartbeat', { body: { hostname: 'real-name', agent_id: host.agentId } })
    expect(await read(host.id)).toMatchObject({
      hostname: 'mine',
      reported_hostname: 'real-name',
      jails: [{ name: 'sshd' }, { name: 'nginx' }],
    })
  })
  testAlone('says what holds of the host’s own policy', async () => {
    const host = await aHost(server, admin.client, 'policy')
    const beat = (policy?: { state: 'default' | 'file' | 'unreadable'; error?: string | null } | null) =>
      host.client.call('POST /servers/heartbeat', {
        body: { hostname: 'policy', ...(policy === undefined ? {} : { policy }) },
      })
    const error = 'line 1\u001b: "comands" is no key'
    await beat({ state: 'unreadable', error })
    const unreadable = { state: 'unreadable', error: 'line 1\ufffd: "comands" is no key' }
    expect(await read(host.id)).toMatchObject({ policy: unreadable })
    const { servers } = await admin.client.call('GET /servers')
    expect(servers.find(({ id }) => id === host.id)).toMatchObject({ policy: unreadable })
    await beat()
    expect(await read(host.id)).toMatchObject({ policy: unreadable })
    await beat({ state: 'default' })
    expect(await read(host.id)).toMatchObject({ policy: { state: 'default', error: null } })
    await beat(null)
    expect(await read(host.id)).toMatchObject({ policy: null })
  })
  testAlone('without an engine is a state, and what hosts say of themselves is tamed', async () => {
    const host = await aHost(server, admin.client, 'bare')
    await host.client.call('POST /servers/heartbeat', {
      body: { hostname: 'bare\u0000\u001b[31m<script>', os: null, engine_version: '', jails: [] },
    })
    expect(await read(host.id)).toMatchObject({
      reported_hostname: 'bare\ufffd\ufffd[31m<script>',
      os: null,
      engine_version: null,
      jails: [],
    })
  })
  test.each([
    [{}, 'hostname'],
    [{ hostname: 'x', metrics: { cpu_percent: 'much' } }, 'metrics.cpu_percent'],
    [{ hostname: 'x', metrics: { cpu_percent: 101 } }, 'metrics.cpu_percent'],
    [{ hostname: 'x', jails: 'all' }, 'jails'],
    [{ hostname: 'x', jails: [{ name: 'a' }] }, 'jails.0.enabled'],
    [{ hostname: 'x', jails: Array.from({ length: 1001 }, () => ({ name: 'a', enabled: true })) }, 'jails'],
    [{ hostname: 'x', agent_id: 'me' }, 'agent_id'],
  ])('of nonsense is refused: %#', async (body, field) => {
    const host = await aHost(server, admin.client, 'nonsense')
    expect(await raw(server, 'POST', '/api/v1/servers/heartbeat', { token: host.key, body })).toMatchObject({
      status: 400,
      json: { details: [{ path: field }] },
    })
  })
  testAlone('of a cloned machine is refused while the first one lives', async () => {
    const host = await aHost(server, admin.client, 'cloned')
    const beat = (agent_id: string) =>
      raw(server, 'POST', '/api/v1/servers/heartbeat', { token: host.key, body: { hostname: 'cloned', agent_id } })
    expect((await beat(host.agentId)).status).toBe(200)
    const clone = crypto.randomUUID()
    expect(await beat(clone)).toMatchObject({ status: 409, json: { error: 'Conflict' } })
    expect((await beat(host.agentId)).status).toBe(200)
    clock.forward(91)
    expect((await beat(clone)).status).toBe(200)
  })
  testAlone('of another machine with the same files is refused while the first one lives', async () => {
    const host = await aHost(server, admin.client, 'copied')
    const beat = (machine: string | null) =>
      raw(server, 'POST', '/api/v1/servers/heartbeat', {
        token: host.key,
        body: { hostname: 'copied', agent_id: host.agentId, machine },
      })
    const [first, second] = ['a'.repeat(32), 'b'.repeat(32)]
    expect((await beat(first)).status).toBe(200)
    expect((await beat(second)).status).toBe(409)
    expect((await beat(null)).status).toBe(200)
    clock.forward(91)
    expect((await beat(second)).status).toBe(200)
    expect((await beat(first)).status).toBe(409)
  })
  testAlone(
    'of two agents in turns: the later one is refused, and neither gets commands until it is settled',
    async () => {
      const host = await aHost(server, admin.client, 'twice')
      const params = { serverId: host.id }
      let number = 0
      const beat = async (boot: string) => {
        clock.forward(15)
        return raw(server, 'POST', '/api/v1/servers/heartbeat', {
          token: host.key,
          body: { hostname: 'twice', agent_id: host.agentId, report: { boot, number: ++number } },
        })
      }
      const [original, copy, restarted] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
      const clone = async () => (await admin.client.call('GET /servers/{serverId}', { params })).clone
      for (const boot of [original, original, copy, original]) expect((await beat(boot)).status).toBe(200)
      expect(await clone()).toBe(null)
      expect((await beat(copy)).status).toBe(409)
      expect(await clone()).toMatchObject({ ip: '127.0.0.1' })
      const order = { type: 'reload-all', params: {} } as const
      await admin.client.call('POST /servers/{serverId}/commands', { params, body: order })
      expect(await beat(original)).toMatchObject({ status: 200, json: { commands: [] } })
      expect((await beat(copy)).status).toBe(409)
      // An operator of the host may not settle it, and there is nothing to settle elsewhere.
      const elsewhere = await aHost(server, admin.client, 'once')
      const settle = (serverId: string) =>
        raw(server, 'DELETE', `/api/v1/servers/${serverId}/clone`, { token: admin.token })
      expect((await settle(elsewhere.id)).status).toBe(409)
      expect((await settle(host.id)).status).toBe(200)
      expect(await beat(original)).toMatchObject({ status: 200, json: { commands: [{ type: 'reload-all' }] } })
      // The second host is still there: it is found again.
      for (const boot of [copy, original]) await beat(boot)
      expect((await beat(copy)).status).toBe(409)
      await settle(host.id)
      // A restart of the agent is none.
      clock.forward(91)
      for (const boot of [original, restarted, restarted, restarted]) expect((await beat(boot)).status).toBe(200)
      expect(await clone()).toBe(null)
    },
  )
})

testAlone('a server that falls silent goes offline after 90 s, and comes back', async () => {
  const host = await aHost(server, admin.client, 'silent')
  await host.client.call('POST /servers/heartbeat', { body: { hostname: 'silent' } })
  clock.forward(85)
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(await read(host.id)).toMatchObject({ status: 'online' })
  clock.forward(10)
  await eventually(async () => expect(await read(host.id)).toMatchObject({ status: 'offline' }))
  await host.client.call('POST /servers/heartbeat', { body: { hostname: 'silent' } })
  expect(await read(host.id)).toMatchObject({ status: 'online' })
})

testAlone('a server whose agent was removed on purpose is not called silent, and can come back', async () => {
  const host = await aHost(server, admin.client, 'leaving')
  const beat = () => host.client.call('POST /servers/heartbeat', { body: { hostname: 'leaving' } })
  const other = await aHost(server, admin.client, 'silent-too')
  await other.client.call('POST /servers/heartbeat', { body: { hostname: 'silent-too' } })
  await beat()
  expect(await host.client.call('POST /agent/farewell', { body: {} })).toEqual({ message: 'Noted.' })
  expect(await read(host.id)).toMatchObject({ status: 'pending' })
  clock.forward(95)
  await eventually(async () => expect(await read(other.id)).toMatchObject({ status: 'offline' }))
  expect(await read(host.id)).toMatchObject({ status: 'pending', protection: { level: 'unknown' } })
  const titles = await eventually(async () => {
    const { alerts } = await admin.client.call('GET /alerts', { query: {} })
    expect(alerts.map(({ title }) => title)).toContain('silent-too is silent')
    return alerts.map(({ title }) => title)
  })
  expect(titles).not.toContain('leaving is silent')
  const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'server.farewell' } })
  expect(entries).toHaveLength(1)
  await beat()
  expect(await read(host.id)).toMatchObject({ status: 'online' })
})

testAlone(
  'hosts that come back together are all online, and one that is removed meanwhile is refused alone',
  async () => {
    const hosts = await Promise.all(Array.from({ length: 12 }, (_, n) => aHost(server, admin.client, `fleet-${n}`)))
    const beat = (host: EnrolledHost, jail: string) =>
      raw(server, 'POST', '/api/v1/servers/heartbeat', {
        token: host.key,
        body: { hostname: 'fleet', jails: [{ name: jail, enabled: true, current_bans: 1 }] },
      })
    const statusOf = async ({ id }: EnrolledHost) => (await read(id)).status
    const beatAll = (jail: string) => Promise.all(hosts.map(async host => (await beat(host, jail)).status))
    expect(new Set(await beatAll('sshd'))).toEqual(new Set([200]))
    clock.forward(95)
    await eventually(async () => expect(new Set(await Promise.all(hosts.map(statusOf)))).toEqual(new Set(['offline'])))
    const [removed, ...others] = hosts
    const [statuses, repeated] = await Promise.all([
      beatAll('nginx'),
      beatAll('nginx'),
      admin.client.call('DELETE /servers/{serverId}', { params: { serverId: removed?.id ?? '' } }),
    ])
    expect([200, 401]).toContain(statuses[0])
    expect(new Set([...statuses.slice(1), ...repeated.slice(1)])).toEqual(new Set([200]))
    for (const { id } of others) expect(await read(id)).toMatchObject({ status: 'online', jails: [{ name: 'nginx' }] })
    expect(removed && (await beat(removed, 'nginx')).status).toBe(401)
  },
)

testAlone('jails in detail are what GET /jails answers, with the bans that were reported', async () => {
  const host = await aHost(server, admin.client, 'jails')
  await host.client.call('POST /servers/heartbeat', { body: { hostname: 'jails' } })
  const detail = { filter: 'sshd', logpath: '/var/log/auth.log', maxretry: 5, bantime: 600, findtime: 600 }
  await host.client.call('PUT /agent/jails', {
    body: { jails: [{ name: 'sshd', enabled: true, current_bans: 1, ...detail }] },
  })
  await host.client.call('POST /bans', { body: { ip: '203.0.113.8', jail: 'sshd' } })
  await host.client.call('POST /servers/heartbeat', {
    body: { hostname: 'jails', jails: [{ name: 'sshd', enabled: true, current_bans: 2 }] },
  })
  expect(await admin.client.call('GET /servers/{serverId}/jails', { params: { serverId: host.id } })).toEqual({
    jails: [
      { name: 'sshd', enabled: true, current_bans: 2, other_ids: null, total_bans: 1, ...detail, template: null },
    ],
  })
})

testAlone('ids that are no address are a kind of their own, bounded and tamed', async () => {
  const host = await aHost(server, admin.client, 'users')
  const say = (...jails: { name: string; ids: string[]; count?: number }[]) =>
    host.client.call('POST /servers/heartbeat', {
      body: {
        hostname: 'users',
        jails: jails.map(({ name, ids, count = ids.length }) => ({
          name,
          enabled: true,
          current_bans: 0,
          other_ids: { count, ids },
        })),
      },
    })
  const told = async () => {
    const { jails } = await admin.client.call('GET /servers/{serverId}/jails', { params: { serverId: host.id } })
    return jails.map(({ other_ids }) => other_ids)
  }
  // An address among them is shown as nobody's.
  await say({ name: 'users', ids: ['joe', 'a\u202eb\u0007\nc', '198.51.100.9', ' 198.51.100.0/24'], count: 4000 })
  expect(await told()).toEqual([{ count: 4000, ids: ['joe', 'a\ufffdb\ufffd c'] }])
  const { bans } = await admin.client.call('GET /bans', { query: { server_id: host.id } })
  expect(bans).toEqual([])
  expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })).toMatchObject({
    current_bans: 0,
  })
  const many = Array.from({ length: 50 }, (_, n) => `u${n}`)
  await say(...Array.from({ length: 6 }, (_, n) => ({ name: `j${n}`, ids: many })))
  expect((await told()).map(other => [other?.count, other?.ids.length])).toEqual([
    ...Array.from({ length: 4 }, () => [50, 50]),
    [50, 0],
    [50, 0],
  ])
  for (const ids of [[...many, 'more'], ['x'.repeat(65)]])
    await expect(say({ name: 'users', ids })).rejects.toMatchObject({ status: 400 })
  // Over with the ban.
  await say({ name: 'users', ids: [] })
  expect(await told()).toEqual([null])
})

testAlone('what a host said last stays, whenever what it said before is read again', async () => {
  const host = await aHost(server, admin.client, 'talkative')
  const say = (name: string, current_bans: number) =>
    host.client.call('POST /servers/heartbeat', {
      body: { hostname: 'talkative', jails: [{ name, enabled: true, current_bans }] },
    })
  // A jail that is new is told to all processes, this one too, which then read what is stored of the host.
  for (const name of ['sshd', 'nginx', 'dovecot', 'exim']) {
    await say(name, 0)
    await say(name, 7)
    const { id } = await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.40' } })
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
    await new Promise(resolve => setTimeout(resolve, 60))
    expect((await read(host.id)).jails).toEqual([{ name, enabled: true, current_bans: 7 }])
  }
})

testAlone('a report that arrives after a later one of the same start of the agent is ignored', async () => {
  const host = await aHost(server, admin.client, 'late')
  const boot = crypto.randomUUID()
  const beat = (name: string, report?: { boot: string; number: number }) =>
    host.client.call('POST /servers/heartbeat', {
      body: { hostname: 'late', jails: [{ name, enabled: true }], ...(report ? { report } : {}) },
    })
  const names = async () => (await read(host.id)).jails.map(({ name }) => name)
  await beat('second', { boot, number: 2 })
  expect((await beat('first', { boot, number: 1 })).message).toBe('ok')
  await host.client.call('PUT /agent/jails', { body: { jails: [], report: { boot, number: 1 } } })
  expect(await names()).toEqual(['second'])
  await beat('third', { boot, number: 3 })
  expect(await names()).toEqual(['third'])
  // The counter restarts with each start of the agent. Older agents send none.
  for (const report of [{ boot: crypto.randomUUID(), number: 1 }, undefined]) {
    await beat('restarted', report)
    expect(await names()).toEqual(['restarted'])
    await beat('again', report && { ...report, number: 2 })
    expect(await names()).toEqual(['again'])
  }
})

test('the endpoints of agents are for keys that are bound to a server', async () => {
  const unbound = await admin.client.call('POST /keys', { body: { name: 'script', permissions: 'admin' } })
  const host = await aHost(server, admin.client, 'bound')
  const reader = await admin.client.call('POST /keys', {
    body: { name: 'reader', permissions: 'read', server_id: host.id },
  })
  const calls: [string, string, object][] = [
    ['POST', '/servers/heartbeat', { hostname: 'x' }],
    ['POST', '/bans', { ip: '203.0.113.1', jail: 'sshd' }],
    ['POST', '/bans/batch', {}],
    ['POST', '/agent/results', { results: [] }],
    ['PUT', '/agent/jails', { jails: [] }],
    ['POST', '/agent/farewell', {}],
  ]
  for (const token of [admin.token, unbound.key, reader.key])
    for (const [method, path, body] of calls)
      expect(await raw(server, method, `/api/v1${path}`, { token, body }), path).toMatchObject({ status: 403 })
})
