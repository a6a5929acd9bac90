import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createTcp } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { siemTypes } from '@stockade/contract'
import type { SiemType } from '@stockade/contract'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import {
  aHost,
  aLicence,
  engine,
  eventually,
  freshDatabase,
  movableClock,
  raw,
  startServer,
} from '../../testing/index.ts'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'
import { datagramReceiver, httpReceiver, paramOf, streamReceiver } from './receivers.ts'
import type { HttpReceiver, LineReceiver } from './receivers.ts'

const clock = movableClock()
let server: TestServer
let admin: Client
let key = ''
let host: EnrolledHost
let web: HttpReceiver
let stream: LineReceiver & { readonly faults: string[] }
let datagrams: LineReceiver

const settings = (body: object) => raw(server, 'PATCH', '/api/v1/siem/settings', { token: key, body })
const set = async (body: object) => expect((await settings(body)).status).toBe(200)
const ask = (method: string, path: string, body?: object) =>
  raw(server, method, `/api/v1/siem/${path}`, { token: key, ...(body ? { body } : {}) })
const status = () => admin.call('GET /siem/status')
const queue = () => admin.call('GET /siem/queue')
const flush = () => admin.call('POST /siem/flush')
let next = 1
const ban = async (more: object = {}) => {
  const ip = `203.0.113.${(next++ % 250) + 1}`
  const body = { ip, jail: 'sshd', ban_duration: 600, banned_at: new Date(clock()).toISOString(), ...more }
  const { id } = await host.client.call('POST /bans', { body })
  return { id, ip }
}
const bans = async (n: number) => {
  const at = new Date(clock()).toISOString()
  const list = Array.from({ length: n }, () => ({
    ip: `198.51.100.${(next++ % 250) + 1}`,
    jail: 'sshd',
    banned_at: at,
  }))
  for (let start = 0; start < n; start += 1000)
    await host.client.call('POST /bans/batch', { body: { bans: list.slice(start, start + 1000) } })
}
/** Moves the clock to the next try once that is written down, as often as there is one. */
const toNextTry = async () => {
  const [delivery] = (await admin.call('GET /siem/deliveries')).deliveries
  const wait = Date.parse(delivery?.next_try ?? '') - clock()
  if (wait > 0) clock.forward(wait / 1000)
}
/** To the HTTP receiver, at once, and with nothing left of what was before. */
const toWeb = async (more: object = {}) => {
  await set({
    enabled: false,
    format: 'json',
    host: '127.0.0.1',
    port: web.port,
    protocol: 'http',
    tls_enabled: false,
    path: null,
    token: null,
    events: Object.keys(siemTypes),
    min_severity: 0,
    batch_size: 100,
    flush_interval: 3600,
    ...more,
  })
  await eventually(async () => expect((await status()).connected).toBe(false))
  await ask('DELETE', 'queue')
  await set({ enabled: true })
  await flush()
  web.events.length = 0
  web.requests.length = 0
}

beforeAll(async () => {
  ;[web, stream, datagrams] = await Promise.all([httpReceiver(), streamReceiver(), datagramReceiver()])
  server = await startServer({ clock, env: { STOCKADE_BASE_URL: 'https://stockade.example' } })
  const signed = await server.setUp()
  admin = signed.client
  key = (await admin.call('POST /keys', { body: { name: 'siem', permissions: 'admin' } })).key
  host = await aHost(server, admin)
})
afterAll(async () => {
  await server.close()
  await Promise.all([web.stop(), stream.stop(), datagrams.stop()])
})
beforeEach(() => {
  web.answer = null
})

describe('settings', () => {
  test('what they are until somebody sets them', async () => {
    expect(await admin.call('GET /siem/settings')).toEqual({
      enabled: false,
      format: 'syslog',
      host: null,
      port: 514,
      protocol: 'tcp',
      tls_enabled: false,
      framing: 'octet-counting',
      tls_verify: true,
      ca_cert: null,
      path: null,
      events: Object.keys(siemTypes),
      min_severity: 0,
      batch_size: 100,
      flush_interval: 5,
      token_set: false,
    })
    expect(await status()).toEqual({
      enabled: false,
      connected: false,
      queue_size: 0,
      events_sent_today: 0,
      events_failed_today: 0,
      last_event: null,
      last_error: null,
      uptime_percent: null,
    })
    expect(await queue()).toEqual({ queue_size: 0, events: [] })
    expect(await admin.call('GET /siem/deliveries')).toEqual({ deliveries: [] })
  })
  test.each([
    ['host', { enabled: true }],
    ['host', { host: 'http://siem.example' }],
    ['host', { host: 'siem.example:514' }],
    ['host', { host: 'a b' }],
    ['host', { host: '169.254.169.254' }],
    ['host', { host: '::ffff:169.254.169.254' }],
    ['host', { host: '0.0.0.0' }],
    ['host', { host: '224.0.0.1' }],
    ['host', { host: '' }],
    ['port', { port: 0 }],
    ['port', { port: 65_536 }],
    ['port', { port: '514' }],
    ['protocol', { protocol: 'dtls' }],
    ['protocol', { enabled: true, host: 'siem.example', protocol: 'http' }],
    ['protocol', { enabled: true, host: 'siem.example', format: 'json', protocol: 'udp' }],
    ['tls_enabled', { enabled: true, host: 'siem.example', protocol: 'udp', tls_enabled: true }],
    ['ca_cert', { ca_cert: 'no certificate' }],
    ['ca_cert', { ca_cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }],
    ['ca_cert', { ca_cert: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----' }],
    ['path', { path: 'no-slash' }],
    ['path', { path: '/with space' }],
    ['path', { path: '/line\r\nX-Header: 1' }],
    ['token', { token: 'a\r\nb' }],
    ['events', { events: ['nonsense'] }],
    ['min_severity', { min_severity: 11 }],
    ['batch_size', { batch_size: 0 }],
    ['batch_size', { batch_size: 1001 }],
    ['flush_interval', { flush_interval: 0 }],
    ['format', { format: 'gelf' }],
    ['nonsense', { nonsense: 1 }],
  ])('400 names %s in %j', async (field, body) => {
    const { status, json } = await settings(body)
    expect(status).toBe(400)
    expect(JSON.stringify(json)).toContain(field)
    expect((await admin.call('GET /siem/settings')).host).toBeNull()
  })
  test('the token goes in and never comes out; another host needs it anew', async () => {
    await set({ format: 'collector', host: 'siem.example', token: 'a-secret-token' })
    const shown = await ask('GET', 'settings')
    expect(shown.text).not.toContain('a-secret-token')
    expect(shown.json).toMatchObject({ token_set: true })
    expect((await settings({ host: 'other.example' })).status).toBe(400)
    await set({ host: 'other.example', token: 'another-token' })
    await set({ token: null, host: null, format: 'syslog' })
    const { entries } = await admin.call('GET /settings/audit', { query: { action: 'siem.update' } })
    const tokens = entries.filter(({ details }) => details.field === 'siem.token')
    expect(tokens.map(({ details }) => [details.old_value, details.new_value])).toEqual([
      ['***', null],
      ['***', '***'],
      [null, '***'],
    ])
    expect(JSON.stringify(entries)).not.toContain('secret')
    expect(await admin.call('PATCH /siem/settings', { body: {} })).toEqual({ message: 'Nothing was changed.' })
  })
  test('the types of events', async () => {
    const { event_types } = await admin.call('GET /siem/event-types')
    expect(Object.fromEntries(event_types.map(({ id, default_severity }) => [id, default_severity]))).toEqual(siemTypes)
  })
})

describe('all eight types', () => {
  test('arrive as canonical events, each under an id of its own', async () => {
    await toWeb()
    const { id, ip } = await ban({ log_lines: 'line one\nline "two"\u0007' })
    await ban({ ban_duration: 3 })
    await host.client.call('POST /bans/batch', { body: { unbans: [{ ip, jail: 'sshd' }] } })
    await server.signIn()
    await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'mallory|=\n', password: 'x' } })
    const entry = await admin.call('POST /whitelist', { body: { ip: '192.0.2.0/24', description: 'office' } })
    await admin.call('DELETE /whitelist/{id}', { params: { id: entry.id } })
    await admin.call('PATCH /settings', { body: { service: { site_name: `Castle ${Date.now()}` } } })
    const exported = await admin.call('GET /settings/export')
    await admin.call('POST /settings/import', { body: { settings: exported.settings } })
    await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01', agent_id: host.agentId } })
    clock.forward(100)
    await eventually(async () => {
      await flush()
      expect(new Set(web.events.map(({ type }) => type))).toEqual(new Set(Object.keys(siemTypes)))
      expect(web.events.filter(({ type }) => type === 'unban')).toHaveLength(2)
    })
    const of = (type: string) => web.events.filter(event => event.type === type)
    const [first] = of('ban')
    // A list adds counts and the reason in words to each ban; the event does not have them.
    const listed = (await admin.call('GET /bans', { query: { ip } })).bans
    const [shown] = listed.map(({ occurrences: _, reputation_score: __, reason: ___, ...own }) => own)
    // As it was when it was reported.
    expect(shown).toMatchObject({ id, active: false })
    expect(first?.data).toEqual({ ...shown, active: true, unbanned_at: null })
    expect(first).toMatchObject({
      severity: 5,
      message: `${ip} banned on web-01 (jail sshd)`,
      server: { id: host.id, hostname: 'web-01' },
      actor: null,
    })
    const [lifted, expired] = of('unban')
    expect(lifted?.data).toMatchObject({ id, active: false, ip })
    expect(expired?.data).toMatchObject({ active: false })
    expect(of('login_success')[0]).toMatchObject({ actor: { username: 'admin', ip: '127.0.0.1' }, severity: 1 })
    expect(of('login_failed')[0]?.message).toContain('mallory|=')
    expect(of('whitelist_add')[0]?.data).toMatchObject({ ip: '192.0.2.0/24', description: 'office' })
    expect(of('whitelist_remove')[0]?.actor).toMatchObject({ username: 'admin' })
    expect(of('server_offline')[0]).toMatchObject({ severity: 8, server: { hostname: 'web-01' } })
    expect(of('settings_change').map(({ data }) => data.field ?? data.sections)).toEqual(
      expect.arrayContaining(['service.site_name', ['service', 'security', 'notifications', 'integrations']]),
    )
    const ids = web.events.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    // What requests did one after the other keeps that order; two jobs that ran at once are in the order of their commits.
    const byJobs = new Set([of('server_offline')[0], expired])
    const times = web.events.filter(event => !byJobs.has(event)).map(({ timestamp }) => timestamp)
    expect(times).toEqual([...times].sort())
  })
  test('only those that are wanted, and severe enough', async () => {
    await toWeb({ events: ['ban', 'unban', 'login_failed'], min_severity: 5 })
    await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'nobody', password: 'x' } })
    const { ip } = await ban()
    await host.client.call('POST /bans/batch', { body: { unbans: [{ ip, jail: 'sshd' }] } })
    await admin.call('PATCH /settings', { body: { service: { site_name: 'Keep' } } })
    await flush()
    expect(web.events.map(({ type }) => type)).toEqual(['login_failed', 'ban'])
  })
})

describe('the queue', () => {
  test('sends a full batch at once, and the rest after its time', async () => {
    await toWeb({ events: ['ban'], batch_size: 10 })
    await bans(25)
    await eventually(() => expect(web.events).toHaveLength(20))
    expect(web.requests.map(({ events }) => events)).toEqual([10, 10])
    expect(web.requests[0]?.gzip).toBe(false)
    await eventually(async () => expect(await queue()).toMatchObject({ queue_size: 5 }))
    await set({ flush_interval: 1 })
    await eventually(() => expect(web.events).toHaveLength(25))
    await eventually(async () => expect(await queue()).toEqual({ queue_size: 0, events: [] }))
  })
  test('connections are kept', async () => {
    await toWeb({ events: ['ban'], batch_size: 1 })
    const before = web.connections()
    await bans(20)
    await eventually(() => expect(web.events).toHaveLength(20))
    expect(web.connections() - before).toBeLessThanOrEqual(1)
  })
  test('shows what waits, flushes it, discards it', async () => {
    await toWeb({ events: ['ban'] })
    await bans(3)
    const waiting = await eventually(async () => {
      const found = await queue()
      expect(found).toMatchObject({ queue_size: 3, events: [{}, {}, {}] })
      return found
    })
    expect(waiting.events[0]).toMatchObject({ type: 'ban', retry_count: 0 })
    expect((await admin.call('GET /siem/queue', { query: { limit: 1 } })).events).toEqual(waiting.events.slice(0, 1))
    expect((await ask('GET', 'queue?limit=1001')).status).toBe(400)
    expect(await flush()).toMatchObject({ events_sent: 3, events_failed: 0 })
    // Newest first there, oldest first here.
    expect(web.events.map(({ id }) => id)).toEqual(waiting.events.map(({ id }) => id).reverse())
    await bans(2)
    await eventually(async () => expect((await queue()).queue_size).toBe(2))
    expect(await admin.call('DELETE /siem/queue')).toMatchObject({ events_discarded: 2 })
    expect(await flush()).toMatchObject({ events_sent: 0, events_failed: 0 })
    const { entries } = await admin.call('GET /settings/audit', { query: { action: 'siem.discard' } })
    expect(entries[0]).toMatchObject({ user: 'admin', details: { events: 2 } })
    const { delivery_stats, by_type, by_hour } = await admin.call('GET /siem/stats', { query: { period: 'day' } })
    expect(delivery_stats.failed).toBe(0)
    expect(delivery_stats.success_rate).toBe(100)
    expect(by_hour).toHaveLength(24)
    expect(by_hour.reduce((sum, { count }) => sum + count, 0)).toBe(delivery_stats.sent)
    expect(by_type.ban).toBeGreaterThanOrEqual(3)
  })
  test('its size is that of the moment of its rows, whatever comes and goes meanwhile', async () => {
    await toWeb({ events: ['ban'] })
    let over = false
    const changing = (async () => {
      while (!over) {
        await bans(20)
        await admin.call('DELETE /siem/queue')
      }
    })()
    const looks: { size: number; rows: number }[] = []
    const sizes = () => new Set(looks.map(({ size }) => size)).size
    const look = async () => {
      // On a busy machine the first bans may come after 60 looks.
      for (let n = 0; n < 60 || sizes() < 2; n++) {
        const { queue_size, events } = await admin.call('GET /siem/queue', { query: { limit: 1000 } })
        looks.push({ size: queue_size, rows: events.length })
      }
    }
    await Promise.all([1, 2, 3, 4].map(look)).finally(() => (over = true))
    await changing
    expect(looks.filter(({ size, rows }) => size !== rows)).toEqual([])
    await admin.call('DELETE /siem/queue')
  })
  test('keeps nothing while it is off', async () => {
    await toWeb({ events: ['ban'] })
    await set({ enabled: false })
    expect(await ask('POST', 'flush')).toMatchObject({ status: 200, json: { events_sent: 0, events_failed: 0 } })
    await set({ enabled: true })
    await ban()
    await set({ enabled: false })
    await ban()
    await ban()
    expect((await ask('POST', 'flush')).status).toBe(409)
    await set({ enabled: true })
    await ban()
    // What was queued before it was turned off is still there.
    expect(await flush()).toMatchObject({ events_sent: 2 })
  })
  test('an answer about the target keeps everything, in order, and Retry-After is obeyed', async () => {
    await toWeb({ events: ['ban'], batch_size: 2 })
    const before = clock()
    web.answer = () => ({ status: 429, text: 'busy', headers: { 'retry-after': '120' } })
    await bans(6)
    await eventually(async () => expect((await status()).last_error).toBe('HTTP 429: busy'))
    expect(await status()).toMatchObject({ connected: false, queue_size: 6 })
    const [delivery] = (await admin.call('GET /siem/deliveries')).deliveries
    expect(delivery).toMatchObject({ ok: false, status: 429, events: 2 })
    expect(Date.parse(delivery?.next_try ?? '')).toBeGreaterThanOrEqual(before + 120_000 - 1000)
    for (const code of [401, 403, 404, 407, 408, 500, 503, 302]) {
      web.answer = () => ({ status: code })
      expect(await flush()).toMatchObject({ events_sent: 0, events_failed: 6 })
    }
    web.answer = () => 'cut'
    expect(await flush()).toMatchObject({ events_sent: 0, events_failed: 6 })
    expect((await queue()).events.at(-1)?.retry_count).toBeGreaterThan(8)
    web.answer = null
    expect(await flush()).toMatchObject({ events_sent: 6, events_failed: 0 })
    expect(new Set(web.events.map(({ id }) => id)).size).toBe(6)
    expect(await status()).toMatchObject({ connected: true, last_error: null })
    expect((await admin.call('GET /siem/stats')).delivery_stats.retried).toBeGreaterThanOrEqual(2)
  })
  test('an event that is refused holds up nobody, and is given up after ten tries', async () => {
    await toWeb({ events: ['ban'], batch_size: 16 })
    const poison = await ban({ jail: 'poison' })
    let tries = 0
    web.answer = events => {
      if (!events.some(({ data }) => data.jail === 'poison')) return undefined
      if (events.length === 1) tries++
      return { status: [400, 413, 422][tries % 3] ?? 400, text: `no thanks: ${poison.ip}` }
    }
    const failed = (await status()).events_failed_today
    await bans(15)
    await eventually(() => expect(web.events).toHaveLength(15))
    await eventually(async () => expect((await queue()).events).toMatchObject([{ type: 'ban' }]))
    await eventually(async () => {
      await toNextTry()
      expect((await queue()).queue_size).toBe(0)
    })
    expect(tries).toBe(10)
    expect((await status()).events_failed_today).toBe(failed + 1)
    // Written after the event has left the queue.
    await eventually(async () => expect((await status()).last_error ?? '').toContain('is refused: HTTP'))
    await bans(16)
    await eventually(() => expect(web.events).toHaveLength(31))
  })
  test.each([
    ['collector', 'Incorrect index", "code": 7'],
    ['json', 'no such pipeline'],
  ])(
    'a %s that refuses everything is not connected, and loses nothing of a quiet installation',
    async (format, words) => {
      await toWeb({ format, events: ['ban'], flush_interval: 1, token: format === 'collector' ? 'a-token' : null })
      const { events_failed_today: failed } = await status()
      let asked = 0
      web.answer = () => {
        asked++
        return { status: 400, text: `{"text": "${words}}` }
      }
      const first = await ban()
      clock.forward(2)
      // Far more than the ten tries after which an event that alone is refused would be given up.
      await eventually(async () => {
        await toNextTry()
        expect(asked).toBeGreaterThan(14)
      })
      expect(await status()).toMatchObject({ connected: false, queue_size: 1, events_failed_today: failed })
      expect((await status()).last_error).toContain(words)
      const second = await ban()
      clock.forward(2)
      web.answer = null
      await eventually(async () => {
        await toNextTry()
        expect(web.events.map(({ data }) => data.ip).toSorted()).toEqual([first.ip, second.ip].toSorted())
      })
      const well = { connected: true, queue_size: 0, last_error: null, events_failed_today: failed }
      await eventually(async () => expect(await status()).toMatchObject(well))
      await set({ token: null })
    },
  )
  test('bodies are compressed for who says that it takes them so, until it does not', async () => {
    await toWeb({ events: ['ban'], batch_size: 10 })
    web.answer = () => ({ status: 200, headers: { 'accept-encoding': 'deflate, gzip;q=1.0' } })
    await bans(20)
    await eventually(() => expect(web.events).toHaveLength(20))
    expect(web.requests.map(({ gzip }) => gzip)).toEqual([false, true])
    web.answer = () =>
      web.requests.at(-1)?.gzip ? { status: 415 } : { status: 200, headers: { 'accept-encoding': 'gzip;q=0' } }
    await bans(20)
    await eventually(() => expect(web.events).toHaveLength(40))
    expect(web.requests.map(({ gzip }) => gzip)).toEqual([false, true, true, false, false])
  })
})

test('the event collector gets its token, and its path', async () => {
  await toWeb({ format: 'collector', token: 'hec-token', events: ['ban'] })
  await bans(3)
  await flush()
  expect(web.events).toHaveLength(3)
  expect(web.requests[0]).toMatchObject({
    url: '/services/collector/event',
    headers: { authorization: 'Splunk hec-token' },
  })
  web.answer = () => ({ status: 403, text: '{"text":"Invalid token hec-token","code":4}' })
  await bans(1)
  await flush()
  expect((await status()).last_error).toBe('HTTP 403: {"text":"Invalid token ***","code":4}')
  const tested = await ask('POST', 'test')
  expect(tested.status).toBe(400)
  expect(tested.json).toMatchObject({
    error: 'Connection failed',
    message: 'The answer failed: HTTP 403: {"text":"Invalid token ***","code":4}.',
  })
  await set({ token: null })
})

describe('streams and datagrams', () => {
  const toStream = async (more: object = {}) => {
    await toWeb({ format: 'syslog', protocol: 'tcp', port: stream.port, events: ['ban'], ...more })
    stream.messages.length = 0
    datagrams.messages.length = 0
  }
  const ids = (messages: readonly string[]) => messages.map(message => paramOf(message, 'id'))
  test('octet counting over TCP, all formats', async () => {
    await toStream()
    const { ip } = await ban({ jail: 'ssh-1' })
    await flush()
    const [message] = await eventually(() => {
      expect(stream.messages).toHaveLength(1)
      return stream.messages
    })
    expect(message).toMatch(/^<84>1 \S+Z stockade\.example stockade - ban \[stockade@32473 id=/)
    expect(paramOf(message ?? '', 'ip')).toBe(ip)
    expect(paramOf(message ?? '', 'jail')).toBe('ssh-1')
    for (const [format, beginning] of [
      ['cef', 'CEF:0|Stockade|Stockade|'],
      ['leef', 'LEEF:2.0|Stockade|Stockade|'],
    ]) {
      await set({ format })
      await ban()
      await flush()
      await eventually(() => expect(stream.messages.at(-1)).toContain(` stockade - ban - ${beginning}`))
    }
    expect(stream.faults).toEqual([])
  })
  test('a line feed after each message, for receivers that read lines', async () => {
    const lines: string[] = []
    const receiver = createTcp(socket => {
      socket.on('error', () => {})
      createInterface({ input: socket }).on('line', line => lines.push(line))
    })
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
    try {
      await toStream({ framing: 'newline', port: (receiver.address() as AddressInfo).port })
      for (const format of ['syslog', 'cef', 'leef']) {
        await set({ format })
        await ban({ jail: 'ssh-1', log_lines: 'one\ntwo\r\nthree' })
        await flush()
        await eventually(() => expect(lines.at(-1)).toMatch(/^<84>1 \S+Z stockade\.example stockade - ban /))
      }
      expect(lines).toHaveLength(3)
    } finally {
      await set({ framing: 'octet-counting', enabled: false })
      receiver.close()
    }
  })
  test('what was written before a break is sent again, under the same ids; nothing is lost', async () => {
    await toStream({ batch_size: 5 })
    await bans(10)
    await eventually(() => expect(stream.messages).toHaveLength(10))
    const first = ids(stream.messages)
    await stream.stop()
    await eventually(async () => expect((await status()).connected).toBe(false))
    stream.messages.length = 0
    await bans(5)
    await stream.start()
    clock.forward(5)
    await eventually(() => expect(stream.messages).toHaveLength(15))
    expect(ids(stream.messages).slice(0, 10)).toEqual(first)
    expect(new Set(ids(stream.messages)).size).toBe(15)
    // What lies back further is surely there.
    clock.forward(70)
    await eventually(async () => {
      await stream.stop()
      await stream.start()
      stream.messages.length = 0
      clock.forward(70)
      await bans(5)
      await eventually(() => expect(stream.messages.length).toBeGreaterThan(4))
      expect(ids(stream.messages)).not.toContain(first[0])
    })
  })
  test('UDP', async () => {
    await toStream({ protocol: 'udp', port: datagrams.port })
    await bans(40)
    expect(await flush()).toMatchObject({ events_sent: 40 })
    await eventually(() => expect(new Set(ids(datagrams.messages)).size).toBe(40))
    // Nobody listens: the next one is told so, keeps everything and tries again.
    await datagrams.stop()
    await bans(1)
    await flush()
    await bans(2)
    await eventually(async () => {
      await flush()
      expect((await status()).last_error).toContain('connection refused')
    })
    await datagrams.start()
    clock.forward(90)
    await eventually(async () => {
      await flush()
      expect((await queue()).queue_size).toBe(0)
    })
  })
})

describe('replay', () => {
  // Hours go by: longer than an access token lives.
  beforeAll(() => {
    admin = server.client(key)
  })
  test('sends the past again, under the same ids, beside what is new', async () => {
    await toWeb({ events: ['ban', 'whitelist_add'], batch_size: 20, flush_interval: 1 })
    clock.forward(7200)
    const from = new Date(clock()).toISOString()
    await bans(50)
    await admin.call('POST /whitelist', { body: { ip: '192.0.2.77' } })
    await eventually(() => expect(web.events).toHaveLength(51))
    const first = web.events.map(event => event)
    clock.forward(7200)
    const to = new Date(clock()).toISOString()
    clock.forward(1)
    await bans(3)
    await eventually(() => expect(web.events).toHaveLength(54))
    const later = web.events.slice(51)
    web.events.length = 0
    const event_types: SiemType[] = ['ban', 'whitelist_add']
    const { job_id, events_to_replay } = await admin.call('POST /siem/replay', { body: { from, to, event_types } })
    expect(events_to_replay).toBe(51)
    const job = () => admin.call('GET /siem/replay/{jobId}', { params: { jobId: job_id } })
    await eventually(async () => expect((await job()).status).toBe('completed'))
    expect(await job()).toMatchObject({ total_events: 51, events_sent: 51, events_failed: 0, progress_percent: 100 })
    expect(web.events).toEqual(first)
    expect(web.events.some(({ id }) => later.some(event => event.id === id))).toBe(false)
    web.events.length = 0
    const only = await admin.call('POST /siem/replay', { body: { from, to, event_types: ['whitelist_add'] } })
    expect(only.events_to_replay).toBe(1)
    await eventually(() => expect(web.events).toEqual(first.filter(({ type }) => type === 'whitelist_add')))
    // While the target takes nothing it waits, and what is new goes first.
    web.answer = () => ({ status: 503 })
    web.events.length = 0
    const waiting = await admin.call('POST /siem/replay', { body: { from, to, event_types } })
    await ban()
    await eventually(async () => expect((await status()).last_error).toContain('HTTP 503'))
    web.answer = null
    clock.forward(120)
    await eventually(async () => {
      const { status } = await admin.call('GET /siem/replay/{jobId}', { params: { jobId: waiting.job_id } })
      expect(status).toBe('completed')
    })
    await eventually(() => expect(new Set(web.events.map(({ id }) => id)).size).toBe(52))
  })
  test.each([
    [{ from: '2026-11-20T00:00:00Z' }, 400],
    [{ from: '2026-11-20T00:00:00Z', to: '2026-11-19T00:00:00Z' }, 400],
    [{ from: 'yesterday', to: 'today' }, 400],
    [{ from: '2026-11-19T00:00:00Z', to: '2026-11-20T00:00:00Z', event_types: ['test'] }, 400],
    [{ from: '2026-11-19T00:00:00Z', to: '2026-11-20T00:00:00Z', event_types: [] }, 400],
  ])('%j is %i', async (body, code) => expect((await ask('POST', 'replay', body)).status).toBe(code))
  test('nothing to send is done at once; an unknown job is 404', async () => {
    const body = { from: '2001-01-01T00:00:00Z', to: '2001-01-02T00:00:00Z' }
    const { job_id, events_to_replay } = await admin.call('POST /siem/replay', { body })
    expect(events_to_replay).toBe(0)
    const job = await admin.call('GET /siem/replay/{jobId}', { params: { jobId: job_id } })
    expect(job).toMatchObject({ status: 'completed', progress_percent: 100 })
    expect((await ask('GET', `replay/${host.id}`)).status).toBe(404)
    expect((await ask('GET', 'replay/nonsense')).status).toBe(400)
  })
})

test('a server without a licence answers 402; when it ends, forwarding pauses and the queue stays', async () => {
  const clock = movableClock()
  const ends = clock() + 3_600_000
  const other = await startServer({ clock, licence: aLicence({ issuedAt: 1, expiresAt: ends }) })
  try {
    const { client } = await other.setUp()
    const apiKey = (await client.call('POST /keys', { body: { name: 'siem', permissions: 'admin' } })).key
    const call = (method: string, path: string, body?: object) =>
      raw(other, method, `/api/v1/siem/${path}`, { token: apiKey, ...(body ? { body } : {}) })
    const wanted = { enabled: true, format: 'json', host: '127.0.0.1', port: web.port, protocol: 'http', batch_size: 1 }
    expect((await call('PATCH', 'settings', wanted)).status).toBe(200)
    web.events.length = 0
    await client.call('POST /whitelist', { body: { ip: '192.0.2.1' } })
    await eventually(() => expect(web.events.some(({ type }) => type === 'whitelist_add')).toBe(true))
    clock.forward(3700)
    for (const path of ['settings', 'status', 'queue', 'stats', 'event-types', 'deliveries'])
      expect((await call('GET', path)).status).toBe(402)
    web.events.length = 0
    await other.client(apiKey).call('POST /whitelist', { body: { ip: '192.0.2.2' } })
    await new Promise(resolve => setTimeout(resolve, 600))
    expect(web.events).toEqual([])
    await raw(other, 'POST', '/api/v1/settings/license', {
      token: apiKey,
      body: { license_key: aLicence({ issuedAt: clock(), expiresAt: null }) },
    })
    await eventually(() => expect(web.events.map(({ data }) => data.ip)).toContain('192.0.2.2'))
  } finally {
    await other.close()
  }
})

test('more than 100,000 do not wait: the oldest go, and are counted', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-siem-'))
  const database = await freshDatabase()
  const other = await startServer({ dataDir, ...(database ? { databaseUrl: database.url } : {}) })
  const env = {
    STOCKADE_DATA_DIR: dataDir,
    ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
  }
  const db = await openStorage(readConfig(env))
  try {
    const { client } = await other.setUp()
    web.answer = () => ({ status: 503 })
    const target = { enabled: true, format: 'json', host: '127.0.0.1', port: web.port, protocol: 'http' } as const
    await client.call('PATCH /siem/settings', { body: { ...target, events: ['whitelist_add'], flush_interval: 3600 } })
    const columns = sql`event_id, type, at, queued_at`
    await (
      engine === 'sqlite'
        ? sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 99995)
          insert into siem_queue (${columns}) select (select max(id) from events), 'ban', 1, ${Date.now()} from n`
        : sql`insert into siem_queue (${columns}) select (select max(id) from events), 'ban', 1, ${Date.now()}::bigint from generate_series(1, 99995) as i`
    ).execute(db.write)
    const ips = Array.from({ length: 20 }, (_, index) => ({ ip: `198.51.100.${index + 1}` }))
    await client.call('POST /whitelist/bulk', { body: { entries: ips } })
    await eventually(async () => {
      const { queue_size, events_failed_today } = await client.call('GET /siem/status')
      expect([queue_size, events_failed_today]).toEqual([100_000, 15])
    })
    const { events } = await client.call('GET /siem/queue', { query: { limit: 30 } })
    expect(events.filter(({ type }) => type === 'whitelist_add')).toHaveLength(20)
    const { by_type } = await client.call('GET /siem/stats')
    expect(by_type.ban).toBe(15)
  } finally {
    await db.close()
    await other.close()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test.runIf(engine === 'postgres')(
  'of two processes one sends, whoever is asked; the other one takes over',
  async () => {
    const database = await freshDatabase()
    if (!database) return
    const options = { databaseUrl: database.url }
    const one = await startServer(options)
    const { client, token } = await one.setUp()
    const two = await startServer(options)
    const elsewhere = two.client(token)
    try {
      web.events.length = 0
      const target = { enabled: true, format: 'json', host: '127.0.0.1', port: web.port, protocol: 'http' } as const
      await elsewhere.call('PATCH /siem/settings', {
        body: { ...target, events: ['whitelist_add'], flush_interval: 3600 },
      })
      await elsewhere.call('POST /whitelist', { body: { ip: '192.0.2.1' } })
      await client.call('POST /whitelist', { body: { ip: '192.0.2.2' } })
      // The one that is asked is not the one that sends.
      await eventually(async () => {
        await elsewhere.call('POST /siem/flush')
        expect(web.events.map(({ data }) => data.ip)).toEqual(['192.0.2.1', '192.0.2.2'])
      })
      await one.close()
      await elsewhere.call('POST /whitelist', { body: { ip: '192.0.2.3' } })
      await eventually(async () => {
        await elsewhere.call('POST /siem/flush')
        expect(web.events.map(({ data }) => data.ip)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      })
    } finally {
      await two.close()
      await database.drop()
    }
  },
)
