import { createServer } from 'node:http'
import { createServer as createTcp } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../src/testing/index.ts'
import {
  anyObject,
  anyUuid,
  counts,
  deviations,
  extended,
  integer,
  number,
  oneOf,
  orNull,
  text,
  time,
  uuid,
  yesNo,
} from './kinds.ts'
import { ban, serverRef, siemSettings } from './resources.ts'
import {
  listening,
  refuses,
  refusesEach,
  same,
  says,
  saysDone,
  takesEach,
  unknownId,
  until,
  notDecimal,
} from './talk.ts'
import type { Host, Place, WithHost } from './talk.ts'

/* docs/spec/siem.md: events go to a SIEM. */

/** A syslog receiver, and one that takes HTTP. */
let syslog = ''
const stream = createTcp(socket => {
  socket.on('error', () => {})
  socket.on('data', received => (syslog += String(received)))
})
const posts: { path: string; authorization: string | undefined; body: string }[] = []
const http = createServer((request, reply) => {
  let body = ''
  request.on('data', received => (body += String(received)))
  request.on('end', () => {
    posts.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
    reply.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})

let place: Place
let web: Host
let streamPort = 0
let httpPort = 0

/** spec siem: event types with their severities. */
const severities = {
  ban: 5,
  unban: 2,
  server_offline: 8,
  login_success: 1,
  login_failed: 6,
  whitelist_add: 3,
  whitelist_remove: 3,
  settings_change: 4,
}
const change = (body: object) => place.admin('PATCH /siem/settings', { body })
const reportBan = (ip: string) => web.agent('POST /bans', { body: { ip, jail: 'sshd' } })
const queueSize = async () => ((await place.admin('GET /siem/queue')).json as { queue_size: number }).queue_size
const steps = { 'spec endpoints': { steps: [{ name: text, ok: yesNo, ms: number, detail: text }] } } as const
const tested = extended({ message: text, event_id: anyUuid }, steps)
/** spec siem: the canonical event. */
const event = {
  id: anyUuid,
  type: text,
  severity: integer,
  timestamp: time,
  message: text,
  server: orNull(serverRef),
  actor: orNull({ username: orNull(text), ip: orNull(text) }),
  data: anyObject,
} as const

/** The claims of spec siem on a place with one host. */
export const siemClaims = (given: () => WithHost) =>
  describe('spec siem: SIEM', { retry: 0 }, () => {
    beforeAll(async () => {
      ;({ place, web } = given())
      streamPort = await listening(stream)
      httpPort = await listening(http)
    })
    afterAll(() => {
      stream.close()
      http.close()
    })

    test('settings', async () => {
      const { admin } = place
      const read = await says(
        admin('GET /siem/settings'),
        200,
        siemSettings.but({
          enabled: false,
          format: 'syslog',
          host: null,
          port: 514,
          protocol: 'tcp',
          tls_enabled: false,
          min_severity: 0,
          batch_size: 100,
          flush_interval: 5,
        }),
        'spec limits: SIEM defaults',
      )
      same('spec limits: all eight events', read.events, Object.keys(severities))
      await saysDone(admin('PATCH /siem/settings', { body: {} }), 'spec conventions: an empty PATCH')
      await refusesEach(
        'spec endpoints: SIEM settings; spec settings, 11 and 14: targets, Bounds',
        [
          ['host', { enabled: true }],
          ['format', { format: 'x' }],
          ['port', { port: 0 }],
          ['port', { port: 65_536 }],
          ['protocol', { protocol: 'x' }],
          ['events', { events: ['x'] }],
          ['min_severity', { min_severity: -1 }],
          ['min_severity', { min_severity: 11 }],
          ['batch_size', { batch_size: 0 }],
          ['batch_size', { batch_size: 1001 }],
          ['flush_interval', { flush_interval: 0 }],
          ['flush_interval', { flush_interval: 3601 }],
          ['host', { host: '169.254.169.254' }],
        ],
        change,
      )
      await takesEach(
        'spec limits: Bounds',
        [
          { min_severity: 10, batch_size: 1, flush_interval: 1 },
          { min_severity: 0, batch_size: 1000, flush_interval: 3600 },
          { format: 'cef' },
          { format: 'leef' },
          { format: 'syslog', protocol: 'udp' },
          { protocol: 'tcp' },
        ],
        change,
      )
      const eventType = { id: text, name: text, description: text, default_severity: integer }
      const { event_types } = await says(admin('GET /siem/event-types'), 200, {
        event_types: [eventType],
        additional_event_types: [eventType],
      })
      same(
        'spec siem: default_severity',
        Object.fromEntries(event_types.map(one => [one.id, one.default_severity])),
        severities,
      )
    })

    test('a test event', async () => {
      const { admin } = place
      const unreachable = async (why: string) => {
        const reply = await admin('POST /siem/test')
        const { error, message } = (reply.json ?? {}) as { error?: unknown; message?: unknown }
        same(
          `spec errors: SIEM test cannot reach its target, ${why}`,
          [reply.status, error, typeof message],
          [400, 'Connection failed', 'string'],
        )
      }
      await unreachable('spec siem: no host counts as unreachable')
      await change({ host: '127.0.0.1', port: await freePort() })
      await unreachable('nobody listens')
      await change({ port: streamPort })
      const { event_id } = await says(admin('POST /siem/test'), 200, tested, 'spec siem: works while disabled')
      await until(
        async () => syslog,
        got => got.includes(event_id),
      )
      expect
        .soft(syslog, 'spec siem: RFC 5424, octet-counted, facility 10')
        .toMatch(/^\d+ <8[0-7]>1 \d{4}-\d\d-\d\dT\S+ \S+ stockade \S+ test \[stockade@32473 /)
      expect.soft(syslog, 'spec siem: structured data id').toContain(`id="${event_id}"`)
    })

    test('the queue', async () => {
      const { admin } = place
      await change({ enabled: true, port: await freePort(), flush_interval: 3600, batch_size: 1000 })
      await place.operator('POST /whitelist', { body: { ip: '192.0.2.99' } })
      await reportBan('203.0.113.90')
      await until(queueSize, size => size >= 2)
      const queue = {
        queue_size: integer,
        events: [{ id: anyUuid, type: oneOf(...Object.keys(severities)), created_at: time, retry_count: integer }],
      } as const
      await says(admin('GET /siem/queue'), 200, queue)
      same(
        'spec siem: limit',
        ((await admin('GET /siem/queue', { query: 'limit=1' })).json as { events: object[] }).events.length,
        1,
      )
      await takesEach('spec conventions: maximum 1000', ['limit=1000'], query => admin('GET /siem/queue', { query }))
      await refusesEach(
        'spec conventions: maximum 1000',
        [['limit', 'limit=1001'], ...notDecimal.filter(([name]) => name === 'limit'), ['limit', 'limit=0']],
        query => admin('GET /siem/queue', { query }),
      )
      await says(admin('POST /siem/flush'), 200, { message: text, events_sent: 0, events_failed: integer })
      const after = await says(admin('GET /siem/queue'), 200, queue)
      same(
        'spec siem: a queued event carries retry_count',
        [after.queue_size >= 2, after.events.some(({ retry_count }) => retry_count >= 1)],
        [true, true],
      )
      const status = {
        enabled: true,
        connected: yesNo,
        queue_size: integer,
        events_sent_today: integer,
        events_failed_today: integer,
        last_event: orNull(time),
        last_error: orNull(text),
        uptime_percent: orNull(number),
      } as const
      await says(admin('GET /siem/status'), 200, { ...status, connected: false, last_error: text })
      const { events_discarded } = await says(admin('DELETE /siem/queue'), 200, {
        message: text,
        events_discarded: integer,
      })
      same('spec siem: queued events are discarded', [events_discarded >= 2, await queueSize()], [true, 0])
      await change({ port: streamPort })
      await reportBan('203.0.113.91')
      await until(queueSize, size => size >= 1)
      const sent = await says(admin('POST /siem/flush'), 200, { message: text, events_sent: integer, events_failed: 0 })
      same(
        'spec siem: flushed (send now)',
        [
          sent.events_sent >= 1,
          (
            await until(
              async () => syslog,
              got => got.includes('203.0.113.91'),
            )
          ).includes('203.0.113.91'),
        ],
        [true, true],
      )
      await says(admin('GET /siem/status'), 200, { ...status, connected: true, last_event: time })
    })

    test('statistics', async () => {
      const stats = {
        period: 'day',
        total_events: integer,
        by_type: counts,
        by_hour: [{ hour: integer, count: integer }],
        delivery_stats: { sent: integer, failed: integer, retried: integer, success_rate: orNull(number) },
      } as const
      const got = await says(place.admin('GET /siem/stats'), 200, stats, 'spec commands: period defaults to day')
      same(
        'spec siem: hour is 0 to 23',
        got.by_hour.map(({ hour }) => hour),
        [...Array(24).keys()],
      )
      for (const period of ['day', 'week', 'month'])
        await says(place.admin('GET /siem/stats', { query: `period=${period}` }), 200, { ...stats, period })
      await refuses(place.admin('GET /siem/stats', { query: 'period=x' }), 400, 'spec siem: period', 'period')
    })

    test('events by HTTP', async () => {
      const { admin } = place
      await change({
        format: 'json',
        port: httpPort,
        path: '/ingest',
        events: ['ban', 'whitelist_add'],
        min_severity: 4,
      })
      const { event_id } = await says(admin('POST /siem/test'), 200, tested)
      const received = () =>
        posts
          .filter(({ path }) => path === '/ingest')
          .flatMap(({ body }) => JSON.parse(body) as { id: string; type: string; data: unknown }[])
      same(
        'spec siem: type test, severity 1, passes every filter',
        deviations(
          received().find(({ id }) => id === event_id),
          { ...event, type: 'test', severity: 1, server: null },
        ),
        [],
      )
      await place.operator('POST /whitelist', { body: { ip: '192.0.2.98' } })
      await reportBan('203.0.113.92')
      await until(queueSize, size => size >= 1)
      await admin('POST /siem/flush')
      const told = received().filter(({ type }) => type !== 'test')
      same(
        'spec siem: only types listed, severity at or above min_severity',
        told.map(({ type }) => type),
        ['ban'],
      )
      same(
        'spec siem: the canonical event; data of a ban is the Ban resource',
        deviations(told[0], {
          ...event,
          type: 'ban',
          severity: 5,
          server: serverRef,
          data: ban,
        }),
        [],
      )
      await change({ format: 'collector', path: null, token: 'a-token' })
      await says(admin('POST /siem/test'), 200, tested)
      const collected = posts.find(({ path }) => path.startsWith('/services/collector/event'))
      same(
        "spec siem: the HTTP Event Collector's event endpoint with a token",
        collected?.authorization,
        'Splunk a-token',
      )
      const read = await says(admin('GET /siem/settings'), 200, siemSettings)
      same(
        'spec siem: token input only, token_set',
        [JSON.stringify(read).includes('a-token'), read.token_set],
        [false, true],
      )
    })

    test('replays', async () => {
      const { admin } = place
      const [from, to] = [new Date(Date.now() - 3_600_000).toISOString(), new Date(Date.now() + 1000).toISOString()]
      const started = await says(admin('POST /siem/replay', { body: { from, to, event_types: ['ban'] } }), 200, {
        message: text,
        events_to_replay: 3,
        job_id: uuid,
      })
      const job = {
        job_id: started.job_id,
        status: oneOf('running', 'completed', 'failed'),
        total_events: 3,
        events_sent: integer,
        events_failed: integer,
        progress_percent: number,
        started_at: time,
      } as const
      const read = async () => says(admin('GET /siem/replay/{jobId}', { jobId: started.job_id }), 200, job)
      await admin('POST /siem/flush')
      const ended = await until(read, ({ status }) => status !== 'running')
      same('spec siem: completed', [ended.status, ended.events_sent, ended.progress_percent], ['completed', 3, 100])
      await refuses(admin('GET /siem/replay/{jobId}', { jobId: unknownId }), 404, 'spec errors: unknown id in the path')
      const ask = (body: object) => admin('POST /siem/replay', { body })
      await refusesEach(
        'spec limits: replay from, to; spec conventions: from later than to',
        [
          ['from', { to }],
          ['to', { from }],
          ['from', { from: to, to: from }],
          ['from', { from: '2026-01-01', to }],
          ['event_types', { from, to, event_types: ['x'] }],
        ],
        ask,
      )
      await change({ enabled: false })
      await refuses(ask({ from: to, to: from }), 400, 'spec errors: 400 comes before 409', 'from')
      await refuses(ask({ from, to }), 409, 'spec errors: 409 (state)')
      await change({ enabled: true })
      const long = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
      await says(ask(long), 200, { message: text, events_to_replay: 0, job_id: uuid }, 'spec limits: event_types: all')
    })
  })
