import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import {
  anyObject,
  date,
  extended,
  id,
  integer,
  like,
  maybe,
  number,
  oneOf,
  orNull,
  text,
  time,
  uuid,
  yesNo,
} from './kinds.ts'
import type { Shape } from './kinds.ts'
import { deviations } from './kinds.ts'
import { ban, oneBan, oneCommand, onePage, reportedBan } from './resources.ts'
import {
  aPlace,
  listening,
  passwords,
  refuses,
  refusesEach,
  same,
  says,
  takesEach,
  unknownId,
  until,
  notDecimal,
} from './talk.ts'
import type { Host, Place } from './talk.ts'

/* docs/spec/bans.md and live-feed.md: bans, and the live feed that announces them. */

/** The reputation database: scores, and an error on demand. */
let broken = false
let asked = 0
const reputation = createServer((request, reply) => {
  asked++
  reply.writeHead(broken ? 500 : 200, { 'content-type': 'application/json' })
  const checked = { abuseConfidenceScore: 87, totalReports: 42, lastReportedAt: '2026-01-02T03:04:05+00:00' }
  const data = request.url?.includes('/check') ? checked : { abuseConfidenceScore: 91 }
  reply.end(JSON.stringify(broken ? { errors: [{ detail: 'no' }] } : { data }))
})

let place: Place
let web: Host
let db: Host
beforeAll(async () => {
  const url = `http://127.0.0.1:${await listening(reputation)}`
  place = await aPlace({ env: { STOCKADE_REPUTATION_URL: url } })
  web = await place.host('web.example')
  db = await place.host('db.example')
})
afterAll(async () => {
  await place.close()
  reputation.close()
})

const report = (body: object, host = web) => host.agent('POST /bans', { body })
const reported = (body: object, as: Shape = reportedBan) =>
  says(web.agent('POST /bans', { body }), 201, as as typeof reportedBan)
const order = (body: object, serverId = web.id) => place.operator('POST /servers/{serverId}/bans', { serverId, body })
const total = async (query: string) => ((await place.viewer('GET /bans', { query })).json as { total: unknown }).total

describe('spec bans: Bans', { retry: 0 }, () => {
  test('are reported by hosts', async () => {
    const first = await reported(
      { ip: '8.8.8.8', jail: 'sshd', log_lines: 'one\ntwo', ban_duration: 3600 },
      {
        ...reportedBan,
        ip: '8.8.8.8',
        jail: 'sshd',
        server_id: web.id,
        country: 'US',
        reported_to_reputation_db: false,
      },
    )
    const read = await says(
      place.viewer('GET /bans/{banId}', { banId: first.id }),
      200,
      oneBan.but({
        ip: '8.8.8.8',
        server: { id: web.id, hostname: 'web.example' },
        country: 'US',
        country_name: 'United States',
        asn: 'AS15169',
        log_lines: 'one\ntwo',
        ban_duration: 3600,
        expires_at: time,
        reputation_score: null,
      }),
      'spec bans: asn is written AS15169',
    )
    same(
      'spec bans: expires_at = banned_at + ban_duration',
      Date.parse(read.expires_at) - Date.parse(read.banned_at),
      3_600_000,
    )
    same('spec bans: banned_by engine, active', [read.banned_by, read.active, read.unbanned_at], ['engine', true, null])
    const least = await reported({ ip: '203.0.113.9', jail: 'sshd', of_a_newer_agent: 1 })
    await says(
      place.viewer('GET /bans/{banId}', { banId: least.id }),
      200,
      oneBan.but({ log_lines: '', ban_duration: null, expires_at: null }),
      'spec limits: log_lines "", ban_duration null',
    )
    const event_id = randomUUID()
    const forGood = { ip: '203.0.113.10', jail: 'sshd', event_id, ban_duration: -1 }
    same('spec bans: the same event_id is the same ban', await reported(forGood), await reported(forGood))
    for (const [ip, canonical] of [
      ['::ffff:203.0.113.12', '203.0.113.12'],
      ['2001:DB8:0::0:5', '2001:db8::5'],
      ['198.51.100.77/24', '198.51.100.0/24'],
      ['198.51.100.78/32', '198.51.100.78'],
    ] as const)
      await reported({ ip, jail: 'sshd' }, { ...reportedBan, ip: canonical })
    const ahead = await reported({ ip: '203.0.113.13', jail: 'sshd', banned_at: '2199-01-01T00:00:00Z' })
    same(
      'spec bans: not in the future by more than 5 minutes, else now',
      Date.parse(ahead.banned_at) <= Date.now() + 1000,
      true,
    )
    await reported(
      { ip: '203.0.113.13', jail: 'sshd', banned_at: '2026-01-01T02:00:00+02:00', ban_duration: 60 },
      { ...reportedBan, banned_at: '2026-01-01T00:00:00.000Z' },
    )
    const long = await reported({ ip: '203.0.113.14', jail: 'sshd', log_lines: 'x'.repeat(70_000) })
    const { length } = (await says(place.viewer('GET /bans/{banId}', { banId: long.id }), 200, oneBan)).log_lines
    same('spec limits: log_lines to 64 KiB, longer is cut with a mark', length > 65_000 && length < 66_000, true)
    const ok = { ip: '203.0.113.9', jail: 'sshd' }
    await refusesEach(
      "spec limits: agent's /bans ip, jail; Bounds; spec conventions: IP addresses",
      [
        ['ip', { jail: 'sshd' }],
        ['jail', { ip: '203.0.113.9' }],
        ['ip', { ...ok, ip: 'x' }],
        ['ip', { ...ok, ip: '203.0.113.9:22' }],
        ['ip', { ...ok, ip: '203.0.113.09' }],
        ['jail', { ...ok, jail: '' }],
        ['jail', { ...ok, jail: 'a\tb' }],
        ['jail', { ...ok, jail: 'x'.repeat(256) }],
        ['ban_duration', { ...ok, ban_duration: 0 }],
        ['ban_duration', { ...ok, ban_duration: -2 }],
        ['ban_duration', { ...ok, ban_duration: 31_557_601 }],
        ['ban_duration', { ...ok, ban_duration: 1.5 }],
        ['event_id', { ...ok, event_id: 'x' }],
        ['banned_at', { ...ok, banned_at: 'x' }],
        ['log_lines', { ...ok, log_lines: 5 }],
      ],
      report,
    )
    await takesEach('spec limits: ban_duration -1 or 1 to 31557600', [1, 31_557_600], ban_duration =>
      // A minute ago, so that the one of a second is over by now however fast this runs.
      report({ ip: '192.0.2.44', jail: 'other', ban_duration, banned_at: new Date(Date.now() - 60_000).toISOString() }),
    )
  })

  test('are reported by the hundred', async () => {
    const made = randomUUID()
    const ended = { ip: '203.0.113.20', jail: 'sshd', unbanned_at: new Date().toISOString(), event_id: randomUUID() }
    const { results } = await says(
      web.agent('POST /bans/batch', {
        body: {
          bans: [
            { ip: '203.0.113.20', jail: 'sshd', event_id: made },
            { ip: 'bad', jail: 'sshd', event_id: randomUUID() },
          ],
          unbans: [ended, { ...ended, ip: '203.0.113.250', event_id: randomUUID() }],
        },
      }),
      200,
      { results: [{ event_id: text, id: orNull(id), error: orNull(text) }] },
    )
    same(
      "spec bans: an unban's id is the row it ended, or null",
      [results[2]?.id, results[3]?.id],
      [results[0]?.id, null],
    )
    same(
      'spec bans: error or null',
      results.map(({ error }) => error === null),
      [true, false, true, true],
    )
    const row = await says(place.viewer('GET /bans/{banId}', { banId: results[0]?.id }), 200, oneBan)
    same('spec bans: unbanned_at, active', [row.active, typeof row.unbanned_at], [false, 'string'])
    const bans = Array.from({ length: 1001 }, () => ({ ip: '192.0.2.45', jail: 'many', event_id: randomUUID() }))
    await refuses(web.agent('POST /bans/batch', { body: { bans } }), 400, 'spec bans: up to 1000', 'bans')
    same('spec bans: up to 1000', (await web.agent('POST /bans/batch', { body: { bans: bans.slice(1) } })).status, 200)
  })

  test('are listed', async () => {
    const { viewer } = place
    const { bans } = await says(viewer('GET /bans'), 200, { bans: [ban], ...onePage(50) })
    const times = bans.map(({ banned_at }) => banned_at)
    same('spec conventions: newest first', times, [...times].sort().reverse())
    for (const [query, found] of [
      ['ip=203.0.113.9', 1],
      ['ip=203.0.113.0/24', 7],
      ['ip=2001:db8::/32', 1],
      ['country=us', 1],
      ['country=US', 1],
      ['jail=many', 1000],
      ['jail=nope', 0],
      ['active=false', 3],
      [`server_id=${db.id}`, 0],
      ['from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:01Z', 1],
      ['to=2026-01-01T00:00:00Z', 0],
    ] as const)
      same(`spec bans, GET /bans: ${query}`, await total(query), found)
    await takesEach('spec limits: 100', ['limit=100'], query => viewer('GET /bans', { query }))
    await refusesEach(
      'spec bans: filters; spec conventions: from, to, limit; spec errors: unknown id in a query',
      [
        ['ip', 'ip=zz'],
        ['country', 'country=USAX'],
        ['from', 'from=2026'],
        ['from', 'from='],
        ['from', 'from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z'],
        ['active', 'active=perhaps'],
        ['limit', 'limit=101'],
        ...notDecimal,
        ['server_id', 'server_id=7'],
        ['server_id', `server_id=${unknownId}`],
      ],
      query => viewer('GET /bans', { query }),
    )
    await refuses(viewer('GET /bans/{banId}', { banId: 999_999 }), 404, 'spec errors: unknown id in the path')
    await refuses(viewer('GET /bans/{banId}', { banId: 'abc' }), 400, 'spec bans: integer')
  })

  test('are made and lifted by operators', async () => {
    const { operator, viewer } = place
    const serverId = web.id
    const queued = { message: text, command_id: uuid }
    const paramsOf = async (commandId: string) =>
      (await says(viewer('GET /commands/{commandId}', { commandId }), 200, oneCommand)).params
    const ip = '203.0.113.30'
    const body = { ip, jail: 'sshd', duration: 600, reason: 'scan' }
    const made = await says(operator('POST /servers/{serverId}/bans', { serverId, body }), 201, queued)
    same('spec commands: ban-ip', await paramsOf(made.command_id), body)
    const least = await says(order({ ip: '203.0.113.31' }), 201, queued)
    same('spec bans: default stockade, 86400', await paramsOf(least.command_id), {
      ip: '203.0.113.31',
      jail: 'stockade',
      duration: 86_400,
    })
    await refusesEach(
      'spec bans: a manual CIDR; spec limits: duration, reason',
      [
        ['ip', {}],
        ['ip', { ip: 'x' }],
        ['ip', { ip: '203.0.0.0/15' }],
        ['ip', { ip: '2001:db8::/31' }],
        ['duration', { ip, duration: 0 }],
        ['duration', { ip, duration: 31_557_601 }],
        ['reason', { ip, reason: 'x'.repeat(501) }],
        ['jail', { ip, jail: '*' }],
        ['why', { ip, why: 1 }],
      ],
      body => order(body),
    )
    await takesEach(
      'spec bans: no wider than /16 (IPv4) or /32 (IPv6)',
      [{ ip: '198.51.0.0/16' }, { ip: '2001:db8::/32' }, { ip, duration: -1, reason: 'x'.repeat(500) }],
      body => order(body),
    )
    for (const guarded of ['127.0.0.1', '::1', '127.1.0.0/16'])
      await refuses(order({ ip: guarded }), 409, "spec bans: loopback, a server's own and the caller's address")
    same('spec bans: unless force', (await order({ ip: '127.0.0.1', force: true })).status, 201)
    await refuses(order({ ip }, unknownId), 404, 'spec errors: unknown id in the path')

    await web.agent('GET /servers/{serverId}/commands/pending', { serverId })
    const row = await reported({ ip, jail: 'sshd', ban_duration: 600, command_id: made.command_id })
    await says(viewer('GET /bans/{banId}', { banId: row.id }), 200, oneBan)
    const banned_by = async () =>
      ((await viewer('GET /bans/{banId}', { banId: row.id })).json as { banned_by: unknown }).banned_by
    same('spec bans: banned_by is the operator', await banned_by(), 'operator')
    const lifted = await says(
      operator('DELETE /servers/{serverId}/bans/{ip}', { serverId, ip, query: 'jail=sshd' }),
      200,
      queued,
    )
    same('spec commands: unban-ip', await paramsOf(lifted.command_id), { ip, jail: 'sshd' })
    const everywhere = await says(operator('DELETE /servers/{serverId}/bans/{ip}', { serverId, ip }), 200, queued)
    same('spec bans: without jail, one unban-ip with jail *', await paramsOf(everywhere.command_id), {
      ip,
      jail: '*',
    })
    await web.agent('GET /servers/{serverId}/commands/pending', { serverId })
    await web.agent('POST /commands/{commandId}/result', { commandId: lifted.command_id, body: { success: true } })
    const after = await says(viewer('GET /bans/{banId}', { banId: row.id }), 200, oneBan)
    same("spec bans: a command's result sets unbanned_at", [after.active, typeof after.unbanned_at], [false, 'string'])
    await refuses(
      operator('DELETE /servers/{serverId}/bans/{ip}', { serverId, ip: 'zz' }),
      400,
      'spec conventions: IP addresses',
    )
    for (const address of ['2001:db8::5', '198.51.100.0/24'])
      same(
        `spec bans: DELETE of ${address}`,
        (await operator('DELETE /servers/{serverId}/bans/{ip}', { serverId, ip: address })).status,
        200,
      )

    const entry = { ip: '203.0.113.77' }
    await operator('POST /whitelist', { body: entry })
    const refused = await refuses(order(entry), 409, 'spec errors: an address that the whitelist covers', entry.ip)
    expect.soft(refused.text, 'spec errors: message names the entry').toContain(entry.ip)
    await refuses(order({ ip: '203.0.113.0/24' }), 409, 'spec bans: covering no whitelisted address')
    const covered = await reported({ ...entry, jail: 'sshd' })
    same('spec bans: stored and answered', (await viewer('GET /bans/{banId}', { banId: covered.id })).status, 200)
    const { commands } = (await viewer('GET /commands', { query: `type=unban-ip&server_id=${serverId}` })).json as {
      commands: { params: { ip: string } }[]
    }
    same(
      'spec bans: and an unban-ip is queued',
      commands.some(({ params }) => params.ip === entry.ip),
      true,
    )
  })

  test('statistics', async () => {
    const stats = extended(
      {
        total_bans: integer,
        unique_ips: integer,
        bans_by_jail: [{ jail: text, count: integer }],
        bans_by_country: [{ code: text, name: text, count: integer }],
        bans_by_hour: [{ hour: integer, count: integer }],
        bans_by_day: [{ date, count: integer }],
      },
      {
        'spec endpoints': {
          from: time,
          to: time,
          series: [{ start: time, count: integer }],
          series_by_jail: [{ jail: text, counts: [integer] }],
          previous_total: integer,
          active_now: integer,
        },
      },
    )
    const sum = (rows: { count: number }[]) => rows.reduce((all, { count }) => all + count, 0)
    for (const [query, days] of [
      ['', 1],
      ['period=day', 1],
      ['period=week', 7],
      ['period=month', 30],
    ] as const) {
      const got = await says(
        place.viewer('GET /bans/stats', query ? { query } : {}),
        200,
        stats,
        query || 'default day',
      )
      same(
        'spec conventions: bans_by_hour, always 24 rows, 0 to 23',
        got.bans_by_hour.map(({ hour }) => hour),
        [...Array(24).keys()],
      )
      same(
        'spec commands: bans_by_* complete',
        [sum(got.bans_by_hour), sum(got.bans_by_day), sum(got.bans_by_jail)],
        [got.total_bans, got.total_bans, got.total_bans],
      )
      const dates = got.bans_by_day.map(day => day.date)
      const since = Date.now() - days * 86_400_000
      same(
        'spec conventions: bans_by_day, one row for each UTC date, oldest first',
        [dates[0], dates.length],
        [new Date(since).toISOString().slice(0, 10), days + 1],
      )
    }
    same(
      'spec bans: server_id',
      ((await place.viewer('GET /bans/stats', { query: `server_id=${db.id}` })).json as { total_bans: unknown })
        .total_bans,
      0,
    )
    await refusesEach(
      'spec bans: period; spec errors: unknown id in a query',
      [
        ['period', 'period=year'],
        ['period', 'period='],
        ['server_id', `server_id=${unknownId}`],
      ],
      query => place.viewer('GET /bans/stats', { query }),
    )
  })

  test('look-ups and reports to the reputation database', async () => {
    const { admin, operator, viewer } = place
    const pastBan = extended(
      { server: 'web.example', jail: 'sshd', banned_at: time },
      {
        'spec endpoints': { id, server_id: uuid, expires_at: orNull(time), unbanned_at: orNull(time), active: yesNo },
        'no page': { reason: orNull(anyObject), dropped_packets: orNull(integer) },
      },
    )
    const lookup = extended(
      {
        ip: '8.8.8.8',
        country: 'US',
        country_name: 'United States',
        city: orNull(text),
        latitude: orNull(number),
        longitude: orNull(number),
        asn: 'AS15169',
        asn_org: text,
        is_whitelisted: false,
        ban_history: [pastBan],
        total_bans: 1,
        reputation: null,
      },
      {
        'spec endpoints': {
          active_bans: [pastBan],
          matched_whitelist: null,
          is_you: false,
          is_server: null,
          reverse_name: null,
          geo_credit: text,
        },
        'no page': { fleet_bans: [anyObject], blocklists: [anyObject] },
      },
    )
    const { ban_history } = await says(
      viewer('GET /bans/lookup/{ip}', { ip: '8.8.8.8' }),
      200,
      lookup,
      'spec bans: reputation is null when reporting is off',
    )
    const banId = ban_history[0]?.id
    await refuses(viewer('GET /bans/lookup/{ip}', { ip: 'zz' }), 400, 'spec conventions: IP addresses')
    await refuses(operator('POST /bans/{banId}/report', { banId }), 409, 'spec errors: not configured or disabled')
    await admin('PATCH /settings/reputation', { body: { enabled: true, api_key: 'a-key' } })
    const done = { message: text, reputation_score: 91 }
    await says(operator('POST /bans/{banId}/report', { banId }), 200, done)
    const before = asked
    await says(operator('POST /bans/{banId}/report', { banId }), 200, done, 'spec bans: reported within 15 minutes')
    same('spec bans: 200 with the last score', asked, before)
    await says(
      viewer('GET /bans/{banId}', { banId }),
      200,
      oneBan.but({ reported_to_reputation_db: true, reputation_score: 91 }),
    )
    await says(
      viewer('GET /bans/lookup/{ip}', { ip: '8.8.4.4' }),
      200,
      lookup.but({
        ip: '8.8.4.4',
        total_bans: 0,
        reputation: { score: 87, reports: 42, last_reported: time },
      }),
    )
    await refuses(operator('POST /bans/{banId}/report', { banId: 999_999 }), 404, 'spec errors: unknown id in the path')
    broken = true
    const other = await reported({ ip: '8.8.4.4', jail: 'sshd' })
    await refuses(operator('POST /bans/{banId}/report', { banId: other.id }), 502, 'spec errors: the other side failed')
    broken = false
  })
})

describe('spec live-feed: the live feed', { retry: 0 }, () => {
  interface Message {
    readonly type: string
    readonly data: unknown
    readonly at: string
  }
  /** Opens the feed: what it hears, or the status with which it is refused. */
  const open = (protocols: string[], headers: Record<string, string> = {}) =>
    new Promise<{ status: number; protocol: string; heard: Message[]; close(): void }>(resolve => {
      const socket = new WebSocket(`${place.server.url.replace('http', 'ws')}/api/v1/ws`, protocols, { headers })
      const heard: Message[] = []
      const close = () => socket.terminate()
      socket.on('message', data => heard.push(JSON.parse(String(data)) as Message))
      socket.on('error', () => {})
      socket.on('open', () => resolve({ status: 101, protocol: socket.protocol, heard, close }))
      socket.on('unexpected-response', (_, reply) =>
        resolve({ status: reply.statusCode ?? 0, protocol: '', heard, close }),
      )
    })

  test('tells what the caller may see', async () => {
    const token = await place.signIn('viewer', passwords.viewer)
    await place.admin('PUT /users/{userId}/server-access', {
      userId: 2,
      body: { access_type: 'specific', server_ids: [db.id] },
    })
    const elsewhere = await place.signIn('operator', passwords.operator)
    const feed = await open(['stockade.v1', `bearer.${token}`])
    const other = await open(['stockade.v1', `bearer.${elsewhere}`])
    same('spec live-feed: the server answers stockade.v1', feed.protocol, 'stockade.v1')
    await web.agent('POST /servers/heartbeat', { body: { hostname: 'web.example' } })
    const made = await reported({ ip: '203.0.113.60', jail: 'sshd' })
    const event_id = randomUUID()
    await web.agent('POST /bans/batch', {
      body: { unbans: [{ ip: '203.0.113.60', jail: 'sshd', unbanned_at: new Date().toISOString(), event_id }] },
    })
    await place.admin('POST /servers/{serverId}/commands', { serverId: web.id, body: { type: 'reload-all' } })
    await place.admin('POST /whitelist', { body: { ip: '192.0.2.60' } })
    const types = () => new Set(feed.heard.map(({ type }) => type))
    const wanted = ['ban', 'command', 'server', 'unban', 'whitelist']
    await until(
      async () => types(),
      told => wanted.every(type => told.has(type)),
    )
    same('spec live-feed: the types', [...types()].sort(), wanted)
    const message = {
      type: oneOf('ban', 'unban', 'server', 'command', 'whitelist', 'notice'),
      data: maybe(like(/./)),
      at: time,
    }
    for (const told of feed.heard)
      same('spec live-feed: { type, data, at }', deviations({ ...told, data: 'some' }, message), [])
    const told = feed.heard.find(({ type, data }) => type === 'ban' && (data as { id: number }).id === made.id)
    same('spec live-feed: data of a ban is the ban', deviations(told?.data, ban, 'data'), [])
    same(
      'spec live-feed: filtered by what the caller may see',
      other.heard.filter(({ type }) => /ban/.test(type)),
      [],
    )
    feed.close()
    other.close()
  })

  test('wants a session', async () => {
    const body = { username: 'viewer', password: passwords.viewer }
    const cookie = (await place.nobody('POST /auth/login', { body })).headers.get('set-cookie')?.split(';')[0] ?? ''
    for (const [why, status, protocols, headers] of [
      ['spec errors: no credential', 401, [], {}],
      ['spec errors: an unknown credential', 401, ['stockade.v1', 'bearer.nonsense'], {}],
      [
        'spec live-feed: a cookie with a foreign Origin is 403',
        403,
        [],
        { cookie, origin: 'http://elsewhere.example' },
      ],
      ['spec live-feed: session cookie', 101, [], { cookie, origin: place.server.url }],
    ] as const) {
      const feed = await open([...protocols], headers)
      feed.close()
      same(why, feed.status, status)
    }
  })
})
