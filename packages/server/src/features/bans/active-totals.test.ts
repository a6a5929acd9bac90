import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStorage } from '../../admin/storage.ts'
import { readConfig } from '../../config.ts'
import { day, hour, minute } from '../../core/clock.ts'
import { uuidBytes } from '../../core/ids.ts'
import { ipText } from '../../core/ip.ts'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { createEvents } from '../../events/events.ts'
import { freshDatabase } from '../../testing/index.ts'
import { forgetBans } from '../retention/forget.ts'
import { recount, repair } from '../retention/recount.store.ts'
import { createRetention } from '../retention/retention.service.ts'
import { appendBans } from './append.ts'
import type { BanEnd, NewBan } from './ban-input.ts'
import { countBans, endActive } from './bans.store.ts'

/* The number of active bans is a sum that reports, ends, sweeps and deletions change; rows say what it must be. */

const servers = [1, 2, 3]
const addresses = [0, 1, 2, 3, 4].map(n => Uint8Array.of(198, 51, 100, n))
type Item = { readonly server: number; readonly address: number }
type Step =
  | { readonly does: 'report'; readonly bans: readonly (Item & { readonly seconds: number; readonly ago: number })[] }
  | { readonly does: 'end'; readonly ends: readonly Item[] }
  | { readonly does: 'lift'; readonly item: Item }
  | { readonly does: 'forget'; readonly server: number }
  | { readonly does: 'sum' }
  | { readonly does: 'sweep' }
  | { readonly does: 'retire' }
  | { readonly does: 'repair' }
  | { readonly does: 'wait'; readonly time: number }
const item = { server: fc.constantFrom(...servers), address: fc.nat(addresses.length - 1) }
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('report' as const),
      bans: fc.array(
        fc.record({ ...item, seconds: fc.constantFrom(-1, 60, 3600, 86_400), ago: fc.constantFrom(0, hour, 50 * day) }),
        { minLength: 1, maxLength: 6 },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('end' as const),
      ends: fc.array(fc.record(item), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('lift' as const), item: fc.record(item) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('forget' as const), server: item.server }) },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constantFrom('sum' as const, 'sum' as const, 'sweep' as const, 'retire' as const, 'repair' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('wait' as const), time: fc.constantFrom(2 * minute, 2 * hour) }),
  },
)

let now = Date.now()
const dataDir = mkdtempSync(join(tmpdir(), 'stockade-active-'))
let database: Awaited<ReturnType<typeof freshDatabase>> = null
/** Two processes on PostgreSQL; twice the same one on SQLite, whose file no other may write. */
let processes: Database[] = []
beforeAll(async () => {
  database = await freshDatabase()
  const config = readConfig({
    STOCKADE_DATA_DIR: dataDir,
    ...(database ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: 'x'.repeat(32) } : {}),
  })
  const first = await openStorage(config)
  processes = [first, first.engine === 'sqlite' ? first : await openStorage(config)]
  for (const each of processes) await migrate(each)
})
afterAll(async () => {
  for (const each of new Set(processes)) await each.close()
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const aBan = ({ server, address, seconds, ago }: Item & { seconds: number; ago: number }): NewBan => ({
  ...{ kind: 'ban', serverNo: server, jail: `jail-${address % 2}`, country: null, prefix: null },
  ip: addresses[address] ?? Uint8Array.of(),
  bannedAt: now - ago,
  duration: seconds,
  ...{ asn: null, asnOrg: null, city: null, latitude: null, longitude: null, logLines: '', bannedBy: null },
  eventId: uuidBytes(randomUUID()),
})
const anEnd = ({ server, address }: Item): BanEnd => ({
  ...{ kind: 'end', serverNo: server, jail: null, prefix: null, at: now },
  ip: addresses[address] ?? Uint8Array.of(),
})
const take = async (db: Database, given: Step): Promise<void> => {
  const events = createEvents(
    db,
    () => now,
    error => expect.fail(String(error)),
    null,
  )
  if (given.does === 'report') await db.run(appendBans, { items: given.bans.map(aBan), now })
  else if (given.does === 'end') await db.run(appendBans, { items: given.ends.map(anEnd), now })
  else if (given.does === 'sum') await db.run(appendBans, { items: [], now })
  else if (given.does === 'sweep') await events.change(change => endActive(change, { expiredBy: now, most: 200 }, now))
  else if (given.does === 'forget') await db.run(forgetBans, { serverNo: given.server, from: 1, most: 200 })
  else if (given.does === 'repair') await repair(db)
  else if (given.does === 'wait') now += given.time
  else if (given.does === 'retire')
    await createRetention({ db, clock: () => now, banDays: 40, eventDays: 90, log: { info: () => {} } }).run()
  else {
    const bytes = addresses[given.item.address] ?? Uint8Array.of()
    const ip = { bytes, prefix: null, text: ipText(bytes, null) }
    await events.change(change => endActive(change, { serverNo: given.item.server, ip, jail: null }, now))
  }
}
/** What the rows say: the bans that have not ended and whose time is not up. */
const rowsOf = async (db: Database, serverNo?: number): Promise<number> => {
  const on = serverNo === undefined ? sql`1 = 1` : sql`server_no = ${serverNo}`
  const { rows } = await sql<{ n: number }>`select count(*) as n from bans where ${on} and unbanned_at is null
    and (ban_duration < 0 or banned_at + ban_duration * 1000 > ${now})`.execute(db.read)
  return Number(rows[0]?.n)
}
const check = async (db: Database) => {
  for (const serverNo of [undefined, ...servers]) {
    const filter = { servers: 'all' as const, active: true, ...(serverNo === undefined ? {} : { serverNo }) }
    expect(await countBans(db.read, db.engine, filter, now)).toBe(await rowsOf(db, serverNo))
  }
  const some = { servers: new Set([1, 3]), active: true }
  expect(await countBans(db.read, db.engine, some, now)).toBe((await rowsOf(db, 1)) + (await rowsOf(db, 3)))
}

test('the number of active bans is exact after anything that may happen to bans', async () => {
  const [first, second] = processes
  if (!first || !second) throw new Error('There is no storage.')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), step), { minLength: 5, maxLength: 40 }), async steps => {
      for (const [isFirst, each] of steps) {
        await take(isFirst ? first : second, each)
        await check(isFirst ? second : first)
      }
      expect((await recount(first.read, first.engine)).map(({ table }) => table)).toEqual([])
    }),
    { numRuns: 12 },
  )
})

test('and stays so while two report, end and sum at once', async () => {
  const rounds = processes.map(async (db, index) => {
    for (let round = 0; round < 30; round++) {
      const bans = Array.from({ length: 8 }, (_, n) => ({
        ...{ server: 1 + ((n + index) % 3), address: (n + round) % 5, seconds: 3600, ago: 0 },
      }))
      await take(db, { does: 'report', bans })
      await take(db, { does: 'end', ends: bans.slice(0, 3) })
      await take(db, { does: 'sum' })
    }
  })
  await Promise.all(rounds)
  for (const db of processes) await check(db)
})

test('a recount finds a wrong number, and a repair mends it', async () => {
  const [db] = processes
  if (!db) throw new Error('There is no storage.')
  await take(db, { does: 'report', bans: [{ server: 2, address: 1, seconds: -1, ago: 0 }] })
  await take(db, { does: 'sum' })
  await sql`update rolled_active_totals set n = n + 5 where server_no = 2`.execute(db.write)
  expect(await recount(db.read, db.engine)).toMatchObject([{ table: 'active_totals', cells: 1 }])
  await take(db, { does: 'repair' })
  expect(await recount(db.read, db.engine)).toEqual([])
  await check(db)
})
