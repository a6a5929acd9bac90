import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, aServerKey, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'

let server: TestServer
let admin: Signed
let bound: Signed
beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  bound = await aServerKey(server, admin.client, (await aHost(server, admin.client)).id)
})
afterAll(() => server.close())

const jail = (name: string, more = '') =>
  `[${name}]\nenabled = true\nport = http,https\nbackend = auto\nlogpath = /var/log/${name}.log\n${more}`
const filter = String.raw`[Definition]
failregex = ^\s*(?:\S+ )?shop(?:\[\d+\])?: login of \S+ failed from <ADDR>$
`
let made = 0
const create = (more: object = {}) => {
  const name = `shop-${++made}`
  return admin.client.call('POST /templates', {
    body: { name, jail_config: jail(name), filter_config: filter, ...more },
  })
}
const read = (templateId: string | number) =>
  admin.client.call('GET /templates/{templateId}', { params: { templateId: String(templateId) } })
const ask = (method: string, path: string, body?: object) =>
  raw(server, method, `/api/v1${path}`, { token: admin.token, ...(body ? { body } : {}) })

describe('built-in templates', () => {
  test('at least 30, with ids of their own, and the texts only where one is read', async () => {
    const { templates, total } = await admin.client.call('GET /templates', { query: { type: 'builtin' } })
    expect(total).toBe(templates.length)
    expect(total).toBeGreaterThanOrEqual(30)
    expect(templates.map(template => template.id)).toEqual(templates.map((_, index) => index + 1))
    expect(new Set(templates.map(template => template.name)).size).toBe(total)
    expect(Object.keys(templates[0] ?? {})).not.toContain('jail_config')
    expect(templates[0]).toMatchObject({
      id: 1,
      name: 'sshd',
      display_name: 'SSH',
      category: 'common',
      type: 'builtin',
      default_enabled: true,
      settings: { maxretry: 5, bantime: 3600, findtime: 600, logpath: '%(sshd_log)s' },
      required_files: ['filter.d/sshd.conf'],
    })
  })
  test('by id and by name', async () => {
    const byName = await read('nginx-botsearch')
    expect(await read(byName.id)).toEqual(byName)
    expect(byName.jail_config).toMatch(/^\[nginx-botsearch\]\nenabled = true\nfilter = nginx-botsearch\n/)
    expect(byName.filter_config).toBe('')
    for (const unknown of ['0', '999', '9999999999999999', 'nothing', 'SSHD', '01', '1.0', '-1', 'x'.repeat(64)])
      expect(await ask('GET', `/templates/${unknown}`), unknown).toMatchObject({ status: 404 })
    expect(await ask('GET', `/templates/${'x'.repeat(65)}`)).toMatchObject({ status: 400 })
  })
  test('can not be changed or deleted', async () => {
    for (const reference of ['1', 'recidive']) {
      expect(await ask('PATCH', `/templates/${reference}`, { display_name: 'x' })).toMatchObject({ status: 403 })
      expect(await ask('PATCH', `/templates/${reference}`, {})).toMatchObject({ status: 403 })
      expect(await ask('DELETE', `/templates/${reference}`)).toMatchObject({ status: 403 })
    }
    expect((await read(1)).display_name).toBe('SSH')
  })
  test('a copy of one passes, under a name of its own, with its filter options', async () => {
    const { jail_config, settings } = await read('sshd')
    const copy = await admin.client.call('POST /templates', {
      body: { name: 'ssh-of-ours', jail_config: jail_config.replace('[sshd]', '[ssh-of-ours]'), settings },
    })
    expect(await read(copy.id)).toMatchObject({ settings, required_files: ['filter.d/sshd.conf'] })
  })
})

describe('templates of our own', () => {
  test('are made, read, changed and deleted', async () => {
    const { id, name, ...reply } = await create({ display_name: 'Shop', settings: { maxretry: 3, logpath: null } })
    expect(id).toBeGreaterThan(1000)
    expect(reply).toEqual({ display_name: 'Shop', type: 'custom', created_at: expect.any(String) })
    const whole = await read(name)
    expect(whole).toEqual({
      id,
      name,
      display_name: 'Shop',
      description: '',
      category: 'custom',
      type: 'custom',
      default_enabled: false,
      settings: { maxretry: 3, bantime: null, findtime: null, logpath: null },
      jail_config: jail(name),
      filter_config: filter,
      required_files: [],
      compatible_os: [],
    })
    const patch = (body: object) =>
      admin.client.call('PATCH /templates/{templateId}', { params: { templateId: name }, body })
    expect(await patch({})).toEqual({ id, name, display_name: 'Shop', updated_at: expect.any(String) })
    expect(await read(id)).toEqual(whole)
    await patch({ settings: { bantime: -1, logpath: '/var/log/shop/*.log' }, description: 'Logins', category: 'web' })
    expect(await read(id)).toMatchObject({
      description: 'Logins',
      category: 'web',
      settings: { maxretry: 3, bantime: -1, findtime: null, logpath: '/var/log/shop/*.log' },
    })
    await patch({ settings: { maxretry: null } })
    expect((await read(id)).settings).toEqual({
      maxretry: null,
      bantime: -1,
      findtime: null,
      logpath: '/var/log/shop/*.log',
    })
    await patch({ jail_config: `[${name}]\nfilter = nginx-http-auth\nbackend = auto\n`, filter_config: '' })
    expect(await read(id)).toMatchObject({ filter_config: '', required_files: ['filter.d/nginx-http-auth.conf'] })
    expect(await ask('DELETE', `/templates/${name}`)).toMatchObject({
      status: 200,
      json: { message: expect.any(String) },
    })
    expect(await ask('GET', `/templates/${id}`)).toMatchObject({ status: 404 })
    expect((await create()).id).toBeGreaterThan(id)
  })
  test('a name is taken once', async () => {
    const { name } = await create()
    for (const taken of [name, 'sshd', 'stockade', 'default', 'includes', 'known', 'categories'])
      expect(
        await ask('POST', '/templates', { name: taken, jail_config: jail(taken), filter_config: filter }),
        taken,
      ).toMatchObject({ status: 409, json: { message: expect.stringContaining(taken) } })
    const body = (each: string) => ({ name: each, jail_config: jail(each), filter_config: filter })
    const both = await Promise.all([1, 2].map(() => ask('POST', '/templates', body('race'))))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  })
  test('what the validator refuses is not stored, and where it fails is told', async () => {
    const refused = await ask('POST', '/templates', {
      name: 'evil',
      jail_config: jail('evil', 'action = run\n'),
      filter_config: '[Definition]\nfailregex = ^(a <HOST>\n',
    })
    expect(refused).toMatchObject({
      status: 400,
      json: {
        message: expect.stringContaining('jail_config'),
        details: [
          { path: 'jail_config', message: expect.stringMatching(/^Line 6: .*action/) },
          { path: 'filter_config', message: expect.stringMatching(/^Line 2: failregex/) },
        ],
      },
    })
    expect(await ask('GET', '/templates/evil')).toMatchObject({ status: 404 })
    const { id, name } = await create()
    expect(await ask('PATCH', `/templates/${id}`, { jail_config: jail('other') })).toMatchObject({
      status: 400,
      json: { details: [{ path: 'jail_config' }] },
    })
    expect((await read(id)).jail_config).toBe(jail(name))
  })
  test.each([
    ['name', { name: '' }],
    ['name', { name: '1' }],
    ['name', { name: 'Shop' }],
    ['name', { name: 'a'.repeat(25) }],
    ['name', { name: 'a_b' }],
    ['name', { name: 'a\n' }],
    ['name', { name: undefined }],
    ['jail_config', { jail_config: '' }],
    ['jail_config', { jail_config: undefined }],
    ['jail_config', { jail_config: `[a]\n#${'x'.repeat(64 * 1024)}` }],
    ['filter_config', { filter_config: 1 }],
    ['display_name', { display_name: 'x'.repeat(101) }],
    ['display_name', { display_name: '' }],
    ['description', { description: 'x'.repeat(1001) }],
    ['category', { category: 'ftp' }],
    ['settings.maxretry', { settings: { maxretry: 0 } }],
    ['settings.maxretry', { settings: { maxretry: 1001 } }],
    ['settings.maxretry', { settings: { maxretry: '5' } }],
    ['settings.bantime', { settings: { bantime: 0 } }],
    ['settings.bantime', { settings: { bantime: -2 } }],
    ['settings.bantime', { settings: { bantime: 31_557_601 } }],
    ['settings.findtime', { settings: { findtime: 0 } }],
    ['settings.findtime', { settings: { findtime: -1 } }],
    ['settings.logpath', { settings: { logpath: '' } }],
    ['settings.logpath', { settings: { logpath: '/var/log/a\naction = x' } }],
    ['settings.logpath', { settings: { logpath: '/etc/shadow' } }],
    ['settings.logpath', { settings: { logpath: '/var/log/../../etc/shadow' } }],
    ['settings.logpath', { settings: { logpath: '%(action)s' } }],
    ['settings.port', { settings: { port: 'ssh' } }],
    ['id', { id: 5 }],
    ['type', { type: 'builtin' }],
  ])('bad input: %s %o', async (path, more) => {
    const body = { name: 'bad', jail_config: jail('bad'), filter_config: filter, ...more }
    const reply = await ask('POST', '/templates', body)
    expect(reply, reply.text).toMatchObject({ status: 400 })
    expect((reply.json as { details: { path: string }[] }).details.map(detail => detail.path)).toContain(path)
  })
  test('a name is for good', async () => {
    const { id } = await create()
    expect(await ask('PATCH', `/templates/${id}`, { name: 'else' })).toMatchObject({ status: 400 })
  })
})

test('the list is filtered by category, type and text, and is whole', async () => {
  const { name } = await create({ display_name: 'Kiosk', category: 'web', description: 'At the CORNER' })
  const names = async (query: object) =>
    (await admin.client.call('GET /templates', { query })).templates.map(template => template.name)
  expect(await names({ search: 'kiosk' })).toEqual([name])
  expect(await names({ search: 'corner', type: 'custom', category: 'web' })).toEqual([name])
  expect(await names({ search: 'corner', type: 'builtin' })).toEqual([])
  expect(await names({ search: name })).toContain(name)
  expect(await names({ category: 'mail' })).toEqual(expect.arrayContaining(['postfix', 'dovecot', 'exim']))
  const all = await names({})
  expect(all.length).toBe((await names({ type: 'builtin' })).length + (await names({ type: 'custom' })).length)
  for (const query of ['type=other', 'category=ftp', 'search=', 'page=1', 'limit=5', `search=${'x'.repeat(101)}`])
    expect(await ask('GET', `/templates?${query}`), query).toMatchObject({ status: 400 })
})

test('categories count what is in them', async () => {
  const before = await admin.client.call('GET /templates/categories')
  expect(before.categories.map(category => category.id)).toEqual(['common', 'web', 'mail', 'custom'])
  await create({ category: 'mail' })
  const after = await admin.client.call('GET /templates/categories')
  for (const [index, category] of after.categories.entries()) {
    const { total } = await admin.client.call('GET /templates', { query: { category: category.id as 'web' } })
    expect(category.template_count).toBe(total)
    expect(category.template_count - (before.categories[index]?.template_count ?? 0)).toBe(
      category.id === 'mail' ? 1 : 0,
    )
  }
})

describe('checking without saving', () => {
  const check = (jail_config: string, filter_config?: string) =>
    admin.client.call('POST /templates/validate', {
      body: { jail_config, ...(filter_config === undefined ? {} : { filter_config }) },
    })
  test('good ones, with warnings', async () => {
    expect(await check(jail('shop'), filter)).toEqual({ valid: true, warnings: [], problems: [] })
    const loose = await check(jail('shop'), '[Definition]\nfailregex = login failed from <HOST>\n')
    expect(loose).toMatchObject({
      valid: true,
      warnings: [expect.stringMatching(/^filter, line 2: failregex: .*"\^"/)],
      problems: [{ file: 'filter', line: 2, severity: 'warning' }],
    })
    expect(Object.keys(loose)).not.toContain('errors')
  })
  test('bad ones, with lines', async () => {
    const reply = await check(jail('shop', 'ignorecommand = rm\n'), '[Definition]\nfailregex = ^\\s*nobody$\n')
    expect(reply).toEqual({
      valid: false,
      errors: [
        expect.stringMatching(/^jail, line 6: .*ignorecommand/),
        expect.stringMatching(/^filter, line 2: failregex: .*<HOST>/),
      ],
      problems: [
        { file: 'jail', line: 6, severity: 'error', message: expect.any(String) },
        { file: 'filter', line: 2, severity: 'error', message: expect.any(String) },
      ],
    })
  })
  test('a text of nothing is wrong, not refused', async () => {
    expect(await check('')).toMatchObject({ valid: false, errors: [expect.any(String)] })
    expect(await ask('POST', '/templates/validate', {})).toMatchObject({ status: 400 })
    expect(await ask('POST', '/templates/validate', { jail_config: 'x'.repeat(65 * 1024) })).toMatchObject({
      status: 400,
    })
  })
})

describe('lines of a log are tried', () => {
  const lines = [
    'Nov 20 12:02:07 host1 shop[12]: login of bob failed from 203.0.113.7',
    'Nov 20 12:02:08 host1 shop[12]: login of bob went well from 203.0.113.8',
    '2026-11-20T12:02:09+01:00 host1 shop: login of eve failed from 2001:DB8:0::9',
  ]
  const tryLines = async (sample: string, jail_config = jail('shop'), filter_config = filter) => {
    const body = { jail_config, filter_config, sample }
    return await admin.client.call('POST /templates/validate', { body })
  }
  const regex = (text: string) => `[Definition]\nfailregex = ${text}\n`
  test('each is marked, and everything else is as without them', async () => {
    const { matches, sample_note, ...verdict } = await tryLines(`${lines.join('\r\n')}\r\n`)
    expect(matches).toEqual([
      { line: 1, matched: true, ip: '203.0.113.7' },
      { line: 2, matched: false, ip: null },
      { line: 3, matched: true, ip: '2001:db8::9' },
    ])
    expect(sample_note).toBe(null)
    expect(verdict).toEqual(
      await admin.client.call('POST /templates/validate', {
        body: { jail_config: jail('shop'), filter_config: filter },
      }),
    )
    expect(await tryLines('')).toMatchObject({ valid: true, matches: [], sample_note: null })
  })
  test('what can not be tried is said in words, and not marked', async () => {
    const note = async (...texts: [string, string]) => {
      const reply = await tryLines(lines.join('\n'), ...texts)
      expect(reply.matches).toEqual([])
      return reply.sample_note
    }
    expect(await note(jail('shop', 'filter = sshd\n'), '')).toContain('The filter sshd lies on the servers')
    expect(await note(jail('shop', 'failregex = ^a <HOST>\n'), '')).toContain('brings no filter')
    expect(await note(jail('shop'), `[INCLUDES]\nbefore = exim-common.conf\n${filter}`)).toContain('exim-common.conf')
    expect(await note(jail('shop'), regex('^(a)?(?(1)b|c) <HOST>'))).toContain('condition')
    expect(await note(jail('shop', 'maxlines = 5\n'), filter)).toContain('several lines')
    expect(await note(jail('shop', 'action = run\n'), filter)).toBe('Lines are tried once the template has no errors.')
  })
  test('a name is a match without an address, and is told', async () => {
    const reply = await tryLines('login of bob failed from mail.example', jail('shop'), regex('failed from <HOST>$'))
    expect(reply).toMatchObject({
      matches: [{ line: 1, matched: true, ip: null }],
      sample_note: expect.stringMatching(/^Line 1: mail\.example is a name/),
    })
  })
  test('an expression that takes for ever is stopped, and nobody waits for it', async () => {
    const evil = `${lines[0] ?? ''}\n${'a'.repeat(4000)}!\n${lines[1] ?? ''}`
    const running = tryLines(evil, jail('shop'), regex('^(?:.*failed from <HOST>|(?:a|aa)+$)'))
    let answered = 0
    const meanwhile = async () => {
      await admin.client.call('GET /templates')
      answered++
      return null
    }
    let reply: Awaited<typeof running> | null = null
    while (!reply) reply = await Promise.race([running, meanwhile()])
    expect(reply).toMatchObject({
      matches: [{ line: 1, matched: true, ip: '203.0.113.7' }],
      sample_note: expect.stringMatching(/longer than 1500 ms .* line 2/),
    })
    expect(answered).toBeGreaterThan(10)
  })
  test.each([
    ['a number', 5, 'sample'],
    ['null', null, 'sample'],
    ['a list', ['a'], 'sample'],
    ['too much', 'x\n'.repeat(33 * 1024), 'sample'],
    ['too many lines', 'x\n'.repeat(201), '201 lines'],
    ['a line too long', `x\n${'y'.repeat(4097)}`, 'Line 2 is longer'],
  ])('bad input: %s', async (_, sample, said) => {
    const reply = await ask('POST', '/templates/validate', { jail_config: jail('shop'), filter_config: filter, sample })
    expect(reply).toMatchObject({ status: 400, json: { details: [{ path: 'sample' }] } })
    expect(reply.text).toContain(said)
  })
  test('whatever characters it has', async () => {
    const sample = ['\u0000', '\ud800', '\u202e\u{1f600}', '\t', '', 'x'.repeat(4096)]
    const reply = await ask('POST', '/templates/validate', {
      jail_config: jail('shop'),
      filter_config: regex('^(?:\\W|x)*<ADDR>'),
      sample: [...sample, ...Array.from({ length: 194 }, () => 'é')].join('\n'),
    })
    expect(reply).toMatchObject({ status: 200, json: { sample_note: null } })
    expect((reply.json as { matches: unknown[] }).matches).toHaveLength(200)
  })
})

test('a key that is bound to a server reads templates and checks them, and makes none', async () => {
  expect((await bound.client.call('GET /templates')).total).toBeGreaterThanOrEqual(30)
  await bound.client.call('POST /templates/validate', { body: { jail_config: jail('a') } })
  await expect(
    bound.client.call('POST /templates', { body: { name: 'a', jail_config: jail('a') } }),
  ).rejects.toMatchObject({ status: 403 })
})
