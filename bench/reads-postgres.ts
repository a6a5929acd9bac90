import { cpus } from 'node:os'
import pg from 'pg'
import { spawnServer, startPostgres } from '@stockade/server/testing'
import { openPostgres } from '../packages/server/src/db/postgres.ts'
import { appendBans } from '../packages/server/src/features/bans/append.ts'
import { judgeReads } from './goals.ts'
import { createMeasurements } from './measurements.ts'
import type { Note } from './measurements.ts'
import { cpuOfTree } from './processes.ts'
import { applyLoad } from './programs.ts'
import { measureReads, printReads, readLines } from './reads.ts'
import { say } from './report.ts'
import { addFleet, bansOfMonth } from './seed.ts'

/*
 * `npm run bench -- reads-postgres`: what is read from a million bans on PostgreSQL, with the same requests and goals as on SQLite. CPU is
 * that of the server and of PostgreSQL together. `BENCH=short` reads from 100,000 bans; `BENCH=long` from ten million, which take
 * half an hour and 12 GB to make.
 */

const short = process.env.BENCH === 'short'
const long = process.env.BENCH === 'long'
const hosts = 20
const bans = short ? 100_000 : long ? 10_000_000 : 1_000_000
const setting = short ? { rounds: 1, seconds: 0.5 } : { rounds: 3, seconds: 2 }

const database = await startPostgres({ isDurable: true })
const options = { databaseUrl: database.url, env: { STOCKADE_LOG_LEVEL: 'fatal', STOCKADE_RATE_LIMIT: '0' } }
/** What autovacuum would have done of a table that grew over a month. */
const vacuum = async (): Promise<void> => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('vacuum (analyze)')
  await client.end()
}

try {
  say(`Node ${process.versions.node}, PostgreSQL, ${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}`)
  const first = await spawnServer(options)
  const fleet = await addFleet(first, hosts).finally(() => first.close())

  say(`seeding ${bans.toLocaleString('en')} bans`)
  const db = await openPostgres(database.url, () => {})
  const now = Date.now()
  const started = performance.now()
  const noBans = { items: [], now }
  let unsummed = 0
  for (const items of bansOfMonth(hosts, bans, now)) {
    await db.run(appendBans, { items, now })
    unsummed += items.length
    // What waits for the sums is read as a whole, so it must not be much.
    if (unsummed < 20_000) continue
    await db.run(appendBans, noBans)
    unsummed = 0
  }
  await db.run(appendBans, noBans)
  await db.close()
  await vacuum()
  say(`seeded in ${((performance.now() - started) / 1000).toFixed(0)} s`)

  const measurements = createMeasurements()
  const note: Note = async (name, load) => {
    const before = cpuOfTree(database.pid())
    const measured = await applyLoad(load)
    // The warm-up is work too.
    const share = load.seconds / (load.seconds + load.warmUp)
    const cpuSeconds = measured.cpuSeconds + (cpuOfTree(database.pid()) - before) * share
    measurements.add(name, { ...measured, cpuSeconds })
  }
  const server = await spawnServer(options)
  try {
    const reads = readLines(await measureReads(fleet, server, setting, note), measurements.line)
    printReads(reads, bans)
    say()
    judgeReads(reads)
  } finally {
    await server.close()
  }
} finally {
  await database.stop()
}
