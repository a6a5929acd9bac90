import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { freshDatabase } from '../testing/index.ts'
import { mostScans } from './database.ts'
import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

describe('long reads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-scan-'))
  const longest = 500
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let db: Database
  beforeAll(async () => {
    database = await freshDatabase()
    db = database ? await openPostgres(database.url, () => {}, longest) : await openSqlite(join(folder, 'db'), longest)
  })
  afterAll(async () => {
    await db.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })
  /** Counts up to a number, which takes as long as the number is large. */
  const counting = async (to: number) => {
    const { rows } = await sql<{
      n: number
    }>`with recursive up(n) as (select 1 union all select n + 1 from up where n < ${sql.lit(to)})
      select max(n) as n from up`.execute(db.scan)
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
    expect(await counting(5)).toBe(5)
  })
  test('too many at once are refused, none is left without an answer', async () => {
    const asked = await Promise.allSettled(Array.from({ length: mostScans + 10 }, () => counting(1000)))
    expect(asked.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
    expect(asked.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(mostScans)
  })
})
