import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { aHost, spawnServer, startPostgres } from '@stockade/server/testing'
import type { SpawnedServer } from '@stockade/server/testing'
import { aRow, anAddress } from './bans.ts'
import { cpuOfTree } from './processes.ts'
import type { Measured } from './load.ts'
import { applyLoad } from './programs.ts'
import { judge, median, say } from './report.ts'

/*
 * `npm run bench -- postgres`: reported bans on a PostgreSQL that waits for its disk, by one process and by two that share it, beside
 * single multi-row inserts into a plain table. `BENCH=short` takes half a minute. The server, PostgreSQL and the generator share
 * the cores, so rates are those of a whole small machine.
 */

const short = process.env.BENCH === 'short'
const rounds = short ? 1 : 3
const cores = availableParallelism()
const timing = { seconds: short ? 2 : 5, warmUp: short ? 1 : 2 }

const database = await startPostgres({ isDurable: true })
const servers: SpawnedServer[] = []
try {
  const options = { databaseUrl: database.url, env: { STOCKADE_LOG_LEVEL: 'fatal', STOCKADE_RATE_LIMIT: '0' } }
  const first = await spawnServer(options)
  servers.push(first)
  const { client } = await first.setUp()
  servers.push(await spawnServer(options))
  const hosts = await Promise.all(Array.from({ length: 20 }, (_, index) => aHost(first, client, `bench-${index}`)))
  const tokens = hosts.map(({ key }) => key)

  const applied = async (targets: readonly SpawnedServer[], connections: number) => {
    const before = cpuOfTree(database.pid())
    const parts = await Promise.all(
      targets.map(({ port, pid }) =>
        applyLoad(
          {
            ...{ ...timing, port, pid, tokens, connections: connections / targets.length, spin: false },
            ...{ method: 'POST', body: 'report with random id', paths: ['/api/v1/bans'], expect: 201 },
          },
          'any',
        ),
      ),
    )
    // The warm-up is work too.
    const share = timing.seconds / (timing.seconds + timing.warmUp)
    return { parts, database: (cpuOfTree(database.pid()) - before) * share }
  }
  /** Multi-row inserts into a table like that of bans, one after the other: what PostgreSQL can do at most for one client. */
  const rawRate = async (rows: number): Promise<number> => {
    const raw = new pg.Client({ connectionString: database.url })
    await raw.connect()
    try {
      await raw.query('create table if not exists bench_bans (like bans including all)')
      const started = performance.now()
      let written = 0
      while (performance.now() - started < timing.seconds * 1000) {
        const made = Array.from({ length: rows }, () => aRow(1, Date.now(), anAddress()))
        await raw.query({
          name: `raw ${rows}`,
          text: `insert into bench_bans (server_no, jail_id, country_id, ip, banned_at, ban_duration, log_lines, event_id)
            select 1, 1, 1, * from unnest($1::bytea[], $2::bigint[], $3::int[], $4::text[], $5::bytea[])`,
          values: [
            made.map(({ ip }) => Buffer.from(ip)),
            made.map(({ bannedAt }) => bannedAt),
            made.map(({ duration }) => duration),
            made.map(({ logLines }) => logLines),
            made.map(({ eventId }) => Buffer.from(eventId)),
          ],
        })
        written += rows
      }
      return written / ((performance.now() - started) / 1000)
    } finally {
      await raw.query('drop table if exists bench_bans')
      await raw.end()
    }
  }

  const goals = [
    { connections: 1, processes: 1, rate: 800, p50: 1.2 },
    { connections: 16, processes: 1, rate: 6000, p50: 2.5 },
    { connections: 64, processes: 1, rate: null, p50: null },
    { connections: 64, processes: 2, rate: 10_000, p50: null },
  ]
  for (const { connections, processes, rate, p50 } of goals) {
    const rates: number[] = []
    const cpus: number[] = []
    const databaseCpus: number[] = []
    const generatorCpus: number[] = []
    const medians: number[] = []
    const tails: number[] = []
    let errors = 0
    for (let round = 0; round < rounds; round++) {
      const { parts, database: cpu } = await applied(servers.slice(0, processes), connections)
      const sum = (of: (part: Measured) => number) => parts.reduce((total, part) => total + of(part), 0)
      const done = sum(part => part.done)
      if (done === 0) throw new Error(`No ban was taken by ${connections} callers: ${parts[0]?.firstError ?? ''}`)
      rates.push(sum(part => part.done / part.seconds))
      cpus.push((sum(part => part.cpuSeconds) * 1e6) / done)
      databaseCpus.push((cpu * 1e6) / done)
      generatorCpus.push((sum(part => part.ownCpuSeconds) * 1e6) / done)
      medians.push(Math.max(...parts.map(part => part.p50)))
      tails.push(Math.max(...parts.map(part => part.p99)))
      errors += sum(part => part.errors)
    }
    const name = `${connections} callers, ${processes === 1 ? 'one process' : `${processes} processes`}`
    say(
      `${name}: ${Math.round(median(rates))} bans a second, p50 ${median(medians).toFixed(2)} ms, p99 ${median(tails).toFixed(1)} ms, ` +
        `CPU ${median(cpus).toFixed(0)} us of the server, ${median(databaseCpus).toFixed(0)} us of PostgreSQL and ${median(generatorCpus).toFixed(0)} us of the generator, ${errors} errors`,
    )
    const each = median(cpus) + median(databaseCpus) + median(generatorCpus)
    say(
      `  ${each.toFixed(0)} us of CPU a ban: ${cores} cores that never wait do ${Math.round((cores * 1e6) / each)} a second`,
    )
    if (rate !== null) judge(`${name}, bans a second, at least`, median(rates), rate)
    if (p50 !== null) judge(`${name}, p50, at most`, median(medians), p50, ' ms')
    const limit = await rawRate(connections)
    say(
      `  plain inserts of ${connections} rows at a time: ${Math.round(limit)} a second; the server makes ${(median(rates) / limit).toFixed(2)} of it`,
    )
  }
} finally {
  for (const server of servers) await server.close()
  await database.stop()
}
