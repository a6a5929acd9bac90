import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { stockade, stockadeProcess } from '../../server/src/testing/command.ts'
import { connect } from '../src/connection.ts'
import { send } from '../src/orders.ts'
import { selfSigned } from '../../server/src/http/self-signed.ts'
import { aHost, eventually, freePort, startServer } from '../../server/src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'

const runWith = (env: Record<string, string>, ...words: string[]) => stockade(env, words)
const lines = (text: string) => text.trimEnd().split('\n')
/** The cells of a row: two spaces or more stand between them. */
const cells = (line: string | undefined) => line?.split(/ {2,}/) ?? []

let server: TestServer
let admin: Signed
let key: string
let web: EnrolledHost
let db: EnrolledHost
let pendingId: string
const run = (...args: string[]) => runWith({ STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, ...args)

beforeAll(async () => {
  // The bans below lie in its yesterday, whenever this runs.
  const begun = Date.now()
  server = await startServer({
    clock: () => Date.parse('2026-11-21T12:00:00Z') + Date.now() - begun,
    // The hosts beat once.
    env: { STOCKADE_OFFLINE_AFTER: '86400' },
  })
  admin = await server.setUp()
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'write' } })).key
  web = await aHost(server, admin.client, 'web-01')
  db = await aHost(server, admin.client, 'db-01')
  await web.client.call('POST /servers/heartbeat', {
    body: {
      hostname: 'web-01',
      agent_id: web.agentId,
      os: 'Debian GNU/Linux 12',
      engine_version: '1.1.0',
      agent_version: '0.1.0',
      metrics: { cpu_percent: 12.5, memory_percent: 40, disk_percent: 71, uptime: 93_784 },
      jails: [
        { name: 'sshd', enabled: true, current_bans: 2 },
        { name: 'nginx', enabled: false, current_bans: 0 },
      ],
      protection: {
        level: 'unprotected',
        since: '2026-11-21T11:00:00Z',
        summary: 'fail2ban does not answer.',
        checks: [{ id: 'engine', state: 'bad', since: '2026-11-21T11:00:00Z', detail: 'fail2ban does not answer.' }],
        counted: { ok: 4, not_ok: 1, unknown: 0 },
      },
    },
  })
  await db.client.call('POST /servers/heartbeat', { body: { hostname: 'db-01', agent_id: db.agentId } })
  pendingId = (await admin.client.call('POST /servers', { body: { hostname: 'new-01' } })).id
  const report = (host: EnrolledHost, ip: string, ban_duration: number, banned_at: string) =>
    host.client.call('POST /bans', { body: { ip, jail: 'sshd', ban_duration, banned_at } })
  await report(web, '192.0.2.1', -1, '2026-11-20T09:00:00Z')
  await report(web, '192.0.2.2', 31_000_000, '2026-11-20T10:00:00Z')
  await report(db, '198.51.100.7', 60, '2026-11-20T11:00:00Z')
})
afterAll(() => server?.close())

/** Carries out what is ordered of a host, once there is something. */
const obey = (host: EnrolledHost, success: boolean, output: string) =>
  eventually(async () => {
    const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: host.id },
    })
    if (commands.length === 0) throw new Error('nothing is ordered')
    for (const { id } of commands)
      await host.client.call('POST /commands/{commandId}/result', {
        params: { commandId: id },
        body: { success, output, exit_code: success ? 0 : 1 },
      })
    return commands
  })

describe('servers', () => {
  test('a table, by hostname', async () => {
    const done = await run('servers')
    expect(done).toMatchObject({ code: 0, err: '' })
    const [head, ...rows] = lines(done.out)
    expect(cells(head)).toEqual(
      'HOSTNAME|STATUS|PROTECTION|ADDRESS|FAIL2BAN|AGENT|JAILS|BANS|LAST HEARTBEAT|ID'.split('|'),
    )
    const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
    expect(cells(rows[0])).toEqual(['db-01', 'online', 'unknown', '127.0.0.1', '-', '-', '0', '1', time, db.id])
    expect(cells(rows[1])).toEqual(['new-01', 'pending', 'unknown', '-', '-', '-', '0', '0', '-', pendingId])
    expect(cells(rows[2])).toEqual([
      'web-01',
      'online',
      'unprotected',
      '127.0.0.1',
      '1.1.0',
      '0.1.0',
      '1',
      '2',
      time,
      web.id,
    ])
    expect(rows.slice(3)).toEqual(['', '3 of 3 servers'])
    // Aligned: each column begins where its heading does.
    expect(rows[0]?.indexOf('online')).toBe(head?.indexOf('STATUS'))
    expect(rows[1]?.indexOf(pendingId)).toBe(head?.indexOf('ID', (head?.length ?? 0) - 2))
    // A pipe is no terminal.
    expect(done.out).not.toContain('\u001b')
  })
  test('filters and pages', async () => {
    expect(lines((await run('servers', '--status', 'pending')).out)[1]).toMatch(/^new-01/)
    const page = await run('servers', '--search', '-01', '--limit', '1', '--page', '2')
    expect(lines(page.out)[1]).toMatch(/^new-01/)
    expect(page.out).toContain('1 of 3 servers; more with --page 3')
  })
  test('--json is what the API answers', async () => {
    const done = await run('servers', '--json', '--search', 'web')
    expect(JSON.parse(done.out)).toEqual(await admin.client.call('GET /servers', { query: { search: 'web' } }))
  })
  test('one server, by name in any letter case and by id', async () => {
    const byName = await run('server', 'WEB-01')
    expect(byName).toMatchObject({ code: 0, err: '' })
    expect(byName.out).toBe((await run('server', web.id.toUpperCase())).out)
    expect(byName.out).toMatch(/^hostname {8}web-01$/m)
    expect(byName.out).toMatch(/^processor {7}12\.5 %$/m)
    expect(byName.out).toMatch(/^up for {10}1d 2h$/m)
    expect(lines(byName.out).slice(-2)).toEqual([
      expect.stringMatching(/^sshd +enabled +2$/),
      '1 more in its configuration is disabled; --jails lists them.',
    ])
    const all = await run('server', 'web-01', '--jails')
    expect(lines(all.out).slice(-3).map(cells)).toEqual([
      ['JAIL', 'STATE', 'BANNED NOW'],
      ['sshd', 'enabled', '2'],
      ['nginx', 'disabled', '0'],
    ])
    const json = await run('--json', 'server', 'web-01')
    // The server's own keys are for administrators, and the command line's key is none.
    const known = await admin.client.call('GET /servers/{serverId}', { params: { serverId: web.id } })
    expect(JSON.parse(json.out)).toEqual({ ...known, keys: null })
  })
  test('an unknown one', async () => {
    expect(await run('server', 'web-99')).toEqual({
      code: 1,
      out: '',
      err: 'stockade: There is no server "web-99". See: stockade servers\n',
    })
    const id = '01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'
    expect(await run('server', id)).toEqual({ code: 1, out: '', err: `stockade: There is no server ${id}.\n` })
  })
  test('a name that two share is not guessed at', async () => {
    const make = async () => (await admin.client.call('POST /servers', { body: { hostname: 'twin' } })).id
    const ids = [await make(), await make()]
    const done = await run('ban', '192.0.2.9', '--server', 'twin')
    for (const id of ids) await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: id } })
    expect(done.code).toBe(1)
    expect(done.err).toMatch(/^stockade: 2 servers are called "twin"\. Name one by its id: /)
    for (const id of ids) expect(done.err).toContain(id)
  })
})

describe('bans', () => {
  test('newest first, with their end', async () => {
    const done = await run('bans', '--ip', '192.0.2.0/24')
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(lines(done.out).map(cells)).toEqual([
      ['ADDRESS', 'JAIL', 'SERVER', 'COUNTRY', 'BANNED AT', 'UNTIL', 'STATE', 'BY'],
      ['192.0.2.2', 'sshd', 'web-01', '-', '2026-11-20T10:00:00Z', '2027-11-14T05:06:40Z', 'active', 'engine'],
      ['192.0.2.1', 'sshd', 'web-01', '-', '2026-11-20T09:00:00Z', 'permanent', 'active', 'engine'],
      [''],
      ['2 of 2 bans'],
    ])
  })
  test.each([
    [['--server', 'db-01'], ['198.51.100.7']],
    [['--server', 'web-01', '--jail', 'sshd', '--limit', '1', '--page', '2'], ['192.0.2.1']],
    [['--from', '2026-11-20T11:30:00+01:00'], ['198.51.100.7']],
    [['--to', '2026-11-20T09:30:00Z'], ['192.0.2.1']],
    [['--from', '2026-11-21', '--to', '2026-11-22'], []],
    [['--jail', 'nginx'], []],
    [['--country', 'de'], []],
    [
      ['--active', '--server', 'web-01'],
      ['192.0.2.2', '192.0.2.1'],
    ],
  ])('%j', async (args, addresses) => {
    const done = await run('bans', ...args, '--json')
    expect((JSON.parse(done.out) as { bans: { ip: string }[] }).bans.map(({ ip }) => ip)).toEqual(addresses)
  })
  test('--active false are those that ended', async () => {
    await eventually(async () => {
      const done = await run('bans', '--active', 'false')
      expect(lines(done.out).map(cells)[1]).toEqual(
        expect.arrayContaining(['198.51.100.7', 'db-01', '2026-11-20T11:01:00Z', 'ended']),
      )
    })
  })
})

describe('orders', () => {
  test('ban queues for the named servers, each once', async () => {
    const done = await run(
      'ban',
      '203.0.113.5',
      '--server',
      'web-01',
      'WEB-01',
      db.id,
      '--duration',
      '2h',
      '--reason',
      'scans',
    )
    expect(done).toMatchObject({ code: 0, err: '' })
    const rows = lines(done.out).map(cells)
    expect(rows[0]).toEqual(['SERVER', 'STATUS', 'COMMAND'])
    expect(
      rows
        .slice(1, 3)
        .map(([name, status]) => [name, status])
        .sort(),
    ).toEqual([
      ['db-01', 'pending'],
      ['web-01', 'pending'],
    ])
    expect(done.out).toContain('Queued for 2 servers.')
    const params = { ip: '203.0.113.5', jail: 'stockade', duration: 7200, reason: 'scans' }
    for (const host of [web, db]) {
      const taken = await obey(host, true, 'banned')
      expect(taken.map(order => ({ type: order.type, params: order.params }))).toEqual([{ type: 'ban-ip', params }])
      const { commands } = await admin.client.call('GET /commands', { query: { server_id: host.id } })
      expect(commands[0]).toMatchObject({ initiated_by: 'key:ops', status: 'completed' })
    }
  })
  test.each([
    [['--server', 'db-01'], { jail: 'stockade', duration: 86_400 }],
    [['--server', 'db-01', '--jail', 'sshd'], { jail: 'sshd' }],
    [['--server', 'db-01', '--duration', 'perm'], { jail: 'stockade', duration: -1 }],
    [['--server', 'db-01', '--force'], { jail: 'stockade', duration: 86_400, force: true }],
  ])('ban %j', async (args, params) => {
    const done = await run('ban', '203.0.113.6', ...args, '--json')
    const reply = JSON.parse(done.out) as { batch_id: string; commands: { server_id: string; status: string }[] }
    expect(reply.commands).toMatchObject([{ server_id: db.id, status: 'pending' }])
    const [taken] = await obey(db, true, '')
    expect(taken?.params).toEqual({ ip: '203.0.113.6', ...params })
  })
  test('--wait tells of each, and exits 0 when all succeed', async () => {
    const [done] = await Promise.all([
      run('ban', '203.0.113.7', '--all', '--jail', 'stockade', '--wait'),
      obey(web, true, 'one\nbanned\n'),
      obey(db, true, 'banned \u001b[31m'),
    ])
    expect(done).toMatchObject({ code: 0, err: '' })
    // Pending servers have no agent, and no order waits for one.
    expect(lines(done.out).map(cells)).toEqual([
      ['SERVER', 'STATUS', 'RESULT', 'COMMAND'],
      ['db-01', 'completed', 'banned \ufffd[31m', expect.any(String)],
      ['web-01', 'completed', 'banned', expect.any(String)],
      [''],
      ['2 of 2 done.'],
    ])
  })
  test('--wait exits 1 when one fails', async () => {
    const [done] = await Promise.all([
      run('unban', '203.0.113.7', '--wait'),
      obey(web, true, ''),
      obey(db, false, 'jail is not there'),
    ])
    expect(done.code).toBe(1)
    expect(done.err).toBe('stockade: 1 of 2 failed.\n')
    expect(lines(done.out).map(cells)[1]).toEqual(['db-01', 'failed', 'jail is not there', expect.any(String)])
  })
  test('for more servers than one request names goes out in several, all awaited', async () => {
    const context = { ...connect(server.url, { STOCKADE_API_KEY: key }, null, true), json: true }
    const texts: string[] = []
    const printed = vi.spyOn(process.stdout, 'write').mockImplementation(text => texts.push(String(text)) > 0)
    const order = { type: 'ban-ip', params: { ip: '203.0.113.9', jail: 'sshd' } } as const
    const targets = [web, db].map(({ id }) => ({ id, hostname: id }))
    const sent = send(context, { wait: true }, targets, order, 1)
    await Promise.all([sent, obey(web, true, 'banned'), obey(db, true, 'banned')]).finally(() => printed.mockRestore())
    const { batches } = JSON.parse(texts.join('')) as { batches: { batch_id: string }[] }
    expect(batches).toMatchObject(
      ['web-01', 'db-01'].map(hostname => ({ commands: [{ server: { hostname }, status: 'completed' }] })),
    )
    expect(new Set(batches.map(({ batch_id }) => batch_id)).size).toBe(2)
    const gone = { id: randomUUID(), hostname: 'gone' }
    await expect(send(context, {}, [targets[0] ?? gone, gone], order, 1)).rejects.toThrow(
      /It is queued for the first 1 of 2 servers\.$/,
    )
    await obey(web, true, 'banned')
  })
  test('--wait ends when its time is over, and says that the order stands', async () => {
    const done = await run(
      'unban',
      '203.0.113.8',
      '--server',
      'web-01',
      '--jail',
      'sshd',
      '--wait',
      '--timeout',
      '1',
      '--json',
    )
    expect(done.code).toBe(1)
    expect(done.err).toBe('stockade: 1 of 1 gave no result within 1 seconds; they stay queued.\n')
    expect(JSON.parse(done.out)).toMatchObject({ commands: [{ status: 'pending', server: { id: web.id } }] })
    const [taken] = await obey(web, true, '')
    expect(taken).toMatchObject({ type: 'unban-ip', params: { ip: '203.0.113.8', jail: 'sshd' } })
  })
  test('unban goes to all servers and all jails', async () => {
    const done = await run('unban', '203.0.113.0/24')
    expect(done).toMatchObject({ code: 0, err: '' })
    for (const host of [web, db])
      expect(await obey(host, true, '')).toMatchObject([
        { type: 'unban-ip', params: { ip: '203.0.113.0/24', jail: '*' } },
      ])
  })
  test('--wait outlasts a server that is too busy at times', async () => {
    let asked = 0
    const busy = createServer((request, reply) => {
      if (request.method === 'GET' && request.url?.includes('batch_id') && ++asked <= 2)
        return reply
          .writeHead(asked === 1 ? 429 : 503, { 'content-type': 'application/json', 'retry-after': '1' })
          .end('{"error":"Too Many Requests","message":"Too many requests."}')
      const { host: _, ...headers } = request.headers
      const onward = httpRequest(
        server.url + (request.url ?? ''),
        { method: request.method ?? 'GET', headers },
        answer => {
          reply.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(reply)
        },
      )
      return request.pipe(onward)
    })
    await new Promise<void>(resolve => busy.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`
    const [done] = await Promise.all([
      run('unban', '203.0.113.8', '--server', 'web-01', '--wait', '--url', url),
      obey(web, true, ''),
    ])
    busy.close()
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(asked).toBeGreaterThan(2)
  })
  test('--wait over more servers than stand on a page', async () => {
    const hosts = await Promise.all(
      Array.from({ length: 101 }, async (_, index) => {
        const hostname = `many-${String(index).padStart(3, '0')}`
        const host = await aHost(server, admin.client, hostname)
        await host.client.call('POST /servers/heartbeat', { body: { hostname, agent_id: host.agentId } })
        return host
      }),
    )
    const names = hosts.map(({ id }) => id)
    /** One looks for all: a hundred that ask all the time leave the command no time on a busy machine. */
    const obeyed = async () => {
      await eventually(async () =>
        expect(await admin.client.call('GET /commands', { query: { status: 'pending' } })).toMatchObject({
          total: 101,
        }),
      )
      await Promise.all(hosts.map((host, index) => obey(host, index !== 100, 'last of all')))
    }
    const [done] = await Promise.all([run('unban', '203.0.113.8', '--server', ...names, '--wait'), obeyed()])
    for (const serverId of names) await admin.client.call('DELETE /servers/{serverId}', { params: { serverId } })
    expect(done).toMatchObject({ code: 1, err: 'stockade: 1 of 101 failed.\n' })
    const rows = lines(done.out).map(cells)
    expect(rows.slice(1, 102).map(([name]) => name)).toEqual(
      Array.from({ length: 101 }, (_, index) => `many-${String(index).padStart(3, '0')}`),
    )
    expect(rows[101]?.slice(1, 3)).toEqual(['failed', 'last of all'])
    expect(rows.at(-1)).toEqual(['100 of 101 done.'])
  })
  test('what the API refuses is refused in its words, and nothing is queued', async () => {
    const loopback = await run('ban', '127.0.0.1', '--server', 'web-01')
    expect(loopback).toMatchObject({
      code: 1,
      err: 'stockade: 127.0.0.1 is a loopback address. Give --force to ban it all the same.\n',
    })
    const everywhere = await run('ban', '127.0.0.1', '--all', '--force')
    expect(everywhere).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^stockade: 127\.0\.0\.1 .*never banned\.\n$/),
    })
    const nonsense = await run('ban', '300.1.2.3', '--server', 'web-01')
    expect(nonsense).toMatchObject({
      code: 1,
      err: 'stockade: params.ip must be an IPv4 or IPv6 address, or a CIDR no wider than /16 (IPv4) or /32 (IPv6).\n',
    })
    const unknown = await run('ban', '203.0.113.9', '--server', 'web-01', 'web-99')
    expect(unknown).toMatchObject({ code: 1, err: 'stockade: There is no server "web-99". See: stockade servers\n' })
    const { total } = await admin.client.call('GET /commands', { query: { status: 'pending' } })
    expect(total).toBe(0)
  })
  test('a key that may only read orders nothing', async () => {
    const { key } = await admin.client.call('POST /keys', { body: { name: 'reader', permissions: 'read' } })
    const done = await runWith({ STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, 'unban', '203.0.113.9')
    expect(done).toEqual({
      code: 1,
      out: '',
      err: 'stockade: This needs write permission (a user of role Operator).\n',
    })
  })
})

describe('commands', () => {
  test('the list, filtered', async () => {
    const done = await run('commands', '--server', 'db-01', '--status', 'failed', '--type', 'unban-ip')
    expect(lines(done.out).map(cells)).toEqual([
      ['TYPE', 'SERVER', 'STATUS', 'PARAMETERS', 'BY', 'CREATED', 'ID'],
      [
        'unban-ip',
        'db-01',
        'failed',
        expect.stringContaining('ip=203.0.113.7'),
        'key:ops',
        expect.any(String),
        expect.any(String),
      ],
      [''],
      ['1 of 1 commands'],
    ])
    const json = await run('commands', '--json', '--limit', '2')
    expect(JSON.parse(json.out)).toEqual(await admin.client.call('GET /commands', { query: { limit: 2 } }))
  })
  test('one, with its output', async () => {
    const { commands } = await admin.client.call('GET /commands', { query: { status: 'failed', server_id: db.id } })
    const id = commands[0]?.id ?? ''
    const done = await run('command', id)
    expect(done.out).toMatch(/^status {6}failed$/m)
    expect(done.out).toMatch(/^exit code {3}1$/m)
    expect(done.out.endsWith('\n\njail is not there\n')).toBe(true)
    const json = await run('command', id, '--json')
    expect(JSON.parse(json.out)).toEqual(commands[0])
  })
  test('an unknown one, and an unknown type', async () => {
    const id = '01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'
    expect(await run('command', id)).toEqual({ code: 1, out: '', err: `stockade: There is no command ${id}.\n` })
    expect(await run('commands', '--type', 'format-disk')).toMatchObject({ code: 1, out: '' })
  })
})

describe('whoami', () => {
  test.each(['read', 'write', 'admin'] as const)('a key with %s', async permissions => {
    const made = await admin.client.call('POST /keys', { body: { name: 'me', permissions } })
    const env = { STOCKADE_URL: server.url, STOCKADE_API_KEY: made.key }
    const done = await runWith(env, 'whoami')
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(done.out).toMatch(new RegExp(`^permission {2}${permissions}$`, 'm'))
    expect(done.out).toContain(`${made.key.slice(0, 8)}…`)
    expect(done.out).not.toContain(made.key)
    const json = await runWith(env, 'whoami', '--json')
    expect(JSON.parse(json.out)).toEqual({
      key_prefix: made.key.slice(0, 8),
      permissions,
      servers: 3,
      version: expect.any(String),
    })
  })
  test('it orders nothing to find out', async () => {
    const before = await admin.client.call('GET /commands')
    await run('whoami')
    expect((await admin.client.call('GET /commands')).total).toBe(before.total)
  })
  test('an access token is its user', async () => {
    const env = { STOCKADE_URL: server.url, STOCKADE_API_KEY: admin.token }
    expect((await runWith(env, 'whoami')).out).toMatch(/^user +admin$/m)
    const { ip_address, ...told } = JSON.parse((await runWith(env, 'whoami', '--json')).out) as { ip_address: string }
    expect(ip_address).toBe('127.0.0.1')
    expect(told).toEqual(expect.objectContaining({ username: 'admin', role: 'Admin' }))
  })
})

describe('the connection', () => {
  test('a key from a file; a bad, an empty and no key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stockade-cli-'))
    const file = join(folder, 'key')
    writeFileSync(file, `${key}\n`)
    const url = { STOCKADE_URL: server.url }
    expect(await runWith({ ...url, STOCKADE_API_KEY_FILE: file }, 'servers')).toMatchObject({ code: 0, err: '' })
    const both = await runWith({ ...url, STOCKADE_API_KEY_FILE: file, STOCKADE_API_KEY: key }, 'servers')
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('both set') })
    writeFileSync(file, '\n')
    expect(await runWith({ ...url, STOCKADE_API_KEY_FILE: file }, 'servers')).toMatchObject({
      code: 2,
      err: 'stockade: The API key is empty or holds characters that no key has.\n',
    })
    rmSync(folder, { recursive: true })
    expect(await runWith({ ...url, STOCKADE_API_KEY_FILE: file }, 'servers')).toMatchObject({
      code: 2,
      err: "stockade: STOCKADE_API_KEY_FILE can't be read: ENOENT.\n",
    })
    const wrong = await runWith({ ...url, STOCKADE_API_KEY: `svc_${'x'.repeat(32)}` }, 'servers')
    expect(wrong.code).toBe(1)
    expect(wrong.out).toBe('')
    expect(wrong.err).toMatch(/^stockade: [^\n]+\n$/)
    expect(wrong.err).not.toContain('xxxx')
    expect(await runWith(url, 'servers')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^stockade: Set STOCKADE_API_KEY, or/),
    })
  })
  test('nobody there: the address is named', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    expect(await runWith({ STOCKADE_API_KEY: key }, 'bans', '--url', url)).toEqual({
      code: 1,
      out: '',
      err: `stockade: Can't reach Stockade at ${url}: connection refused.\n`,
    })
  })
  test('--url goes before STOCKADE_URL, with a path, with or without a slash at its end', async () => {
    const env = { STOCKADE_URL: 'http://127.0.0.1:1', STOCKADE_API_KEY: key }
    expect(await runWith(env, '--url', `${server.url}/`, 'servers')).toMatchObject({ code: 0, err: '' })
    const other = await runWith(env, '--url', `${server.url}/elsewhere`, 'servers')
    expect(other.code).toBe(1)
    expect(other.err).toMatch(/^stockade: [^\n]+\n$/)
  })
  test.each(['ftp://stockade.example', 'stockade.example', 'http://user:pw@stockade.example', ''])(
    '%j is no address',
    async url => {
      const done = await runWith({ STOCKADE_API_KEY: key }, 'servers', '--url', url)
      expect(done).toMatchObject({ code: 2, out: '' })
      expect(done.err).toMatch(/^stockade: The address must begin with/)
    },
  )
})

describe('given wrongly', () => {
  test.each([
    [['fly'], "unknown command 'fly'"],
    [['servers', '--status', 'sleepy'], 'Allowed choices are online, offline, pending, all'],
    [['server'], "missing required argument 'name-or-id'"],
    [['bans', '--limit', '0'], 'Give a whole number from 1.'],
    [['bans', '--country', 'DEU'], 'two letters'],
    [['bans', '--active', 'perhaps'], 'Give true or false.'],
    [['bans', '--from', 'yesterday'], 'Give a time such as'],
    [['bans', '--colour'], "unknown option '--colour'"],
    [['ban', '203.0.113.1'], 'Say where: --server NAME..., --tag TAG..., or --all.'],
    [['ban', '203.0.113.1', '--server', 'web-01', '--all'], 'Say where: --server NAME..., --tag TAG..., or --all.'],
    [['ban', '203.0.113.1', '--all', '--duration', 'soon'], 'Give seconds, or'],
    [['unban', '203.0.113.1', '--server', 'web-01', '--all'], 'not both'],
    [['ban', '203.0.113.1', '203.0.113.2', '--all'], 'too many arguments'],
  ])('%j exits 2', async (args, message) => {
    const done = await run(...args)
    expect(done).toMatchObject({ code: 2, out: '' })
    expect(done.err).toMatch(/^stockade: /)
    expect(done.err).toContain(message)
  })
  test('help and version are no misuse', async () => {
    const help = await runWith({}, '--help')
    expect(help).toMatchObject({ code: 0, err: '' })
    for (const name of ['servers', 'bans', 'unban', 'whoami', 'admin', 'doctor', 'Exit codes'])
      expect(help.out).toContain(name)
    expect((await runWith({}, 'ban', '--help')).out).toContain('--duration <time>')
    expect(await stockadeProcess({}, ['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })
})

describe('answers that are not to be trusted', () => {
  const hostile = 'web\u001b]0;owned\u0007\u009b2J\u202e\r\nFAKE  online'
  const answering = async (status: number, type: string, body: string, headers: Record<string, string> = {}) => {
    const stranger = createServer((_, reply) => {
      reply.writeHead(status, { 'content-type': type, ...headers }).end(body)
    })
    await new Promise<void>(resolve => stranger.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    return {
      url,
      ask: (...args: string[]) => runWith({ STOCKADE_URL: url, STOCKADE_API_KEY: key }, ...args),
      close: () => new Promise(resolve => stranger.close(resolve)),
    }
  }
  const row = {
    id: hostile,
    hostname: hostile,
    ip_address: hostile,
    description: hostile,
    status: 'online',
    os: hostile,
    engine_version: hostile,
    agent_version: hostile,
    total_bans: 1,
    active_jails: 1,
    metrics: null,
    protection: { level: 'unknown', since: null, summary: hostile, reported_level: null, reported_at: null },
    last_heartbeat: null,
    created_at: '2026-11-20T09:00:00.000Z',
    updated_at: '2026-11-20T09:00:00.000Z',
  }

  test('names with control characters, in a table and in JSON', async () => {
    const list = { servers: [row], total: 1, page: 1, limit: 20 }
    const stranger = await answering(200, 'application/json', JSON.stringify(list))
    const table = await stranger.ask('servers')
    const json = await stranger.ask('servers', '--json')
    await stranger.close()
    expect(table.code).toBe(0)
    expect(table.out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    // A line break in a name makes no row.
    expect(lines(table.out)).toHaveLength(4)
    expect(json.out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(JSON.parse(json.out)).toEqual(list)
  })
  test('a refusal with control characters', async () => {
    const body = JSON.stringify({ error: 'Conflict', message: hostile })
    const stranger = await answering(409, 'application/json', body)
    const done = await stranger.ask('servers')
    await stranger.close()
    expect(done.code).toBe(1)
    expect(done.err.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
  test('what a host says of itself, through the real server', async () => {
    const host = await aHost(server, admin.client, 'x')
    await host.client.call('POST /servers/heartbeat', {
      body: { hostname: hostile, agent_id: host.agentId, os: hostile, jails: [{ name: hostile, enabled: true }] },
    })
    const [all, one] = [await run('servers'), await run('server', host.id)]
    await admin.client.call('DELETE /servers/{serverId}', { params: { serverId: host.id } })
    expect(all.code + one.code).toBe(0)
    expect(one.out).toContain('owned')
    expect(all.out).not.toMatch(/^FAKE/m)
    for (const { out } of [all, one]) expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
  test('something else that answers there', async () => {
    const stranger = await answering(200, 'text/html', '<h1>Welcome</h1>')
    const done = await stranger.ask('servers')
    await stranger.close()
    expect(done).toEqual({
      code: 1,
      out: '',
      err: `stockade: What answers at ${stranger.url} is not Stockade. Is the address right?\n`,
    })
  })
  test('a certificate that has ended, also one that is trusted otherwise', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const tls = { key: privateKey.export({ format: 'pem', type: 'pkcs8' }) }
    const ended = selfSigned(['127.0.0.1'], privateKey, Date.now() - 400 * 86_400_000)
    const folder = mkdtempSync(join(tmpdir(), 'stockade-ended-'))
    const file = join(folder, 'ended.pem')
    writeFileSync(file, ended)
    let asked = 0
    const stranger = createSecureServer({ ...tls, cert: ended }, (_, reply) => {
      asked += 1
      reply.end()
    })
    await new Promise<void>(resolve => stranger.listen(0, '127.0.0.1', resolve))
    try {
      const url = `https://127.0.0.1:${(stranger.address() as AddressInfo).port}`
      const env = { STOCKADE_URL: url, STOCKADE_API_KEY: key, NODE_EXTRA_CA_CERTS: file }
      // Node reads the certificates that it trusts besides its own when it starts.
      expect(await stockadeProcess(env, ['servers'])).toEqual({
        code: 1,
        out: '',
        err: `stockade: Can't reach Stockade at ${url}: its certificate has expired.\n`,
      })
      expect(asked).toBe(0)
    } finally {
      stranger.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
  test('a redirection is named and not followed with the key', async () => {
    const stranger = await answering(301, 'text/plain', '', { location: 'https://stockade.example/api/v1/servers' })
    const done = await stranger.ask('servers')
    await stranger.close()
    expect(done.code).toBe(1)
    expect(done.err).toContain(`${stranger.url} sends on to https://stockade.example/`)
  })
})

describe('words of other commands', () => {
  test.each([
    [['ban', '203.0.113.6', '--server', 'db-01', '--permanent', '--description', 'noise'], -1],
    [['ban', '203.0.113.6', '--server', 'db-01', '--reason', 'noise'], 86_400],
  ])('%j', async (words, duration) => {
    expect(await run(...words)).toMatchObject({ code: 0, err: '' })
    const [taken] = await obey(db, true, '')
    expect(taken?.params).toMatchObject({ duration, reason: 'noise' })
  })
  test('a whitelist entry has a reason, and no end', async () => {
    const operator = (...words: string[]) => run('whitelist', ...words)
    expect(await operator('add', '203.0.113.77', '--reason', 'office', '--permanent')).toMatchObject({
      code: 0,
      out: '203.0.113.77 (office) is on the whitelist.\n',
    })
    const ended = await operator('change', '203.0.113.77', '--until', '7d')
    expect(ended.out).not.toContain('until it is removed')
    const changed = await operator('change', '203.0.113.77', '--permanent', '--reason', 'home')
    expect(changed.out).toBe('203.0.113.77 (home) is on the whitelist until it is removed.\n')
  })
  test.each([
    [['ban', '203.0.113.6', '--all', '--permanent', '--duration', '1h'], 'Give --permanent or --duration, not both.'],
    [
      ['fleet', 'ban', '203.0.113.6', '--all', '--permanent', '--until', '1d'],
      'Give --permanent or --until, not both.',
    ],
    [
      ['ban', '203.0.113.6', '--all', '--reason', 'a', '--description', 'b'],
      'Give --reason or --description, not both.',
    ],
    [['alerts', 'silence', '--description', 'a', '--permanent'], 'give --hours'],
  ])('%j is refused', async (words, sentence) => {
    expect(await run(...words)).toMatchObject({ code: 2, err: expect.stringContaining(sentence) })
  })
  test('a fleet ban without an end', async () => {
    const done = await run('fleet', 'ban', '203.0.113.8', '--all', '--permanent', '--description', 'noise', '--json')
    expect(JSON.parse(done.out)).toMatchObject({ expires_at: null, reason: 'noise' })
  })
})

test('a server that is protected with warnings shows them', async () => {
  const detail = 'port 8080 is forwarded to 192.0.2.80:80, which bans of jails do not cover'
  const summary = `What is banned on this server does not get through, with 1 warning: ${detail}.`
  const since = '2026-11-21T11:00:00Z'
  const checks = [{ id: 'published', state: 'warning' as const, since, detail }]
  await db.client.call('POST /servers/heartbeat', {
    body: {
      hostname: 'db-01',
      agent_id: db.agentId,
      protection: { level: 'protected', since, summary, checks, counted: { ok: 9, not_ok: 0, unknown: 0 } },
    },
  })
  const list = await run('servers', '--search', 'db-01')
  expect(cells(lines(list.out)[1])[2]).toBe('protected (warnings)')
  expect(lines(list.out)).toContain(`db-01: ${summary}`)
  const one = await run('server', 'db-01')
  expect(one.out).toMatch(/^protection +protected \(warnings\)$/m)
  expect(one.out).toMatch(/^because +What is banned.*with 1 warning/m)
  expect(one.out).toMatch(/^published .*port 8080/m)
})
