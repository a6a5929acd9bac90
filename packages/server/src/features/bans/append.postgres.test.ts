import type { EventEmitter } from 'node:events'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { engine, freshDatabase } from '../../testing/index.ts'
import { openPostgres } from '../../db/postgres.ts'
import type { Postgres } from '../../db/postgres.ts'
import { recount } from '../retention/recount.store.ts'
import { appendBans } from './append.ts'
import type { Append, BanEnd, NewBan } from './ban-input.ts'

/* One statement writes everything that a ban is; two processes do so at the same moment. */

const now = Date.UTC(2026, 10, 22, 12)
let database: Awaited<ReturnType<typeof freshDatabase>>
let processes: Postgres[] = []
let events = 0
const eventId = () => Buffer.from((++events).toString(16).padStart(32, '0'), 'hex')
const aBan = (n: number, more: Partial<NewBan> = {}): NewBan => ({
  kind: 'ban',
  serverNo: 1 + (n % 3),
  jail: 'sshd',
  country: 'DE',
  ip: Uint8Array.of(198, 51, 100, n % 250),
  prefix: null,
  bannedAt: now - n * 60_000,
  duration: 86_400,
  asn: 64_500 + (n % 5),
  asnOrg: 'Example',
  city: null,
  latitude: null,
  longitude: null,
  logLines: `"quoted", back\\slash {braces} ${n}`,
  bannedBy: null,
  eventId: eventId(),
  ...more,
})

beforeAll(async () => {
  if (engine !== 'postgres') return
  database = await freshDatabase()
  // Dropping the database ends connections that are on their way out.
  const open = () => openPostgres(database?.url ?? '', () => {})
  processes = [await open(), await open()]
})
afterAll(async () => {
  for (const each of processes) await each.close()
  await database?.drop()
})
const first = () => processes[0] as Postgres
const countOf = async (of: string, on = '1 = 1') => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(of)} where ${sql.raw(on)}`.execute(
    first().read,
  )
  return rows[0]?.n
}

test.runIf(engine === 'postgres')(
  'bans of two processes that name the same new jails, countries and networks are all written',
  async () => {
    const batches = Array.from({ length: 60 }, (_, batch) =>
      Array.from({ length: 5 }, (_, n) =>
        aBan(batch * 5 + n, { jail: `jail-${batch >> 1}-${n}`, country: ['AT', 'FR', 'NL'][batch % 3] ?? null }),
      ),
    )
    const results = await Promise.all(
      batches.map((items, index) => (processes[index % 2] as Postgres).run(appendBans, { items, now })),
    )
    expect(results.flat().filter(({ changed, id }) => changed && id !== null)).toHaveLength(300)
    expect(await countOf('bans')).toBe(300)
    expect(await countOf('active_bans')).toBe(300)
    expect(await countOf('events', `name = 'ban.report'`)).toBe(300)
    expect(await countOf('jails')).toBe(150)
  },
)

test.runIf(engine === 'postgres')('sums are the same before and after the waiting bans are added', async () => {
  const seen = async () => ({
    cube: (
      await sql`select server_no, jail_id, sum(n) as n from ban_cube group by 1, 2 order by 1, 2`.execute(first().read)
    ).rows,
    steps: (
      await sql`select bucket, sum(n) as n from last_bans group by 1 having sum(n) <> 0 order by 1`.execute(
        first().read,
      )
    ).rows,
  })
  expect(await countOf('unsummed_bans')).toBe(300)
  const before = await seen()
  await first().run(appendBans, { items: [], now })
  expect(await countOf('unsummed_bans')).toBe(0)
  expect(await seen()).toEqual(before)
  // Later and earlier bans of the same addresses: some move an address to another hour, some don't.
  await first().run(appendBans, {
    items: [aBan(3, { bannedAt: now }), aBan(260), aBan(249, { bannedAt: now - 1 })],
    now,
  })
  const waiting = await seen()
  expect(waiting).not.toEqual(before)
  expect(await recount(first().read, 'postgres')).toEqual([])
  await Promise.all(processes.map(each => each.run(appendBans, { items: [], now })))
  expect(await seen()).toEqual(waiting)
  expect(await recount(first().read, 'postgres')).toEqual([])
})

test.runIf(engine === 'postgres')('a batch holds new, repeated, doubled, adopted and ended bans at once', async () => {
  const known = aBan(400)
  const doubled = aBan(401)
  const adopted = aBan(402, { isAdopted: true })
  const over = aBan(403, { duration: 60 })
  const endless = aBan(404, { duration: -1, country: null, asn: null, asnOrg: null })
  const [written] = await first().run(appendBans, { items: [known], now })
  const reports = (await countOf('events', `name = 'ban.report'`)) ?? 0
  const end: BanEnd = { kind: 'end', serverNo: endless.serverNo, jail: 'sshd', ip: endless.ip, prefix: null, at: now }
  const results = await first().run(appendBans, {
    items: [known, doubled, adopted, over, endless, doubled, end],
    now,
  })
  expect(results.map(({ changed }) => changed)).toEqual([false, true, true, true, true, false, true])
  expect(results[0]?.id).toBe(written?.id)
  expect(results[5]?.id).toBe(results[1]?.id)
  expect(results[6]?.id).toBe(results[4]?.id)
  // Known before: none. Adopted: no news. The end is an event of its own.
  expect(await countOf('events', `name = 'ban.report'`)).toBe(reports + 3)
  expect(await countOf('bans', `id = ${results[2]?.id ?? 0} and origin = 'adopted'`)).toBe(1)
  expect(await countOf('active_bans', `ban_id in (${results.map(({ id }) => id ?? 0).join(', ')})`)).toBe(3)
  expect(await countOf('bans', `id = ${results[3]?.id ?? 0} and unbanned_at = banned_at + 60000`)).toBe(1)
})

/** Round trips while `work` runs: how often PostgreSQL said that it is ready for the next query. */
const tripsOf = async (db: Postgres, work: () => Promise<unknown>): Promise<number> => {
  let trips = 0
  const count = () => void trips++
  const connections = new Set<EventEmitter>()
  const acquired = (client: PoolClient) => {
    const { connection } = client as unknown as { connection: EventEmitter }
    if (connections.has(connection)) return
    connections.add(connection)
    connection.on('readyForQuery', count)
  }
  db.pool.on('acquire', acquired)
  try {
    await work()
    return trips
  } finally {
    db.pool.off('acquire', acquired)
    for (const connection of connections) connection.off('readyForQuery', count)
  }
}
const endOf = (ban: NewBan, more: Partial<BanEnd> = {}): BanEnd => ({
  ...{ kind: 'end', serverNo: ban.serverNo, jail: ban.jail, ip: ban.ip, prefix: ban.prefix, at: now },
  ...more,
})

test.runIf(engine === 'postgres')('a batch of bans, of ends and of both is one round trip each', async () => {
  const db = first()
  const append = (items: readonly Append[]) => db.run(appendBans, { items, now })
  const bans = Array.from({ length: 20 }, (_, n) => aBan(500 + n, { serverNo: 40 + n }))
  // Names that the connection has not seen yet take no more than those that it has.
  const fresh = aBan(520, { jail: 'seen once', country: 'SE', asn: 64_999 })
  expect(await tripsOf(db, () => append([fresh]))).toBe(1)
  expect(await tripsOf(db, () => append(bans))).toBe(1)
  expect(await tripsOf(db, () => append(bans.slice(0, 10).map(ban => endOf(ban))))).toBe(1)
  const more = [aBan(521), ...bans.slice(10).map(ban => endOf(ban))]
  expect(await tripsOf(db, () => append(more))).toBe(1)
  expect(await countOf('active_bans', 'server_no between 40 and 59')).toBe(0)
  expect(await countOf('events', `name = 'ban.end' and server_no between 40 and 59`)).toBe(20)
  // A statement does not see the bans that it writes: begin, bans, ends, commit.
  const brief = [0, 1, 2].map(n => aBan(530 + n))
  expect(await tripsOf(db, () => append([...brief, ...brief.map(ban => endOf(ban))]))).toBe(4)
})

test.runIf(engine === 'postgres')('ends of one batch count in their order', async () => {
  const db = first()
  const append = (items: readonly Append[]) => db.run(appendBans, { items, now })
  const here = { serverNo: 70, ip: Uint8Array.of(198, 51, 100, 7) }
  const bans = ['alpha', 'beta', 'gamma'].map((jail, n) => aBan(n, { ...here, jail }))
  const elsewhere = aBan(0, { ...here, serverNo: 71 })
  const range = aBan(0, { ...here, prefix: 24 })
  const written = await append([...bans, elsewhere, range])
  const [alpha, beta] = bans.map(ban => endOf(ban, { at: now + 1000 })) as [BanEnd, BanEnd]
  const results = await append([
    endOf(elsewhere, { jail: 'a jail without bans' }),
    beta,
    { ...beta, jail: null, at: now + 2000 },
    alpha,
    { ...beta, at: 1 },
  ])
  expect(results.map(({ changed }) => changed)).toEqual([false, true, true, false, false])
  expect(results[1]?.id).toBe(written[1]?.id)
  // Of the two bans that were left, the newer one.
  expect(results[2]?.id).toBe(written[0]?.id)
  const ids = written.map(({ id }) => id ?? 0)
  const { rows } = await sql<{ id: number; unbanned_at: number | null }>`
    select id, unbanned_at from bans where id in (${sql.join(ids)}) order by id`.execute(db.read)
  const ended = new Map(rows.map(row => [row.id, row.unbanned_at]))
  expect(ids.map(id => ended.get(id))).toEqual([now + 2000, now + 1000, now + 2000, null, null])
  const events = await sql<{ ban_id: number }>`
    select ban_id from events where name = 'ban.end' and server_no = 70 order by id`.execute(db.read)
  expect(events.rows.map(row => row.ban_id)).toEqual([ids[1], ids[2], ids[0]])
})

test.runIf(engine === 'postgres')('names of one event in two jails are not mistaken for each other', async () => {
  const db = first()
  const one = aBan(0, { serverNo: 80, jail: 'one' })
  const other = { ...one, jail: 'other', country: 'NO', asn: 64_998, ip: Uint8Array.of(198, 51, 100, 81) }
  const results = await db.run(appendBans, { items: [one, other], now })
  expect(results.map(({ changed }) => changed)).toEqual([true, false])
  const later = [aBan(1, { serverNo: 80, jail: 'one' }), aBan(2, { serverNo: 80, jail: 'other', country: 'NO' })]
  for (const ban of later) await db.run(appendBans, { items: [ban], now })
  const { rows } = await sql<{ jail: string; country: string }>`
    select jails.name as jail, countries.code as country from bans join jails on jails.id = jail_id
      join countries on countries.id = country_id where server_no = 80 order by bans.id`.execute(db.read)
  expect(rows).toEqual([
    { jail: 'one', country: 'DE' },
    { jail: 'one', country: 'DE' },
    { jail: 'other', country: 'NO' },
  ])
})
