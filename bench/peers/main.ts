import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { aHost, spawnServer, startPostgres } from '@stockade/server/testing'
import type { Load, Measured } from '../load.ts'
import { applyLoad } from '../programs.ts'
import { head, inTurn, lineOf, print, ratio, say } from '../report.ts'
import { startLapi, versionOfLapi } from './lapi.ts'
import type { LapiStorage } from './lapi.ts'

/*
 * `npm run bench -- peers`: one reported ban with its log lines, acknowledged, and one heartbeat: Stockade and CrowdSec's local API in turn,
 * on the same machine in the same minutes, by the same generator. `BENCH=short` takes a minute. Generator, databases and servers share
 * the cores, so rates are those of a whole small machine; the CPU is that of the server's process, without that of PostgreSQL.
 */

const short = process.env.BENCH === 'short'
const rounds = short ? 1 : 3
const timing = { seconds: short ? 1.5 : 4, warmUp: short ? 0.5 : 1, spin: false }
const callers = [1, 16, 64]

interface Subject {
  readonly name: string
  readonly pid: number
  readonly report: Pick<Load, 'port' | 'pid' | 'tokens' | 'method' | 'body' | 'paths' | 'expect'>
  readonly heartbeat: Subject['report']
  stop(): Promise<void>
}
const aLapi = async (name: string, storage: LapiStorage): Promise<Subject> => {
  const { port, pid, token, stop } = await startLapi(storage)
  const to = { port, pid: pid(), tokens: [token()] }
  return {
    ...{ name, pid: pid(), stop },
    report: { ...to, method: 'POST', body: 'alert of the peer', paths: ['/v1/alerts'], expect: 201 },
    heartbeat: { ...to, method: 'GET', body: null, paths: ['/v1/heartbeat'], expect: 200 },
  }
}
const aStockade = async (name: string, databaseUrl?: string): Promise<Subject> => {
  const env = { STOCKADE_LOG_LEVEL: 'fatal', STOCKADE_RATE_LIMIT: '0' }
  const server = await spawnServer(databaseUrl === undefined ? { env } : { env, databaseUrl })
  try {
    const { client } = await server.setUp()
    const hosts = await Promise.all(Array.from({ length: 20 }, (_, index) => aHost(server, client, `bench-${index}`)))
    const to = { port: server.port, pid: server.pid, tokens: hosts.map(({ key }) => key), method: 'POST' } as const
    return {
      ...{ name, pid: server.pid, stop: () => server.close() },
      report: { ...to, body: 'report with random id', paths: ['/api/v1/bans'], expect: 201 },
      heartbeat: { ...to, body: 'heartbeat', paths: ['/api/v1/servers/heartbeat'], expect: 200 },
    }
  } catch (error) {
    await server.close()
    throw error
  }
}
const residentOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const postgres = await startPostgres({ isDurable: true })
const subjects: Subject[] = []
try {
  // One after the other, so that those that run are stopped when the next one does not start.
  for (const start of [
    () => aLapi('LAPI, durable', 'durable'),
    () => aLapi('LAPI, WAL', 'wal'),
    () => aStockade('Stockade, SQLite'),
    () => aStockade('Stockade, PostgreSQL', postgres.url),
  ])
    subjects.push(await start())
  say(`LAPI ${versionOfLapi()}, Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}`)
  say(`Medians of ${rounds} round(s) of ${timing.seconds} s.${short ? ' Short setting: a first look only.' : ''}`)
  say(`Other work on this machine: load ${(loadavg()[0] ?? 0).toFixed(1)} at the start.`)
  const atStart = subjects.map(({ pid }) => residentOf(pid))
  const measured = new Map<string, Measured[]>()
  const note = async (key: string, load: Load) => {
    measured.set(key, [...(measured.get(key) ?? []), await applyLoad(load, 'any')])
  }
  // All are warm before one is measured.
  for (const { report } of subjects)
    await applyLoad({ ...timing, ...report, connections: 16, seconds: short ? 1 : 4 }, 'any')
  for (let round = 0; round < rounds; round++)
    for (const connections of callers)
      for (const { name, report, heartbeat } of subjects) {
        await note(`${name} report ${connections}`, { ...timing, ...report, connections })
        await note(`${name} heartbeat ${connections}`, { ...timing, ...heartbeat, connections })
      }
  const rates = (key: string) => (measured.get(key) ?? []).map(({ done, seconds }) => done / seconds)
  const peers = subjects.filter(({ name }) => name.startsWith('LAPI'))
  for (const kind of ['report', 'heartbeat'])
    for (const connections of callers) {
      head(`${kind}, ${connections} callers`, ...['refused', ...peers.map(({ name }) => name.replace('LAPI, ', 'x '))])
      for (const { name } of subjects) {
        const key = (of: string) => `${of} ${kind} ${connections}`
        const line = lineOf(name, measured.get(key(name)) ?? [])
        const done = (measured.get(key(name)) ?? []).reduce((sum, round) => sum + round.done, 0)
        print(
          line,
          `${((100 * line.errors) / Math.max(1, line.errors + done)).toFixed(1)} %`,
          ...peers.map(peer => inTurn(rates(key(name)), rates(key(peer.name)))),
        )
      }
    }
  say()
  for (const [index, { name, pid }] of subjects.entries())
    say(
      `memory of ${name}: ${(atStart[index] ?? 0).toFixed(0)} MB at the start, ${residentOf(pid).toFixed(0)} MB after load (x ${ratio(residentOf(pid), atStart[index] ?? 0)})`,
    )
} finally {
  for (const { stop } of subjects) await stop()
  await postgres.stop()
}
