import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '@stockade/server/testing'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { openPostgres } from '../packages/server/src/db/postgres.ts'
import { appendBans } from '../packages/server/src/features/bans/append.ts'
import { createRetention } from '../packages/server/src/features/retention/retention.service.ts'
import { aRow } from './bans.ts'
import { cpuOfTree } from './processes.ts'
import { say } from './report.ts'

/*
 * `npm run bench -- retention-postgres`: what it costs PostgreSQL to remove the oldest of twelve months, and what those notice who report
 * bans meanwhile: a batch of 32 bans each 20 ms. `--bans 5000000` for a larger table.
 */
const { values } = parseArgs({ options: { bans: { type: 'string', default: '1000000' } } })
const bans = Number(values.bans)
const day = 86_400_000
const at = (times: readonly number[], share: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0

const database = await startPostgres({ isDurable: true })
try {
  const db = await openPostgres(database.url, () => {})
  await migrate(db)
  const seeding = new pg.Client({ connectionString: database.url })
  await seeding.connect()
  const ask = async (sql: string, ...parameters: unknown[]) =>
    (await seeding.query<Record<string, number>>(sql, parameters)).rows[0] ?? {}
  const now = Date.now()
  say(`seeding ${bans.toLocaleString('en')} bans of 365 days`)
  await seeding.query("insert into jails (name) select 'jail-' || n from generate_series(1, 9) n")
  await seeding.query("insert into countries (code) select 'C' || n from generate_series(1, 30) n")
  await seeding.query(
    `insert into bans (server_no, jail_id, country_id, ip, banned_at, ban_duration, unbanned_at, asn, log_lines, event_id)
      select 1 + floor(random() * 20)::int, 1 + floor(random() * 9)::int, 1 + floor(random() * 30)::int,
        case when random() < 0.33 then decode(lpad(to_hex(184549376 + floor(random() * 100000)::int), 8, '0'), 'hex')
          else decode(lpad(to_hex(251658240 + floor(random() * 1000000000)::int), 8, '0'), 'hex') end,
        at, 3600, at + 3600000, 1000 + floor(random() * 2000)::int, repeat('Failed password for invalid user admin ', 10),
        decode(lpad(to_hex(at), 12, '0') || substr(md5(random()::text), 1, 20), 'hex')
      from (select $1::bigint - floor(365.0 * 86400000 * (1 - n::float8 / $2))::bigint as at from generate_series(1, $2::int) n) as times`,
    [now, bans],
  )
  await seeding.query(
    "insert into events (at, name, server_no, ban_id) select banned_at, 'ban.report', server_no, id from bans order by id",
  )
  // What waits for the sums is read as a whole, so it must not be much.
  for (let from = 0; from < bans; from += 20_000) {
    await seeding.query(
      `insert into unsummed_bans select id, server_no, jail_id, country_id, ip, banned_at from bans where id > $1 and id <= $1 + 20000`,
      [from],
    )
    await db.run(appendBans, { items: [], now })
  }
  // The bans of the last month hold.
  const month = now - 30 * day
  await ask('update bans set unbanned_at = null, ban_duration = 8640000 where banned_at > $1', month)
  await ask(
    `insert into active_bans select banned_at, id, server_no, jail_id, country_id, ip, prefix, banned_at + 8640000000 from bans
      where banned_at > $1`,
    month,
  )
  await ask('vacuum analyze')
  await ask('checkpoint')

  const write = async (until: () => boolean) => {
    const times: number[] = []
    while (!until()) {
      const items = Array.from({ length: 32 }, (_, index) => aRow(1 + (index % 20), Date.now()))
      const began = performance.now()
      await db.run(appendBans, { items, now: Date.now() })
      times.push(performance.now() - began)
      await new Promise(resolve => setTimeout(resolve, Math.max(0, 20 - (performance.now() - began))))
    }
    return times
  }
  const state = async () => {
    const found = await ask(
      `select (select wal_bytes from pg_stat_wal) as wal, (select wal_fpi from pg_stat_wal) as images,
        pg_total_relation_size('bans') as ban_bytes, pg_total_relation_size('events') as event_bytes`,
    )
    return { ...found, cpu: cpuOfTree(database.pid()) }
  }
  const megabytes = (bytes = 0) => `${(bytes / 1e6).toFixed(1)} MB`
  const measured = async (name: string, banDays: number, eventDays: number) => {
    let removed: Readonly<Record<string, number>> = {}
    const info = (facts: object) => (removed = { ...facts })
    const retention = createRetention({ db, clock: Date.now, banDays, eventDays, log: { info } })
    const before: Record<string, number> = await state()
    const began = performance.now()
    await retention.run()
    const seconds = (performance.now() - began) / 1000
    const after: Record<string, number> = await state()
    const { bans: goneBans = 0, events: goneEvents = 0 } = removed
    const by = (key: string) => (after[key] ?? 0) - (before[key] ?? 0)
    const ofRow = (sum: number) => (sum / (goneBans + goneEvents)).toFixed(0)
    say(
      `${name}: ${goneBans} bans and ${goneEvents} events in ${seconds.toFixed(1)} s, WAL ${megabytes(by('wal'))} (${ofRow(by('wal'))} bytes a row, ` +
        `${by('images')} page images), CPU of PostgreSQL ${by('cpu').toFixed(1)} s (${ofRow(by('cpu') * 1e6)} us a row); ` +
        `bans ${megabytes(after.ban_bytes)}, events ${megabytes(after.event_bytes)}`,
    )
  }
  await measured('bans of a month, nobody else', 365 - 30.4, 366)
  await measured('events of a month, nobody else', 366, 365 - 30.4)
  const began = performance.now()
  const alone = await write(() => performance.now() - began > 10_000)
  let running = true
  const work = measured('one more month of both, while bans are reported', 365 - 60.8, 365 - 60.8).finally(
    () => (running = false),
  )
  const beside = await write(() => !running)
  await work
  for (const [name, times] of [
    ['alone', alone],
    ['beside retention', beside],
  ] as const)
    say(
      `a batch ${name}: p50 ${at(times, 0.5).toFixed(1)} ms, p99 ${at(times, 0.99).toFixed(1)} ms, worst ${at(times, 1).toFixed(1)} ms of ${times.length}`,
    )
  const vacuumed = performance.now()
  const before: Record<string, number> = await state()
  await ask('vacuum bans')
  await ask('vacuum events')
  const after: Record<string, number> = await state()
  say(
    `vacuum of both: ${((performance.now() - vacuumed) / 1000).toFixed(1)} s, WAL ${megabytes((after.wal ?? 0) - (before.wal ?? 0))}`,
  )
  await seeding.end()
  await db.close()
} finally {
  await database.stop()
}
