import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'
import { onTerminal } from './terminal.ts'
import { eventually } from '../../server/src/testing/waiting.ts'

const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost
let env: Record<string, string>
beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  db = await aHost(server, admin.client, 'db-01')
  const { key } = await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'write' } })
  env = { PATH: process.env.PATH ?? '', STOCKADE_URL: server.url, STOCKADE_API_KEY: key }
  const details = { logpath: null, maxretry: null, bantime: null, findtime: null, current_bans: 0 }
  const has = async (host: EnrolledHost, hostname: string, filter: string) => {
    const jails = [
      { ...details, name: 'sshd', enabled: true, filter: 'sshd', template: host === web ? 'sshd' : null },
      { ...details, name: 'logins', enabled: true, filter, template: null },
    ]
    await host.client.call('POST /servers/heartbeat', { body: { hostname } })
    await host.client.call('PUT /agent/jails', { body: { jails } })
  }
  await has(web, 'web-01', 'dropbear')
  await has(db, 'db-01', 'dovecot')
})
afterAll(() => server?.close())

const run = (...args: string[]) => stockade(env, args)
/** The same on a terminal, where somebody types. */
const typed = (text: string, ...args: string[]) => onTerminal([process.execPath, launcher, ...args], env, text)
const waiting = async () =>
  (await admin.client.call('GET /commands', { query: { status: 'pending', limit: 100 } })).commands
    .map(
      ({ type, server: { hostname }, params }) => `${type} ${hostname} ${String(params.jail ?? params.template_name)}`,
    )
    .sort()
const clear = async () => {
  const { commands } = await admin.client.call('GET /commands', { query: { status: 'pending', limit: 100 } })
  const ids = commands.map(({ id }) => id)
  if (ids.length > 0) await admin.client.call('POST /commands/cancel', { body: { ids } })
}

test('what a jail bans that is no address is shown apart', async () => {
  const jails = ['sshd', 'logins'].map(name => ({ name, enabled: true, current_bans: 0 }))
  const report = (ids: string[], count = ids.length) =>
    web.client.call('POST /servers/heartbeat', {
      body: { hostname: 'web-01', jails: jails.map(jail => ({ ...jail, other_ids: { count, ids } })) },
    })
  await report(['joe', 'a\u001b[31m'])
  expect((await run('servers', 'jails', 'web-01')).out).toContain(
    '\n\nsshd bans 2 ids that are no address: joe, a\ufffd[31m\nlogins bans 2 ids',
  )
  await report([], 1)
  expect((await run('servers', 'jails', 'web-01')).out).toContain('\nsshd bans 1 id that is no address\n')
  await report([])
  expect((await run('servers', 'jails', 'web-01')).out).not.toContain('no address')
})

test('a jail that guards SSH is not switched off by a slip', async () => {
  const both = 'sshd guards the SSH log-in on db-01, web-01. Without it nobody who guesses passwords there is banned.'
  expect(await run('jails', 'disable', 'sshd', '--all')).toEqual({
    code: 2,
    out: '',
    err: `stockade: ${both} Say --yes if it shall be.\n`,
  })
  // By its filter, where the name says nothing.
  const one = await run('jails', 'disable', 'logins', '--server', 'web-01', 'db-01', '--json')
  expect(one).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/^stockade: logins .* on web-01\. .* --yes /),
  })
  expect(await waiting()).toEqual([])

  const no = await typed('n\r', 'jails', 'disable', 'sshd', '--all')
  expect(no.out).toContain(`${both}\r\nSwitch it off on 2 servers? [y/N] `)
  expect(no).toMatchObject({ code: 1, out: expect.stringMatching(/stockade: Nothing was sent\.\r\n$/) })
  // The end of the input is no consent.
  expect(await typed('\u0004', 'jails', 'disable', 'sshd', '--server', 'db-01')).toMatchObject({ code: 1 })
  expect(await waiting()).toEqual([])

  expect(await typed('y\r', 'jails', 'disable', 'sshd', '--server', 'db-01')).toMatchObject({ code: 0 })
  expect(await waiting()).toEqual(['jail-disable db-01 sshd'])
  await clear()
})

test('--yes and what guards nothing are not asked about', async () => {
  const sure = await run('jails', 'disable', 'sshd', '--all', '--yes', '--json')
  expect(sure).toMatchObject({ code: 0, err: '' })
  expect((JSON.parse(sure.out) as { commands: unknown[] }).commands).toHaveLength(2)
  const calm = await run('jails', 'disable', 'logins', '--server', 'db-01')
  expect(calm).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Queued for 1 server.') })
  expect((await run('jails', 'enable', 'sshd', '--server', 'web-01')).code).toBe(0)
  expect(await waiting()).toEqual([
    'jail-disable db-01 logins',
    'jail-disable db-01 sshd',
    'jail-disable web-01 sshd',
    'jail-enable web-01 sshd',
  ])
  await clear()
})

test('a template that guards SSH is taken off only where somebody wants it', async () => {
  expect(await run('templates', 'remove', 'sshd', '--all')).toMatchObject({
    code: 2,
    out: '',
    // The other host has a jail of its own of that name, which stays.
    err: expect.stringMatching(/^stockade: sshd guards the SSH log-in on web-01\. .* Say --yes if it shall be\.\n$/),
  })
  expect(await waiting()).toEqual([])
  expect(await run('templates', 'remove', 'sshd', '--server', 'db-01')).toMatchObject({ code: 0, err: '' })
  expect(await run('templates', 'remove', 'sshd', '--server', 'web-01', '--yes')).toMatchObject({ code: 0, err: '' })
  expect(await waiting()).toEqual(['remove-template db-01 sshd', 'remove-template web-01 sshd'])
  await clear()
})

test('commands that wait are cancelled, and it is said which were not', async () => {
  const { commands } = await admin.client.call('POST /commands/batch', {
    body: { server_ids: [web.id, db.id], type: 'reload-all' },
  })
  const [first, second] = commands.map(({ id }) => id)
  await db.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: db.id } })
  const done = await run('commands', 'cancel', first ?? '', second ?? '')
  expect(done).toMatchObject({ code: 1, err: 'stockade: 1 of 2 was not cancelled.\n' })
  const rows = done.out.trimEnd().split('\n')
  expect(rows.slice(0, 3).map(row => row.split(/ {2,}/))).toEqual([
    ['COMMAND', 'STATUS', 'WHY NOT'],
    [first, 'cancelled', '-'],
    [second, 'running', expect.stringMatching(/^Only a pending command/)],
  ])
  expect(rows.at(-1)).toBe('1 of 2 cancelled.')
  // The list beside it is still one.
  expect((await run('commands', '--type', 'reload-all', '--status', 'running')).out).toContain(second)
})

test("a ban of one's own address, or of a managed server's, is refused in words", async () => {
  const refused = await run('ban', '127.0.0.1', '--server', 'web-01')
  expect(refused).toMatchObject({
    code: 1,
    out: '',
    err: 'stockade: 127.0.0.1 is a loopback address. Give --force to ban it all the same.\n',
  })
  expect(await run('ban', '127.0.0.1', '--server', 'web-01', '--force')).toMatchObject({ code: 0, err: '' })
})

test('a self-test goes as far as it is asked to, and says how far the host went', async () => {
  await clear()
  const step = (name: string, ok: boolean | null) => ({ step: name, family: 4, ok, ms: 3, text: `of ${name}` })
  const answered = async (args: readonly string[], steps: readonly unknown[]) => {
    const ran = run('test', 'web-01', ...args)
    const params = { serverId: web.id }
    const { commands } = await web.client.call('GET /servers/{serverId}/commands/pending', {
      params,
      query: { wait: 30 },
    })
    const [command] = commands
    await web.client.call('POST /commands/{commandId}/result', {
      params: { commandId: command?.id ?? '' },
      body: { success: true, output: JSON.stringify({ result: 'proved', steps }), exit_code: 0 },
    })
    return { asked: command?.params, ...(await ran) }
  }
  const whole = await answered(['--engine', '--ports', '22,8080'], [step('drop', true), step('engine-drop', null)])
  expect(whole).toMatchObject({ code: 0, err: '', asked: { level: 'engine', ports: [22, 8080] } })
  expect(whole.out).toMatch(/^IPv4 engine-drop +not tried +3 ms +of engine-drop$/m)
  expect(whole.out).not.toContain('fail2ban was not tested')
  const old = await answered(['--engine'], [step('drop', true)])
  expect(old.out).toMatch(/fail2ban was not tested: the agent of this host cannot do that yet\.\n$/)
  expect((await answered([], [step('drop', true)])).asked).toEqual({})
  for (const ports of ['0', '22,', '65536', '1,2,3,4,5,6,7,8,9,10,11', 'ssh'])
    expect(await run('test', 'web-01', '--ports', ports)).toMatchObject({
      code: 2,
      err: expect.stringContaining('Give 1 to 10 ports from 1 to 65535'),
    })
})

const preview = (more: object = {}) => ({
  jail: 'sshd',
  settings: { maxretry: 3, findtime: 600, bantime: -1 },
  ...{ banned: 2, whitelisted: 1, signed_in: 1, failures: 20, other_ids: 0 },
  addresses: [
    ['203.0.113.7', 9, false, '2026-11-21T09:00:00.000Z'],
    ['203.0.113.8', 6, false, null],
    ['203.0.113.9', 5, true, null],
  ].map(([ip, failures, whitelisted, signed_in_at]) => ({
    ...{ ip, failures, whitelisted, signed_in_at, bans: 1, stopped: 2 },
    banned_at: '2026-11-21T08:00:00.000Z',
  })),
  log: {
    ...{ from: '2026-11-20T09:42:00.000Z', to: '2026-11-21T09:42:00.000Z', lines: 240, long_lines: 0 },
    ...{ read_bytes: 9000, total_bytes: 9000, cut: null },
  },
  ...more,
})

test('what a jail would have banned is shown for several servers, and what hosts say does no harm', async () => {
  const answer = (host: EnrolledHost, output: string, success = true) =>
    eventually(async () => {
      const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
        params: { serverId: host.id },
      })
      const [asked] = commands.filter(({ type }) => /-preview$/.test(type))
      if (!asked) throw new Error('nothing was ordered')
      await host.client.call('POST /commands/{commandId}/result', {
        params: { commandId: asked.id },
        body: { success, output },
      })
      return { ...asked.params, ...(asked.template ? { template: asked.template.name } : {}) }
    })
  const asked = (outputs: readonly [string, string], ...args: string[]) =>
    Promise.all([
      run('jails', 'preview', 'sshd', '--all', ...args),
      answer(web, outputs[0]),
      answer(db, outputs[1], outputs[1].startsWith('{')),
    ])
  const [told, params] = await asked(
    [`${JSON.stringify(preview())} (signed by ops)`, 'the jail sshd is not enabled on this host'],
    ...['--maxretry', '3', '--bantime', 'perm', '--findtime', '10m', '--ignore', '203.0.113.9', '--days', '2'],
  )
  expect(params).toEqual({
    ...{ jail: 'sshd', maxretry: 3, findtime: 600, bantime: -1, days: 2, ignoreip: ['203.0.113.9'] },
  })
  expect(told).toMatchObject({ code: 1, err: 'stockade: 1 of 2 servers gave no preview.\n' })
  expect(told.out.replaceAll(/ {2,}/g, ' | ')).toBe(
    [
      'db-01: the jail sshd is not enabled on this host',
      '',
      'web-01: 2 addresses banned with maxretry 3, findtime 600 s, bantime without an end. 1 address spared by the whitelist or ignoreip. From 1 of the banned somebody signed in later. Log read from 2026-11-20T09:42:00Z to 2026-11-21T09:42:00Z, 240 lines.',
      'ADDRESS | ATTEMPTS | FIRST BAN | BANS | STOPPED | NOTE',
      '203.0.113.7 | 9 | 2026-11-21T08:00:00Z | 1 | 2 | signed in 2026-11-21T09:00:00Z',
      '203.0.113.8 | 6 | 2026-11-21T08:00:00Z | 1 | 2 | -',
      '203.0.113.9 | 5 | 2026-11-21T08:00:00Z | 1 | 2 | whitelisted',
      '',
      '',
    ].join('\n'),
  )
  const hostile = JSON.stringify(preview({ addresses: [{ ip: '\u001b[2J', banned_at: 7 }] }))
  const empty = preview({ banned: 0, whitelisted: 0, signed_in: 0, addresses: [] })
  const [odd] = await asked([hostile, JSON.stringify({ ...empty, log: { ...empty.log, from: null, cut: 'bytes' } })])
  expect(odd.code).toBe(0)
  expect(odd.out).not.toContain('\u001b')
  expect(odd.out).toContain(
    'db-01: 0 addresses banned with maxretry 3, findtime 600 s, bantime without an end. The log has no line of this time. Older lines were left out: the log is too long.\n',
  )
  const templated = await Promise.all([
    run(
      'jails',
      ...['preview', '--template', 'nginx-botsearch', '--server', 'web-01', '--maxretry', '4', '--bantime', '1h'],
    ),
    answer(web, JSON.stringify(preview({ jail: 'nginx-botsearch' }))),
  ])
  expect(templated).toMatchObject([
    { code: 0, out: expect.stringContaining('web-01: 2 addresses banned') },
    { settings: { maxretry: 4, bantime: 3600 }, template: 'nginx-botsearch' },
  ])
  for (const args of [[], ['sshd', '--template', 'sshd'], ['--template', 'sshd', '--ignore', '203.0.113.9']])
    expect(await run('jails', 'preview', ...args, '--all')).toMatchObject({ code: 2 })
  expect((await run('jails', 'preview', '--template', 'nothing', '--all')).err).toContain(
    'There is no template nothing',
  )
  const [json] = await asked([JSON.stringify(preview()), JSON.stringify(preview())], '--json')
  expect(JSON.parse(json.out)).toMatchObject([{ type: 'jail-preview', status: 'completed' }, { status: 'completed' }])
})

test('a preview on all servers asks those that the key may see', async () => {
  await clear()
  await admin.client.call('PATCH /servers/{serverId}', { params: { serverId: web.id }, body: { tags: ['web'] } })
  const { key } = await admin.client.call('POST /keys', {
    body: { name: 'web only', permissions: 'write', tags: ['web'] },
  })
  const limited = { ...env, STOCKADE_API_KEY: key }
  const { err } = await stockade(limited, ['jails', 'preview', 'sshd', '--all', '--timeout', '1'])
  expect(err).toContain('1 of 1 servers gave no preview')
  expect(await waiting()).toEqual(['jail-preview web-01 sshd'])
  const { code } = await stockade(limited, ['jails', 'preview', 'sshd', 'db-01', '--timeout', '1'])
  expect(code).not.toBe(0)
  expect(await waiting()).toEqual(['jail-preview web-01 sshd'])
})
