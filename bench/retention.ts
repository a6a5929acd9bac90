import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../packages/server/src/db/sqlite.ts'
import { appendBans } from '../packages/server/src/features/bans/append.ts'
import { createRetention } from '../packages/server/src/features/retention/retention.service.ts'
import { aRow } from './bans.ts'
import { ratio, say } from './report.ts'
import { databaseIn, seed } from './seed.ts'

/*
 * `npm run bench -- retention`: what retention costs those who write meanwhile. Writers put batches of 32 bans, 16 ms apart,
 * once alone and once while everything older than a day is removed.
 */
const bans = process.env.BENCH === 'short' ? 60_000 : 300_000
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'stockade-retention-'))
const at = (times: readonly number[], share: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0

try {
  say(`seeding ${bans.toLocaleString('en')} bans of 30 days`)
  const seeded = await seed(folder, 20, bans)
  const db = await openSqlite(databaseIn(seeded.dataDir))
  const write = async (until: () => boolean) => {
    const times: number[] = []
    while (!until()) {
      const items = Array.from({ length: 32 }, (_, index) => aRow(1 + (index % 20), Date.now()))
      const began = performance.now()
      await db.run(appendBans, { items, now: Date.now() })
      times.push(performance.now() - began)
      await new Promise(resolve => setTimeout(resolve, 16))
    }
    return times
  }
  const count = async () =>
    Number(
      (
        await db.read
          .selectFrom('bans')
          .select(eb => eb.fn.countAll<number>().as('n'))
          .executeTakeFirst()
      )?.n ?? 0,
    )
  const before = await count()
  const started = performance.now()
  const retention = createRetention({ db, clock: Date.now, banDays: 1, eventDays: 1, log: { info() {} } })
  let running = true
  const began = performance.now()
  const alone = await write(() => performance.now() - began > 5000)
  const work = retention.run().finally(() => (running = false))
  const beside = await write(() => !running)
  await work
  const seconds = (performance.now() - started) / 1000 - 5
  say(
    `a batch alone: p50 ${at(alone, 0.5).toFixed(1)} ms, p99 ${at(alone, 0.99).toFixed(1)} ms; beside retention: p50 ${at(beside, 0.5).toFixed(1)} ms, p99 ${at(beside, 0.99).toFixed(1)} ms`,
  )
  say(
    `p99 beside to alone ${ratio(at(beside, 0.99), at(alone, 0.99))}; removed ${Math.round((before + alone.length * 32 + beside.length * 32 - (await count())) / seconds).toLocaleString('en')} a second`,
  )
  await db.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
