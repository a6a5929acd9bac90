import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testAlone } from '../../testing/alone.ts'
import { aHost, aServerKey, eventually, movableClock, startServer, until } from '../../testing/index.ts'
import type { Client } from '@stockade/client'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'

/*
 * A double of the reputation service's API, version 2, as its documentation describes it: key in a header, check by GET,
 * report by form, one report an address in 15 minutes, errors as a list with `detail`.
 */
const key = 'a-key-of-the-service'
const taken: { ip: string; categories: string; comment: string; timestamp: string }[] = []
let checks = 0
let refuse: { status: number; detail: string; headers?: Record<string, string> } | null = null
let silent = false
/** Addresses that the account has reported by another program. */
const reportedElsewhere = new Set<string>()
/** The path and the address of each request that was refused or left without an answer. The queue of reports sends some of its own. */
const turnedAway: string[] = []
const double = createServer((request, reply) => {
  const answer = (status: number, body: object, headers: Record<string, string> = {}) =>
    reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  const url = new URL(request.url ?? '/', 'http://double.example')
  let sent = ''
  request.on('data', (piece: Buffer) => (sent += piece.toString()))
  request.on('end', () => {
    const ip = url.searchParams.get('ipAddress') ?? new URLSearchParams(sent).get('ip')
    if (silent || refuse) turnedAway.push(`${url.pathname} ${ip}`)
    if (silent) return
    if (request.headers.key !== key)
      return answer(401, { errors: [{ detail: 'Authentication failed. Your API key is invalid.', status: 401 }] })
    if (refuse) return answer(refuse.status, { errors: [{ detail: refuse.detail }] }, refuse.headers)
    if (url.pathname === '/api/v2/check' && request.method === 'GET') {
      checks++
      return answer(200, {
        data: {
          ipAddress: url.searchParams.get('ipAddress'),
          abuseConfidenceScore: 87,
          totalReports: 12,
          lastReportedAt: '2026-11-20T10:00:00+00:00',
        },
      })
    }
    if (url.pathname === '/api/v2/report' && request.method === 'POST') {
      const form = new URLSearchParams(sent)
      const field = (name: string) => form.get(name) ?? ''
      if (taken.some(({ ip }) => ip === field('ip')) || reportedElsewhere.has(field('ip')))
        return answer(429, {
          errors: [
            {
              detail: `You can only report the same IP address (\`${field('ip')}\`) once in 15 minutes.`,
              status: 429,
              source: { parameter: 'ip' },
            },
          ],
        })
      taken.push({
        ip: field('ip'),
        categories: field('categories'),
        comment: field('comment'),
        timestamp: field('timestamp'),
      })
      return answer(200, { data: { ipAddress: field('ip'), abuseConfidenceScore: 52 } })
    }
    return answer(404, { errors: [] })
  })
})

const clock = movableClock()
let server: TestServer
let admin: { client: Client }
let hosts: EnrolledHost[]
let next = 1
/** A public address that no test used before. */
const anAddress = () => `8.8.${(next >> 8) & 255}.${next++ & 255}`
const ban = (ip: string, more: object = {}, on = 0) => {
  const host = hosts[on]
  if (!host) throw new Error('no host')
  return host.client.call('POST /bans', { body: { ip, jail: 'sshd', ban_duration: 600, ...more } as never })
}
const settle = (settings: object) => admin.client.call('PATCH /settings/reputation', { body: settings as never })
const manual = (banId: number) => admin.client.call('POST /bans/{banId}/report', { params: { banId } })
const read = (banId: number) => admin.client.call('GET /bans/{banId}', { params: { banId } })
const untilTurnedAway = (ip: string) =>
  until(() => turnedAway.includes(`/api/v2/report ${ip}`), `a report of ${ip} that is turned away`)
const reportsOf = (ip: string) => taken.filter(report => report.ip === ip)
/** A busy machine may let a report fail, and the clock of this test must move on until it is tried again. */
const untilReported = (ip: string) =>
  eventually(() => {
    if (reportsOf(ip).length === 0) clock.forward(30)
    expect(reportsOf(ip)).toHaveLength(1)
  }, 1000)

beforeAll(async () => {
  await new Promise<void>(resolve => double.listen(0, '127.0.0.1', resolve))
  const { port } = double.address() as AddressInfo
  server = await startServer({ clock, env: { STOCKADE_REPUTATION_URL: `http://127.0.0.1:${port}/api/v2` } })
  const first = await server.setUp()
  // A key, since tokens end while this test moves the time.
  const made = await first.client.call('POST /keys', { body: { name: 'test', permissions: 'admin' } })
  admin = { client: server.client(made.key) }
  hosts = [await aHost(server, admin.client, 'web-01.example'), await aHost(server, admin.client, 'web-02.example')]
})
afterAll(async () => {
  await server.close()
  double.closeAllConnections()
  double.close()
})
beforeEach(() => {
  refuse = null
  silent = false
})

describe('the settings', () => {
  test('are off, without a key, at first', async () => {
    expect(await admin.client.call('GET /settings/reputation', {})).toEqual({
      enabled: false,
      api_key_set: false,
      rate_limit: 1000,
      reports_today: 0,
      last_report: null,
      paused_until: null,
      paused_because: null,
    })
  })
  test('nothing is reported while it is off, by hand neither', async () => {
    const made = await ban(anAddress())
    await expect(manual(made.id)).rejects.toMatchObject({ status: 409 })
  })
  test('take a key in and never show it', async () => {
    await settle({ enabled: true, api_key: key, rate_limit: 500 })
    const shown = await admin.client.call('GET /settings/reputation', {})
    expect(shown).toMatchObject({ enabled: true, api_key_set: true, rate_limit: 500 })
    expect(JSON.stringify(shown)).not.toContain(key)
    expect(await admin.client.call('GET /settings', {})).toMatchObject({
      integrations: { reputation_enabled: true, reputation_rate_limit: 500 },
    })
  })
  test('and the integrations are two views of one thing', async () => {
    const changed = await admin.client.call('PATCH /settings', {
      body: { integrations: { reputation_rate_limit: 600 } },
    })
    expect(changed.updated_fields).toEqual(['integrations.reputation_rate_limit'])
    expect(await admin.client.call('GET /settings/reputation', {})).toMatchObject({ rate_limit: 600 })
  })
  test.each([{ rate_limit: -1 }, { rate_limit: 1.5 }, { enabled: 'yes' }, { api_key: 7 }, { unknown: 1 }])(
    'refuse %j',
    async body => {
      await expect(settle(body)).rejects.toMatchObject({ status: 400 })
    },
  )
})

describe('reports', () => {
  test('go out by themselves, once an address over the fleet, without anything of ours', async () => {
    // The switch was turned on a moment ago; the queue begins with what comes after it was seen.
    await until(async () => {
      await ban(anAddress())
      clock.forward(1)
      return taken.length > 0
    }, 'a first report')
    const ip = anAddress()
    const made = await ban(ip, {
      log_lines: `Nov 21 web-01 sshd[7]: Failed password for invalid user anna from ${ip} port 4711 ssh2\nNov 21 web-01.example sshd[7]: rhost=192.0.2.9 user=boss@corp.example`,
    })
    await ban(ip, {}, 1)
    await ban('10.1.2.3')
    await untilReported(ip)
    const [report] = reportsOf(ip)
    expect(report?.categories).toBe('18,22')
    expect(Date.parse(report?.timestamp ?? '')).toBe(Date.parse(made.banned_at))
    expect(report?.comment).toContain('jail sshd')
    expect(report?.comment).toContain(`from ${ip}`)
    for (const own of ['anna', 'web-01', 'boss', '192.0.2.9', 'corp.example'])
      expect(report?.comment).not.toContain(own)
    await eventually(async () =>
      expect(await read(made.id)).toMatchObject({ reported_to_reputation_db: true, reputation_score: 52 }),
    )
    await new Promise(resolve => setTimeout(resolve, 2200))
    expect(reportsOf(ip)).toHaveLength(1)
    expect(taken.some(({ ip: other }) => other.startsWith('10.'))).toBe(false)
    await eventually(async () =>
      expect(await admin.client.call('GET /settings/reputation', {})).toMatchObject({
        reports_today: taken.length,
        last_report: expect.any(String),
      }),
    )
  })
  test('by hand are asked at once; a second one within 15 minutes gets the last score', async () => {
    await settle({ enabled: false })
    const made = await ban(anAddress())
    await eventually(() => settle({ enabled: true }))
    expect(await manual(made.id)).toMatchObject({ reputation_score: 52 })
    expect(await manual(made.id)).toEqual({ message: expect.stringContaining('15 minutes'), reputation_score: 52 })
    expect(await read(made.id)).toMatchObject({ reported_to_reputation_db: true, reputation_score: 52 })
  })
  test('of a private address are refused, of an unknown ban are not found', async () => {
    const made = await ban('10.9.9.9')
    await expect(manual(made.id)).rejects.toMatchObject({ status: 409 })
    await expect(manual(999_999)).rejects.toMatchObject({ status: 404 })
  })
  test('that the service refuses are a 502 with its words, and the ban is not marked', async () => {
    refuse = { status: 422, detail: 'The comment is not to our taste.' }
    const made = await ban(anAddress())
    await expect(manual(made.id)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('not to our taste'),
    })
    expect(await read(made.id)).toMatchObject({ reported_to_reputation_db: false, reputation_score: null })
  })
  test('survive a service that fails, and go out when it is back', async () => {
    // The first report that fails makes the others wait, so those of the tests before must be out.
    const last = anAddress()
    await ban(last)
    await untilReported(last)
    refuse = { status: 503, detail: 'down' }
    const ip = anAddress()
    await ban(ip)
    await untilTurnedAway(ip)
    expect(reportsOf(ip)).toHaveLength(0)
    refuse = null
    clock.forward(120)
    await untilReported(ip)
  })
  test('pause as long as a 429 says', async () => {
    refuse = { status: 429, detail: 'Daily rate limit of 1000 requests exceeded', headers: { 'retry-after': '1800' } }
    const ip = anAddress()
    await ban(ip)
    await untilTurnedAway(ip)
    refuse = null
    await eventually(async () =>
      expect(await admin.client.call('GET /settings/reputation', {})).toMatchObject({
        paused_until: expect.any(String),
        paused_because: '429: Daily rate limit of 1000 requests exceeded',
      }),
    )
    clock.forward(1000)
    await new Promise(resolve => setTimeout(resolve, 2500))
    expect(reportsOf(ip)).toHaveLength(0)
    clock.forward(900)
    await untilReported(ip)
  })
  test('of an address that another program has reported end, and hold up no other', async () => {
    const before = anAddress()
    await ban(before)
    await untilReported(before)
    const [doubled, other] = [anAddress(), anAddress()]
    reportedElsewhere.add(doubled)
    const made = await ban(doubled)
    await ban(other)
    await eventually(() => expect(reportsOf(other)).toHaveLength(1))
    expect(await admin.client.call('GET /settings/reputation', {})).toMatchObject({ paused_until: null })
    expect(await manual(made.id)).toMatchObject({ reputation_score: null })
    expect(await read(made.id)).toMatchObject({ reported_to_reputation_db: false })
  })
  test.each([400, 422])('that are refused with %i end, and hold up no other', async status => {
    const [bad, good] = [anAddress(), anAddress()]
    refuse = { status, detail: 'The ip address must be a valid IPv4 or IPv6 address.' }
    await ban(bad)
    await untilTurnedAway(bad)
    refuse = null
    await ban(good)
    await eventually(() => expect(reportsOf(good)).toHaveLength(1))
  })
  test('pause for a key that is refused, until there is another one', async () => {
    refuse = { status: 401, detail: 'Authentication failed.' }
    const ip = anAddress()
    await ban(ip)
    await untilTurnedAway(ip)
    await eventually(async () =>
      expect(await admin.client.call('GET /settings/reputation', {})).toMatchObject({
        paused_because: '401: Authentication failed.',
      }),
    )
    refuse = null
    await settle({ api_key: key })
    await eventually(() => expect(reportsOf(ip)).toHaveLength(1))
    expect(await admin.client.call('GET /settings/reputation', {})).toMatchObject({
      paused_until: null,
      paused_because: null,
    })
  })
  test('stop at the day’s budget', async () => {
    await settle({ rate_limit: 1 })
    const made = await ban(anAddress())
    await expect(manual(made.id)).rejects.toMatchObject({ status: 409 })
    await settle({ rate_limit: 1000 })
  })
})

describe('a look-up', () => {
  const look = (ip: string, by = admin.client) => by.call('GET /bans/lookup/{ip}', { params: { ip } })
  testAlone('tells place, history, whitelist and reputation, and asks the service once an hour', async () => {
    const ip = anAddress()
    const made = await ban(ip, { jail: 'nginx' })
    await ban(ip, { jail: 'sshd' }, 1)
    const before = checks
    const found = await look(ip)
    expect(found).toMatchObject({
      ip,
      country: 'US',
      country_name: 'United States',
      city: null,
      is_whitelisted: false,
      total_bans: 2,
      reputation: { score: 87, reports: 12, last_reported: '2026-11-20T10:00:00.000Z' },
      is_you: false,
      is_server: null,
    })
    expect(found.asn).toMatch(/^AS\d+$/)
    expect(found.ban_history.map(({ server: name, jail }) => [name, jail])).toEqual([
      ['web-02.example', 'sshd'],
      ['web-01.example', 'nginx'],
    ])
    expect(found.ban_history[1]).toMatchObject({ id: made.id, banned_at: made.banned_at, active: true })
    await look(ip)
    expect(checks).toBe(before + 1)
    clock.forward(3700)
    await look(ip)
    expect(checks).toBe(before + 2)
  })
  test('shows a caller his own servers only', async () => {
    const ip = anAddress()
    await ban(ip)
    await ban(ip, {}, 1)
    const mine = await look(ip, (await aServerKey(server, admin.client, hosts[0]?.id ?? '')).client)
    expect(mine).toMatchObject({ total_bans: 1, ban_history: [{ server: 'web-01.example' }] })
    expect(mine.active_bans).toHaveLength(1)
  })
  test('names the entry of the whitelist that covers it', async () => {
    const entry = await admin.client.call('POST /whitelist', { body: { ip: '9.9.9.0/24', description: 'resolver' } })
    expect(await look('9.9.9.9')).toMatchObject({
      is_whitelisted: true,
      matched_whitelist: { id: entry.id, ip: '9.9.9.0/24', description: 'resolver' },
    })
  })
  test.each(['10.1.2.3', '192.0.2.7', '2001:db8::7', '127.0.0.1', 'fe80::1'])(
    'of %s, which is nobody’s place, asks nobody',
    async ip => {
      const before = checks
      expect(await look(ip)).toMatchObject({ country: null, asn: null, reputation: null })
      expect(checks).toBe(before)
    },
  )
  test.each(['010.0.0.1', '1.2.3', 'fe80::1%eth0', '1.2.3.4:22', '10.0.0.0/8', 'host.example'])(
    'of %s is refused',
    async ip => {
      await expect(look(ip)).rejects.toMatchObject({ status: 400 })
    },
  )
  test('is answered without reputation when the service fails or is silent', async () => {
    refuse = { status: 500, detail: 'down' }
    expect(await look(anAddress())).toMatchObject({ country: 'US', reputation: null })
    refuse = null
    silent = true
    // It never answers: who waited for it would never be answered either.
    const ip = anAddress()
    expect(await look(ip)).toMatchObject({ country: 'US', reputation: null })
    expect(turnedAway.filter(request => request === `/api/v2/check ${ip}`)).toHaveLength(1)
  })
})
