import { beforeAll, describe, expect, test } from 'vitest'
import { aHost, movableClock, raw } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withHost } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let host: EnrolledHost
withHost({ clock }, made => ({ server, admin, host } = made))

const report = (body: object, on = host) => on.client.call('POST /bans', { body: body as never })
const list = (query: object) => admin.client.call('GET /bans', { query })
const at = (seconds: number) => new Date(clock() + seconds * 1000).toISOString()

describe('a reported ban', () => {
  test('is answered and read with every field', async () => {
    const event_id = crypto.randomUUID()
    const banned_at = at(-60)
    const made = await report({
      ip: '::ffff:8.8.8.8',
      jail: 'sshd',
      log_lines: 'one\ntwo',
      ban_duration: 600,
      event_id,
      banned_at,
      newer_field: 1,
    })
    expect(made).toEqual({
      id: expect.any(Number),
      ip: '8.8.8.8',
      jail: 'sshd',
      server_id: host.id,
      country: 'US',
      banned_at,
      reported_to_reputation_db: false,
    })
    const ban = await admin.client.call('GET /bans/{banId}', { params: { banId: made.id } })
    expect(ban).toEqual({
      id: made.id,
      ip: '8.8.8.8',
      jail: 'sshd',
      server: { id: host.id, hostname: 'web-01' },
      country: 'US',
      country_name: 'United States',
      reason: { kind: 'other', attempts: 2, users: [], paths: [], text: null },
      city: null,
      latitude: null,
      longitude: null,
      asn: 'AS15169',
      asn_org: expect.any(String),
      log_lines: 'one\ntwo',
      banned_at,
      ban_duration: 600,
      expires_at: new Date(Date.parse(banned_at) + 600_000).toISOString(),
      reported_to_reputation_db: false,
      unbanned_at: null,
      active: true,
      banned_by: 'engine',
      origin: null,
      dropped_packets: null,
      dropped_at: null,
      event_id,
      whitelisted: false,
      wide: false,
      reputation_score: null,
    })
  })
  test('with the same event id is the same ban', async () => {
    const event_id = crypto.randomUUID()
    const first = await report({ ip: '203.0.113.10', jail: 'sshd', event_id })
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => report({ ip: '203.0.113.99', jail: 'other', event_id })),
    )
    for (const reply of replies) expect(reply).toEqual(first)
    expect((await list({ ip: '203.0.113.10' })).total).toBe(1)
    expect((await list({ ip: '203.0.113.99' })).total).toBe(0)
    // Another host's id of the same form is another ban.
    const other = await aHost(server, admin.client, 'web-02')
    expect((await report({ ip: '203.0.113.10', jail: 'sshd', event_id }, other)).id).not.toBe(first.id)
  })
  test('again later is another ban', async () => {
    const [first, second] = [
      await report({ ip: '203.0.113.11', jail: 'sshd' }),
      await report({ ip: '203.0.113.11', jail: 'sshd' }),
    ]
    expect(second.id).not.toBe(first.id)
  })
  test('of an unknown end, for ever, of the future, over before it came', async () => {
    const read = async (body: object) =>
      admin.client.call('GET /bans/{banId}', { params: { banId: (await report(body)).id } })
    expect(await read({ ip: '203.0.113.12', jail: 'sshd' })).toMatchObject({
      ban_duration: null,
      expires_at: null,
      active: true,
      log_lines: '',
    })
    expect(await read({ ip: '203.0.113.12', jail: 'sshd', ban_duration: -1 })).toMatchObject({
      ban_duration: -1,
      expires_at: null,
      active: true,
    })
    const before = clock()
    const future = await read({ ip: '203.0.113.12', jail: 'sshd', banned_at: at(3600) })
    expect(Date.parse(future.banned_at)).toBeGreaterThanOrEqual(Math.floor(before))
    expect(Date.parse(future.banned_at)).toBeLessThanOrEqual(clock())
    expect(await read({ ip: '203.0.113.12', jail: 'sshd', ban_duration: 10, banned_at: at(-60) })).toMatchObject({
      active: false,
      unbanned_at: expect.any(String),
    })
  })
  test('keeps hostile log lines harmless and bounded', async () => {
    const made = await report({
      ip: '203.0.113.13',
      jail: 'sshd',
      log_lines: `\u0000\u001b[2J<script>\n\ud800${'é'.repeat(40_000)}`,
    })
    const ban = await admin.client.call('GET /bans/{banId}', { params: { banId: made.id } })
    expect(ban.log_lines).toMatch(/^\ufffd\ufffd\[2J<script>\n\ufffdé+\n\[cut\]$/)
    expect(Buffer.byteLength(ban.log_lines)).toBeLessThanOrEqual(64 * 1024)
  })
  test('of a jail of any name is kept, found and ended', async () => {
    const names = ['wp login', 'web@home', '_hidden', '../../etc', '$(reboot)', 'größe"\\', 'x'.repeat(255)]
    for (const [index, jail] of names.entries()) {
      const ip = `203.0.113.${150 + index}`
      expect(await report({ ip, jail })).toMatchObject({ jail })
      expect((await admin.client.call('GET /bans', { query: { jail } })).bans).toMatchObject([
        { ip, jail, active: true },
      ])
      const { results } = await host.client.call('POST /bans/batch', { body: { unbans: [{ ip, jail }] } })
      expect(results).toMatchObject([{ id: expect.any(Number), error: null }])
    }
    // What would change the order in which a terminal or a page shows text is shown as what it is.
    expect(await report({ ip: '203.0.113.170', jail: 'a\u202eb' })).toMatchObject({ jail: 'a\ufffdb' })
    const { results } = await host.client.call('POST /bans/batch', {
      body: { unbans: [{ ip: '203.0.113.170', jail: 'a\u202eb' }] },
    })
    expect(results).toMatchObject([{ id: expect.any(Number), error: null }])
  })
  test('of a range keeps its prefix', async () => {
    expect(await report({ ip: '198.51.100.77/28', jail: 'sshd' })).toMatchObject({ ip: '198.51.100.64/28' })
  })
  test.each([
    ['ip', { jail: 'sshd' }],
    ['ip', { ip: '010.0.0.1', jail: 'sshd' }],
    ['ip', { ip: '203.0.113.1:22', jail: 'sshd' }],
    ['ip', { ip: 'fe80::1%eth0', jail: 'sshd' }],
    ['ip', { ip: 7, jail: 'sshd' }],
    ['jail', { ip: '203.0.113.1' }],
    ['jail', { ip: '203.0.113.1', jail: '' }],
    ['jail', { ip: '203.0.113.1', jail: 'a\nb' }],
    ['jail', { ip: '203.0.113.1', jail: 'a\u001bb' }],
    ['jail', { ip: '203.0.113.1', jail: 'a\u0085b' }],
    ['jail', { ip: '203.0.113.1', jail: 'x'.repeat(256) }],
    ['ban_duration', { ip: '203.0.113.1', jail: 'sshd', ban_duration: '600' }],
    ['ban_duration', { ip: '203.0.113.1', jail: 'sshd', ban_duration: -2 }],
    ['ban_duration', { ip: '203.0.113.1', jail: 'sshd', ban_duration: 0 }],
    ['event_id', { ip: '203.0.113.1', jail: 'sshd', event_id: 'x' }],
    ['event_id', { ip: '203.0.113.1', jail: 'sshd', event_id: `urn:uuid:${crypto.randomUUID()}` }],
    ['banned_at', { ip: '203.0.113.1', jail: 'sshd', banned_at: 'yesterday' }],
    ['log_lines', { ip: '203.0.113.1', jail: 'sshd', log_lines: ['a'] }],
  ])('with a bad %s is refused: %o', async (path, body) => {
    expect(await raw(server, 'POST', '/api/v1/bans', { token: host.key, body })).toMatchObject({
      status: 400,
      json: { error: 'Bad Request', details: [{ path }] },
    })
  })
})

describe('a batch', () => {
  const batch = (body: object, on = host) => on.client.call('POST /bans/batch', { body: body as never })

  test('judges each item on its own, and answers in order', async () => {
    const ids = Array.from({ length: 5 }, () => crypto.randomUUID())
    const [a, b, c, d, e] = ids
    const body = {
      bans: [
        { ip: '203.0.113.50', jail: 'sshd', event_id: a },
        { ip: 'nonsense', jail: 'sshd', event_id: b },
        { ip: '2001:db8::50', jail: 'sshd', event_id: c },
        null,
      ],
      unbans: [
        { ip: '203.0.113.50', jail: 'sshd', event_id: d, unbanned_at: at(0) },
        { ip: '203.0.113.250', jail: 'sshd', event_id: e },
      ],
    }
    const { results } = await batch(body)
    expect(results.map(result => result.event_id)).toEqual([a, b, c, null, d, e])
    expect(results.map(result => typeof result.id)).toEqual([
      'number',
      'object',
      'number',
      'object',
      'number',
      'object',
    ])
    expect(results.map(result => result.error === null)).toEqual([true, false, true, false, true, true])
    expect(results[4]?.id).toBe(results[0]?.id)
    // Told again, nothing is doubled.
    const again = await batch(body)
    expect(again.results.slice(0, 4)).toEqual(results.slice(0, 4))
    expect((await list({ ip: '203.0.113.50' })).total).toBe(1)
    expect(await list({ ip: '203.0.113.50' })).toMatchObject({
      bans: [{ active: false, unbanned_at: expect.any(String) }],
    })
  })
  test('without times is of one time, so that its order is that of the addresses', async () => {
    const many = await aHost(server, admin.client, 'together')
    const bans = Array.from({ length: 1000 }, (_, n) => ({ ip: `10.8.${n >> 8}.${n & 255}`, jail: 'sshd' }))
    await batch({ bans: bans.map(ban => ({ ...ban, event_id: crypto.randomUUID() })) }, many)
    const listed = [
      ...(await list({ server_id: many.id, limit: 100 })).bans,
      ...(await list({ server_id: many.id, limit: 100, page: 10 })).bans,
    ]
    expect(new Set(listed.map(ban => ban.banned_at)).size).toBe(1)
  })
  test('takes a thousand, and not one more', async () => {
    const many = await aHost(server, admin.client, 'storm')
    const bans = Array.from({ length: 1000 }, (_, n) => ({
      ip: `10.9.${n >> 8}.${n & 255}`,
      jail: `jail-${n % 7}`,
      event_id: crypto.randomUUID(),
    }))
    expect((await batch({ bans }, many)).results.every(result => result.error === null)).toBe(true)
    expect((await list({ server_id: many.id })).total).toBe(1000)
    expect(await admin.client.call('GET /servers/{serverId}', { params: { serverId: many.id } })).toMatchObject({
      total_bans: 1000,
      bans_today: 1000,
      install: { first_ban_at: expect.any(String) },
    })
    expect(
      await raw(server, 'POST', '/api/v1/bans/batch', { token: many.key, body: { bans, unbans: [{}] } }),
    ).toMatchObject({ status: 400 })
    expect(
      await raw(server, 'POST', '/api/v1/bans/batch', { token: many.key, body: { bans: [...bans, {}] } }),
    ).toMatchObject({ status: 400 })
    expect((await batch({}, many)).results).toEqual([])
  })
})

describe('the list', () => {
  let a: EnrolledHost
  let b: EnrolledHost
  const hour = 3600
  beforeAll(async () => {
    a = await aHost(server, admin.client, 'list-a')
    b = await aHost(server, admin.client, 'list-b')
    // Six days of bans, some of them told late and out of order.
    const rows = Array.from({ length: 300 }, (_, n) => ({
      ip: n % 3 === 0 ? `8.8.${n % 5}.8` : n % 3 === 1 ? `2001:4860:4860::${n}` : `203.0.113.${n % 250}`,
      jail: n % 4 === 0 ? 'list-nginx' : 'list-sshd',
      banned_at: at(-((n * 7919) % 518_400) - 90),
      ban_duration: n % 2 === 0 ? 60 : -1,
      event_id: crypto.randomUUID(),
    }))
    await a.client.call('POST /bans/batch', { body: { bans: rows.slice(0, 200) } })
    await b.client.call('POST /bans/batch', { body: { bans: rows.slice(200) } })
  })
  /** Everything on those two servers, by pages. */
  const everything = async () => {
    const rows = []
    for (const id of [a.id, b.id])
      for (let page = 1; page <= 2; page++) rows.push(...(await list({ server_id: id, limit: 100, page })).bans)
    return rows
  }

  test('is newest first, complete and without doubles over its pages', async () => {
    const rows = (await Promise.all([1, 2].map(page => list({ server_id: a.id, limit: 100, page })))).flatMap(
      reply => reply.bans,
    )
    const times = rows.map(ban => ban.banned_at)
    expect(times).toEqual([...times].sort().reverse())
    expect(new Set(rows.map(ban => ban.id)).size).toBe(200)
    expect(await list({ server_id: a.id, page: 50 })).toMatchObject({ bans: [], total: 200, page: 50 })
  })
  test('has exact totals for every filter and mixes of them', async () => {
    const rows = await everything()
    expect(rows).toHaveLength(300)
    const ids = new Set([a.id, b.id])
    const all = []
    for (let page = 1, more = true; more; page++) {
      const reply = await list({ limit: 100, page })
      all.push(...reply.bans)
      more = reply.bans.length === 100
    }
    expect(all.filter(ban => ids.has(ban.server.id))).toHaveLength(300)
    const inV4 = (ip: string) => ip.startsWith('8.8.')
    const froms = [undefined, at(-3 * 24 * hour - 1234), at(-90 * 60)]
    const tos = [undefined, at(-24 * hour - 777), at(-30 * 60)]
    let mixes = 0
    for (const server_id of [undefined, a.id])
      for (const jail of [undefined, 'list-nginx', 'never-seen'])
        for (const country of [undefined, 'us', 'ZZ'])
          for (const ip of [undefined, '8.8.0.0/16'])
            for (const active of [undefined, true, false])
              for (const from of froms)
                for (const to of tos) {
                  // Each fifth: five has no factor of the numbers of values, so each pair of them comes.
                  if ((from && to && from > to) || mixes++ % 5 !== 0) continue
                  const query = Object.fromEntries(
                    Object.entries({ server_id, jail, country, ip, active, from, to }).filter(
                      ([, value]) => value !== undefined,
                    ),
                  )
                  const expected = all.filter(
                    ban =>
                      (server_id === undefined || ban.server.id === server_id) &&
                      (jail === undefined || ban.jail === jail) &&
                      (country === undefined || (ban.country ?? 'ZZ') === country.toUpperCase()) &&
                      (ip === undefined || inV4(ban.ip)) &&
                      (active === undefined || ban.active === active) &&
                      (from === undefined || ban.banned_at >= from) &&
                      (to === undefined || ban.banned_at < to),
                  )
                  const reply = await list({ ...query, limit: 100 })
                  expect({ query, total: reply.total }).toEqual({ query, total: expected.length })
                  expect(reply.bans.map(ban => ban.id)).toEqual(expected.slice(0, 100).map(ban => ban.id))
                }
  })
  test.each([
    ['ip', 'ip=1.2.3'],
    ['ip', 'ip='],
    ['country', 'country=USA'],
    ['active', 'active=yes'],
    ['from', 'from=2026-13-01T00:00:00Z'],
    ['from', 'from=2026-11-20'],
    ['limit', 'limit=500'],
    ['sever_id', 'sever_id=x'],
    ['server_id', 'server_id=01a1fd3e-b8a1-7afb-9a73-996f3d0480f9'],
  ])('refuses a bad %s: %s', async (path, query) => {
    expect(await raw(server, 'GET', `/api/v1/bans?${query}`, { token: admin.token })).toMatchObject({
      status: 400,
      json: { details: [{ path }] },
    })
  })
  test('NUL in an address is refused', async () => {
    expect(await raw(server, 'GET', '/api/v1/bans?jail=a%00b', { token: admin.token })).toMatchObject({ status: 400 })
  })
})

describe('ends of bans', () => {
  test('a ban whose time is up ends by itself, at that time', async () => {
    const made = await report({ ip: '203.0.113.60', jail: 'sshd', ban_duration: 120 })
    const read = () => admin.client.call('GET /bans/{banId}', { params: { banId: made.id } })
    expect(await read()).toMatchObject({ active: true })
    clock.forward(121)
    const over = await read()
    expect(over).toMatchObject({ active: false, unbanned_at: over.expires_at })
    await new Promise(resolve => setTimeout(resolve, 5500))
    expect(await read()).toEqual(over)
  })
})

describe('a manual ban', () => {
  const ban = (body: object) => raw(server, 'POST', `/api/v1/servers/${host.id}/bans`, { token: admin.token, body })
  const order = async (reply: { json: unknown }) => {
    const { command_id } = reply.json as { command_id: string }
    return admin.client.call('GET /commands/{commandId}', { params: { commandId: command_id } })
  }

  test('is a command with the defaults of the own jail', async () => {
    const reply = await ban({ ip: '203.0.113.70', reason: 'abuse' })
    expect(reply).toMatchObject({ status: 201, json: { message: expect.any(String), command_id: expect.any(String) } })
    expect(await order(reply)).toMatchObject({
      type: 'ban-ip',
      params: { ip: '203.0.113.70', jail: 'stockade', duration: 86_400, reason: 'abuse' },
      initiated_by: 'admin',
    })
    expect((await order(await ban({ ip: '203.0.113.71', jail: 'sshd' }))).params).toEqual({
      ip: '203.0.113.71',
      jail: 'sshd',
    })
    expect((await order(await ban({ ip: '203.0.113.71', duration: -1 }))).params).toMatchObject({ duration: -1 })
  })
  test("shows the operator's name once the host reports it", async () => {
    const reply = await ban({ ip: '203.0.113.72' })
    const { command_id } = reply.json as { command_id: string }
    const made = await report({ ip: '203.0.113.72', jail: 'stockade', ban_duration: 86_400, command_id })
    expect(await admin.client.call('GET /bans/{banId}', { params: { banId: made.id } })).toMatchObject({
      banned_by: 'admin',
    })
  })
  test.each([
    ['127.0.0.1', /loopback/],
    ['::1', /loopback/],
    ['127.0.0.0/16', /loopback/],
  ])('of %s needs force', async (ip, message) => {
    const refused = await ban({ ip })
    expect(refused).toMatchObject({ status: 409, json: { error: 'Conflict' } })
    expect((refused.json as { message: string }).message).toMatch(message)
    expect((await ban({ ip, force: true })).status).toBe(201)
  })
  test("of a managed server's address needs force", async () => {
    await admin.client.call('POST /servers', { body: { hostname: 'precious', ip_address: '198.51.100.200' } })
    for (const ip of ['198.51.100.200', '198.51.0.0/16'])
      expect(await ban({ ip })).toMatchObject({ status: 409, json: { message: expect.stringContaining('precious') } })
  })
  test.each([
    [{}],
    [{ ip: 'x' }],
    [{ ip: '203.0.113.1', jail: '*' }],
    [{ ip: '203.0.113.1', duration: 0 }],
    [{ ip: '203.0.113.1', reason: 'x'.repeat(501) }],
    [{ ip: '203.0.0.0/8' }],
    [{ ip: '203.0.113.1', bantime: 3 }],
  ])('with bad input is refused: %o', async body => expect(await ban(body)).toMatchObject({ status: 400 }))
})

describe('an unban', () => {
  const lift = (path: string) =>
    raw(server, 'DELETE', `/api/v1/servers/${host.id}/bans/${path}`, { token: admin.token })

  test('ends the active bans of the address when the host says that it is done', async () => {
    for (const jail of ['sshd', 'nginx']) await report({ ip: '2001:db8::80', jail, ban_duration: -1 })
    const active = async () => (await list({ ip: '2001:db8::80', active: true })).bans.map(ban => ban.jail)
    const run = async (path: string, success: boolean) => {
      const { command_id } = (await lift(path)).json as { command_id: string }
      for (;;) {
        const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
          params: { serverId: host.id },
        })
        for (const { id } of commands)
          await host.client.call('POST /commands/{commandId}/result', {
            params: { commandId: id },
            body: { success: id === command_id ? success : false },
          })
        if (commands.length === 0) return
      }
    }
    await run('2001%3Adb8%3A%3A80?jail=sshd', false)
    expect((await active()).sort()).toEqual(['nginx', 'sshd'])
    await run('2001%3Adb8%3A%3A80?jail=sshd', true)
    expect(await active()).toEqual(['nginx'])
    await run('2001:db8::80', true)
    expect(await active()).toEqual([])
  })
  test('takes ranges and refuses nonsense', async () => {
    expect((await lift('198.51.100.0%2F28')).status).toBe(200)
    for (const path of ['nonsense', '010.0.0.1', '203.0.113.1?jail=*', '203.0.113.1?jial=x'])
      expect(await lift(path), path).toMatchObject({ status: 400 })
    expect(
      await raw(server, 'DELETE', '/api/v1/servers/01a1fd3e-b8a1-7afb-9a73-996f3d0480f9/bans/203.0.113.1', {
        token: admin.token,
      }),
    ).toMatchObject({ status: 404 })
  })
})

describe('a ban that the whitelist covers', () => {
  test('is kept, marked and undone, once', async () => {
    await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.64/28' } })
    const event_id = crypto.randomUUID()
    const ban = { ip: '198.51.100.70', jail: 'sshd', event_id }
    const made = await report(ban)
    await report(ban)
    expect(await admin.client.call('GET /bans/{banId}', { params: { banId: made.id } })).toMatchObject({
      whitelisted: true,
      active: true,
    })
    await host.client.call('POST /bans/batch', {
      body: {
        bans: [
          { ip: '198.51.100.71', jail: 'nginx' },
          { ip: '198.51.100.80', jail: 'nginx' },
        ],
      },
    })
    const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: host.id },
    })
    const undone = commands.filter(({ params }) => String(params.ip).startsWith('198.51.100.7'))
    expect(undone.map(({ type, params }) => [type, params])).toEqual([
      ['unban-ip', { jail: '*', ip: '198.51.100.70' }],
      ['unban-ip', { jail: '*', ip: '198.51.100.71' }],
    ])
    const [first] = (await list({ ip: '198.51.100.80' })).bans
    expect(first?.whitelisted).toBe(false)
  })
})

test('unknown bans are 404, nonsense ids 400', async () => {
  expect(await raw(server, 'GET', '/api/v1/bans/999999', { token: admin.token })).toMatchObject({ status: 404 })
  for (const id of ['0', '-1', 'x', '1.5', '99999999999999999999'])
    expect(await raw(server, 'GET', `/api/v1/bans/${id}`, { token: admin.token }), id).toMatchObject({ status: 400 })
})
