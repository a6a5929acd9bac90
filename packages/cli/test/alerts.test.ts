import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, startServer } from '../../server/src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'

const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
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
const run = (...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> =>
  new Promise(resolve => {
    const env = { PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }
    execFile(process.execPath, [launcher, ...args], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })

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
  expect((await run('alerts', 'rules')).out).toMatch(/server-silent +Server silent +calm +critical +0 s/)
  expect((await run('alerts', 'rules', 'off', 'server-silent')).out).toBe('Server silent is off.\n')
  expect((await run('alerts', 'rules')).out).toMatch(/server-silent +Server silent +off/)
  expect((await run('alerts', 'rules', 'on', 'no-such-rule')).code).toBe(1)
})
