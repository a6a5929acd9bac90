import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-alerts-'))
let status = 204
const receiver = createServer((_, reply) => reply.writeHead(status).end())
let server: TestServer
let admin: Signed
let host: EnrolledHost
let key: string
beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  server = await startServer()
  admin = await server.setUp()
  host = await aHost(server, admin.client, 'web-01')
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'admin' } })).key
})
afterAll(async () => {
  await server?.close()
  receiver.close()
  rmSync(folder, { recursive: true, force: true })
})
const run = (...args: string[]) =>
  stockade({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, args)

test('channels are listed, added with a secret from a file, tried and removed', async () => {
  const secret = join(folder, 'url')
  writeFileSync(secret, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/a-secret-path\n`)
  expect((await run('channels', 'presets')).out).toMatch(/ntfy +\[server_url\] topic \[token\]/)
  const added = await run('channels', 'add', 'On call', '--preset', 'webhook', '--field', `url=@${secret}`)
  expect(added, added.err).toMatchObject({ code: 0, out: expect.stringContaining('is added') })
  expect((await run('channels')).out).toMatch(/On call +webhook +on/)
  const tried = await run('channels', 'test', 'on call')
  expect(tried.out).toContain('HTTP 204')
  status = 500
  const refused = await run('channels', 'test', 'On call')
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('HTTP 500') })
  expect(refused.out).toContain('failed  answer')
  expect(`${tried.out}${refused.out}${refused.err}`).not.toContain('a-secret-path')
  expect((await run('channels', 'add', 'x', '--preset', 'webhook', '--field', 'url')).code).toBe(2)
  expect((await run('channels', 'remove', 'On call')).out).toContain('is deleted')
  expect((await run('channels', 'test', 'On call')).code).toBe(1)
})

test('alerts are listed, acknowledged and silenced, and rules are switched', async () => {
  expect((await run('alerts')).out).toBe('There are no alerts.\n')
  await admin.client.call('POST /servers/{serverId}/quarantine', {
    params: { serverId: host.id },
    body: { reason: 'a test' },
  })
  const listed = await eventually(async () => {
    const { out } = await run('--json', 'alerts', 'list', '--state', 'firing')
    const { alerts } = JSON.parse(out) as { alerts: { id: number; title: string }[] }
    expect(alerts).toMatchObject([{ title: 'web-01 is in quarantine' }])
    return alerts
  })
  const acked = await run('alerts', 'ack', String(listed[0]?.id ?? 0), '--note', 'mine')
  expect(acked.out).toBe('Acknowledged: web-01 is in quarantine\n')
  const silence = await run('alerts', 'silence', '--reason', 'maintenance', '--server', 'web-01', '--hours', '2')
  const id = /^Silence (\d+) lasts/.exec(silence.out)?.[1] ?? ''
  expect((await run('alerts')).out).toContain('silenced, acknowledged by key:ops')
  expect((await run('alerts', 'silences')).out).toMatch(/all .* maintenance/)
  expect((await run('alerts', 'unsilence', id)).code).toBe(0)
  expect((await run('alerts', 'rules')).out).toMatch(/server-silent +Server silent +calm +critical +0s/)
  expect((await run('alerts', 'rules', 'off', 'server-silent')).out).toBe('Server silent is off.\n')
  expect((await run('alerts', 'rules')).out).toMatch(/server-silent +Server silent +off/)
  expect((await run('alerts', 'rules', 'on', 'no-such-rule')).code).toBe(1)
})

test('a rule over bans is tried, added, changed and removed', async () => {
  const conditions = ['--kind', 'bans-over', '--threshold', '5', '--jail', 'sshd']
  expect((await run('alerts', 'rules', 'try', ...conditions)).out).toBe('It would not have fired in the last 7 days.\n')
  expect((await run('alerts', 'rules', 'add', 'No kind')).code).toBe(2)
  expect((await run('alerts', 'rules', 'add', 'x', ...conditions, '--quiet', '22-24')).code).toBe(2)
  const options = ['--severity', 'critical', '--grace', '5m', '--quiet', '22-7', '--server', 'web-01']
  const added = await run('alerts', 'rules', 'add', 'Many at sshd', ...conditions, ...options)
  expect(added, added.err).toMatchObject({ code: 0, out: expect.stringMatching(/^Rule \d+ Many at sshd is on\.\n$/) })
  const line = /Many at sshd +\w+ +critical +5m +1 server +22-7/
  expect((await run('alerts', 'rules')).out).toMatch(line)
  expect((await run('alerts', 'rules', 'change', 'many at sshd')).code).toBe(2)
  const changed = await run('alerts', 'rules', 'change', 'many at sshd', '--window', '6', '--quiet', 'none')
  expect(changed, changed.err).toMatchObject({ code: 0 })
  const { rules } = JSON.parse((await run('--json', 'alerts', 'rules')).out) as { rules: { name: string }[] }
  expect(rules.find(({ name }) => name === 'Many at sshd')).toMatchObject({
    conditions: { threshold: 5, window_hours: 6, jail: 'sshd' },
    quiet_hours: null,
    for_seconds: 300,
  })
  expect((await run('alerts', 'rules', 'remove', 'Many at sshd')).code).toBe(0)
  expect((await run('alerts', 'rules', 'remove', 'server-silent')).code).toBe(1)
})

test('routes are added, listed by the names of their channels, and removed one by one', async () => {
  expect((await run('alerts', 'routes')).out).toContain('There are no routes')
  const url = join(folder, 'url')
  await run('channels', 'add', 'Pager', '--preset', 'webhook', '--field', `url=@${url}`, '--silent')
  const narrowed = ['--severity', 'critical', 'warning', '--rule', 'server-silent', '--hours', '8-18', '--tag', 'web']
  const added = await run('alerts', 'routes', 'add', '--channel', 'pager', 'email', ...narrowed)
  expect(added, added.err).toMatchObject({ code: 0, out: 'Route 1 is added.\n' })
  expect((await run('alerts', 'routes', 'add', '--channel', 'Pager', '--server', 'web-01')).out).toContain('Route 2')
  const listed = await run('alerts', 'routes')
  expect(listed.out).toMatch(/1 +critical, warning +server-silent +tag:web +8-18 +Pager, /)
  expect(listed.out).toMatch(/2 +any +any +1 server +always +Pager/)
  expect((await run('alerts', 'routes', 'remove', '1')).out).toBe('Route 1 is removed. 1 are left.\n')
  expect((await run('alerts', 'routes')).out).toMatch(/1 +any +any +1 server/)
  expect((await run('alerts', 'routes', 'remove', '2')).code).toBe(1)
  expect((await run('alerts', 'routes', 'add', '--channel', 'nobody')).code).toBe(1)
})

test('reports are scheduled, changed, switched off and removed', async () => {
  expect((await run('schedules')).out).toMatch(/Daily summary +each day at 8:00 +all servers +- +off/)
  const to = ['--to', 'ops@stockade.example', '--timezone', 'Europe/Vienna', '--tag', 'web']
  const added = await run('schedules', 'add', 'week', 'Weekly', '--hour', '8', '--weekday', '2', ...to)
  expect(added, added.err).toMatchObject({
    code: 0,
    out: expect.stringContaining('Weekly: each Tuesday at 8:00 Europe/Vienna. Next: 2'),
  })
  expect((await run('schedules')).out).toMatch(/Weekly +each Tuesday .* tag:web +ops@stockade\.example/)
  expect((await run('schedules', 'change', 'weekly', '--hour', '24')).code).toBe(2)
  expect((await run('schedules', 'change', 'weekly', '--day', '29')).code).toBe(1)
  expect((await run('schedules', 'change', 'weekly', '--hour', '0')).out).toContain('each Tuesday at 0:00')
  expect((await run('schedules', 'off', 'Weekly')).out).toBe('Weekly is off.\n')
  expect((await run('schedules')).out).toMatch(/ off/)
  expect((await run('schedules', 'remove', 'Weekly')).code).toBe(0)
  expect((await run('schedules', 'send', 'Weekly')).code).toBe(1)
  expect((await run('report', 'day')).code).toBe(0)
})
