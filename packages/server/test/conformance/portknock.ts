import { randomUUID } from 'node:crypto'
import { beforeAll, describe, test } from 'vitest'
import { extended, id, integer, number, orNull, text, time, yesNo } from './kinds.ts'
import { blockedIp, knock, opening, onePage, sequence } from './resources.ts'
import { refuses, refusesEach, same, says, saysDone, takesEach, unknownId, notDecimal } from './talk.ts'
import type { Host, Place, WithHost } from './talk.ts'

/* docs/spec/portknock.md: port knocking. */

let place: Place
let web: Host
let db: Host
let first: Record<string, unknown>

/** spec limits: what a sequence has when nothing else was asked for. */
const usual = { protocol: 'tcp', timeout: 30, knock_timeout: 10, max_attempts: 5, block_duration: 3600 } as const

/** The claims of spec portknock on a place with one host. */
export const portknockClaims = (given: () => WithHost) =>
  describe('spec portknock: Port knocking', { retry: 0 }, () => {
    beforeAll(async () => {
      ;({ place, web } = given())
      db = await place.host('db.example')
      await web.agent('POST /servers/heartbeat', {
        body: { hostname: 'web.example', capabilities: { nftables: true } },
      })
      first = { name: 'ssh', protected_port: 22, knock_ports: [9000, 7000, 8000], server_ids: [web.id] }
    })

    test('sequences', async () => {
      const { admin, operator, viewer } = place
      const warned = { 'no page': { warnings: [text] } } as const
      const made = await says(
        admin('POST /portknock/sequences', { body: first }),
        201,
        extended({ id, name: 'ssh', protected_port: 22, knock_ports: [integer], created_at: time }, warned),
      )
      same('spec portknock: knock_ports', made.knock_ports, [9000, 7000, 8000])
      const one = { sequenceId: made.id }
      const read = await says(
        operator('GET /portknock/sequences/{sequenceId}', one),
        200,
        sequence.but({ ...usual, knock_ports: [integer] }),
        'spec limits: required',
      )
      same(
        'spec endpoints: servers',
        read.servers.map(({ id, hostname }) => [id, hostname]),
        [[web.id, 'web.example']],
      )
      const secret = sequence.but({ knock_ports: null })
      await says(
        viewer('GET /portknock/sequences/{sequenceId}', one),
        200,
        secret,
        'spec access: knock_ports is a secret and needs write',
      )
      await says(operator('GET /portknock/sequences'), 200, { sequences: [sequence], total: 1 })
      await says(viewer('GET /portknock/sequences'), 200, { sequences: [secret], total: 1 })
      const changed = extended({ id, name: 'ssh', knock_ports: [integer], timeout: 60, updated_at: time }, warned)
      const change = (body: object) => admin('PATCH /portknock/sequences/{sequenceId}', { ...one, body })
      await says(admin('PATCH /portknock/sequences/{sequenceId}', { ...one, body: { timeout: 60 } }), 200, changed)
      await says(change({}), 200, changed, 'spec conventions: an empty PATCH')
      await refuses(change({ protected_port: 7000 }), 400, 'spec portknock: the protected port not among them')
      for (const endpoint of ['GET', 'PATCH', 'DELETE'])
        await refuses(
          admin(`${endpoint} /portknock/sequences/{sequenceId}`, { sequenceId: 999 }),
          404,
          'spec errors: unknown id in the path',
        )
    })

    test('bounds', async () => {
      const ports = (count: number) => Array.from({ length: count }, (_, n) => 9900 + count * 100 + ((n * 37) % 100))
      const ask = (changes: object) =>
        place.admin('POST /portknock/sequences', { body: { ...first, name: 'other', ...changes } })
      await refuses(ask({ name: 'ssh' }), 409, 'spec errors: sequence name taken')
      await refusesEach(
        'spec portknock: knock_ports, protocol; spec limits: Bounds, required',
        [
          ['name', { name: undefined }],
          ['protected_port', { protected_port: undefined }],
          ['knock_ports', { knock_ports: undefined }],
          ['server_ids', { server_ids: undefined }],
          ['name', { name: '' }],
          ['name', { name: 'x'.repeat(101) }],
          ['protected_port', { protected_port: 0 }],
          ['protected_port', { protected_port: 65_536 }],
          ['knock_ports', { knock_ports: [7000] }],
          ['knock_ports', { knock_ports: ports(11) }],
          ['knock_ports', { knock_ports: [7000, 7000] }],
          ['knock_ports', { knock_ports: [22, 7000] }],
          ['knock_ports', { knock_ports: [0, 7000] }],
          ['protocol', { protocol: 'icmp' }],
          ['timeout', { timeout: 0 }],
          ['timeout', { timeout: 86_401 }],
          ['knock_timeout', { knock_timeout: 0 }],
          ['knock_timeout', { knock_timeout: 301 }],
          ['max_attempts', { max_attempts: 0 }],
          ['max_attempts', { max_attempts: 101 }],
          ['block_duration', { block_duration: 0 }],
          ['block_duration', { block_duration: 31_557_601 }],
          ['server_ids', { server_ids: [unknownId] }],
        ],
        ask,
      )
      await takesEach(
        'spec portknock and 14: Bounds',
        [
          {
            name: 'x'.repeat(100),
            protected_port: 1,
            knock_ports: ports(2),
            protocol: 'udp',
            timeout: 1,
            knock_timeout: 1,
            max_attempts: 1,
            block_duration: 1,
          },
          {
            name: 'high',
            protected_port: 65_535,
            knock_ports: ports(10),
            timeout: 86_400,
            knock_timeout: 300,
            max_attempts: 100,
            block_duration: 31_557_600,
          },
        ],
        ask,
      )
    })

    test('openings, history, blocked addresses', async () => {
      const { operator, viewer } = place
      const body = { server_id: web.id, sequence_name: 'ssh' }
      await says(
        operator('POST /portknock/knock', { body }),
        200,
        extended(
          { message: text, ip: '127.0.0.1', protected_port: 22, expires_at: time },
          { 'spec portknock': { confirmed: false } },
        ),
      )
      await refuses(
        operator('POST /portknock/knock', { body: { ...body, server_id: db.id } }),
        404,
        'spec portknock: a sequence that is not on that server',
      )
      await refuses(
        operator('POST /portknock/knock', { body: { ...body, sequence_name: 'nope' } }),
        404,
        'spec portknock: a sequence that is not on that server',
      )
      await refusesEach(
        'spec portknock: { server_id, sequence_name }; spec errors: unknown id in a body',
        [
          ['server_id', { ...body, server_id: unknownId }],
          ['server_id', { sequence_name: 'ssh' }],
          ['sequence_name', { server_id: web.id }],
        ],
        body => operator('POST /portknock/knock', { body }),
      )

      const event = (changes: object) => ({
        event_id: randomUUID(),
        sequence_id: 1,
        ip: '203.0.113.71',
        status: 'success',
        timestamp: new Date().toISOString(),
        ...changes,
      })
      const events = [
        event({ ip: '203.0.113.70' }),
        event({ status: 'failed', reason: 'wrong port' }),
        event({ status: 'blocked', reason: 'too many' }),
        event({ sequence_id: 999 }),
      ]
      const { results } = await says(
        web.agent('POST /agent/knocks', { body: { events } }),
        200,
        { results: [{ event_id: text, ok: yesNo, error: orNull(text) }] },
        'spec portknock',
      )
      same(
        'spec portknock: ok',
        results.map(({ ok }) => ok),
        [true, true, true, false],
      )

      const { openings } = await says(viewer('GET /portknock/active'), 200, {
        openings: [opening.but({ sequence_name: 'ssh', protected_port: 22 })],
        total: 2,
      })
      same('spec portknock: openings', openings.map(({ ip }) => ip).sort(), ['127.0.0.1', '203.0.113.70'])
      same('spec portknock: server_id', (await viewer('GET /portknock/active', { query: `server_id=${db.id}` })).json, {
        openings: [],
        total: 0,
      })
      const one = { openingId: openings[0]?.id }
      await saysDone(operator('DELETE /portknock/active/{openingId}', one))
      await refuses(operator('DELETE /portknock/active/{openingId}', one), 404, 'spec errors: unknown id in the path')

      const { history, total } = await says(
        viewer('GET /portknock/history'),
        200,
        { history: [knock], ...onePage(50) },
        'spec conventions: default 50',
      )
      same(
        'spec conventions: newest first',
        history.map(({ id }) => id),
        history.map(({ id }) => id).sort((a, b) => b - a),
      )
      const found = async (query: string) =>
        ((await viewer('GET /portknock/history', { query })).json as { total: unknown }).total
      same(
        'spec portknock: status, sequence_id, server_id',
        [
          await found('status=failed'),
          await found('sequence_id=1'),
          await found(`server_id=${web.id}`),
          await found('to=2026-01-01T00:00:00Z'),
        ],
        [1, total, total, 0],
      )
      same(
        'spec endpoints: reason, present on failures',
        history.find(({ status }) => status === 'failed')?.reason,
        'wrong port',
      )
      await takesEach('spec conventions: maximum 100', ['limit=100'], query =>
        viewer('GET /portknock/history', { query }),
      )
      await refusesEach(
        'spec portknock: filters; spec errors: unknown id in a query',
        [
          ['status', 'status=x'],
          ['limit', 'limit=101'],
          ...notDecimal,
          ['sequence_id', 'sequence_id=x'],
          ['sequence_id', 'sequence_id=999'],
          ['server_id', `server_id=${unknownId}`],
          ['from', 'from=x'],
        ],
        query => viewer('GET /portknock/history', { query }),
      )

      const block = { ...blockedIp, ip: '203.0.113.71', server_id: web.id, sequence_name: 'ssh' } as const
      await says(viewer('GET /portknock/blocked'), 200, { blocked: [block], total: 1 })
      const lifted = { ip: '203.0.113.71', query: `server_id=${web.id}` }
      await saysDone(operator('DELETE /portknock/blocked/{ip}', lifted))
      await refuses(
        operator('DELETE /portknock/blocked/{ip}', { ip: '203.0.113.71' }),
        404,
        'spec errors: unknown id in the path',
      )
      await refuses(operator('DELETE /portknock/blocked/{ip}', { ip: 'zz' }), 400, 'spec conventions: IP addresses')
      same('spec portknock: { blocked, total }', (await viewer('GET /portknock/blocked')).json, {
        blocked: [],
        total: 0,
      })
    })

    test('statistics', async () => {
      for (const period of ['day', 'week', 'month']) {
        const got = await says(place.viewer('GET /portknock/stats', { query: `period=${period}` }), 200, {
          period,
          total_attempts: integer,
          successful: integer,
          failed: integer,
          blocked: integer,
          by_sequence: [{ name: text, attempts: integer, success_rate: orNull(number) }],
          by_server: [{ hostname: text, attempts: integer }],
          top_ips: [{ ip: text, attempts: integer }],
        })
        same(
          'spec portknock: stats add up',
          [got.failed, got.blocked, got.successful + got.failed + got.blocked],
          [1, 1, got.total_attempts],
        )
      }
      same(
        'spec commands: period defaults to day',
        ((await place.viewer('GET /portknock/stats')).json as { period: unknown }).period,
        'day',
      )
      await refuses(
        place.viewer('GET /portknock/stats', { query: 'period=year' }),
        400,
        'spec portknock: period',
        'period',
      )
    })

    test('what is deleted stays in the history', async () => {
      const { admin, viewer } = place
      await saysDone(admin('DELETE /portknock/sequences/{sequenceId}', { sequenceId: 1 }))
      const { history } = await says(viewer('GET /portknock/history'), 200, { history: [knock], ...onePage(50) })
      same('spec endpoints: sequence_name', history[0]?.sequence_name, 'ssh')
    })
  })
