import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { EnrolledHost, TestServer } from '../../server/src/testing/index.ts'

let server: TestServer
let hosts: EnrolledHost[]
let key: string
beforeAll(async () => {
  server = await startServer()
  const admin = await server.setUp()
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'admin' } })).key
  hosts = [await aHost(server, admin.client, 'web-01'), await aHost(server, admin.client, 'db-01')]
  await banOn(hosts, '198.51.100.7')
})
afterAll(() => server?.close())

const banOn = async (some: readonly EnrolledHost[], ip: string) => {
  for (const { client } of some)
    await client.call('POST /bans/batch', { body: { bans: [{ ip, jail: 'sshd', ban_duration: 600 }] } })
}
const run = (...args: string[]) =>
  stockade({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, args)

test('a sharing rule is added, simulated, armed, shown, disarmed and removed', async () => {
  const conditions = ['--jail', 'sshd', '--within', '1h', '--duration', '7d', '--all']
  expect((await run('rules', 'add', 'two', ...conditions, '--dry-run')).out).toContain('Nothing was done')
  expect((await run('rules', 'add', 'two', ...conditions)).out).toContain(
    'banned by sshd on 2 servers within 1h: banned on all servers for 7d. It is off.',
  )
  expect(await run('rules', 'arm', 'two')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Simulate') as string,
  })
  const { out } = await run('rules', 'simulate', 'two', '--days', '1')
  expect(out).toMatch(/would ban +1 addresses, 1 bans/)
  expect(out).toContain('198.51.100.7')
  expect((await run('rules', 'arm', 'two')).out).toContain('The first ban comes with the next match.')
  await banOn(hosts, '198.51.100.8')
  await expect.poll(async () => (await run('rules', 'show', 'two')).out).toContain('198.51.100.8')
  expect(JSON.parse((await run('--json', 'rules')).out)).toMatchObject({
    rules: [{ state: 'armed', banned_30_days: 1 }],
  })
  expect(await run('rules', 'change', 'two', '--within', '2h')).toMatchObject({ code: 1 })
  expect((await run('rules', 'disarm', 'two', '--lift')).out).toContain('Its bans are being lifted.')
  expect((await run('rules', 'change', 'two', '--within', '2h')).out).toContain('two (draft)')
  expect(await run('rules', 'remove', 'two')).toMatchObject({ code: 0 })
  expect(await run('rules', 'show', 'two')).toMatchObject({ code: 1 })
})

test('a feed is added, read by its address, changed, rotated and removed', async () => {
  const added = await run('feeds', 'add', 'office', '--search', 'jail:sshd', '--no-fleet-bans')
  const url = /\/api\/v1\/feeds\/\S+/.exec(added.out)?.[0] ?? ''
  const read = async (path: string) => {
    const reply = await fetch(`${server.url}${path}`)
    return `${reply.status} ${await reply.text()}`
  }
  expect(await read(url)).toBe('200 198.51.100.7\n198.51.100.8\n')
  expect((await run('feeds')).out).toMatch(/office +bans \(jail:sshd\)/)
  expect((await run('feeds', 'change', 'office', '--family', 'ipv6')).out).toContain(
    'office holds bans (jail:sshd), ipv6',
  )
  const rotated = await run('feeds', 'rotate', 'office')
  expect(await read(url)).toMatch(/^404/)
  expect(await read(/\/api\/v1\/feeds\/\S+/.exec(rotated.out)?.[0] ?? '')).toBe('200 ')
  expect(await run('feeds', 'remove', 'office', '--dry-run')).toMatchObject({ code: 0 })
  expect(await run('feeds', 'remove', 'office')).toMatchObject({ code: 0 })
  expect(await run('feeds', 'rotate', 'office')).toMatchObject({ code: 1 })
})

test('a report is printed, and refused where its date does not exist', async () => {
  const report = await run('report', 'month')
  expect(report.out).toMatch(/\d+ bans, \d+ in the period before; \d+ servers/)
  expect(await run('report', '--at', '2026-02-30')).toMatchObject({ code: 1 })
})
