import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { QueryOf, attackers as contract, bans } from '@stockade/contract'
import { aHost, engine, eventually, freshDatabase, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'

/*
 * Random mixes of filters: the list of attackers against the bans of an export, grouped here by hand. Columns in
 * memory answer; the same question with a search of log lines that every ban matches goes to SQL, and both must agree.
 */

type Query = QueryOf<typeof contract.listAttackers>
let database: Awaited<ReturnType<typeof freshDatabase>>
let server: TestServer
let admin: Signed
let hosts: Awaited<ReturnType<typeof aHost>>[]
const hour = 3_600_000
/** Numerical Recipes' generator: the same draws in every run. */
let state = 20_261_123
const draw = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 4_294_967_296) * below)
}
const pick = <T>(list: readonly [T, ...T[]]): T => list[draw(list.length)] ?? list[0]
const jails: readonly [string, ...string[]] = ['sshd', 'postfix', 'nginx-botsearch', 'recidive']
const anAddress = () =>
  draw(5) === 0
    ? `2001:db8:${draw(4).toString(16)}::${draw(30).toString(16)}`
    : `${pick(['8.8.8', '192.0.2', '1.1.1', '203.0.113'])}.${Math.floor(80 * (draw(1000) / 1000) ** 2)}`

beforeAll(async () => {
  database = await freshDatabase()
  server = await startServer(database ? { databaseUrl: database.url } : {})
  admin = await server.setUp()
  hosts = []
  for (const name of ['web-01', 'web-02', 'mail-01', 'db-01']) hosts.push(await aHost(server, admin.client, name))
  await reportSome(400)
})
afterAll(async () => {
  await server.close()
  await database?.drop()
})

const reportSome = async (count: number) => {
  for (const host of hosts) {
    const made = Array.from({ length: count / 4 }, () => ({
      ip: anAddress(),
      jail: pick(jails),
      ban_duration: pick([60, 3600, 86_400, 604_800, -1]),
      banned_at: new Date(Date.now() - draw(40 * 24 * hour)).toISOString(),
      event_id: randomUUID(),
    }))
    const unbans = made.slice(0, 5).map(({ ip, jail }) => ({ ip, jail, event_id: randomUUID() }))
    await host.client.call('POST /bans/batch', { body: { bans: made, unbans } })
  }
}
/** Searches of which each can be answered by columns. */
const searches: readonly [string, ...string[]] = [
  'web',
  '-web',
  'jail:sshd,recidive',
  'server:web-* -jail:s*',
  'united or jail:postfix',
  'country:US,ZZ -192.0.2.0/26',
  'ip:203.0.113.0/24,2001:db8::/46 (jail:sshd or server:db-01)',
  'asn:15169 or org:cloud',
  '-asn:AS15169',
  'city:no-such-city or -mail',
  'google -(server:web-01 jail:sshd)',
]
const aMix = (): Query => {
  const maybe = <T extends object>(part: T, chance = 4): Partial<T> => (draw(chance) === 0 ? part : {})
  const from = new Date(Date.now() - draw(30 * 24) * hour).toISOString()
  return {
    ...maybe({ jail: pick(jails) }),
    ...maybe({ server_id: hosts[draw(4)]?.id ?? '' }),
    ...maybe({ country: pick(['US', 'AU', 'ZZ']) }),
    ...maybe({ asn: 'AS15169' }, 6),
    ...maybe({ active: draw(2) === 0 }),
    ...maybe({ ip: pick(['192.0.2.0/25', '203.0.113.0/24', '2001:db8::/47', '8.8.8.3']) }),
    ...maybe({ from }, 3),
    ...maybe({ to: new Date().toISOString() }, 5),
    ...maybe({ q: pick(searches) }, 2),
    sort: pick(['last', 'first', 'bans', 'servers']),
    order: pick(['asc', 'desc']),
  }
}
const groupsOf = (found: readonly bans.ListedBan[]) => {
  const groups = new Map<string, bans.ListedBan[]>()
  for (const ban of found) groups.set(ban.ip, [...(groups.get(ban.ip) ?? []), ban])
  return [...groups].map(([ip, own]) => {
    const times = own.map(({ banned_at }) => banned_at).sort()
    return {
      ip,
      bans: own.length,
      servers: new Set(own.map(({ server: { id } }) => id)).size,
      first_banned_at: times[0],
      last_banned_at: times.at(-1),
      jail_count: new Set(own.map(({ jail }) => jail)).size,
    }
  })
}
const keyOf = { last: 'last_banned_at', first: 'first_banned_at', bans: 'bans', servers: 'servers' } as const
/** Every page, one after the other. */
const everyPage = async (query: Query, client = admin.client) => {
  const rows = []
  for (let page = 1; ; page++) {
    const reply = await client.call('GET /bans/attackers', { query: { ...query, page, limit: 37 } })
    rows.push(...reply.attackers)
    if (rows.length >= reply.total || reply.attackers.length === 0) return { rows, totals: reply.totals }
  }
}
const compare = async (query: Query, client = admin.client) => {
  const { sort = 'last', order = 'desc', ...filter } = query
  const { rows, totals } = await everyPage(query, client)
  const exported = (await client.call('GET /bans/export', { query: filter })) as unknown as { bans: bans.ListedBan[] }
  const expected = groupsOf(exported.bans)
  const say = JSON.stringify(query)
  expect(totals, say).toMatchObject({ attackers: expected.length, bans: exported.bans.length })
  const known = new Map(expected.map(group => [group.ip, group]))
  for (const row of rows) expect(row, say).toMatchObject(known.get(row.ip) ?? {})
  expect(new Set(rows.map(({ ip }) => ip)).size, say).toBe(expected.length)
  const keys = rows.map(row => row[keyOf[sort]])
  const sorted = keys.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  expect(keys, say).toEqual(order === 'asc' ? sorted : sorted.reverse())
  const bySql = await everyPage({ ...query, q: `${query.q ?? ''} -log:no-ban-has-had-this` }, client)
  const steady = (found: typeof bySql) => ({ ...found, rows: found.rows.map(row => ({ ...row, hours: null })) })
  expect(steady({ rows, totals }), say).toEqual(steady(bySql))
}
/** Long reads, which SQL answered. */
const scans = async (): Promise<number> => {
  const { text } = await raw(server, 'GET', '/metrics', { token: admin.token })
  return Number(/stockade_search_seconds_count\{outcome="answered"\} (\d+)/.exec(text)?.[1] ?? NaN)
}
const answeredByColumns = async () => {
  const before = await scans()
  await admin.client.call('GET /bans/attackers')
  expect(await scans()).toBe(before)
}

test('random mixes of filters, orders and pages', async () => {
  await admin.client.call('GET /bans/attackers')
  await eventually(answeredByColumns)
  const before = await scans()
  for (let round = 0; round < 40; round++) {
    await compare(aMix())
    if (round % 10 === 9) await reportSome(20)
  }
  // The other way was compared, too.
  expect(await scans()).toBeGreaterThan(before)
})

test('who sees some servers only, and bans that are lifted, ended and forgotten meanwhile', async () => {
  const { key } = await admin.client.call('POST /keys', {
    body: { name: 'web-02', permissions: 'read', server_id: hosts[1]?.id ?? '' },
  })
  const only = server.client(key)
  for (let round = 0; round < 10; round++) {
    const { server_id: _, ...query } = aMix()
    await compare(query, only)
  }
  const serverId = hosts[0]?.id ?? ''
  await reportSome(40)
  const { bans: some } = await admin.client.call('GET /bans', {
    query: { server_id: serverId, active: true, limit: 20 },
  })
  await hosts[0]?.client.call('POST /bans/batch', {
    body: { unbans: some.map(({ ip, jail }) => ({ ip, jail, event_id: randomUUID() })) },
  })
  for (let round = 0; round < 10; round++) await compare(aMix())
  const params = { serverId }
  await admin.client.call('POST /servers/{serverId}/quarantine', { params, body: { reason: 'Test' } })
  await admin.client.call('POST /servers/{serverId}/forget-reports', {
    params,
    body: { since: new Date(Date.now() - 60 * 24 * hour).toISOString() },
  })
  for (let round = 0; round < 10; round++) await compare(aMix())
})

test.runIf(engine === 'postgres')(
  'a lost connection of the columns: SQL answers, and the bans are the same',
  async () => {
    await eventually(answeredByColumns)
    const before = await everyPage({})
    const client = new pg.Client({ connectionString: database?.url })
    await client.connect()
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'stockade-columns' and datname = current_database()`,
    )
    await client.end()
    expect(rowCount).toBe(1)
    const steady = (found: typeof before) => ({ ...found, rows: found.rows.map(row => ({ ...row, hours: null })) })
    expect(steady(await everyPage({}))).toEqual(steady(before))
  },
)
