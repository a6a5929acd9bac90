import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { freshDatabase } from '../testing/index.ts'
import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { mostScans, scanFor } from './scans.ts'
import type { ScanTold } from './scans.ts'
import { openSqlite } from './sqlite.ts'

describe('long reads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-scan-'))
  // Long beside what takes no time, also on a busy machine.
  const longest = 3000
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let db: Database
  const told: ScanTold[] = []
  beforeAll(async () => {
    database = await freshDatabase()
    const options = { longest, watch: (scan: ScanTold) => void told.push(scan) }
    db = database ? await openPostgres(database.url, () => {}, options) : await openSqlite(join(folder, 'db'), options)
  })
  afterAll(async () => {
    await db.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })
  /** Counts up to a number, which takes as long as the number is large. */
  const counting = async (to: number, scan = db.scan) => {
    const { rows } = await sql<{
      n: number
    }>`with recursive up(n) as (select 1 union all select n + 1 from up where n < ${sql.lit(to)})
      select max(n) as n from up`.execute(scan)
    return rows[0]?.n
  }
  test('answer while the event loop goes on', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 5)
    expect(await counting(200_000)).toBe(200_000)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(2)
  })
  test('one that takes too long is refused, and others are answered after it', async () => {
    const refused = expect(counting(2_000_000_000)).rejects.toMatchObject({ status: 503 })
    const others = [counting(10), counting(20)]
    await refused
    expect(await Promise.all(others)).toEqual([10, 20])
  })
  test('they only read, and a wrong one says what is wrong', async () => {
    await expect(sql`select 1 from nowhere`.execute(db.scan)).rejects.toThrow(/nowhere/)
    const onlyReading = db.engine === 'sqlite' ? [db.scan, db.read] : [db.scan]
    for (const reader of onlyReading)
      await expect(reader.transaction().execute(async () => {})).rejects.toThrow('only reads')
    expect(await counting(5)).toBe(5)
  })
  test('too many at once are refused, none is left without an answer', async () => {
    const asked = await Promise.allSettled(Array.from({ length: mostScans + 10 }, () => counting(1000)))
    const refused = asked.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    for (const one of refused) expect(one).toMatchObject({ reason: { status: 503 } })
    expect(asked.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(mostScans)
  })
  test('each is told of: how it ended, how long it waited and ran, and what it was about but for the values', async () => {
    told.length = 0
    // Each takes a while, and there are more than run at a time.
    await Promise.all([1, 2, 3, 4].map(() => counting(30_000)))
    expect(told.map(({ outcome }) => outcome)).toEqual(Array(4).fill('answered'))
    for (const { waited, ran, asked } of told) expect([waited >= 0, ran > 0, asked()]).toEqual([true, true, null])
    expect(Math.max(...told.map(({ waited }) => waited))).toBeGreaterThan(1)
    const query = { q: 'jail:sshd -log:"anna@shop.example" 203.0.113.7', country: 'NL', from: undefined, page: 2 }
    await expect(counting(2_000_000_000, scanFor(db, 'bans', query))).rejects.toMatchObject({ status: 503 })
    await expect(sql`select 1 from nowhere`.execute(scanFor(db, 'top bans', { period: 'day' }))).rejects.toThrow()
    expect(told.slice(4).map(({ outcome, asked }) => [outcome, asked()])).toEqual([
      ['too_long', { list: 'bans', fields: ['jail', 'log', 'text', 'country'], length: query.q.length }],
      ['failed', { list: 'top bans', fields: ['period'], length: 0 }],
    ])
    expect(told[4]?.ran).toBeGreaterThan(longest - 50)
  })
  test('on PostgreSQL those that waited too long for others are refused, not storage blamed', async () => {
    if (!database) return
    told.length = 0
    const asked = await Promise.allSettled([1, 2, 3, 4].map(() => counting(2_000_000_000)))
    for (const one of asked) expect(one).toMatchObject({ status: 'rejected', reason: { status: 503 } })
    expect(told.filter(({ outcome }) => outcome === 'too_long').length).toBeGreaterThanOrEqual(3)
  })
})
