import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'stockade-agent-'))
let server: TestServer
let admin: Signed
let host: EnrolledHost
let key: string
beforeAll(async () => {
  writeFileSync(join(agentDir, 'stockade-agent.mjs'), '// an agent\n')
  server = await startServer({
    env: { STOCKADE_AGENT_DIR: agentDir, STOCKADE_BASE_URL: 'https://new.stockade.example' },
  })
  admin = await server.setUp()
  host = await aHost(server, admin.client, 'web-01')
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'admin' } })).key
})
afterAll(async () => {
  await server?.close()
  rmSync(agentDir, { recursive: true, force: true })
})

const run = (...args: string[]) =>
  stockade({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, args)
const beat = (reason: string | null) =>
  host.client.call('POST /servers/heartbeat', {
    body: {
      hostname: 'web-01',
      agent_id: host.agentId,
      agent_version: '0.0.9',
      upgrades: { able: reason === null, reason, release: '0.0.9-00000000', previous: null },
    },
  })

test('says what runs, upgrades, pauses, resumes and aborts', async () => {
  await beat('policy.json on this host refuses upgrades from the server')
  const release = await run('agents', 'release')
  expect(release.out).toMatch(/signed +no/)
  expect(release.out).toContain('This release is not signed: only servers that were installed with --allow-unsigned')
  expect(release.out).toMatch(/0\.0\.9 +1/)
  expect(release.out).toContain('1: Policy.json on this host refuses upgrades from the server.')
  expect(await run('agents', 'upgrade')).toMatchObject({
    code: 1,
    err: expect.stringContaining('None of these servers'),
  })
  await beat(null)
  const dry = await run('agents', 'upgrade', '--server', 'web-01', '--dry-run')
  expect(dry.out).toMatch(/^Would upgrade 1 servers to .+\. Nothing was done\.\nThis release is not signed: .*\n$/)
  expect(await run('agents', 'upgrade', '--waves', '50')).toMatchObject({
    code: 1,
    err: expect.stringContaining('100'),
  })
  const made = await run('agents', 'upgrade', '--server', 'web-01', '--waves', '50', '100')
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Rollout 1 to .+ is running\. 1 (waiting|ordered)\.\n$/),
  })
  expect((await run('agents', 'pause', '1')).out).toContain('is paused. Paused by key:ops.')
  expect((await run('agents', 'resume', '1')).out).toContain('is running.')
  expect((await run('agents', 'show', '1')).out).toMatch(/1 +1 +20.+ 1 (waiting|ordered)/)
  expect((await run('agents', 'abort', '1')).out).toContain('is aborted. Aborted by key:ops.')
  expect((await run('agents', 'rollouts')).out).toMatch(/1 +to .+ +aborted/)
  expect(await run('agents', 'rollback', '1')).toMatchObject({ code: 1, err: expect.stringContaining('No server') })
  expect(await run('agents', 'show', 'x')).toMatchObject({ code: 2 })
})

test('orders agents to another address, says how far they are, and withdraws it', async () => {
  await beat(null)
  expect((await run('agents', 'address')).out).toBe('Agents are not ordered to another address.\n')
  for (const more of [[], ['--dry-run']])
    expect(await run('agents', 'move', 'https://evil.example', ...more)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('No server would move to https://evil.example'),
    })
  expect((await run('agents', 'move', 'https://new.stockade.example', '--dry-run')).out).toBe(
    'Would order 1 servers to https://new.stockade.example. Nothing was done.\n',
  )
  expect((await run('agents', 'address')).out).toBe('Agents are not ordered to another address.\n')
  expect((await run('agents', 'move', 'https://new.stockade.example')).out).toBe(
    'Agents are ordered to https://new.stockade.example: 1 waiting.\n',
  )
  const { version, whitelist, move } = await host.client.call('GET /agent/state')
  const say = (state: 'failed' | 'moved', revision = move?.revision ?? 0) => {
    const reason = state === 'failed' ? 'the name is unknown' : null
    const body = { version, whitelist_version: whitelist.version, entry_count: 0, move: { revision, state, reason } }
    return host.client.call('POST /agent/state/ack', { body })
  }
  await say('failed')
  const shown = await run('agents', 'address')
  expect(shown.out).toMatch(/^address +https:\/\/new\.stockade\.example$/m)
  expect(shown.out).toMatch(/^ordered +.+ by key:ops$/m)
  expect(shown.out).toMatch(/^web-01 +failed +.+ the name is unknown$/m)
  expect(JSON.parse((await run('agents', 'address', '--json')).out)).toMatchObject({
    url: 'https://new.stockade.example',
    counts: { failed: 1 },
    servers: [{ server: { hostname: 'web-01' }, state: 'failed' }],
  })
  // It waits for what the host says of this order.
  const waiting = run('agents', 'move', 'https://new.stockade.example', '--wait')
  const revisionNow = async () => (await host.client.call('GET /agent/state')).move?.revision ?? 0
  await expect.poll(revisionNow).toBeGreaterThan(move?.revision ?? 0)
  await say('moved', await revisionNow())
  expect(await waiting).toMatchObject({
    code: 0,
    out: 'Agents are ordered to https://new.stockade.example: 1 moved.\n',
  })
  expect(await run('agents', 'move', 'https://new.stockade.example', '--wait', '--timeout', '1')).toMatchObject({
    code: 1,
    out: 'Agents are ordered to https://new.stockade.example: 1 waiting.\n',
    err: expect.stringContaining('Not every server moved.'),
  })
  expect((await run('agents', 'stay')).out).toBe('Agents that did not move yet stay where they are.\n')
})
