import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { sql } from 'kysely'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  asnOfQuery,
  matchesValue,
  parseQuery,
  printQuery,
  queryHolds,
  queryFields,
  rangeOfQuery,
  spanOfQuery,
} from '@stockade/contract'
import type { QueryTerm, QueryValue, bans as contract } from '@stockade/contract'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import { covers, parseRange } from '../../core/ip.ts'
import type { Database } from '../../db/database.ts'
import { aHost, freshDatabase, movableClock, raw, startServer } from '../../testing/index.ts'
import type { Client } from '@stockade/client'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'

type Ban = contract.ListedBan

const dataDir = mkdtempSync(join(tmpdir(), 'stockade-search-'))
const clock = movableClock()
let database: Awaited<ReturnType<typeof freshDatabase>>
let server: TestServer
let admin: { token: string; client: Client }
let db: Database
let hosts: EnrolledHost[]
/** Every ban, as the list shows it. */
let rows: Ban[]

const list = (query: object = {}, client = admin.client) => client.call('GET /bans', { query })
const everything = async (query: object = {}, client = admin.client) => {
  const found: Ban[] = []
  for (let page = 1; ; page++) {
    const { bans, total } = await list({ ...query, page, limit: 100 }, client)
    found.push(...bans)
    if (bans.length < 100) return { bans: found, total }
  }
}

beforeAll(async () => {
  database = await freshDatabase()
  server = await startServer({ dataDir, clock, ...(database ? { databaseUrl: database.url } : {}) })
  admin = await server.setUp()
  db = await openStorage(
    readConfig({
      STOCKADE_DATA_DIR: dataDir,
      ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
    }),
  )
  hosts = []
  for (const name of ['web-01', 'WEB-02', 'mail-01']) hosts.push(await aHost(server, admin.client, name))
  const ips = ['8.8.8.8', '8.8.4.4', '193.0.6.139', '203.0.113.7', '2001:4860:4860::8888', '198.51.100.0/28']
  const jails = ['sshd', 'nginx-http-auth', 'sshd-ddos']
  const logs = ['Invalid user admin', '100% of_it\\ "quoted"', '', 'Failed password für root']
  const durations = [-1, null, 60, 7200, 500_000]
  // Steps of different lengths, so that every value meets every other one.
  const bans = Array.from({ length: 300 }, (_, n) => ({
    ip: n % 11 === 0 ? `203.0.113.${n % 250}` : ips[n % ips.length],
    jail: jails[n % jails.length],
    log_lines: logs[(n >> 1) % logs.length],
    ban_duration: durations[(n >> 2) % durations.length],
    banned_at: new Date(clock() - ((n * 7919) % 400_000) * 1000 - 20_000).toISOString(),
    event_id: crypto.randomUUID(),
  }))
  for (const [index, host] of hosts.entries()) {
    const own = bans.filter((_, n) => Math.floor(n / 7) % 3 === index)
    await host.client.call('POST /bans/batch', { body: { bans: own } })
    const unbans = own
      .filter(({ jail }, n) => jail === 'sshd-ddos' && n % 5 === 0)
      .map(({ ip, jail }) => ({ ip, jail, unbanned_at: new Date(clock()).toISOString() }))
    await host.client.call('POST /bans/batch', { body: { unbans } })
  }
  for (const statement of [
    sql`update bans set banned_by = 'Anna' where id % 13 = 0`,
    sql`update bans set reported = 1 where id % 5 = 0`,
    sql`update bans set reputation_score = id % 100 where id % 3 = 0`,
    sql`update bans set city = 'Sample Town' where id % 4 = 0`,
  ])
    await statement.execute(db.write)
  rows = (await everything()).bans
})
afterAll(async () => {
  await db.close()
  await server.close()
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const compared = (number: number | null | undefined, { text, compare }: QueryValue) => {
  if (number === null || number === undefined) return false
  const other = Number(text)
  return {
    '=': number === other,
    '>': number > other,
    '>=': number >= other,
    '<': number < other,
    '<=': number <= other,
  }[compare]
}
const inside = (text: string, ip: string) => {
  const range = parseRange(rangeOfQuery(text) ?? '')
  const own = parseRange(ip)
  return range !== null && own !== null && covers(range, { ...own, prefix: null })
}
const stateOf = (ban: Ban) =>
  ban.active ? 'active' : ban.expires_at !== null && (ban.unbanned_at ?? '') >= ban.expires_at ? 'expired' : 'unbanned'
const yes = (text: string, is: boolean) => (text.toLowerCase() === 'yes') === is
/** What a term means, read from a row as the list shows it. */
const valueHolds = ({ field }: QueryTerm, value: QueryValue, ban: Ban, now: number): boolean => {
  const whole = (text: string | null) => text !== null && matchesValue(value, text, true)
  const part = (text: string | null) => text !== null && matchesValue(value, text, false)
  switch (field) {
    case 'ip':
      return inside(value.text, ban.ip)
    case 'jail':
      return whole(ban.jail)
    case 'server':
      return whole(ban.server.hostname)
    case 'country':
      return (ban.country ?? 'ZZ') === value.text.toUpperCase()
    case 'city':
      return part(ban.city)
    case 'asn':
      return ban.asn === `AS${asnOfQuery(value.text)}`
    case 'org':
      return part(ban.asn_org)
    case 'state':
      return stateOf(ban) === value.text.toLowerCase()
    case 'reported':
      return yes(value.text, ban.reported_to_reputation_db)
    case 'permanent':
      return yes(value.text, ban.ban_duration === -1)
    case 'score':
      return compared(ban.reputation_score, value)
    case 'by':
      return whole(ban.banned_by)
    case 'times':
      return compared(ban.occurrences, value)
    case 'log':
      return part(ban.log_lines)
    case 'banned': {
      const span = spanOfQuery(value.text, now) ?? { from: 0, to: 0 }
      const at = Date.parse(ban.banned_at)
      return {
        '=': at >= span.from && at < span.to,
        '>': at >= span.to,
        '>=': at >= span.from,
        '<': at < span.from,
        '<=': at < span.to,
      }[value.compare]
    }
    default:
      return rangeOfQuery(value.text)
        ? inside(value.text, ban.ip)
        : [ban.jail, ban.server.hostname, ban.asn_org, ban.country_name, ban.city].some(part)
  }
}
const expected = (q: string, from: readonly Ban[] = rows) => {
  const parsed = parseQuery(q, queryFields.bans)
  if (!parsed.ok) throw new Error(`${q}: ${parsed.problem.message}`)
  const { tree } = parsed
  return from.filter(ban => queryHolds(tree, term => term.values.some(value => valueHolds(term, value, ban, clock()))))
}
const idsOf = (bans: readonly Ban[]) => bans.map(({ id }) => id)

test('rows tell how often the address was banned, and its score', () => {
  expect(rows).toHaveLength(300)
  for (const ban of rows) {
    const bytes = ban.ip.replace(/\/\d+$/, '')
    expect(ban.occurrences).toBe(rows.filter(({ ip }) => ip.replace(/\/\d+$/, '') === bytes).length)
    expect(ban.reputation_score).toBe(ban.id % 3 === 0 ? ban.id % 100 : null)
  }
})

const terms = [
  'ip:8.8.8.8', 'ip:8.8.0.0/16', 'ip:2001:4860::/32', 'ip:203.0.113.', 'ip:198.51.100.0', 'ip:192.0.2.1',
  'jail:sshd', 'jail:SSHD*', 'jail:*http*', 'jail:nothing', 'jail:sshd,nginx-http-auth', 'jail:"sshd*"',
  'server:web-01', 'server:web-*', 'server:mail-01,WEB-02', 'server:*', 'server:nobody',
  'country:us', 'country:NL,ZZ', 'country:ZZ', 'country:QQ', 'city:sample', 'city:"Town"', 'city:x',
  'asn:15169', 'asn:AS3333,64500', 'asn:64500', 'org:google', 'org:zzz',
  'state:active', 'state:expired', 'state:unbanned', 'state:active,unbanned', 'state:Expired',
  'reported:yes', 'reported:no', 'permanent:yes', 'permanent:no',
  'score:>50', 'score:<=50', 'score:33', 'score:<0', 'by:engine', 'by:anna', 'by:eng*', 'by:anna,engine', 'by:nobody',
  'times:>=3', 'times:1', 'times:<2', 'times:>45', 'times:<=40', 'times:0',
  'log:"invalid user"', 'log:%', 'log:of_it', 'log:\\', 'log:für', 'log:failed*root', 'log:zzz',
  'banned:>now-24h', 'banned:<=now-2d', 'banned:>=2020-01-01', 'banned:<2020-01-01',
  '8.8.8.8', '203.0.113.', 'nginx', 'google', 'netherlands', 'web', 'nothing-at-all', '"sample town"',
] // oxfmt-ignore

describe('a search', () => {
  test('by each field finds what it says, in order and number', async () => {
    let found = 0
    for (const q of terms.flatMap(term => [term, `-${term}`])) {
      const wanted = idsOf(expected(q))
      const reply = await list({ q, limit: 100 })
      expect({ q, total: reply.total, ids: idsOf(reply.bans) }).toEqual({
        q,
        total: wanted.length,
        ids: wanted.slice(0, 100),
      })
      if (wanted.length > 0 && wanted.length < rows.length) found++
    }
    // Most terms divide the rows; else this would prove little.
    expect(found).toBeGreaterThan(terms.length)
  })

  const term = fc.constantFrom(...terms).map(text => ({ text, wide: false }))
  const { query } = fc.letrec<{ query: { text: string; wide: boolean } }>(tie => ({
    query: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      term,
      fc.tuple(tie('query'), tie('query')).map(([a, b]) => ({
        text: [a, b].map(({ text, wide }) => (wide ? `(${text})` : text)).join(' '),
        wide: false,
      })),
      fc.tuple(tie('query'), tie('query')).map(([a, b]) => ({ text: `${a.text} OR ${b.text}`, wide: true })),
      tie('query').map(({ text }) => ({ text: `NOT (${text})`, wide: false })),
    ),
  }))
  const filters = fc.record(
    {
      jail: fc.constantFrom('sshd', 'nothing'),
      country: fc.constantFrom('US', 'ZZ'),
      ip: fc.constantFrom('8.8.0.0/16', '203.0.113.7'),
      asn: fc.constantFrom('15169', 'AS3333'),
      active: fc.boolean(),
      server: fc.nat(2),
      from: fc.constantFrom(90_000, 250_000),
      to: fc.constantFrom(10_000, 200_000),
    },
    { requiredKeys: [] },
  )
  const sorts = fc.constantFrom<contract.BanSort>(
    '-banned_at',
    '-banned_at',
    'banned_at',
    'ip',
    '-server',
    'country',
    '-expires_at',
    'occurrences',
  )
  test('of any terms, with any filters, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(query, filters, sorts, fc.nat(2), async ({ text: q }, given, sort, page) => {
        if (!parseQuery(q, queryFields.bans).ok) return
        const { server: host, from: fromAgo, to: toAgo, ...plain } = given
        const from = fromAgo === undefined ? undefined : new Date(clock() - fromAgo * 1000).toISOString()
        const to = toAgo === undefined ? undefined : new Date(clock() - toAgo * 1000).toISOString()
        if (from && to && from > to) return
        const server_id = host === undefined ? undefined : hosts[host]?.id
        const filter = Object.fromEntries(
          Object.entries({ ...plain, server_id, from, to }).filter(([, value]) => value !== undefined),
        )
        const wanted = expected(q).filter(
          ban =>
            (plain.jail === undefined || ban.jail === plain.jail) &&
            (plain.country === undefined || (ban.country ?? 'ZZ') === plain.country) &&
            (plain.ip === undefined || inside(plain.ip, ban.ip)) &&
            (plain.asn === undefined || ban.asn === `AS${asnOfQuery(plain.asn)}`) &&
            (plain.active === undefined || ban.active === plain.active) &&
            (server_id === undefined || ban.server.id === server_id) &&
            (from === undefined || ban.banned_at >= from) &&
            (to === undefined || ban.banned_at < to),
        )
        const ids = idsOf(sorted(wanted, sort)).slice(page * 40, page * 40 + 40)
        const reply = await list({ q, ...filter, sort, limit: 40, page: page + 1 })
        expect([reply.total, idsOf(reply.bans)]).toEqual([wanted.length, ids])
      }),
      { numRuns: 100 },
    )
  })
})

const order = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
const sortKeys: Record<string, (ban: Ban) => string | number> = {
  banned_at: ban => ban.banned_at,
  ip: ban => Buffer.from(parseRange(ban.ip)?.bytes ?? []).toString('hex'),
  server: ban => ban.server.hostname.toLowerCase(),
  jail: ban => ban.jail,
  country: ban => ban.country?.toLowerCase() ?? '~',
  expires_at: ban => ban.expires_at ?? '~',
  occurrences: ban => ban.occurrences ?? 0,
}
/** Ties are newest first, and so are the rows that it gets. */
const sorted = (bans: readonly Ban[], sort: contract.BanSort) => {
  const key = sortKeys[sort.replace('-', '')] ?? (() => 0)
  const way = sort.startsWith('-') ? -1 : 1
  if (sort === 'banned_at') return [...bans].reverse()
  return [...bans].sort((a, b) => way * order(key(a), key(b)))
}

describe('order', () => {
  test.each(['banned_at', 'ip', 'server', 'jail', 'country', 'expires_at', 'occurrences'])(
    'by %s, both ways, with and without a search',
    async field => {
      for (const sort of [field, `-${field}`] as contract.BanSort[])
        for (const q of [undefined, 'log:user OR asn:15169'])
          expect(idsOf((await everything({ sort, ...(q ? { q } : {}) })).bans)).toEqual(
            idsOf(sorted(expected(q ?? ''), sort)),
          )
    },
  )
})

describe('an export', () => {
  const text = async (query: string) => {
    const reply = await raw(server, 'GET', `/api/v1/bans/export?${query}`, { token: admin.token })
    expect(reply.status).toBe(200)
    return reply
  }
  test.each(['', 'state:active', 'jail:sshd -country:US', 'times:>=3 OR log:invalid', 'jail:nothing'])(
    'of "%s" is what the list shows, and as many',
    async q => {
      const wanted = await everything({ q })
      const { json } = await text(`q=${encodeURIComponent(q)}`)
      expect(json).toEqual({ exported_at: expect.any(String), bans: wanted.bans, total: wanted.total })
      const csv = (await text(`format=csv&q=${encodeURIComponent(q)}`)).text
      expect(csv.startsWith('id,banned_at,ip,jail,server,state,')).toBe(true)
      const plain = (await text(`format=plain&q=${encodeURIComponent(q)}`)).text
      expect(plain).toBe(wanted.bans.map(({ ip }) => `${ip}\n`).join(''))
    },
  )
  test('takes the filters of the list', async () => {
    const query = `asn=15169&active=true&server_id=${hosts[0]?.id}`
    const wanted = await everything({ asn: '15169', active: true, server_id: hosts[0]?.id })
    expect(wanted.total).toBeGreaterThan(0)
    expect((await text(query)).json).toMatchObject({ bans: wanted.bans, total: wanted.total })
  })
  test('is a file that runs nothing', async () => {
    const reply = await text('format=csv&q=log:quoted')
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="bans.csv"')
    expect(reply.text).toContain('"100% of_it\\ ""quoted"""')
  })
})

describe('somebody with access to one server', () => {
  test('finds, counts and exports only its bans', async () => {
    const [host] = hosts
    const { client: vera, token } = await aUser(server, admin.client, 'vera', 'Viewer', [host?.id ?? ''])
    const seen = rows.filter(ban => ban.server.id === host?.id)
    const own = seen.map(ban => ({
      ...ban,
      occurrences: seen.filter(({ ip }) => parseRange(ip)?.bytes.join() === parseRange(ban.ip)?.bytes.join()).length,
    }))
    expect((await everything({}, vera)).bans).toEqual(own)
    for (const q of [
      'server:web-*',
      'server:mail-01',
      'times:>=20',
      'times:<20',
      '-jail:sshd',
      'mail',
      'state:expired OR log:user',
      'by:engine',
    ]) {
      const wanted = expected(q, own)
      for (const sort of ['-banned_at', 'server', 'occurrences'] as const) {
        const reply = await everything({ q, sort }, vera)
        expect([q, reply.total, idsOf(reply.bans)]).toEqual([q, wanted.length, idsOf(sorted(wanted, sort))])
      }
      const reply = await raw(server, 'GET', `/api/v1/bans/export?q=${encodeURIComponent(q)}`, {
        token,
      })
      expect(reply.json).toMatchObject({ total: wanted.length })
    }
  })
})

test.each([
  ['jial:sshd', /character 1: There is no field "jial"\. Did you mean jail\?/],
  ['a state:activ', /character 9: .*Did you mean active\?/],
  ['(a', /parenthesis/],
  ['"a', /quote/],
  ['a*b*c*d*e*f*g*h*i*j', /stars/],
  ['a '.repeat(51).trim(), /50 terms/],
])('%s is refused, and says why', async (q, message) => {
  for (const path of ['/bans', '/bans/export', '/commands', '/servers', '/settings/audit', '/settings/audit/export']) {
    const reply = await raw(server, 'GET', `/api/v1${path}?q=${encodeURIComponent(q)}`, { token: admin.token })
    expect([path, reply.status, (reply.json as { details?: { path: string }[] }).details?.[0]?.path]).toEqual([
      path,
      400,
      'q',
    ])
    if (path === '/bans') expect((reply.json as { message: string }).message).toMatch(message)
  }
})
test.each([
  ['q', `q=${'a'.repeat(1001)}`],
  ['sort', 'sort=log_lines'],
  ['asn', 'asn=x'],
  ['asn', 'asn=9999999999'],
])('a bad %s is refused', async (path, query) => {
  expect(await raw(server, 'GET', `/api/v1/bans?${query}`, { token: admin.token })).toMatchObject({
    status: 400,
    json: { details: [{ path }] },
  })
})
test('somebody with access to none finds none', async () => {
  const { client } = await aUser(server, admin.client, 'nils', 'Viewer', [])
  for (const query of [{}, { q: 'times:>=1' }, { q: 'times:<9 server:web-01' }, { sort: 'occurrences' as const }])
    expect(await list(query, client)).toMatchObject({ bans: [], total: 0 })
})
test('the longest searches are answered', async () => {
  const values = (field: string, value: string) => `${field}:${Array.from({ length: 1000 }, () => value).join(',')}`
  for (const [field, value] of [
    ['score', '1'],
    ['asn', '1'],
    ['jail', 'x'],
    ['ip', '1.1.1.1'],
    ['org', 'x'],
    ['times', '2'],
    ['state', 'active'],
  ] as const) {
    const q = values(field, value)
      .slice(0, 1000)
      .replace(/,[^,]*$/, '')
    expect([field, (await list({ q })).total]).toEqual([field, expected(q).length])
  }
  for (const term of ['a', 'times:>1', 'NOT state:expired']) {
    const q = Array.from({ length: 40 }, () => term).join(' OR ')
    expect([q, (await list({ q })).total]).toEqual([q, expected(q).length])
  }
})
test('the printed query is the same search', () => {
  for (const q of terms) {
    const parsed = parseQuery(q, queryFields.bans)
    if (parsed.ok) expect(expected(printQuery(parsed.tree))).toEqual(expected(q))
  }
})
