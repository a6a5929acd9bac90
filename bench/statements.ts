import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { spawnServer, startPostgres } from '@stockade/server/testing'
import type { SpawnedServer } from '@stockade/server/testing'
import { say } from './report.ts'

/*
 * `npm run bench -- statements`: what PostgreSQL does while a fleet lives and an operator looks at it, by `pg_stat_statements`: the statements
 * that took the most time, and those that were run most often. Two server processes; the agents are those of fleetsim.
 */

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '200' },
    'bans-per-second': { type: 'string', default: '5' },
    seconds: { type: 'string', default: '180' },
    rows: { type: 'string', default: '15' },
  },
})
/** What the dashboard asks for, each 5 s. */
const looks = [
  ...['/bans?limit=50', '/bans?active=true&limit=50', '/bans/attackers?limit=50', '/bans/stats?period=month'],
  ...['/servers?limit=100', '/bans/top?period=day', '/commands?limit=50', '/settings/audit?limit=50', '/alerts'],
]

const database = await startPostgres({ isDurable: true })
const servers: SpawnedServer[] = []
const client = new pg.Client({ connectionString: database.url })
try {
  const preloading = new pg.Client({ connectionString: database.url })
  await preloading.connect()
  await preloading.query("alter system set shared_preload_libraries = 'pg_stat_statements'")
  await preloading.end()
  await database.down()
  await database.up()
  await client.connect()
  await client.query('create extension pg_stat_statements')
  const options = { databaseUrl: database.url, env: { STOCKADE_LOG_LEVEL: 'warn' } }
  const first = await spawnServer(options)
  servers.push(first)
  const { client: admin } = await first.setUp()
  const { key } = await admin.call('POST /keys', { body: { name: 'statements', permissions: 'admin' } })
  servers.push(await spawnServer(options))
  const refused = new Map<string, number>()
  const look = async (path: string) => {
    const reply = await fetch(`${servers[1]?.url ?? ''}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
    await reply.text()
    if (!reply.ok) refused.set(path, reply.status)
  }
  for (const path of looks) await look(path)
  for (const [path, status] of refused) throw new Error(`${path} was answered by ${status}.`)

  const began = performance.now()
  const fleet = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('./fleet/main.ts', import.meta.url)),
      ...['--url', first.url, '--key', key, '--keep', '--agents', values.agents],
      ...['--bans-per-second', values['bans-per-second'], '--seconds', values.seconds],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  // The day of a fleet does not begin with its registration.
  fleet.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text)
    if (text.includes('registered in')) void client.query('select pg_stat_statements_reset()')
  })
  const ended = once(fleet, 'exit')
  const looking = setInterval(() => {
    for (const path of looks) look(path).catch(() => refused.set(path, 0))
  }, 5000)
  const [code] = (await ended) as [number | null]
  clearInterval(looking)
  const seconds = (performance.now() - began) / 1000
  if (code !== 0) throw new Error(`The fleet ended with ${String(code)}.`)
  for (const [path, status] of refused) throw new Error(`${path} was answered by ${status}.`)

  interface Statement {
    readonly calls: number
    readonly total: number
    readonly mean: number
    readonly longest: number
    readonly rows: number
    readonly blocks: number
    readonly query: string
  }
  const table = async (title: string, order: 'total' | 'calls') => {
    const { rows } = await client.query<Statement>(
      `select sum(calls)::int as calls, sum(total_exec_time) as total, sum(total_exec_time) / sum(calls) as mean,
          max(max_exec_time) as longest, sum(rows)::int as rows, sum(shared_blks_hit + shared_blks_read)::int as blocks, query
        from pg_stat_statements where query not like '%pg_stat_statements%' group by query order by ${order} desc limit $1`,
      [Number(values.rows)],
    )
    say()
    say(
      `${title.padEnd(20)}${['calls/min', 'ms/min', 'mean ms', 'max ms', 'rows/call', 'blocks/call'].map(name => name.padStart(12)).join('')}`,
    )
    for (const { calls, total, mean, longest, rows: found, blocks, query } of rows) {
      const figures = [(calls * 60) / seconds, (total * 60) / seconds, mean, longest, found / calls, blocks / calls]
      say(`${''.padEnd(20)}${figures.map(figure => figure.toFixed(2).padStart(12)).join('')}`)
      say(`  ${query.replace(/\s+/g, ' ').slice(0, 160)}`)
    }
  }
  const { rows: sums } = await client.query<{ calls: number; total: number }>(
    'select sum(calls)::int as calls, sum(total_exec_time) as total from pg_stat_statements',
  )
  say(
    `All statements: ${(((sums[0]?.calls ?? 0) * 60) / seconds).toFixed(0)} a minute, ${(((sums[0]?.total ?? 0) / seconds / 1000) * 100).toFixed(2)} % of a core`,
  )
  await table('by time', 'total')
  await table('by calls', 'calls')
} finally {
  await client.end().catch(() => {})
  for (const server of servers) await server.close()
  await database.stop()
}
