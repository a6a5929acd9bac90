import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { testAlone } from '../../testing/alone.ts'
import { aHost, eventually, movableClock, raw, within } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withHost, withServer } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let host: EnrolledHost
withHost({}, made => ({ server, admin, host } = made))

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  raw(server, method, `/api/v1${path}`, { token: admin.token, headers, ...(body === undefined ? {} : { body }) })
const add = (ip: string, description = '') => admin.client.call('POST /whitelist', { body: { ip, description } })
const imported = (content: string, format: 'plain' | 'json' | 'csv' = 'plain', description_prefix?: string) =>
  admin.client.call('POST /whitelist/import', {
    body: { format, content, ...(description_prefix === undefined ? {} : { description_prefix }) },
  })
const all = async () => {
  const entries: { id: number; ip: string; description: string }[] = []
  for (let page = 1; ; page++) {
    const list = await admin.client.call('GET /whitelist', { query: { page, limit: 100 } })
    entries.push(...list.whitelist)
    if (entries.length >= list.total) return entries
  }
}
const clear = async () => {
  const ids = (await all()).map(({ id }) => id)
  for (let start = 0; start < ids.length; start += 5000)
    await admin.client.call('POST /whitelist/remove', { body: { ids: ids.slice(start, start + 5000) } })
}
const listed = async () => (await all()).map(({ ip, description }) => [ip, description])
const check = async (ip: string) =>
  (await admin.client.call('GET /whitelist/check/{ip}', { params: { ip } })).matched_entry?.ip ?? null

describe('one entry', () => {
  test('is added, read, described, found and taken off', async () => {
    const added = await add('198.51.100.77/24', 'Office')
    expect(added).toEqual({
      id: expect.any(Number),
      ip: '198.51.100.0/24',
      description: 'Office',
      created_by: 'admin',
      created_at: expect.any(String),
      expires_at: null,
      lifted_bans: 0,
    })
    const params = { id: added.id }
    expect(await check('198.51.100.9')).toBe('198.51.100.0/24')
    const { lifted_bans: _, ...entry } = added
    expect(await admin.client.call('GET /whitelist/{id}', { params })).toEqual({
      ...entry,
      updated_at: added.created_at,
    })
    const described = await admin.client.call('PATCH /whitelist/{id}', { params, body: { description: 'Office 2' } })
    expect(described).toEqual({
      id: added.id,
      ip: entry.ip,
      description: 'Office 2',
      updated_at: expect.any(String),
      expires_at: null,
    })
    expect(await admin.client.call('PATCH /whitelist/{id}', { params, body: {} })).toEqual(described)
    const gone = await admin.client.call('DELETE /whitelist/{id}', { params })
    expect(gone.message).toContain('198.51.100.0/24')
    expect(await check('198.51.100.9')).toBe(null)
    for (const method of ['GET', 'DELETE', 'PATCH'])
      expect(
        await ask(method, `/whitelist/${added.id}`, method === 'PATCH' ? { description: '' } : undefined),
      ).toMatchObject({ status: 404 })
  })
  test.each([
    ['192.0.2.1/32', '192.0.2.1'],
    ['2001:DB8:0::1/128', '2001:db8::1'],
    ['::ffff:192.0.2.2', '192.0.2.2'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['fd00::1/7', 'fc00::/7'],
    ['fe80::1/10', 'fe80::/10'],
    ['2001:db8::/16', '2001::/16'],
  ])('%s is stored as %s, and what is there already is refused', async (given, stored) => {
    const { id, ip } = await add(given)
    expect(ip).toBe(stored)
    const again = await ask('POST', '/whitelist', { ip: given })
    expect(again).toMatchObject({ status: 409, json: { message: expect.stringContaining(`(entry ${id})`) } })
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
  })
  test.each([
    '',
    ' ',
    '0.0.0.0/0',
    '::/0',
    '0.0.0.0/7',
    '128.0.0.0/1',
    '2001::/15',
    'fc00::/6',
    'fe80::/9',
    '192.0.2.1/33',
    '192.0.2.01',
    '192.0.2.1:80',
    'fe80::1%eth0',
    'host.example',
    '192.0.2.1 ',
    '192.0.2.1\n',
    '192.0.2.0/24/24',
    '１９２.0.2.1',
    'x'.repeat(100),
  ])('refused, naming the field: %j', async ip =>
    expect(await ask('POST', '/whitelist', { ip })).toMatchObject({
      status: 400,
      json: { details: [{ path: 'ip' }] },
    }),
  )
  test.each([
    [{}, 'ip'],
    [{ ip: 7 }, 'ip'],
    [{ ip: '192.0.2.1', description: 'x'.repeat(1001) }, 'description'],
    [{ ip: '192.0.2.1', description: null }, 'description'],
    [{ ip: '192.0.2.1', note: '' }, 'note'],
  ])('refused: %j', async (body, path) =>
    expect(await ask('POST', '/whitelist', body)).toMatchObject({ status: 400, json: { details: [{ path }] } }),
  )
  test('control characters do not survive in a description', async () => {
    const { id, description } = await add('192.0.2.1', 'a\u0000b\u001b[31mc')
    expect(description).toBe('a\ufffdb\ufffd[31mc')
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
  })
  test('a key is named as its author', async () => {
    const { key } = await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'write' } })
    const { created_by, id } = await server.client(key).call('POST /whitelist', { body: { ip: '192.0.2.1' } })
    expect(created_by).toBe('key:ops')
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
  })
  test('the same address from many at once is there once', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask('POST', '/whitelist', { ip: '192.0.2.50' })))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)])
    await clear()
  })
})

describe('the list', () => {
  beforeAll(async () => {
    await clear()
    await add('192.0.2.1', 'Office_1 100%')
    await add('2001:db8::5', 'backup')
    await add('198.51.100.0/24', 'ÖFFICE')
  })
  afterAll(clear)
  test.each([
    ['192.0.2', ['192.0.2.1']],
    ['OFFICE', ['192.0.2.1']],
    ['ÖFF', ['198.51.100.0/24']],
    ['100%', ['192.0.2.1']],
    ['e_1', ['192.0.2.1']],
    ['c_1', []],
    ['2001:0DB8:0::5', ['2001:db8::5']],
    ['\\', []],
    ["'; --", []],
    ['/24', ['198.51.100.0/24']],
  ])('search %j', async (search, found) => {
    const list = await admin.client.call('GET /whitelist', { query: { search } })
    expect(list.whitelist.map(({ ip }) => ip)).toEqual(found)
    expect(list.total).toBe(found.length)
  })
  test('pages in the order of insertion', async () => {
    const page = async (n: number) => admin.client.call('GET /whitelist', { query: { page: n, limit: 2 } })
    expect((await page(1)).whitelist.map(({ ip }) => ip)).toEqual(['192.0.2.1', '2001:db8::5'])
    expect(await page(2)).toMatchObject({ whitelist: [{ ip: '198.51.100.0/24' }], total: 3, page: 2, limit: 2 })
    expect(await page(9)).toMatchObject({ whitelist: [], total: 3 })
  })
  test.each(['limit=101', 'limit=0', 'page=0', 'page=1.5', 'search=', 'sort=ip'])('refused: %s', async query =>
    expect(await ask('GET', `/whitelist?${query}`)).toMatchObject({ status: 400 }),
  )
  test.each(['/whitelist/x', '/whitelist/0', '/whitelist/check/192.0.2.0%2F24', '/whitelist/check/x'])(
    'refused: %s',
    async path => expect(await ask('GET', path)).toMatchObject({ status: 400 }),
  )
  test('as text, conditional and compressed', async () => {
    const plain = await ask('GET', '/whitelist.txt', undefined, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(plain.headers.get('vary')).toBe('Accept-Encoding')
    const [title, time, ...rest] = plain.text.split('\n')
    expect(title).toMatch(/^# .*Stockade/)
    expect(time).toMatch(/^# Generated \d{4}-\d{2}-\d{2}T[\d:.]+Z$/)
    expect(rest).toEqual(['192.0.2.1', '2001:db8::5', '198.51.100.0/24', ''])
    const tag = plain.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"w\d+-[0-9a-f]+"$/)
    const packed = await ask('GET', '/whitelist.txt', undefined, { 'accept-encoding': 'br, gzip;q=0.5' })
    expect(packed.headers.get('etag')).toBe(`${tag.slice(0, -1)}-gz"`)
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(packed.text).toBe(plain.text)
    expect((await ask('GET', '/whitelist.txt', undefined, { 'accept-encoding': 'gzip;q=0' })).headers.get('etag')).toBe(
      tag,
    )
    for (const given of [tag, `W/${tag}`, packed.headers.get('etag') ?? '', `"x", ${tag}`, '*']) {
      const reply = await ask('GET', '/whitelist.txt', undefined, { 'if-none-match': given })
      expect(reply, given).toMatchObject({ status: 304, text: '' })
      expect(reply.headers.get('vary')).toBe('Accept-Encoding')
    }
    const { id } = await add('192.0.2.2')
    const changed = await ask('GET', '/whitelist.txt', undefined, { 'if-none-match': tag })
    expect(changed.status).toBe(200)
    expect(changed.text).toContain('\n192.0.2.2\n')
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
  })
})

describe('many at once', () => {
  beforeAll(clear)
  afterAll(clear)
  const bulk = (entries: unknown) => ask('POST', '/whitelist/bulk', { entries })
  test('duplicates are skipped, of the list and among themselves', async () => {
    await add('192.0.2.1', 'first')
    const reply = await bulk([
      { ip: '192.0.2.1', description: 'second' },
      { ip: '192.0.2.2/32', description: 'two' },
      { ip: '192.0.2.2' },
      { ip: '10.9.9.9/8' },
    ])
    expect(reply).toMatchObject({ status: 201, json: { added: 2 } })
    expect((reply.json as { entries: unknown[] }).entries).toEqual([
      { id: expect.any(Number), ip: '192.0.2.2' },
      { id: expect.any(Number), ip: '10.0.0.0/8' },
    ])
    expect(await listed()).toEqual([
      ['192.0.2.1', 'first'],
      ['192.0.2.2', 'two'],
      ['10.0.0.0/8', ''],
    ])
    expect(await bulk([{ ip: '192.0.2.1' }])).toMatchObject({ status: 201, json: { added: 0, entries: [] } })
    expect(await bulk([])).toMatchObject({ status: 201, json: { added: 0, entries: [] } })
  })
  test.each([
    [[{ ip: '192.0.2.9' }, { ip: '0.0.0.0/0' }], 'entries.1.ip'],
    [[{ ip: '192.0.2.9' }, { ip: 'x' }], 'entries.1.ip'],
    [[{ ip: '192.0.2.9' }, {}], 'entries.1.ip'],
    [[{ ip: '192.0.2.9' }, '192.0.2.8'], 'entries.1'],
    [[{ ip: '192.0.2.9', note: 1 }], 'entries.0.note'],
    [[{ ip: '192.0.2.9', description: 'x'.repeat(1001) }], 'entries.0.description'],
    ['192.0.2.9', 'entries'],
  ])('all or nothing: %j', async (entries, path) => {
    const before = await listed()
    expect(await bulk(entries)).toMatchObject({ status: 400, json: { details: [{ path }] } })
    expect(await listed()).toEqual(before)
  })
  test('go again together, as one new list; what is gone already is passed over', async () => {
    await clear()
    const many = Array.from({ length: 300 }, (_, n) => ({ ip: `10.1.${n >> 8}.${n & 255}` }))
    const { entries } = (await bulk(many)).json as { entries: { id: number; ip: string }[] }
    const text = () => raw(server, 'GET', '/api/v1/whitelist.txt', { token: admin.token })
    const ids = entries.slice(1).map(({ id }) => id)
    expect(await ask('POST', '/whitelist/remove', { ids: [...ids, ids[0], 999_999_999] })).toMatchObject({
      status: 200,
      json: { removed: 299 },
    })
    expect(await listed()).toEqual([['10.1.0.0', '']])
    expect((await text()).text).not.toContain('10.1.0.1')
    expect(await admin.client.call('GET /whitelist/check/{ip}', { params: { ip: '10.1.0.7' } })).toMatchObject({
      whitelisted: false,
    })
    expect(await ask('POST', '/whitelist/remove', { ids })).toMatchObject({ status: 200, json: { removed: 0 } })
    const told = await admin.client.call('GET /settings/audit', { query: { q: 'action:whitelist.remove', limit: 100 } })
    expect(told.entries[0]).toMatchObject({ user: 'admin', details: { description: '', version: expect.any(String) } })
    expect(new Set(told.entries.map(({ details }) => details.version)).size).toBe(1)
  })
  test.each([
    [[], 'ids'],
    [['1'], 'ids.0'],
    [[0], 'ids.0'],
    [Array.from({ length: 5001 }, (_, n) => n + 1), 'ids'],
    [undefined, 'ids'],
  ])('a wrong list of what to take off is named: %#', async (ids, path) => {
    expect(await ask('POST', '/whitelist/remove', { ids })).toMatchObject({
      status: 400,
      json: { details: [{ path }] },
    })
  })
  testAlone('more than 16 MiB are refused', async () => {
    const reply = await ask('POST', '/whitelist/bulk', `{"entries":[${' '.repeat(17 * 1024 * 1024)}]}`)
    expect(reply.status).toBe(413)
  })
})

describe('import', () => {
  beforeAll(clear)
  test('plain: comments, blank lines, every line end, and errors with their lines', async () => {
    const content = [
      '\ufeff# title',
      '',
      '192.0.2.1\r',
      '  192.0.2.2   # Office # 2  ',
      '   ',
      '192.0.2.1 # again',
      '999.1.1.1',
      '0.0.0.0/0',
      '192.0.2.3 192.0.2.400',
      '=cmd|calc',
      '\u0000',
      '2001:DB8::7/64',
    ].join('\n')
    const reply = await imported(content)
    expect(reply).toEqual({
      imported: 3,
      skipped: 1,
      errors: [
        { line: 7, value: '999.1.1.1', error: expect.stringContaining('address') },
        { line: 8, value: '0.0.0.0/0', error: expect.stringContaining('wider') },
        { line: 9, value: '192.0.2.3 192.0.2.400', error: '192.0.2.400 is no address.' },
        { line: 10, value: '=cmd|calc', error: expect.any(String) },
        { line: 11, value: '\ufffd', error: expect.any(String) },
      ],
      error_count: 5,
      ids: [expect.any(Number), expect.any(Number), expect.any(Number)],
    })
    expect(await listed()).toEqual([
      ['192.0.2.1', ''],
      ['192.0.2.2', 'Office # 2'],
      ['2001:db8::/64', ''],
    ])
    expect(await imported(content)).toMatchObject({ imported: 0, skipped: 4, error_count: 5 })
    expect(await imported('')).toEqual({ imported: 0, skipped: 0, errors: [], error_count: 0, ids: [] })
    // What was there before stays when an import is taken back.
    const { ids } = await imported('192.0.2.1\n192.0.2.200\n192.0.2.201')
    expect(await ask('POST', '/whitelist/remove', { ids })).toMatchObject({ json: { removed: 2 } })
    expect(await listed()).toHaveLength(3)
    const many = Array.from({ length: 5001 }, (_, n) => `10.2.${n >> 8}.${n & 255}`)
    expect(await imported(many.join('\n'))).toMatchObject({ imported: 5001, ids: [] })
  })
  test('csv: quotes, formulas, other columns, and errors with their lines', async () => {
    await clear()
    const content = [
      'Description,IP,Owner',
      '"Office, ""main""\nfirst floor",192.0.2.1,anna',
      "'=1+1,192.0.2.2,",
      '# a comment',
      '',
      'x,nonsense,y',
      'only one cell',
      '"never closed,192.0.2.9',
    ].join('\r\n')
    const reply = await imported(content, 'csv', 'HQ: ')
    expect(reply).toMatchObject({ imported: 2, skipped: 0, error_count: 3 })
    expect(reply.errors.map(({ line }) => line)).toEqual([7, 8, 9])
    expect(reply.errors[2]?.error).toContain('quote')
    expect(await listed()).toEqual([
      ['192.0.2.1', 'HQ: Office, "main"\nfirst floor'],
      ['192.0.2.2', 'HQ: =1+1'],
    ])
    await clear()
    expect(await imported('192.0.2.1,no header\n192.0.2.2', 'csv')).toMatchObject({ imported: 2 })
    expect(await imported('ip;description\n192.0.2.3;semicolons, too', 'csv')).toMatchObject({ imported: 1 })
    expect((await listed()).at(-1)).toEqual(['192.0.2.3', 'semicolons, too'])
  })
  test('json: the export, its bare array, and errors by the number of the entry', async () => {
    await clear()
    const entries = [
      { ip: '192.0.2.1', description: 'a', id: 7 },
      '192.0.2.2',
      { ip: 7 },
      null,
      { ip: '192.0.2.3', description: {} },
    ]
    expect(await imported(JSON.stringify(entries), 'json')).toEqual({
      imported: 2,
      skipped: 0,
      errors: [3, 4, 5].map(line => ({ line, value: expect.any(String), error: expect.any(String) })),
      error_count: 3,
      ids: [expect.any(Number), expect.any(Number)],
    })
    expect(await imported(JSON.stringify({ whitelist: [{ ip: '192.0.2.9' }] }), 'json')).toMatchObject({ imported: 1 })
  })
  test.each(['{', '7', '{"whitelist":7}', '"192.0.2.1"', 'null', '{"__proto__":[]}'])(
    'no list in JSON: %s',
    async content =>
      expect(await ask('POST', '/whitelist/import', { format: 'json', content })).toMatchObject({
        status: 400,
        json: { details: [{ path: 'content' }] },
      }),
  )
  test.each([
    [{}, 'content'],
    [{ content: 7 }, 'content'],
    [{ content: '', format: 'xml' }, 'format'],
    [{ content: '', prefix: 'x' }, 'prefix'],
    [{ content: '', description_prefix: 'x'.repeat(1001) }, 'description_prefix'],
  ])('refused: %j', async (body, path) =>
    expect(await ask('POST', '/whitelist/import', body)).toMatchObject({ status: 400, json: { details: [{ path }] } }),
  )
  test('a description that grows too long by its prefix is an error of its line', async () => {
    const reply = await imported(`192.0.2.77 # ${'x'.repeat(600)}`, 'plain', 'y'.repeat(600))
    expect(reply).toMatchObject({ imported: 0, errors: [{ line: 1, error: expect.stringContaining('1000') }] })
  })
})

describe('export', () => {
  const exported = async (format: string) => ask('GET', `/whitelist/export${format ? `?format=${format}` : ''}`)
  const entries = [
    ['192.0.2.1', '=HYPERLINK("http://x.example")'],
    ['192.0.2.2', '+1'],
    ['192.0.2.3', '-1'],
    ['192.0.2.4', '@SUM(A1)'],
    ['192.0.2.5', "'=already quoted"],
    ['192.0.2.6', "it's a quote"],
    ['192.0.2.7', 'comma, "quotes"\nand a line'],
    ['192.0.2.8', '\tTab'],
    ['192.0.2.9', '  spaces  '],
    ['2001:db8::/32', '＝1+1'],
    ['192.0.2.10', '# not a comment'],
  ] as const
  beforeAll(async () => {
    await clear()
    await admin.client.call('POST /whitelist/bulk', {
      body: { entries: entries.map(([ip, description]) => ({ ip, description })) },
    })
  })
  afterAll(clear)
  test('plain', async () => {
    for (const format of ['', 'plain']) {
      const { text, headers } = await exported(format)
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(text).toBe(entries.map(([ip]) => `${ip}\n`).join(''))
    }
  })
  test('csv runs nothing in a spreadsheet', async () => {
    const { text, headers } = await exported('csv')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toContain('whitelist.csv')
    expect(text.startsWith('ip,description\r\n')).toBe(true)
    expect(text).toContain(`192.0.2.1,"'=HYPERLINK(""http://x.example"")"\r\n`)
    // No cell begins with what a spreadsheet would run, quoted or not.
    expect(text.split(/\r\n/).filter(line => /(^|,)"?[=+\-@\t\r＝＋－＠]/.test(line))).toEqual([])
  })
  test('json', async () => {
    const { json, headers } = await exported('json')
    expect(headers.get('content-type')).toContain('application/json')
    expect(json).toEqual({
      whitelist: entries.map(([ip, description]) => ({ ip, description, expires_at: null })),
      exported_at: expect.any(String),
    })
  })
  test('each comes back as it went out', async () => {
    const texts = { plain: '', csv: '', json: '' }
    for (const format of ['plain', 'csv', 'json'] as const) texts[format] = (await exported(format)).text
    const before = await listed()
    for (const format of ['plain', 'csv', 'json'] as const) {
      await clear()
      expect(await imported(texts[format], format)).toMatchObject({ imported: entries.length, errors: [] })
      const after = await listed()
      expect(after).toEqual(format === 'plain' ? before.map(([ip]) => [ip, '']) : before)
    }
  })
  test('another format is refused', async () => expect(await exported('xml')).toMatchObject({ status: 400 }))
})

describe('an entry with an end', () => {
  const clock = movableClock()
  let server: TestServer
  let admin: Signed
  withServer({ clock }, made => ({ server, admin } = made))
  const inSeconds = (seconds: number) => new Date(clock() + seconds * 1000).toISOString()
  const get = async (path: string) => raw(server, 'GET', `/api/v1${path}`, { token: admin.token })

  test('lifts itself at that moment: for checks, hosts and whoever reads what happened', async () => {
    const host = await aHost(server, admin.client)
    const stays = await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.1' } })
    const expires_at = inSeconds(600)
    const added = await admin.client.call('POST /whitelist', {
      body: { ip: '198.51.100.0/24', description: 'for ten minutes', expires_at },
    })
    expect(added).toMatchObject({ ip: '198.51.100.0/24', expires_at })
    const bulk = await admin.client.call('POST /whitelist/bulk', {
      body: { entries: [{ ip: '203.0.113.1', expires_at: inSeconds(601) }, { ip: '203.0.113.2' }] },
    })
    expect(bulk.added).toBe(2)
    expect(await admin.client.call('GET /whitelist/{id}', { params: { id: added.id } })).toMatchObject({ expires_at })
    expect((await admin.client.call('GET /whitelist')).whitelist.map(entry => entry.expires_at === null)).toEqual([
      true,
      false,
      false,
      true,
    ])
    const version = async () => (await host.client.call('GET /agent/state')).whitelist
    const before = await version()
    expect(before.count).toBe(4)
    expect((await get('/whitelist.txt')).text).toContain('198.51.100.0/24')
    const feed = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, [
      'stockade.v1',
      `bearer.${admin.token}`,
    ])
    const heard: string[] = []
    feed.on('message', data => heard.push((JSON.parse(String(data)) as { type: string }).type))
    await within(new Promise(resolve => feed.once('open', resolve)), 'the live feed')
    clock.forward(605)
    await eventually(async () =>
      expect((await admin.client.call('GET /whitelist')).whitelist.map(entry => entry.id)).toEqual([
        stays.id,
        bulk.entries[1]?.id,
      ]),
    )
    await eventually(async () =>
      expect(await get('/whitelist/check/198.51.100.9')).toMatchObject({ json: { whitelisted: false } }),
    )
    await eventually(async () => {
      const after = await version()
      expect(after.count).toBe(2)
      expect(after.version).not.toBe(before.version)
    })
    await eventually(async () =>
      expect((await get('/whitelist.txt')).text).toMatch(/\n192\.0\.2\.1\n203\.0\.113\.2\n$/),
    )
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'whitelist.remove' } })
    expect(entries.map(({ user, details }) => [user, details.ip]).sort()).toEqual([
      ['system', '198.51.100.0/24'],
      ['system', '203.0.113.1'],
    ])
    await eventually(() => expect(heard).toContain('whitelist'))
    feed.close()
  })

  test('is given another end, or none', async () => {
    const { id } = await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.50', expires_at: inSeconds(60) } })
    const change = (body: object) => raw(server, 'PATCH', `/api/v1/whitelist/${id}`, { token: admin.token, body })
    const later = inSeconds(7200)
    expect(await change({ expires_at: later })).toMatchObject({ status: 200, json: { expires_at: later } })
    expect(await change({ description: 'kept' })).toMatchObject({ json: { expires_at: later, description: 'kept' } })
    expect(await change({ expires_at: null })).toMatchObject({ json: { expires_at: null, description: 'kept' } })
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'whitelist.update' } })
    expect(entries[0]?.details).toMatchObject({ old_expires_at: later, expires_at: null })
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
  })

  test('goes out and comes back with CSV and JSON', async () => {
    const expires_at = inSeconds(7200)
    const { id } = await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.60', expires_at } })
    const texts = { csv: '', json: '' }
    for (const format of ['csv', 'json'] as const)
      texts[format] = (await get(`/whitelist/export?format=${format}`)).text
    expect(texts.csv).toMatch(/^ip,description,expires_at\r\n192\.0\.2\.1,,\r\n/)
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
    for (const format of ['csv', 'json'] as const) {
      expect(
        await admin.client.call('POST /whitelist/import', { body: { format, content: texts[format] } }),
      ).toMatchObject({ imported: 1, errors: [] })
      const [entry] = (await admin.client.call('GET /whitelist', { query: { search: '192.0.2.60' } })).whitelist
      expect(entry).toMatchObject({ ip: '192.0.2.60', expires_at })
      await admin.client.call('DELETE /whitelist/{id}', { params: { id: entry?.id ?? 0 } })
    }
    const content = `ip,description,expires_at\n192.0.2.61,,2020-01-01T00:00:00Z\n192.0.2.62,,tomorrow`
    expect(await admin.client.call('POST /whitelist/import', { body: { format: 'csv', content } })).toMatchObject({
      imported: 0,
      errors: [
        { line: 2, error: 'Its end is past.' },
        { line: 3, error: expect.stringMatching(/ISO 8601/) },
      ],
    })
  })

  test.each([
    ['2020-01-01T00:00:00Z', /past/],
    ['tomorrow', /ISO 8601/],
    ['2026-02-30T00:00:00Z', /ISO 8601|past/],
    ['2099-01-01T00:00:00Z', /ten years/],
  ])('is refused when it is %s', async (expires_at, words) => {
    const id = (await admin.client.call('GET /whitelist')).whitelist[0]?.id ?? 0
    for (const [method, path, field, body] of [
      ['POST', '/whitelist', 'expires_at', { ip: '192.0.2.70', expires_at }],
      [
        'POST',
        '/whitelist/bulk',
        'entries.1.expires_at',
        { entries: [{ ip: '192.0.2.71' }, { ip: '192.0.2.72', expires_at }] },
      ],
      ['PATCH', `/whitelist/${id}`, 'expires_at', { expires_at }],
    ] as const)
      expect(await raw(server, method, `/api/v1${path}`, { token: admin.token, body })).toMatchObject({
        status: 400,
        json: { details: [{ path: field, message: expect.stringMatching(words) }] },
      })
  })
})

describe('the most specific entry', () => {
  afterAll(clear)
  test('of overlapping ones, also as they come and go', async () => {
    await clear()
    const wide = await add('10.0.0.0/8')
    const middle = await add('10.1.0.0/16')
    const one = await add('10.1.2.3')
    expect([await check('10.1.2.3'), await check('10.1.2.4'), await check('10.2.0.0')]).toEqual([
      '10.1.2.3',
      '10.1.0.0/16',
      '10.0.0.0/8',
    ])
    expect(await check('::ffff:10.1.2.3')).toBe('10.1.2.3')
    await admin.client.call('DELETE /whitelist/{id}', { params: { id: one.id } })
    expect(await check('10.1.2.3')).toBe('10.1.0.0/16')
    await admin.client.call('DELETE /whitelist/{id}', { params: { id: wide.id } })
    expect([await check('10.1.2.3'), await check('10.2.0.0')]).toEqual(['10.1.0.0/16', null])
    await admin.client.call('DELETE /whitelist/{id}', { params: { id: middle.id } })
    expect(await ask('GET', '/whitelist/check/10.1.2.3')).toMatchObject({
      json: { ip: '10.1.2.3', whitelisted: false, matched_entry: null },
    })
  })
})

describe('20,000 lines', () => {
  // How long 100,000 take, and how long others wait for them: `npm run bench -- all`.
  test('with errors in the middle: complete, and others are answered meanwhile', async () => {
    await clear()
    await add('10.0.0.7')
    /** Addresses in no order, since a list that compresses well counts as a small one; none twice. */
    const addressOf = (n: number) => {
      const bits = Math.imul(n, 0x9e3779b1) & 0xffffff
      return n % 2
        ? `2001:db8:${(bits >> 8).toString(16)}::${(bits & 255).toString(16)}`
        : `10.${bits >> 16}.${(bits >> 8) & 255}.${bits & 255}`
    }
    const lines = Array.from({ length: 20_000 }, (_, n) => addressOf(n))
    lines[7000] = 'nonsense'
    lines[15_000] = '0.0.0.0/0'
    lines[19_999] = '10.0.0.0/8'
    lines[16_000] = '10.0.0.7'
    let answered = 0
    let isImported = false
    const others = (async () => {
      while (!isImported) {
        await ask('GET', '/health')
        answered++
      }
    })()
    const reply = await imported(lines.join('\n')).finally(() => (isImported = true))
    await others
    expect(reply.imported + reply.skipped).toBe(19_998)
    expect(reply.errors.map(({ line }) => line)).toEqual([7001, 15_001])
    // One may have been under way when the import began.
    expect(answered).toBeGreaterThan(2)
    expect([await check(addressOf(19_998)), await check('10.0.0.8'), await check(addressOf(257))]).toEqual([
      addressOf(19_998),
      '10.0.0.0/8',
      addressOf(257),
    ])
    const text = (await ask('GET', '/whitelist.txt')).text.trimEnd().split('\n')
    expect(text).toHaveLength(2 + 1 + reply.imported)
    const { id } = await add('198.51.100.1')
    expect(await check('198.51.100.1')).toBe('198.51.100.1')
    const state = await host.client.call('GET /agent/state')
    expect(state.whitelist).toMatchObject({ count: reply.imported + 2, spread_seconds: 45 })
    await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
    expect(await check('198.51.100.1')).toBe(null)
  })
})
