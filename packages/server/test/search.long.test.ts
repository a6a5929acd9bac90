import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { matchesValue, parseQuery, queryFields, queryHolds, rangeOfQuery, spanOfQuery } from '@stockade/contract'
import type { QueryListing, QueryValue } from '@stockade/contract'
import { covers, parseIp, parseRange } from '../src/core/ip.ts'
import {
  aHost,
  engine,
  eventually,
  password,
  raw,
  spawnServer,
  standingClock,
  startServer,
} from '../src/testing/index.ts'
import type { Signed, TestServer } from '../src/testing/index.ts'

/* Searches of commands, the audit log and servers, against what their terms mean for each row of the whole list. */

// Terms such as now-1m mean the same to the server and to this test, however long a request takes.
const clock = standingClock()
let server: TestServer
let admin: Signed
let batch: string
/** The names of the servers that are not online. */
let offline: ReadonlySet<string>
beforeAll(async () => {
  server = await startServer({
    clock,
    env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8', STOCKADE_OFFLINE_AFTER: '86400' },
  })
  admin = await server.setUp()
  const hosts = []
  for (const name of ['web-01', 'WEB-02', 'mail-01']) hosts.push(await aHost(server, admin.client, name))
  await admin.client.call('POST /servers', {
    body: { hostname: 'new-01', ip_address: '2001:db8::7', description: 'Mail of the "office"' },
  })
  await admin.client.call('POST /servers', { body: { hostname: 'new-02', ip_address: '198.51.100.20' } })
  const [a, b] = hosts
  if (!a || !b) throw new Error('there are hosts')
  const jails = [{ name: 'sshd', enabled: true, current_bans: 0 }]
  await a.client.call('POST /servers/heartbeat', {
    body: { hostname: 'web-01', os: 'Debian GNU/Linux 12', engine_version: '1.0.2', agent_version: '0.1.0', jails },
  })
  const made = await admin.client.call('POST /commands/batch', {
    body: { server_ids: hosts.map(({ id }) => id), type: 'unban-ip', params: { jail: '*', ip: '203.0.113.7' } },
  })
  batch = made.batch_id
  clock.forward(120)
  const { key } = await admin.client.call('POST /keys', { body: { name: 'robot', permissions: 'write' } })
  await server.client(key).call('POST /servers/{serverId}/commands', {
    params: { serverId: b.id },
    body: { type: 'reload-all', params: {} },
  })
  for (const [index, host] of hosts.entries()) {
    const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: host.id },
    })
    for (const { id, type } of commands.slice(0, 2 - index))
      await host.client.call('POST /commands/{commandId}/result', {
        params: { commandId: id },
        body: {
          success: type !== 'reload-all',
          output: type === 'reload-all' ? 'No such jail: 100%' : 'ok',
          exit_code: 0,
        },
      })
  }
  const waiting = await admin.client.call('POST /servers/{serverId}/commands', {
    params: { serverId: a.id },
    body: { type: 'jail-status', params: { jail: 'sshd' } },
  })
  await admin.client.call('DELETE /commands/{commandId}', { params: { commandId: waiting.id } })
  for (const from of ['203.0.113.9', '203.0.113.40', '2001:db8::9'])
    await raw(server, 'POST', '/api/v1/auth/login', {
      body: { username: 'Nobody', password },
      headers: { 'x-forwarded-for': from },
    })
  await admin.client.call('PATCH /settings', { body: { service: { site_name: '50% off_' } } })
  const { servers } = await admin.client.call('GET /servers')
  offline = new Set(servers.filter(({ status }) => status !== 'online').map(({ hostname }) => hostname))
})
afterAll(() => server.close())

type Row = Record<string, unknown> & { id: string | number }
/** What one value of a field means for a row. */
type Meaning = (field: string | null, value: QueryValue, row: Row) => boolean
const text = (value: unknown) => (typeof value === 'string' ? value : null)
const whole = (value: QueryValue, ...texts: unknown[]) =>
  texts.some(one => text(one) !== null && matchesValue(value, text(one) ?? '', true))
const part = (value: QueryValue, ...texts: unknown[]) =>
  texts.some(one => text(one) !== null && matchesValue(value, text(one) ?? '', false))
const inside = (value: QueryValue, ip: unknown) => {
  const range = parseRange(rangeOfQuery(value.text) ?? '')
  const address = parseIp(text(ip) ?? '')
  return range !== null && address !== null && covers(range, address)
}
const when = (value: QueryValue, given: unknown) => {
  const span = spanOfQuery(value.text, clock()) ?? { from: 0, to: 0 }
  const at = Date.parse(text(given) ?? '')
  return value.compare === '>'
    ? at >= span.to
    : value.compare === '<'
      ? at < span.from
      : at >= span.from && at < span.to
}
const hostname = (row: Row) => (row.server as { hostname: string }).hostname
const output = (row: Row) => (row.result as { output: string } | null)?.output

const lists: Record<
  Exclude<QueryListing, 'bans'>,
  { path: string; key: string; terms: readonly string[]; means: Meaning }
> = {
  commands: {
    path: '/commands',
    key: 'commands',
    terms: [
      'type:unban-ip', 'type:reload-all,jail-status', 'server:web-*', 'server:mail-01', 'offline:yes', 'offline:no', 'by:admin', 'by:key:robot', 'by:"key:*"',
      'status:pending', 'status:completed,failed', 'status:timeout', 'status:cancelled', 'params:203.0.113.7', 'params:sshd',
      'output:"no such jail"', 'output:100%', 'output:o_', 'created:<now-30h', 'created:>now-1h', 'created:<now',
      'unban', 'MAIL', 'robot', '203.0.113.7', 'zzz',
    ], // oxfmt-ignore
    means: (field, value, row) => {
      switch (field) {
        case 'type':
          return row.type === value.text
        case 'server':
          return whole(value, hostname(row))
        case 'offline':
          return offline.has(hostname(row)) === (value.text === 'yes')
        case 'by':
          return whole(value, row.initiated_by)
        case 'status':
          return (row.cancelled === true ? 'cancelled' : row.status) === value.text
        case 'params':
          return part(value, JSON.stringify(row.params))
        case 'output':
          return part(value, output(row))
        case 'created':
          return when(value, row.created_at)
        default:
          return part(value, row.type, hostname(row), JSON.stringify(row.params), output(row), row.initiated_by)
      }
    },
  },
  audit: {
    path: '/settings/audit',
    key: 'entries',
    terms: [
      'user:admin', 'user:"key:robot"', 'user:key:*', 'user:nobody', 'user:system', 'action:auth.', 'action:server.create',
      'action:*create', 'action:auth', 'ip:203.0.113.0/27', 'ip:203.0.113.', 'ip:2001:db8::/32', 'ip:127.0.0.1', 'ip:192.0.2.1',
      'details:site_name', 'details:50%', 'details:off_', 'details:zzz', 'at:<now-1m', 'at:>now-1m',
      'robot', 'login', '203.0.113', 'zzz',
    ], // oxfmt-ignore
    means: (field, value, row) => {
      const details = JSON.stringify(row.details)
      switch (field) {
        case 'user':
          return whole(value, row.user)
        case 'action':
          return value.text.endsWith('.') ? String(row.action).startsWith(value.text) : whole(value, row.action)
        case 'ip':
          return inside(value, row.ip_address)
        case 'details':
          return part(value, details)
        case 'at':
          return when(value, row.timestamp)
        default:
          return part(value, row.user, row.action, row.ip_address, details)
      }
    },
  },
  servers: {
    path: '/servers',
    key: 'servers',
    terms: [
      'name:web-*', 'name:mail-01', 'name:web', 'ip:2001:db8::/32', 'ip:198.51.100.', 'ip:198.51.100.20', 'status:online',
      'status:pending,offline', 'description:"the \\"office"', 'description:mail', 'os:debian', 'engine:1.0*', 'engine:1.0',
      'agent:0.1.0', 'jail:sshd', 'jail:x*', 'mail', '2001:db8:0::7', 'zzz',
    ], // oxfmt-ignore
    means: (field, value, row) => {
      switch (field) {
        case 'name':
          return whole(value, row.hostname)
        case 'ip':
          return inside(value, row.ip_address)
        case 'status':
          return row.status === value.text
        case 'description':
          return part(value, row.description)
        case 'os':
          return part(value, row.os)
        case 'engine':
          return whole(value, row.engine_version)
        case 'agent':
          return whole(value, row.agent_version)
        case 'jail':
          return row.active_jails === 1 && whole(value, 'sshd')
        default:
          return part(value, row.hostname, row.ip_address, row.description) || inside(value, row.ip_address)
      }
    },
  },
}

describe.each(Object.entries(lists))('a search of %s', (name, { path, key, terms, means }) => {
  const language = queryFields[name as QueryListing]
  const ask = async (q: string, more = '') => {
    const { json, status } = await raw(server, 'GET', `/api/v1${path}?limit=100&q=${encodeURIComponent(q)}${more}`, {
      token: admin.token,
    })
    expect([q, status]).toEqual([q, 200])
    const { [key]: rows, total } = json as Record<string, Row[]> & { total: number }
    return { rows: rows ?? [], total }
  }
  const meant = (q: string, rows: readonly Row[]) => {
    const parsed = parseQuery(q, language)
    if (!parsed.ok) throw new Error(`${q}: ${parsed.problem.message}`)
    return rows.filter(row =>
      queryHolds(parsed.tree, ({ field, values }) => values.some(value => means(field, value, row))),
    )
  }
  test('finds what each term says, and what they say together', async () => {
    const all = await ask('')
    expect(all.rows).toHaveLength(all.total)
    const check = async (q: string) => {
      const wanted = meant(q, all.rows)
      const found = await ask(q)
      expect([q, found.total, found.rows]).toEqual([q, wanted.length, wanted])
      return wanted.length > 0 && wanted.length < all.total
    }
    let divided = 0
    for (const term of terms) if (await check(term)) divided++
    expect(divided).toBeGreaterThan(terms.length / 2)
    const any = fc.constantFrom(...terms)
    await fc.assert(
      fc.asyncProperty(any, any, any, fc.boolean(), async (a, b, c, wide) => {
        await check(wide ? `(${a} OR -${b}) ${c}` : `${a} NOT (${b} ${c})`)
      }),
      { numRuns: 60 },
    )
  })
  test('goes together with the other filters and with pages', async () => {
    const filter = { commands: '&type=unban-ip', audit: '&action=auth.', servers: '&status=pending' }[name] ?? ''
    const q = `-${terms[0] ?? ''}`
    const all = await ask('', filter)
    expect(all.total).toBeGreaterThan(0)
    const { rows, total } = await ask(q, filter)
    expect(rows).toEqual(meant(q, all.rows))
    const second = await ask(q, `${filter}&page=2`)
    expect([second.rows, second.total]).toEqual([[], total])
  })
})

test('commands are found by their batch', async () => {
  const { commands, total } = await admin.client.call('GET /commands', { query: { q: `batch:${batch.toUpperCase()}` } })
  expect([total, commands.every(({ batch_id }) => batch_id === batch)]).toEqual([3, true])
})
test('an export of the audit log holds what the search finds', async () => {
  for (const q of ['action:auth. ip:203.0.113.', 'user:admin -details:site_name', 'zzz']) {
    const { entries } = await admin.client.call('GET /settings/audit', { query: { q, limit: 100 } })
    const exported = await raw(server, 'GET', `/api/v1/settings/audit/export?q=${encodeURIComponent(q)}`, {
      token: admin.token,
    })
    expect((exported.json as { entries: unknown }).entries).toEqual(entries)
  }
})

// On either engine in a whole run: it takes seconds, and `scan.long.test.ts` has the waiting on both.
const always = engine === 'sqlite' || process.env.STOCKADE_TEST_WHOLE === '1'
test.runIf(always)(
  'searches that take long leave one line in the log, without what was searched for, and are counted',
  async () => {
    const slow = await spawnServer({ env: { STOCKADE_LOG_LEVEL: 'warn' } })
    const lines = () =>
      slow
        .output()
        .split('\n')
        .filter(line => line.includes('slow searches'))
        .map(line => JSON.parse(line) as unknown)
    const metric = async (name: string) =>
      Number(
        (await raw(slow, 'GET', '/metrics')).text
          .split('\n')
          .find(line => line.startsWith(`${name} `))
          ?.split(' ')[1],
      )
    try {
      const { client, token } = await slow.setUp()
      const host = await aHost(slow, client)
      // A long text that nearly matches a long word everywhere.
      const [output, word] = ['a'.repeat(65_000), `${'a'.repeat(900)}b`]
      await client.call('POST /commands/batch', {
        body: {
          server_ids: [host.id],
          type: 'jail-status',
          params_list: ['sshd', 'nginx', 'exim'].map(jail => ({ jail })),
        },
      })
      const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
        params: { serverId: host.id },
      })
      expect(commands).toHaveLength(3)
      for (const { id } of commands)
        await host.client.call('POST /commands/{commandId}/result', {
          params: { commandId: id },
          body: { success: true, output },
        })
      const q = `by:"anna@shop.example" OR output:${word}`
      const search = () => raw(slow, 'GET', `/api/v1/commands?status=completed&q=${encodeURIComponent(q)}`, { token })
      expect((await search()).json).toMatchObject({ total: 0 })
      const [longWaits, count] = ['stockade_search_wait_seconds_bucket{le="1"}', 'stockade_search_wait_seconds_count']
      // Two reads each, of which three at most run at a time: the last of 40 wait for more than a second, unless a read of these texts takes
      // less than 40 ms.
      const searches = Array.from({ length: 40 }, () => search().catch(() => null))
      const [line] = await eventually(() => {
        expect(lines()).toHaveLength(1)
        return lines()
      })
      expect(line).toMatchObject({
        level: 40,
        tooLong: 0,
        refused: 0,
        waited: expect.any(Number),
        longest: { list: 'commands', fields: ['by', 'output', 'status'], length: q.length },
      })
      expect((line as { longestMs: number }).longestMs).toBeGreaterThan(1000)
      await eventually(async () => expect((await metric(count)) - (await metric(longWaits))).toBeGreaterThanOrEqual(1))
      expect(slow.output()).not.toMatch(/anna|shop\.example|aaaa/)
      expect(lines()).toHaveLength(1)
      await slow.kill()
      await Promise.all(searches)
    } finally {
      await slow.close()
    }
  },
)
