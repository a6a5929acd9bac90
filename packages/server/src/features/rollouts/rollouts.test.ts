import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'

/* Rollouts over hosts that are simulated through the interface: what they do with an order is decided here. */

const hostCount = Number(process.env.STOCKADE_TEST_ROLLOUT_HOSTS ?? 24)
const clock = movableClock()
const agentDir = mkdtempSync(join(tmpdir(), 'stockade-agent-'))
const program = '// an agent\n'
const programSum = createHash('sha256').update(program).digest('hex')
const newRelease = `9.0.0-${programSum.slice(0, 8)}`
const oldRelease = '8.0.0-00000000'

let server: TestServer
let admin: Signed

interface SimulatedHost {
  readonly name: string
  readonly enrolled: EnrolledHost
  release: string
  previous: string | null
  able: boolean
  /** Why an upgrade fails here; null where it works. */
  fault: string | null
  online: boolean
  jails: string[]
  reports: number
}
const hosts: SimulatedHost[] = []

const carryOut = (host: SimulatedHost, params: Record<string, unknown>): string | null => {
  if (host.fault !== null) return host.fault
  const next = params.rollback === true ? String(params.version) : newRelease
  if (params.rollback === true && next !== host.previous) return `this host does not keep the release ${next}`
  ;[host.previous, host.release] = [host.release, next]
  return null
}
const beat = async (host: SimulatedHost): Promise<void> => {
  const { client, agentId } = host.enrolled
  const { commands } = await client.call('POST /servers/heartbeat', {
    body: {
      hostname: host.name,
      agent_id: agentId,
      agent_version: host.release.slice(0, 5),
      report: { boot: agentId, number: ++host.reports },
      jails: host.jails.map(name => ({ name, enabled: true, current_bans: 0 })),
      upgrades: {
        able: host.able,
        reason: host.able ? null : 'this host trusts no release key',
        release: host.release,
        previous: host.previous,
      },
    },
  })
  const results = commands.map(({ id, type, params }) => {
    const fault = type === 'upgrade-agent' ? carryOut(host, params) : 'another command'
    return { id, success: fault === null, output: fault ?? 'done', exit_code: fault === null ? 0 : 1 }
  })
  if (results.length > 0) await client.call('POST /agent/results', { body: { results } })
}
const beatAll = async (): Promise<void> => {
  for (const host of hosts) if (host.online) await beat(host)
}
const read = (id: number) => admin.client.call('GET /agents/rollouts/{id}', { params: { id } })
const serversOf = (id: number, state?: 'failed' | 'skipped' | 'waiting' | 'done') =>
  admin.client.call('GET /agents/rollouts/{id}/servers', {
    params: { id },
    query: { limit: 100, ...(state ? { state } : {}) },
  })
/** Seconds between two heartbeats here. A host is online for 90: this machine has the rest of them for its own work. */
const pause = 60
/** Lets the hosts live from heartbeat to heartbeat until the rollout is as wanted. */
const liveUntil = (id: number, isReached: (rollout: Awaited<ReturnType<typeof read>>) => boolean) =>
  eventually(async () => {
    // The server goes on once a second of real time: a simulated life that is much faster only burns CPU.
    await new Promise(resolve => setTimeout(resolve, 300))
    clock.forward(pause)
    await beatAll()
    const rollout = await read(id)
    expect(isReached(rollout), `${rollout.state} ${rollout.wave} ${JSON.stringify(rollout.counts)}`).toBe(true)
    return rollout
  })
const start = (body: { server_ids?: string[]; waves?: number[] } = {}) =>
  admin.client.call('POST /agents/rollouts', { body })
const reset = (): void => {
  for (const host of hosts)
    Object.assign(host, { release: oldRelease, previous: null, able: true, fault: null, online: true, jails: ['sshd'] })
}

beforeAll(async () => {
  writeFileSync(join(agentDir, 'stockade-agent.mjs'), program)
  writeFileSync(
    join(agentDir, 'MANIFEST'),
    `stockade-release 1\nversion 9.0.0\nreleased 2026-11-23\nsha256 ${programSum} stockade-agent.mjs\n`,
  )
  writeFileSync(join(agentDir, 'MANIFEST.sig'), 'hosts judge it')
  server = await startServer({ clock, env: { STOCKADE_AGENT_DIR: agentDir } })
  const signed = await server.setUp()
  // A session would end while the clock goes over days.
  const { key } = await signed.client.call('POST /keys', { body: { name: 'rollouts', permissions: 'admin' } })
  admin = { token: key, client: server.client(key) }
  for (let index = 0; index < hostCount; index++) {
    const name = `web-${String(index).padStart(3, '0')}`
    const enrolled = await aHost(server, admin.client, name)
    hosts.push({
      name,
      enrolled,
      release: oldRelease,
      previous: null,
      able: true,
      fault: null,
      online: true,
      jails: ['sshd'],
      reports: 0,
    })
  }
  await beatAll()
})
afterAll(async () => {
  await server.close()
  rmSync(agentDir, { recursive: true, force: true })
})

test('the release, the versions that run and what stands in the way are told', async () => {
  const [first] = hosts
  if (!first) throw new Error('no host')
  first.able = false
  await beat(first)
  expect(await admin.client.call('GET /agents/release')).toEqual({
    version: '9.0.0',
    release: expect.stringMatching(/^9\.0\.0-[0-9a-f]{8}$/),
    signed: true,
    versions: [{ version: '8.0.0', servers: hostCount }],
    outdated: hostCount,
    rebuilt: 0,
    unable: 1,
    reasons: [{ reason: 'This host trusts no release key.', servers: 1 }],
  })
  reset()
  await beatAll()
})

test('goes over all hosts in waves, one first; offline ones follow when they return', async () => {
  reset()
  const sleeper = hosts.at(-1)
  const lost = hosts.at(-2)
  if (!sleeper || !lost) throw new Error('no hosts')
  sleeper.online = false
  lost.able = false
  await eventually(async () => {
    clock.forward(31)
    await beatAll()
    const { status } = await admin.client.call('GET /servers/{serverId}', { params: { serverId: sleeper.enrolled.id } })
    expect(status).toBe('offline')
  })
  const made = await start()
  expect(made).toMatchObject({ kind: 'upgrade', version: '9.0.0', state: 'running', wave: 0, reason: null })
  expect(made.waves.map(({ servers }) => servers)).toEqual([
    1,
    Math.ceil((hostCount - 3) * 0.05),
    Math.ceil((hostCount - 3) * 0.25) - Math.ceil((hostCount - 3) * 0.05),
    hostCount - 1 - Math.ceil((hostCount - 3) * 0.25),
  ])
  await expect(start()).rejects.toMatchObject({ status: 409 })
  const first = await liveUntil(made.id, ({ wave }) => wave >= 1)
  expect(first.waves[0]?.counts).toMatchObject({ done: 1, failed: 0 })
  const last = await liveUntil(made.id, ({ counts }) => counts.done === hostCount - 2)
  expect(last).toMatchObject({ state: 'running', counts: { waiting: 1, skipped: 1, failed: 0 } })
  expect((await serversOf(made.id, 'skipped')).servers).toMatchObject([
    { server: { hostname: lost.name }, problem: 'This host trusts no release key.' },
  ])
  sleeper.online = true
  const ended = await liveUntil(made.id, ({ state }) => state === 'finished')
  expect(ended.counts).toMatchObject({ done: hostCount - 1, skipped: 1, waiting: 0 })
  expect(hosts.filter(({ release }) => release === newRelease)).toHaveLength(hostCount - 1)
  await expect(start()).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('None of these') as string,
  })
})

test('pauses when a release fails, goes on when told to, and returns the upgraded to the release before', async () => {
  reset()
  await beatAll()
  const made = await start({ waves: [50, 100] })
  // The first host holds the door: its wave succeeds, the next one has 3 % that fail, at least two hosts.
  const afterFirst = await liveUntil(made.id, ({ wave }) => wave === 1)
  expect(afterFirst.counts.done).toBe(1)
  const faulty = hosts
    .filter(({ release }) => release === oldRelease)
    .slice(0, Math.max(2, Math.ceil(hostCount * 0.03)))
  for (const host of faulty) host.fault = '9.0.0: the server did not answer it within 60 s; 8.0.0 runs again.'
  // What was ordered before the pause goes on to its end.
  const stopped = await liveUntil(made.id, ({ state, counts }) => state === 'paused' && counts.ordered === 0)
  expect(stopped.reason).toMatch(/^\d+ of \d+ servers in wave \d failed\.$/)
  const audit = await admin.client.call('GET /settings/audit', { query: { action: 'rollout.stop' } })
  expect(audit.entries[0]?.details).toMatchObject({ id: made.id, version: '9.0.0' })
  const failures = (await serversOf(made.id, 'failed')).servers
  expect(failures.length).toBeGreaterThan(0)
  expect(failures[0]).toMatchObject({
    from_release: oldRelease,
    problem: expect.stringContaining('did not answer') as string,
  })

  for (const host of faulty) host.fault = null
  const { state } = await admin.client.call('POST /agents/rollouts/{id}/resume', { params: { id: made.id } })
  expect(state).toBe('running')
  const finished = await liveUntil(made.id, ({ state }) => state === 'finished')
  expect(finished.counts.failed).toBe(stopped.counts.failed)
  expect(finished.counts.done).toBe(hostCount - stopped.counts.failed)

  const back = await admin.client.call('POST /agents/rollouts/{id}/rollback', { params: { id: made.id } })
  expect(back).toMatchObject({ kind: 'rollback', state: 'running', waves: [{ servers: finished.counts.done }] })
  await liveUntil(back.id, ({ state }) => state === 'finished')
  expect(hosts.every(({ release }) => release === oldRelease)).toBe(true)
})

test('a lost jail is a failure, and a first host that fails stops everything', async () => {
  reset()
  await beatAll()
  const made = await start()
  await eventually(async () => {
    await beatAll()
    expect(hosts.filter(({ release }) => release === newRelease)).toHaveLength(1)
  })
  const first = hosts.find(({ release }) => release === newRelease)
  if (first) first.jails = []
  const stopped = await liveUntil(made.id, ({ state }) => state === 'paused')
  expect(stopped).toMatchObject({
    reason: '1 of 1 server in wave 1 failed.',
    counts: { failed: 1, waiting: hostCount - 1 },
  })
  expect((await serversOf(made.id, 'failed')).servers[0]?.problem).toBe('Jails that ran before are gone: sshd.')
  const aborted = await admin.client.call('POST /agents/rollouts/{id}/abort', { params: { id: made.id } })
  expect(aborted).toMatchObject({ state: 'aborted', reason: 'Aborted by key:rollouts.' })
  await expect(
    admin.client.call('POST /agents/rollouts/{id}/resume', { params: { id: made.id } }),
  ).rejects.toMatchObject({ status: 409 })
})

test('an upgraded host that falls silent stops the rollout', async () => {
  reset()
  await beatAll()
  const made = await start()
  await liveUntil(made.id, ({ wave }) => wave === 1)
  for (const host of hosts) if (host.release === newRelease) host.online = false
  const stopped = await liveUntil(made.id, ({ state }) => state === 'paused')
  expect(stopped.reason).toMatch(/no longer report|failed/)
  await admin.client.call('POST /agents/rollouts/{id}/abort', { params: { id: made.id } })
})

test('only administrators order upgrades, and bad input is refused in words', async () => {
  reset()
  await beatAll()
  const { token: operator } = await aUser(server, admin.client, 'operator', 'Operator')
  const ask = (token: string, path: string, body: object) => raw(server, 'POST', `/api/v1${path}`, { token, body })
  expect((await ask(operator, '/agents/rollouts', {})).status).toBe(403)
  const [host] = hosts
  const order = { type: 'upgrade-agent', params: { version: '9.0.0' } }
  expect((await ask(operator, `/servers/${host?.enrolled.id ?? ''}/commands`, order)).status).toBe(403)
  for (const waves of [[], [50], [50, 50, 100], [100, 50], [0, 100], ['x']])
    expect((await ask(admin.token, '/agents/rollouts', { waves })).status).toBe(400)
  expect(
    (await ask(admin.token, '/agents/rollouts', { server_ids: ['00000000-0000-4000-8000-000000000000'] })).status,
  ).toBe(400)
  expect((await ask(admin.token, '/agents/rollouts/999/pause', {})).status).toBe(404)
  const made = await start({ server_ids: hosts.slice(0, 2).map(({ enrolled }) => enrolled.id) })
  expect(made.waves.map(({ servers }) => servers)).toEqual([1, 1])
  const paused = await admin.client.call('POST /agents/rollouts/{id}/pause', { params: { id: made.id } })
  expect(paused).toMatchObject({ state: 'paused', reason: 'Paused by key:rollouts.' })
  expect((await ask(admin.token, `/agents/rollouts/${made.id}/pause`, {})).status).toBe(409)
  await admin.client.call('POST /agents/rollouts/{id}/abort', { params: { id: made.id } })
  const { rollouts, total } = await admin.client.call('GET /agents/rollouts', { query: {} })
  expect(rollouts[0]).toMatchObject({ id: made.id, state: 'aborted' })
  expect(total).toBe(rollouts.length)
})
