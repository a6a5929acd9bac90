import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, startServer } from '../../server/src/testing/index.ts'
import type { TestServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'

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
const envOf = (apiKey: string) => ({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: apiKey })
const runAs = (apiKey: string, ...args: string[]) => stockade(envOf(apiKey), args)
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

test('settings are shown, changed after a look, exported and imported', async () => {
  expect((await run('settings', 'show')).out).toMatch(/security\.session_timeout +\d+/)
  const look = await run('settings', 'set', 'general', 'session_timeout=4500', 'service.site_name=Fleet', '--dry-run')
  expect(look.out).toMatch(
    /security\.session_timeout: \d+ -> 4500\nservice\.site_name: ".*" -> "Fleet"\nNothing was done\./,
  )
  expect((await run('settings', 'show')).out).not.toMatch(/session_timeout +4500/)
  expect((await run('settings', 'set', 'general', 'session_timeout=4500', 'site_name=Fleet')).code).toBe(0)
  const file = join(folder, 'settings.json')
  expect((await run('settings', 'export', '--out', file)).code).toBe(0)
  expect(await run('settings', 'export', '--out', file)).toMatchObject({
    code: 1,
    err: expect.stringContaining('EEXIST'),
  })
  expect((await run('settings', 'import', file, '--dry-run')).out).toBe('Everything is so already.\n')
  expect((await run('settings', 'set', 'general', 'session_timeout=5000')).code).toBe(0)
  expect((await run('settings', 'import', file)).code).toBe(0)
  expect((await run('settings', 'show', '--json')).out).toMatch(/"session_timeout": 4500/)
  // A secret comes from a file and is never printed.
  const secret = join(folder, 'pass')
  writeFileSync(secret, 'geheim-7\n')
  const mail = [
    'settings',
    'set',
    'email',
    'smtp_host=192.0.2.25',
    `smtp_pass=@${secret}`,
    'recipients=a@b.example, c@d.example',
  ]
  expect((await run(...mail, '--dry-run')).out).toContain('smtp_pass: a secret')
  expect((await run(...mail)).code).toBe(0)
  const shown = await run('settings', 'show', 'email')
  expect(shown.out).toMatch(/smtp_pass_set +yes/)
  expect(shown.out).toMatch(/recipients +a@b\.example, c@d\.example/)
  expect(shown.out).not.toContain('geheim')
  expect((await run('settings', 'set', 'email', 'smtp_host=')).code).toBe(0)
  writeFileSync(file, '{"settings"')
  for (const [args, code, sentence] of [
    [['set', 'general', 'nonsense=1'], 2, 'There is no setting nonsense. There are: service.site_name'],
    [['set', 'oauth', 'enabled=yes'], 2, 'Say which: provider_a.enabled or provider_b.enabled'],
    [['set', 'general', 'mfa_required=perhaps'], 2, 'security.mfa_required is yes or no'],
    [['set', 'general', 'session_timeout=long'], 2, 'security.session_timeout is a whole number'],
    [['set', 'general', 'session_timeout=0'], 1, 'session_timeout'],
    [['set', 'email', 'smtp_pass=@/nonexistent'], 2, "/nonexistent can't be read: ENOENT"],
    [['set', 'nothing', 'a=1'], 2, 'Allowed choices'],
    [['import', file], 2, 'is not JSON'],
    [['test', 'chat', '--to', 'a@b.example'], 2, '--to is for email'],
    [['test', 'chat'], 1, ''],
  ] as const)
    expect(await run('settings', ...args), args.join(' ')).toMatchObject({
      code,
      err: expect.stringContaining(sentence),
    })
  expect((await runAs(readKey, 'settings', 'show')).code).toBe(1)
})

test('bans, servers and commands are shown one by one and in figures', async () => {
  const { bans } = JSON.parse((await run('bans', '--json', '--jail', 'nginx')).out) as { bans: { id: number }[] }
  const id = String(bans[0]?.id)
  expect((await run('bans', 'show', id)).out).toMatch(/^address +203\.0\.113\.9\njail +nginx\nserver +web-01/)
  expect((await run('bans', 'show', '999999')).code).toBe(1)
  expect((await run('bans', 'stats', '--period', 'week', '--server', 'db-01')).out).toMatch(
    /total bans? *1|total_bans +1/,
  )
  expect((await run('bans', 'top')).out).toMatch(/198\.51\.100\.7 +2/)
  expect((await run('bans', 'export', '--jail', 'nginx', '--format', 'plain')).out).toBe('203.0.113.9\n')
  expect((await run('bans', 'export', '--limit', '5')).code).toBe(2)
  expect((await run('bans', 'report', id)).code).toBe(1)
  expect((await run('servers', 'jails', 'web-01')).code).toBe(0)
  expect((await run('servers', 'stats', 'web-01')).out).toMatch(/total_bans +2/)
  expect((await run('servers', 'metrics', 'web-01', '--hours', '1')).out).toMatch(/^TIME +CPU %/)
  expect((await run('servers', 'change', 'db-01', '--rename', 'db-02', '--description', 'orders')).out).toBe(
    'db-02 is changed.\n',
  )
  expect((await run('servers', 'change', 'db-02')).code).toBe(2)
  expect((await run('ban', '192.0.2.9', '--server', 'db-02')).code).toBe(0)
  expect((await run('commands', 'stats')).out).toMatch(/total +\d/)
  const { commands } = JSON.parse((await run('commands', '--json')).out) as { commands: { id: string }[] }
  expect((await run('commands', 'cancel', commands[0]?.id ?? '')).code).toBe(0)
  expect((await run('commands', 'retry', commands[0]?.id ?? '')).out).toMatch(/ban-ip +pending/)
  expect((await run('lookup', '203.0.113.9', '--neighbours')).out).toMatch(/^range +203\.0\.113\.0\/24/)
  expect((await run('log', 'export', '--action', 'server.', '--format', 'csv')).out).toContain('server.')
  expect((await run('log', 'export', '--page', '2')).code).toBe(2)
  // The launcher knows which words about the licence are for the storage.
  const shown = await promisify(execFile)(process.execPath, [launcher, 'license', 'show'], { env: envOf(key) })
  expect(shown.stdout).toMatch(/^tier +pro/i)
  expect((await run('license', 'install', '/nonexistent')).code).toBe(2)
  expect(await runAs('', 'ready', '--wait')).toMatchObject({ code: 0, out: 'The server is ready.\n' })
})

test('entries, channels, fleet bans and templates are changed', async () => {
  for (const ip of ['198.51.100.200', '198.51.100.201', '198.51.100.202']) await run('whitelist', 'add', ip)
  expect((await run('whitelist', 'change', '198.51.100.200', '--description', 'Office', '--until', '7d')).out).toMatch(
    /^198\.51\.100\.200 \(Office\) is on the whitelist until \d/,
  )
  expect((await run('whitelist', 'remove', '198.51.100.201', '192.0.2.77')).code).toBe(1)
  expect((await run('whitelist', 'remove', '198.51.100.201', '198.51.100.202')).out).toContain('2 entries are off')
  await run(
    'channels',
    'add',
    'pager',
    '--preset',
    'ntfy',
    '--field',
    'server_url=https://ntfy.example',
    '--field',
    'topic=a',
  )
  const off = await run('channels', 'change', 'pager', '--rename', 'night', '--off')
  expect(off.out, off.err).toMatch(/night is off\.\n$/)
  expect((await run('channels', 'change', 'night', '--on', '--off')).code).toBe(2)
  await run('fleet', 'ban', '203.0.113.77', '--all')
  const longer = await run('fleet', 'change', '203.0.113.77', '--duration', 'perm', '--reason', 'again')
  expect(longer.out, longer.err).toMatch(/^Fleet ban \d+ of 203\.0\.113\.77 on all servers, until: permanent\.\n$/)
  expect((await run('fleet', 'change', '203.0.113.78', '--reason', 'x')).code).toBe(1)
  expect((await run('feeds', 'preview')).out).toMatch(/^total +\d+/)
  const jail = join(folder, 'jail.conf')
  writeFileSync(jail, '[shop-login]\nenabled = true\nfilter = sshd\nlogpath = /var/log/auth.log\n')
  const made = await run('templates', 'add', 'shop-login', jail, '--title', 'Shop', '--maxretry', '4')
  expect(made.out, made.err).toMatch(/^shop-login is template \d+\./)
  expect((await run('templates', 'change', 'shop-login', '--bantime', '2h')).code).toBe(0)
  expect((await run('templates', 'change', 'shop-login')).code).toBe(2)
  expect((await run('templates', 'show', 'shop-login')).out).toContain('bantime=7200')
  expect((await run('templates', 'categories')).out).toMatch(/^CATEGORY/)
  expect((await run('templates', 'delete', 'shop-login')).code).toBe(2)
  expect((await run('templates', 'delete', 'shop-login', '--yes')).code).toBe(0)
})

test('port knocking is set up and looked at', async () => {
  const made = await run(
    'portknock',
    'add',
    'ssh',
    '--port',
    '22',
    '--knocks',
    '7000',
    '8000',
    '9000',
    '--server',
    'web-01',
  )
  expect(made.out, made.err).toContain('ssh opens port 22 after knocks at 7000 8000 9000.')
  expect((await run('portknock', 'list')).out).toMatch(/ssh +22 +7000 8000 9000 +tcp +0 of 1/)
  expect((await runAs(readKey, 'portknock', 'list')).out).toContain('not for this key')
  expect((await run('portknock', 'change', 'ssh', '--open-for', '2m')).code).toBe(0)
  expect((await run('portknock', 'change', 'ssh')).code).toBe(2)
  expect((await run('portknock', 'show', 'ssh')).out).toMatch(/open for +120 s[^]*web-01/)
  for (const args of [['active'], ['blocked'], ['history'], ['stats']])
    expect((await run('portknock', ...args)).code, args.join()).toBe(0)
  expect((await run('portknock', 'unblock', '192.0.2.1')).code).toBe(1)
  expect((await run('portknock', 'close', 'none')).code).toBe(1)
  expect((await run('portknock', 'open', 'web-01', 'nothing')).code).toBe(1)
  expect((await run('portknock', 'add', 'half', '--port', '22')).code).toBe(2)
  expect((await run('portknock', 'remove', 'ssh')).code).toBe(2)
  expect((await run('portknock', 'remove', 'ssh', '--yes')).code).toBe(0)
  expect((await run('portknock', 'show', 'ssh')).code).toBe(1)
})
