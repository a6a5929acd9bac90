import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ProtectionLevel } from '@stockade/contract'
import { testAlone as test } from '../../testing/alone.ts'
import { aHost, eventually, freshDatabase, raw, standingClock, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'

const clock = standingClock()
let server: TestServer
let admin: Signed
let database: Awaited<ReturnType<typeof freshDatabase>> = null
const dataDir = mkdtempSync(join(tmpdir(), 'stockade-protection-'))
const start = async () => startServer({ clock, dataDir, ...(database ? { databaseUrl: database.url } : {}) })
beforeAll(async () => {
  database = await freshDatabase()
  server = await start()
  admin = await server.setUp()
})
afterAll(async () => {
  await server?.close()
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const at = (ago = 0) => new Date(clock() - ago * 1000).toISOString()
const stopped = (since = at()) => ({
  id: 'engine',
  subject: null,
  state: 'bad' as const,
  since,
  detail: 'fail2ban does not answer.',
})
const report = (level: ProtectionLevel, more: object = {}) => ({
  level,
  since: at(),
  summary: level === 'protected' ? 'All checks are fine.' : 'fail2ban does not answer.',
  checks: level === 'protected' ? [] : [stopped()],
  counted: { ok: 9, not_ok: level === 'protected' ? 0 : 1, unknown: 0 },
  ...more,
})
const beat = (host: EnrolledHost, protection?: object | null) =>
  raw(server, 'POST', '/api/v1/servers/heartbeat', {
    token: host.key,
    body: { hostname: 'web', agent_id: host.agentId, ...(protection === undefined ? {} : { protection }) },
  })
const read = async ({ id }: EnrolledHost) =>
  (await admin.client.call('GET /servers/{serverId}', { params: { serverId: id } })).protection
const changesOf = async ({ id }: EnrolledHost) =>
  (await admin.client.call('GET /settings/audit', { query: { action: 'server.protection', limit: 100 } })).entries
    .map(({ details }) => details as { id: string; from: string | null; to: string })
    .filter(details => details.id === id)
    .map(({ from, to }) => `${from ?? 'new'} -> ${to}`)
    .toReversed()

describe('the protection of a server', () => {
  test('is unknown until its host reports it, and has the reasons since when', async () => {
    const host = await aHost(server, admin.client, 'p-first')
    const nothing = { level: 'unknown', since: null, summary: null, reported_level: null, reported_at: null }
    const marks = {
      engine: 'none',
      jails: 'none',
      logs: 'none',
      firewall: 'none',
      containers: 'none',
      whitelist: 'none',
    }
    expect(await read(host)).toEqual({ ...nothing, problem: null, marks, checks: [], counted: null })
    await beat(host, null)
    expect(await read(host)).toMatchObject(nothing)
    await beat(host, report('protected'))
    expect(await read(host)).toMatchObject({ level: 'protected', reported_level: 'protected', checks: [] })
    clock.forward(60)
    const since = at(10)
    await beat(host, report('unprotected', { since, checks: [stopped(since)] }))
    expect(await read(host)).toMatchObject({
      level: 'unprotected',
      since,
      summary: 'fail2ban does not answer.',
      checks: [{ id: 'engine', subject: null, state: 'bad', since, detail: 'fail2ban does not answer.' }],
      counted: { ok: 9, not_ok: 1, unknown: 0 },
    })
    clock.forward(30)
    await beat(host, report('unprotected'))
    expect(await read(host)).toMatchObject({ level: 'unprotected', since })
    const { servers } = await admin.client.call('GET /servers', { query: { protection: 'unprotected' } })
    expect(servers).toMatchObject([{ id: host.id, protection: { level: 'unprotected', since } }])
    expect(servers[0]?.protection).not.toHaveProperty('checks')
    expect(await admin.client.call('GET /servers/summary')).toMatchObject({ protection: { unprotected: 1 } })
  })
  test('has a mark for each group of checks, and the worst check as its problem', async () => {
    const host = await aHost(server, admin.client, 'p-marks')
    const since = at()
    const check = (id: string, state: 'bad' | 'warning' | 'unknown', detail: string) => ({
      id,
      subject: 'sshd',
      state,
      since,
      detail,
    })
    const checks = [
      check('keep', 'warning', 'The rules are not kept over a restart.'),
      check('log', 'bad', 'The log has had no line for 3 days.'),
      check('published', 'unknown', 'The ports of containers could not be read.'),
      check('of a newer agent', 'warning', 'Unheard of.'),
    ]
    await beat(host, report('degraded', { since, checks }))
    const problem = { check: 'log', subject: 'sshd', state: 'bad', since, detail: checks[1]?.detail }
    expect(await read(host)).toMatchObject({
      problem,
      marks: {
        engine: 'doubtful',
        jails: 'passed',
        logs: 'failed',
        firewall: 'doubtful',
        containers: 'doubtful',
        whitelist: 'none',
      },
    })
    const { servers } = await admin.client.call('GET /servers/summary')
    expect(servers.find(({ id }) => id === host.id)).toMatchObject({ protection: 'degraded', since, problem })
    const ban = { ip: '192.0.2.77', jail: 'sshd' }
    await host.client.call('POST /bans', { body: ban })
    const list = (bans_24h: boolean) =>
      admin.client.call('GET /servers', { query: { q: 'name:p-marks', ...(bans_24h ? { bans_24h } : {}) } })
    expect((await list(false)).servers[0]).not.toHaveProperty('bans_24h')
    expect((await list(true)).servers[0]?.bans_24h).toEqual([...Array.from({ length: 23 }, () => 0), 1])
  })
  test('is unknown once the host is silent, with what it reported last', async () => {
    const host = await aHost(server, admin.client, 'p-silent')
    await beat(host, report('protected'))
    const { reported_at } = await read(host)
    clock.forward(100)
    const silent = { level: 'unknown', since: reported_at, reported_level: 'protected', reported_at }
    await eventually(async () => expect(await read(host)).toMatchObject(silent))
    await beat(host, report('protected'))
    expect(await read(host)).toMatchObject({ level: 'protected' })
    expect(await changesOf(host)).toEqual([])
  })
  test('is recorded for each change of level, and not for the first minutes of an agent', async () => {
    const host = await aHost(server, admin.client, 'p-changes')
    for (const level of ['protected', 'unprotected', 'unprotected', 'unknown', 'unprotected', 'degraded'] as const) {
      await beat(host, report(level))
      clock.forward(20)
    }
    await beat(host, report('protected'))
    const changes = ['protected -> unprotected', 'unprotected -> degraded', 'degraded -> protected']
    expect(await changesOf(host)).toEqual(changes)
    await beat(host, report('unknown'))
    clock.forward(301)
    await beat(host, report('unknown'))
    expect(await changesOf(host)).toEqual([...changes, 'protected -> unknown'])
  })
  test('is recorded at most 12 times an hour, and then as it is', async () => {
    const host = await aHost(server, admin.client, 'p-flaps')
    for (let i = 0; i < 20; i++) {
      await beat(host, report(i % 2 ? 'degraded' : 'unprotected'))
      clock.forward(1)
    }
    expect(await changesOf(host)).toHaveLength(12)
    clock.forward(3600)
    admin = await server.signIn()
    await beat(host, report('protected'))
    expect((await changesOf(host)).slice(12)).toEqual(['degraded -> protected'])
  })
  test('is plain text within bounds, and never in the future', async () => {
    const host = await aHost(server, admin.client, 'p-lies')
    const future = at(-86_400)
    const detail = 'two\nlines \u001b[31m'
    await beat(
      host,
      report('degraded', { since: future, checks: [{ ...stopped(future), detail, subject: 'a\u202eb' }] }),
    )
    const shown = await read(host)
    expect(Date.parse(shown.since ?? future)).toBeLessThanOrEqual(clock())
    expect(Date.parse(shown.checks[0]?.since ?? future)).toBeLessThanOrEqual(clock())
    expect(shown.checks).toMatchObject([{ subject: 'a\ufffdb', detail: 'two lines \ufffd[31m' }])
    const many = Array.from({ length: 51 }, () => stopped())
    expect(await beat(host, report('degraded', { checks: many }))).toMatchObject({ status: 400 })
    const long = report('degraded', { summary: 'x'.repeat(501) })
    expect(await beat(host, long)).toMatchObject({ status: 400 })
  })
  test('survives a restart, and counts in the metrics', async () => {
    const host = await aHost(server, admin.client, 'p-kept')
    await beat(host, report('degraded'))
    const before = await read(host)
    await server.close()
    server = await start()
    admin = await server.signIn()
    expect(await read(host)).toEqual(before)
    const { text } = await raw(server, 'GET', '/metrics')
    expect(text).toMatch(/stockade_servers_protection\{level="degraded"\} [1-9]/)
  })
})
