import { randomUUID } from 'node:crypto'
import { loadavg } from 'node:os'
import { aHost, raw, spawnServer } from '@stockade/server/testing'
import { cpuOf, heldBy } from './processes.ts'
import { judge, say } from './report.ts'

/*
 * `npm run bench -- enrolment`: 10,000 hosts enrol with one token, ten at a time, half of them with one name; then 20 callers want the last places, and
 * 2,000 more are refused. On SQLite. `BENCH=short`: 500 hosts and 100 refusals.
 */

const short = process.env.BENCH === 'short'
const total = short ? 500 : 10_000
const step = total / 10
const wantedAtLast = 50
const refusals = short ? 100 : 2000

const env = { STOCKADE_LOG_LEVEL: 'fatal', STOCKADE_RATE_LIMIT: '0', STOCKADE_RATE_LIMIT_SENSITIVE: '0' }
const server = await spawnServer({ env })
const memory = () => `${(heldBy(server.pid)?.megabytes ?? NaN).toFixed(0)} MB`
try {
  const { client } = await server.setUp()
  await aHost(server, client, 'rack')
  const body = { name: 'bench', servers: total, seconds: 86_400, tags: ['rack'] }
  const { id, token } = await client.call('POST /servers/enrolment-tokens', { body })
  const keys = new Set<string>()
  const statuses = new Map<number, number>()
  let next = 0
  const enrol = async () => {
    const n = next++
    const { status, json } = await raw(server, 'POST', '/api/v1/agent/enroll', {
      body: {
        ...{ token, hostname: n % 2 ? 'rack' : `rack-${n}`, agent_id: randomUUID() },
        machine: n.toString(16).padStart(32, '0'),
      },
    })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status === 201) keys.add((json as { api_key: string }).api_key)
  }
  /** So many attempts, by several callers. */
  const attempt = (count: number, callers: number) => {
    const end = next + count
    const call = async () => {
      while (next < end) await enrol()
    }
    return Promise.all(Array.from({ length: callers }, call))
  }
  say(`Load ${(loadavg()[0] ?? 0).toFixed(1)} at the start, ${memory()}.`)
  const began = performance.now()
  const costs: number[] = []
  while (next < total - wantedAtLast) {
    const [from, cpu] = [performance.now(), cpuOf(server.pid)]
    const count = Math.min(step, total - wantedAtLast - next)
    await attempt(count, 10)
    const seconds = (performance.now() - from) / 1000
    costs.push(((cpuOf(server.pid) - cpu) * 1000) / count)
    say(
      `  ${next} hosts: ${seconds.toFixed(1)} s for ${count}, ${(costs.at(-1) ?? 0).toFixed(1)} ms of CPU each, ${memory()}`,
    )
  }
  await attempt(2 * wantedAtLast, 20)
  say(`  all: ${((performance.now() - began) / 1000).toFixed(1)} s, ${memory()}`)
  await attempt(refusals, 10)
  const names = new Set<string>()
  for (let page = 1; ; page++) {
    const { servers } = await client.call('GET /servers', { query: { limit: 100, page } })
    if (servers.length === 0) break
    for (const { hostname } of servers) names.add(hostname.toLowerCase())
  }
  const { used, refused } = await client.call('GET /servers/enrolment-tokens/{id}', { params: { id } })
  say(
    `  ${statuses.get(201) ?? 0} enrolled, ${statuses.get(409) ?? 0} refused; the token counts ${used} and ${refused}`,
  )
  // With the host that was there before.
  judge('names that differ', names.size, total + 1)
  judge('keys that differ', keys.size, total)
  judge('enrolled, at most', statuses.get(201) ?? NaN, total)
  judge('CPU of the last tenth over that of the second, at most', (costs.at(-1) ?? NaN) / (costs[1] ?? NaN), 3)
} finally {
  await server.close()
}
