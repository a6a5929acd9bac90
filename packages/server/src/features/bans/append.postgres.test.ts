import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { engine, freshDatabase } from '../../testing/index.ts'
import { openPostgres } from '../../db/postgres.ts'
import type { Postgres } from '../../db/postgres.ts'
import { recount } from '../retention/recount.store.ts'
import { appendBans } from './append.ts'
import type { BanEnd, NewBan } from './ban-input.ts'

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
    hours: (
      await sql`select bucket, sum(n) as n from ip_hours group by 1 having sum(n) <> 0 order by 1`.execute(first().read)
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
