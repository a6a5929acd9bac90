import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-cli-'))
let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost
let key: string
beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  db = await aHost(server, admin.client, 'db-01')
  for (const host of [web, db]) await host.client.call('POST /servers/heartbeat', { body: { hostname: 'x' } })
  for (const [host, name] of [
    [web, 'web-01'],
    [db, 'db-01'],
  ] as const)
    await admin.client.call('PATCH /servers/{serverId}', { params: { serverId: host.id }, body: { hostname: name } })
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'write' } })).key
})
afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = (args: string[], input = '') =>
  stockade({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, ['templates', ...args], input)
const lines = (text: string) => text.trimEnd().split('\n')
const cells = (line: string | undefined) => line?.split(/ {2,}/) ?? []
const fileOf = (name: string, text: string) => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
const poll = async (host: EnrolledHost) =>
  (await host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id } })).commands
const answer = (host: EnrolledHost, commandId: string, success: boolean, output: string) =>
  host.client.call('POST /commands/{commandId}/result', { params: { commandId }, body: { success, output } })
/** Carries out what is ordered, once there is something. */
const obey = (host: EnrolledHost, success: boolean, output: string) =>
  eventually(async () => {
    const orders = await poll(host)
    if (orders.length === 0) throw new Error('nothing is ordered')
    for (const { id } of orders) await answer(host, id, success, output)
    return orders
  })

test('list and show', async () => {
  const { out, err, code } = await run(['list', '--category', 'mail', '--search', 'postfix'])
  expect({ err, code }).toEqual({ err: '', code: 0 })
  const [head, first, second, , total] = lines(out)
  expect(cells(head)).toEqual(['NAME', 'TITLE', 'CATEGORY', 'TYPE', 'WATCHES', 'ID'])
  expect([cells(first)[0], cells(second)[0], total]).toEqual(['postfix', 'postfix-sasl', '2 templates'])
  const shown = await run(['show', 'wordpress'])
  expect(shown).toMatchObject({ code: 0, err: '' })
  expect(shown.out).toBe((await run(['show', '22'])).out)
  expect(shown.out).toMatch(/^title {5}WordPress logins$/m)
  expect(shown.out).toMatch(/^settings {2}maxretry=5 bantime=3600 findtime=600$/m)
  expect(shown.out).toMatch(/\n\[wordpress\]\nenabled = true\n[^]*\n\[Definition\]\nfailregex = /)
  expect(JSON.parse((await run(['show', 'sshd', '--json'])).out)).toEqual(
    await admin.client.call('GET /templates/{templateId}', { params: { templateId: 'sshd' } }),
  )
  expect(await run(['show', 'nothing'])).toMatchObject({ code: 1, err: expect.stringContaining('no template nothing') })
  expect(await run(['list', '--category', 'ftp'])).toMatchObject({ code: 2 })
})

test('deploy with settings, and what hosts say of it', async () => {
  expect(await run(['deploy', 'sshd'])).toMatchObject({ code: 2, err: expect.stringContaining('--server') })
  expect(await run(['deploy', 'sshd', '--server', 'WEB-01', '--all'])).toMatchObject({ code: 2 })
  const queued = await run([
    'deploy',
    'sshd',
    '--maxretry',
    '3',
    '--bantime',
    'perm',
    '--findtime',
    '1h',
    '--server',
    'WEB-01',
  ])
  expect(queued).toMatchObject({ code: 0, err: '' })
  const [order] = await poll(web)
  expect(cells(lines(queued.out)[1])).toEqual(['web-01', 'pending', order?.id])
  expect(order?.template).toMatchObject({ name: 'sshd', settings: { maxretry: 3, bantime: -1, findtime: 3600 } })
  await answer(web, order?.id ?? '', true, '')
  const [ran] = await Promise.all([
    run(['deploy', 'nginx-botsearch', '--all', '--logpath', '/var/log/nginx/*.log', '--wait']),
    obey(web, true, 'deployed'),
    obey(db, false, 'nginx-botsearch: none of its logs is on this host'),
  ])
  expect(ran.code).toBe(1)
  expect(lines(ran.out).slice(1, 3).map(cells)).toEqual([
    ['db-01', 'failed', 'nginx-botsearch: none of its logs is on this host', expect.any(String)],
    ['web-01', 'completed', 'deployed', expect.any(String)],
  ])
  expect(ran.err).toBe('stockade: 1 of 2 failed.\n')
  expect(await run(['deploy', 'sshd', '--all', '--logpath', '/etc/passwd'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('settings.logpath'),
  })
  expect(await run(['deploy', 'sshd', '--all', '--findtime', 'perm'])).toMatchObject({ code: 2 })
})

test('status, and removal of what may be gone already', async () => {
  await web.client.call('PUT /agent/jails', {
    body: { jails: [{ name: 'sshd', enabled: true, current_bans: 4, template: 'sshd' }] },
  })
  const { out } = await run(['status', 'sshd'])
  expect(lines(out).map(cells)).toEqual([
    ['SERVER', 'DEPLOYED', 'STATE', 'BANNED NOW', 'ID'],
    ['db-01', 'no', '-', expect.stringMatching(/^-$/), db.id],
    ['web-01', 'yes', 'enabled', '4', web.id],
    [''],
    ['sshd is on 1 of 2 servers.'],
  ])
  const [ran] = await Promise.all([
    run(['remove', 'long-gone', '--server', 'web-01', '--wait']),
    obey(web, true, 'removed'),
  ])
  expect(ran).toMatchObject({ code: 0, err: '', out: expect.stringContaining('1 of 1 done.') })
  expect(await run(['remove', 'No', '--all'])).toMatchObject({ code: 1, err: expect.stringContaining('template_name') })
})

test('validate', async () => {
  const jail = fileOf('door.conf', '[door]\nbackend = auto\nlogpath = /var/log/door.log\n')
  const good = fileOf('good.conf', '[Definition]\nfailregex = ^\\s*door: knock from <HOST>$\n')
  expect(await run(['validate', jail, '--filter', good])).toEqual({ code: 0, err: '', out: 'It passes.\n' })
  const bad = fileOf('bad.conf', '[Definition]\nfailregex = door: (knock from <HOST>\n')
  const refused = await run(['validate', jail, '--filter', bad])
  expect(refused).toMatchObject({ code: 1, err: 'stockade: It is refused for 1 error.\n' })
  expect(refused.out).toMatch(new RegExp(`^${bad}:2: error: failregex: `))
  const warned = await run(['validate', '-', '--filter', good], '[door]\nlogpath = /var/log/door.log\n')
  expect(warned).toMatchObject({ code: 0, err: '' })
  expect(warned.out).toMatch(/^-:1: warning: .*\nIt passes, with warnings\.\n$/)
  expect(JSON.parse((await run(['validate', jail, '--filter', bad, '--json'])).out)).toMatchObject({ valid: false })
  expect(await run(['validate', join(folder, 'nothing')])).toMatchObject({
    code: 2,
    err: expect.stringContaining('ENOENT'),
  })
  expect(await run(['validate', '-', '--filter', '-'])).toMatchObject({ code: 2 })
})

test('validate with lines of a log', async () => {
  const jail = fileOf('gate.conf', '[gate]\nbackend = auto\nlogpath = /var/log/gate.log\n')
  const filter = fileOf('gate-filter.conf', '[Definition]\nfailregex = ^\\s*gate: refused <HOST>$\n')
  const wrong = 'Nov 21 09:30:00 gate: refused 203.0.113.7\nNov 21 09:30:01 gate: refused 2001:db8::7\n'
  const right = 'Nov 21 09:30:02 gate: welcome\u001b[2J 203.0.113.7\n'
  const check = (log: string, ...more: string[]) =>
    run(['validate', jail, '--filter', filter, '--sample', '-', ...more], log)
  expect(await check(`${wrong}\n`)).toEqual({
    code: 0,
    err: '',
    out: `It passes.

LINE  RESULT    ADDRESS      TEXT
   1  match     203.0.113.7  Nov 21 09:30:00 gate: refused 203.0.113.7
   2  match     2001:db8::7  Nov 21 09:30:01 gate: refused 2001:db8::7
   3  no match  -            -

2 lines match, 0 do not.
`,
  })
  const [mixed, none, some, any, asked] = await Promise.all([
    check(wrong + right),
    check(right, '--expect', 'none'),
    check(wrong + right, '--expect', 'none'),
    check(wrong + right, '--expect', 'any'),
    check(wrong + right, '--json'),
  ])
  expect(mixed).toMatchObject({ code: 1, err: 'stockade: 1 line does not match.\n' })
  expect(lines(mixed.out)[5]).toBe('   3  no match  -            Nov 21 09:30:02 gate: welcome\ufffd[2J 203.0.113.7')
  expect(none).toMatchObject({ code: 0, err: '' })
  expect(some).toMatchObject({ code: 1, err: 'stockade: 2 lines match that should not.\n' })
  expect(any).toMatchObject({ code: 0, err: '' })
  expect(asked).toMatchObject({ code: 1, err: 'stockade: 1 line does not match.\n' })
  expect(JSON.parse(asked.out)).toMatchObject({ valid: true, matches: [{ ip: '203.0.113.7' }, {}, { matched: false }] })
  // A filter that lies on the servers can't be tried here: that is no success.
  const there = fileOf('there.conf', '[sshd]\nfilter = sshd\nlogpath = /var/log/auth.log\n')
  expect(await run(['validate', there, '--sample', '-'], wrong)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^stockade: No line could be tried: .*servers/),
    out: expect.stringContaining('0 lines match, 0 do not, 2 could not be tried.'),
  })
  expect(await check('')).toMatchObject({ code: 1, err: 'stockade: No line could be tried: there is none.\n' })
  expect(await check('x\n'.repeat(201))).toMatchObject({ code: 2, err: expect.stringContaining('tail -n 200') })
  expect(await run(['validate', jail, '--expect', 'none'])).toMatchObject({ code: 2 })
  expect(await run(['validate', '-', '--sample', '-'])).toMatchObject({ code: 2 })
})
