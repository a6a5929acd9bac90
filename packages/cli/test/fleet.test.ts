import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, aServerKey, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'

let server: TestServer
let admin: Signed
let host: EnrolledHost
let key: string
beforeAll(async () => {
  // The host beats once.
  server = await startServer({ env: { STOCKADE_OFFLINE_AFTER: '86400' } })
  admin = await server.setUp()
  host = await aHost(server, admin.client, 'web-01')
  await host.client.call('POST /servers/heartbeat', {
    body: {
      hostname: 'web-01',
      agent_id: host.agentId,
      capabilities: { shield: { supported: true, mode: null, owned: false, driver: null, reason: null } },
    },
  })
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'write' } })).key
})
afterAll(() => server?.close())

const run = (...args: string[]) =>
  stockade({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, args)
const acknowledge = async () => {
  const { version, shield } = await host.client.call('GET /agent/state')
  const { bans } = shield
  await host.client.call('POST /agent/state/ack', {
    body: { version, shield: { bans: { version: bans.version, held: bans.count, digest: bans.digest, refused: [] } } },
  })
}

test('ban, list, show, look up and unban', async () => {
  expect(await run('fleet', 'ban', '198.51.100.7')).toMatchObject({ code: 2, err: expect.stringContaining('--all') })
  const dry = await run('fleet', 'ban', '198.51.100.7', '--all', '--dry-run')
  expect(dry).toEqual({ code: 0, err: '', out: 'Would ban 198.51.100.7 on all servers. Nothing was done.\n' })
  const made = await run('fleet', 'ban', '198.51.100.7', '--all', '--duration', 'perm', '--reason', 'scanner')
  expect(made).toMatchObject({ code: 0, err: '' })
  expect(made.out).toContain('198.51.100.7 is banned on all servers, until: permanent (fleet ban ')
  expect(made.out).toContain('Servers: 1 pending.')
  const late = await run('fleet', 'ban', '198.51.100.7', '--all', '--duration', 'perm', '--wait', '--timeout', '1')
  expect(late).toMatchObject({
    code: 1,
    err: expect.stringContaining('1 online server did not confirm it within 1 seconds: web-01.'),
  })
  await acknowledge()
  expect((await run('fleet', 'list')).out).toMatch(/198\.51\.100\.7 +all servers +1 held +permanent +scanner +key:ops/)
  expect((await run('fleet', 'show', '198.51.100.7')).out).toMatch(/web-01 +held +- +20/)
  expect((await run('lookup', '198.51.100.7')).out).toMatch(/fleet ban +\d+: 198\.51\.100\.7 on 1 servers/)
  expect((await run('fleet', 'unban', '198.51.100.7', '--dry-run')).out).toContain('Would lift the fleet ban')
  expect(await run('fleet', 'unban', '198.51.100.7', '--wait', '--timeout', '1')).toEqual({
    code: 1,
    out: '198.51.100.7 is being unbanned.\n',
    err: expect.stringContaining('1 online server did not confirm it within 1 seconds: web-01.'),
  })
  expect(await run('fleet', 'unban', '198.51.100.7')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no fleet ban'),
  })
  expect((await run('fleet', 'list', '--ended', '--json')).out).toContain('"ended_by": "removed"')
})

test('on one server, as JSON, and what is refused', async () => {
  const made = await run('--json', 'fleet', 'ban', '203.0.113.0/24', '--server', 'web-01', '--until', '2d')
  const ban = JSON.parse(made.out) as { id: number; target: object }
  expect(ban.target).toEqual({ server_ids: [host.id] })
  await acknowledge()
  const lifting = run('fleet', 'unban', String(ban.id), '--wait')
  await expect.poll(async () => (await admin.client.call('GET /fleet/bans', { query: { active: true } })).total).toBe(0)
  await acknowledge()
  expect(await lifting).toMatchObject({ code: 0, out: expect.stringContaining('Every server that is online has') })
  expect(await run('fleet', 'ban', '127.0.0.1', '--all')).toMatchObject({
    code: 1,
    err: expect.stringContaining('never'),
  })
  expect(await run('fleet', 'ban', '203.0.113.1', '--all', '--duration', '1h', '--until', '2d')).toMatchObject({
    code: 2,
  })
})

test('tags: of servers, of a fleet ban, of a ban by commands and of a key', async () => {
  expect(await run('servers', 'tag', 'web-01')).toMatchObject({ code: 2 })
  const dry = await run('servers', 'tag', 'web-01', '--add', 'web', 'eu', '--dry-run')
  expect(dry.out).toBe('Would add web, add eu on 1 server. Nothing was done.\n')
  const tagged = await run('servers', 'tag', 'web-01', '--add', 'web', 'eu', '--remove', 'old')
  expect(tagged).toEqual({ code: 0, err: '', out: 'The tags of 1 server changed.\n' })
  expect((await run('servers', 'tags')).out).toMatch(/eu +1 +no\nweb +1 +no/)
  expect((await run('servers', '--tag', 'web')).out).toContain('web-01')
  expect((await run('servers', '--tag', 'db')).out).not.toContain('web-01')
  expect((await run('server', 'web-01')).out).toMatch(/^tags +eu, web$/m)
  // A flag in place of a tag is no tag.
  expect(await run('servers', 'tag', 'web-01', '--add', '--all')).toMatchObject({ code: 1 })
  expect(await run('servers', 'tag', 'web-01', '--add', 'Web')).toMatchObject({ code: 1 })

  const both = await run('fleet', 'ban', '198.51.100.9', '--tag', 'web', '--all')
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining('--tag TAG') })
  const made = await run('fleet', 'ban', '198.51.100.9', '--tag', 'web', 'db')
  expect(made.out).toContain('198.51.100.9 is banned on tag:db, tag:web, until: ')
  expect((await run('fleet', 'unban', '198.51.100.9')).code).toBe(0)

  const ofJail = ['--jail', 'sshd'] as const
  expect((await run('ban', '198.51.100.10', '--tag', 'web', 'eu', ...ofJail)).out).toContain('Queued for 1 server.')
  expect(await run('ban', '198.51.100.10', '--tag', 'db', ...ofJail)).toMatchObject({
    code: 1,
    err: expect.stringContaining('No server with an agent'),
  })
})

test('bans everywhere as a state, and lifts it with the address', async () => {
  const made = await run('ban', '198.51.100.20', '--all', '--duration', '1 week', '--reason', 'scanner')
  expect(made).toMatchObject({ code: 0, err: '' })
  expect(made.out).toMatch(/^198\.51\.100\.20 is banned on all servers, until: .* \(fleet ban \d+\)\.\n/)
  expect((await run('ban', '198.51.100.20', '--tag', 'web')).out).toContain(
    '198.51.100.20 is banned on tag:web, until: ',
  )
  const standing = async () => (await run('fleet', 'list', '--search', '198.51.100.20')).out
  expect(await standing()).toMatch(/all servers[^]*tag:web|tag:web[^]*all servers/)
  // Of named servers only their own bans are lifted.
  expect((await run('unban', '198.51.100.20', '--server', 'web-01')).code).toBe(0)
  expect(await standing()).toContain('all servers')
  const lifted = await run('unban', '198.51.100.20')
  expect(lifted.out).toMatch(/^198\.51\.100\.20 is being unbanned\.\n198\.51\.100\.20 is being unbanned\.\n/)
  expect(await standing()).not.toContain('198.51.100.20')
})

test('a key that is bound to a server lifts what it may, and leaves the fleet ban', async () => {
  expect((await run('ban', '198.51.100.30', '--all')).code).toBe(0)
  const { token } = await aServerKey(server, admin.client, host.id)
  const env = { PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: token }
  const lifted = await stockade(env, ['unban', '198.51.100.30'])
  expect(lifted).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Queued for 1 server.') })
  expect((await run('fleet', 'list', '--search', '198.51.100.30')).out).toContain('198.51.100.30')
})
