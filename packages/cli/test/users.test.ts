import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, startServer } from '../../server/src/testing/index.ts'
import type { TestServer } from '../../server/src/testing/index.ts'

const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-users-'))
let server: TestServer
let key: string
let readKey: string
beforeAll(async () => {
  server = await startServer()
  const { client } = await server.setUp()
  key = (await client.call('POST /keys', { body: { name: 'ops', permissions: 'admin' } })).key
  readKey = (await client.call('POST /keys', { body: { name: 'look', permissions: 'read' } })).key
  const web = await aHost(server, client, 'web-01')
  const db = await aHost(server, client, 'db-01')
  const ban = (host: typeof web, ip: string, jail: string) =>
    host.client.call('POST /bans/batch', { body: { bans: [{ ip, jail, ban_duration: 600 }] } })
  await ban(web, '198.51.100.7', 'sshd')
  await ban(db, '198.51.100.7', 'sshd')
  await ban(web, '203.0.113.9', 'nginx')
})
afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})
const runAs = (
  apiKey: string,
  ...args: string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> =>
  new Promise(resolve => {
    const env = { PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: apiKey }
    execFile(process.execPath, [launcher, ...args], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })
const run = (...args: string[]) => runAs(key, ...args)

test('a user is invited, changed, narrowed, signed out and removed', async () => {
  const added = await run('users', 'add', 'anna', 'anna@stockade.example', '--as', 'Operator')
  expect(added, added.err).toMatchObject({
    code: 0,
    out: expect.stringContaining('anna (Operator) chooses a password'),
  })
  expect(added.out).toMatch(/^http\S+\/\S+$/m)
  expect((await run('users', 'add', 'anna', 'other@stockade.example')).code).toBe(1)
  expect((await run('users')).out).toMatch(/anna +Operator +anna@stockade\.example +off +invited/)
  expect((await run('users', '--role', 'Admin')).out).not.toContain('anna')
  const invited = await run('users', 'invite', 'Anna')
  expect(invited.out.trim().split('\n').at(-1)).not.toBe(added.out.trim().split('\n').at(-1))
  expect((await run('users', 'change', 'anna')).code).toBe(2)
  expect((await run('users', 'change', 'anna', '--as', 'Viewer', '--mfa-required')).out).toContain('anna is Viewer')
  expect((await run('users', 'access', 'anna', '--server', 'web-01')).out).toContain('1 servers can be seen')
  expect((await run('users', 'show', 'anna')).out).toMatch(/must have one +yes\nsees +1 servers/)
  expect((await run('users', 'access', 'anna')).code).toBe(2)
  const reset = await run('users', 'reset-password', 'anna')
  expect(reset.out).toContain('The temporary password, shown once:')
  expect((await run('users', 'reset-mfa', 'anna')).code).toBe(0)
  expect((await run('users', 'sign-out', 'anna')).out).toMatch(/^\d+ sessions have ended/)
  expect(await run('users', 'remove', 'anna')).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect((await run('users', 'remove', 'anna', '--yes')).code).toBe(0)
  expect(await run('users', 'show', 'anna')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no user'),
  })
  expect((await runAs(readKey, 'users')).code).toBe(1)
})

test('attackers are listed one row each, and the audit log is read', async () => {
  const listed = await run('attackers')
  expect(listed.out).toMatch(/198\.51\.100\.7 .* 2 +2 +sshd .* banned/)
  expect((await run('attackers', '-q', 'jail:nginx')).out).toContain('1 of 1 attackers')
  expect((await run('attackers', '--server', 'db-01')).out).not.toContain('203.0.113.9')
  expect((await run('bans', '-q', 'jail:nginx')).out).toContain('1 of 1 bans')
  expect((await run('bans', '-q', 'nonsense:1')).code).toBe(1)
  expect((await run('attackers', '--sort', 'nothing')).code).toBe(2)
  expect((await run('log', '--action', 'key.', '--limit', '5')).out).toMatch(/key\.\w+ /)
  expect((await runAs(readKey, 'log')).code).toBe(1)
})

test('any operation is called by its path', async () => {
  expect((await run('api', 'list', 'portknock', 'blocked')).out).toMatch(/GET +\/portknock\/blocked/)
  expect((await run('api', 'list', 'no such words')).code).toBe(1)
  const me = JSON.parse((await run('api', 'GET', '/bans?jail=nginx', '--query', 'limit=1')).out) as { total: number }
  expect(me.total).toBe(1)
  // A path that is written out wins over one with a parameter.
  expect(JSON.parse((await run('api', 'GET', '/bans/attackers')).out)).toHaveProperty('attackers')
  const body = join(folder, 'entry.json')
  writeFileSync(body, JSON.stringify({ ip: '192.0.2.5', description: 'by hand' }))
  expect((await run('api', 'POST', '/whitelist', '--body', `@${body}`)).code).toBe(0)
  expect((await run('api', 'GET', '/bans/export', '--query', 'format=plain')).out).toContain('203.0.113.9\n')
  for (const [args, code, sentence] of [
    [['GET', '/nonsense'], 2, 'There is no operation GET /nonsense'],
    [['POST', '/whitelist', '--body', '{'], 2, 'The body is not JSON'],
    [['POST', '/whitelist', '--body', '@/nonexistent'], 2, "The body can't be read: ENOENT"],
    [['GET', '/bans', '--query', 'novalue'], 2, 'NAME=VALUE'],
    [['GET', '/bans/%zz'], 2, 'is not a part of an address'],
    [['GET', '/bans', '--query', 'nonsense=1'], 1, 'is not a known field'],
    [['FETCH', '/bans'], 2, 'Allowed choices'],
  ] as const)
    expect(await run('api', ...args), args.join(' ')).toMatchObject({ code, err: expect.stringContaining(sentence) })
  // What a key may not do stays refused.
  expect((await runAs(readKey, 'api', 'POST', '/whitelist', '--body', '{"ip":"192.0.2.6"}')).code).toBe(1)
})
