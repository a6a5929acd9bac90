import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { endpoints } from '@stockade/contract'
import { aHost, raw, spawnServer } from '@stockade/server/testing'
import type { EnrolledHost, SpawnedServer } from '@stockade/server/testing'
import { watchHealth } from './health.ts'
import { say } from './report.ts'

/*
 * `npm run check -- stolen-host`: one host of 50 is in wrong hands. With its agent's key it sends all that it can, to every endpoint, at the rate that
 * the server allows, for ten minutes (`--minutes N`). Afterwards nothing that others have may be different, and the server must have answered all the time.
 */
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const hosts = 50
const goals = { stall: 250, memory: 150, disk: 256 } as const
const folder = mkdtempSync(join(tmpdir(), 'stockade-stolen-'))

const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
const diskOf = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter(file => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size / 1024 / 1024, 0)

/** A fleet as an administrator has made it, without limits of requests. */
const prepare = async () => {
  const server = await spawnServer({ dataDir: folder })
  try {
    const { client } = await server.setUp()
    const { key } = await client.call('POST /keys', { body: { name: 'fleet', permissions: 'admin' } })
    const admin = server.client(key)
    const fleet: EnrolledHost[] = []
    for (let n = 0; n < hosts; n++) fleet.push(await aHost(server, admin, `host-${n}`))
    const [thief, honest] = fleet
    if (!thief || !honest) throw new Error('there is no host')
    await admin.call('POST /servers/tags', { body: { server_ids: [honest.id], add: ['honeypot'] } })
    await admin.call('POST /whitelist', { body: { ip: '198.51.100.0/24' } })
    const { token } = await admin.call('POST /fleet/feeds', { body: { name: 'firewalls' } })
    const { id } = await admin.call('POST /rules', {
      body: { name: 'honeypots', from: { tags: ['honeypot'] }, min_servers: 1, target: { all: true } },
    })
    await admin.call('POST /rules/{id}/simulate', { params: { id }, body: {} })
    await admin.call('POST /rules/{id}/arm', { params: { id } })
    await admin.call('POST /lists', {
      body: { name: 'countries', source: { kind: 'countries', countries: ['AQ'] }, target: { all: true } },
    })
    await admin.call('POST /alerts/rules', {
      body: { name: 'storm', kind: 'bans-over', conditions: { threshold: 1_000_000 } },
    })
    await admin.call('POST /alerts/silences', {
      body: {
        target: { server_ids: [honest.id] },
        reason: 'work',
        ends_at: new Date(Date.now() + 86_400_000).toISOString(),
      },
    })
    for (const host of fleet.slice(1, 5))
      await host.client.call('POST /bans', {
        body: { ip: `45.33.1.${fleet.indexOf(host)}`, jail: 'sshd', ban_duration: -1 },
      })
    return { key, thief, honest, token }
  } finally {
    await server.close()
  }
}

/** What others have, as text: names, targets and states, without times of last contact. */
const stateOf = async (
  server: SpawnedServer,
  key: string,
  { thief, token }: { thief: EnrolledHost; token: string },
) => {
  const admin = server.client(key)
  const feed = (await raw(server, 'GET', `/api/v1/feeds/${token}`)).text.split('\n')
  const { servers } = await admin.call('GET /servers', { query: { limit: 100 } })
  const { lists } = await admin.call('GET /lists')
  const { rules } = await admin.call('GET /rules')
  return {
    // Single public addresses that the thief bans are its right; all others have to be as they were.
    feed: feed.filter(entry => !entry.startsWith('45.90.')),
    others: servers
      .filter(({ id }) => id !== thief.id)
      .map(({ hostname, tags, status }) => ({ hostname, tags, status })),
    tagsOfThief: servers.find(({ id }) => id === thief.id)?.tags,
    lists: lists.map(({ name, mode, target }) => ({ name, mode, target })),
    rules: rules.map(({ name, state, from }) => ({ name, state, from })),
    silences: (await admin.call('GET /alerts/silences')).silences.map(({ reason }) => reason),
    alertRules: (await admin.call('GET /alerts/rules')).rules.map(({ name, enabled }) => ({ name, enabled })),
    fleetBans: (await admin.call('GET /fleet/bans', { query: {} })).fleet_bans.map(({ entry }) => entry),
    whitelist: (await admin.call('GET /whitelist', { query: {} })).whitelist.map(({ ip }) => ip),
    commands: (await admin.call('GET /commands', { query: { limit: 100 } })).commands
      .filter(({ server: to }) => to?.id !== thief.id)
      .map(({ type }) => type),
    bansOfOthers: (await admin.call('GET /bans', { query: { ip: '45.33.1.0/24', limit: 100 } })).bans.map(
      ({ ip }) => ip,
    ),
  }
}

const many = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n))
/** Bodies that a thief would send. What an endpoint does not name gets junk of its own. */
const bodiesOf = (thief: EnrolledHost): Readonly<Record<string, () => unknown>> => {
  const event_id = () => randomUUID()
  const wide = [
    '0.0.0.0/0',
    '::/0',
    '8.0.0.0/8',
    '2000::/16',
    '45.0.0.0/16',
    '127.0.0.1',
    '64:ff9b::/96',
    '198.51.100.7',
  ]
  const old = () => new Date(Date.now() - 7_200_000).toISOString()
  const own = { server_ids: [thief.id] }
  return {
    'POST /bans': () => ({ ip: wide[Math.floor(Math.random() * wide.length)], jail: 'sshd', ban_duration: -1 }),
    'POST /bans/batch': () => ({
      bans: [
        ...wide.map(ip => ({ ip, jail: 'sshd', ban_duration: -1, event_id: event_id() })),
        ...many(900, n => ({
          ip: `45.90.${Math.floor(n / 250)}.${n % 250}`,
          jail: `invented-${n % 300}`,
          banned_at: old(),
          log_lines: 'x'.repeat(4096),
          event_id: event_id(),
        })),
      ],
    }),
    'PUT /agent/adopted': () => ({
      bans: many(1000, n => ({ ip: `45.90.9.${n % 250}`, jail: 'sshd', event_id: event_id() })),
    }),
    'PUT /agent/active': () => ({
      bans: many(50_000, n => ({ ip: `2001:db8:9::${n.toString(16)}`, jail: 'sshd', event_id: event_id() })),
    }),
    'PUT /agent/jails': () => ({ jails: many(1000, n => ({ name: `j${n}`, enabled: true, current_bans: 9 })) }),
    'POST /agent/knocks': () => ({
      events: many(1000, () => ({
        event_id: event_id(),
        sequence_id: 1,
        ip: '45.90.1.1',
        status: 'success',
        timestamp: old(),
      })),
    }),
    'POST /agent/results': () => ({
      results: many(100, () => ({ id: randomUUID(), success: true, output: 'x'.repeat(60_000) })),
    }),
    'POST /servers/heartbeat': () => ({ hostname: 'host-1', agent_id: thief.agentId, protection: 'all is well' }),
    'POST /lists': () => ({
      name: event_id(),
      source: { kind: 'countries', countries: ['US'] },
      target: own,
      mode: 'enforce',
    }),
    'POST /servers/tags': () => ({ ...own, add: ['honeypot'] }),
    'POST /alerts/silences': () => ({
      target: own,
      reason: 'hush',
      ends_at: new Date(Date.now() + 86_400_000).toISOString(),
    }),
    'POST /fleet/bans': () => ({ entry: '1.1.1.1', target: own, force: true, duration: -1 }),
    'POST /commands/batch': () => ({ type: 'reload-all', targets: many(5000, () => ({ server_id: thief.id })) }),
    'POST /templates/{templateId}/deploy': () => own,
  }
}

const { key, thief, token } = await prepare()
const server = await spawnServer({
  dataDir: folder,
  env: { STOCKADE_RATE_LIMIT: '100', STOCKADE_RATE_LIMIT_SENSITIVE: '10' },
})
const pings = watchHealth(server.port)
try {
  // The rule bans what the honeypot reported.
  while ((await server.client(key).call('GET /fleet/bans', { query: {} })).total === 0) await sleep(100)
  const before = await stateOf(server, key, { thief, token })
  const bodies = bodiesOf(thief)
  const asked = endpoints.filter(({ access }) => access !== 'public' || Math.random() < 0.1)
  const said = new Map<string, number>()
  const [memory, disk] = [residentOf(server.pid), diskOf(folder)]
  let highest = memory
  await sleep(1000)
  pings.take()
  const until = performance.now() + Number(values.minutes) * 60_000
  for (let round = 0; performance.now() < until; round++) {
    const began = performance.now()
    const { method, path } = asked[round % asked.length] ?? { method: 'GET', path: '/bans' }
    const name = `${method} ${path}`
    const place = path.replace(/\{(\w+)\}/g, (_, param: string) => (param === 'serverId' ? thief.id : '1'))
    const body =
      method === 'GET' || method === 'DELETE' ? undefined : (bodies[name]?.() ?? { nonsense: many(1000, n => [n]) })
    const { status } = await raw(server, method, `/api/v1${place}`, {
      token: thief.key,
      ...(body === undefined ? {} : { body }),
    })
    said.set(`${status}`, (said.get(`${status}`) ?? 0) + 1)
    highest = Math.max(highest, residentOf(server.pid))
    await sleep(Math.max(0, 600 - (performance.now() - began)))
  }
  const stall = pings.take()
  // A minute of the administrator's own budget, and the jobs that follow what was reported.
  await sleep(61_000)
  const after = await stateOf(server, key, { thief, token })
  const changed = Object.keys(before).filter(
    part => JSON.stringify(Reflect.get(before, part)) !== JSON.stringify(Reflect.get(after, part)),
  )
  say(
    `${[...said.values()].reduce((sum, n) => sum + n, 0)} requests, answers: ${[...said]
      .sort()
      .map(([status, n]) => `${status}: ${n}`)
      .join(', ')}`,
  )
  const rows = [
    ['longest answer of /health, ms', stall, goals.stall],
    ['memory grew by, MiB', highest - memory, goals.memory],
    ['disk grew by, MiB', diskOf(folder) - disk, goals.disk],
    ['parts of others that changed', changed.length, 0],
  ] as const
  for (const [what, figure, goal] of rows)
    say(`${what}: ${figure.toFixed(0)}, goal ${goal}: ${figure <= goal ? 'held' : 'MISSED'}`)
  for (const part of changed)
    say(
      `${part}: ${JSON.stringify(Reflect.get(before, part))} became ${JSON.stringify(Reflect.get(after, part)).slice(0, 500)}`,
    )
  if (rows.some(([, figure, goal]) => figure > goal)) process.exitCode = 1
} finally {
  pings.stop()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
}
