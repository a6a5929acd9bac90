import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { spawnServer } from '@stockade/server/testing'
import { applyLoad } from './programs.ts'
import { head, judge, lineOf, print, say } from './report.ts'
import { grow, seed } from './seed.ts'
import type { Seeded } from './seed.ts'

/*
 * `npm run bench -- memory`: resident memory of the server with the memory options of a release, on SQLite: at its start with 5 hosts, after
 * load and a minute later, and the same with 1,000 hosts and a million bans; and when a server with that many bans is ready. `BENCH=long`: ten million bans;
 * `BENCH=short`: 20 hosts and 100,000 bans.
 */

const setting = process.env.BENCH
const hosts = setting === 'short' ? 20 : 1000
const bans = setting === 'long' ? 10_000_000 : setting === 'short' ? 100_000 : 1_000_000
const seconds = setting === 'short' ? 2 : 10
/** Megabytes at rest, and with many hosts after load; milliseconds until a server with many bans is ready. */
const goals = { atStart: 120, afterLoad: 150, ready: 1000 }
/** What the start and a load leave is given back after a while (`core/memory.ts`). */
const settleSeconds = { start: 20, load: 60 }

const memoryOf = (pid: number): number => {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes === undefined ? NaN : Number(kilobytes) / 1024
}

/** Starts a server on these data, applies load, and judges what it held before and after. */
const measure = async (
  title: string,
  { dataDir, hostKeys, readKey }: Seeded,
  most: { start: number; load: number },
) => {
  const began = performance.now()
  const server = await spawnServer({ dataDir })
  const ready = performance.now() - began
  try {
    await pause(settleSeconds.start * 1000)
    const atStart = memoryOf(server.pid)
    const load = { port: server.port, pid: server.pid, connections: 64, seconds, warmUp: 1, spin: false } as const
    const reports = await applyLoad(
      { ...load, method: 'POST', body: 'report', paths: ['/api/v1/bans'], tokens: hostKeys, expect: 201 },
      'any',
    )
    const heartbeats = await applyLoad(
      {
        ...{ ...load, method: 'POST', body: 'heartbeat', paths: ['/api/v1/servers/heartbeat'] },
        ...{ tokens: hostKeys, expect: 200 },
      },
      'any',
    )
    const pages = await applyLoad(
      {
        ...{ ...load, connections: 4, method: 'GET', body: null, tokens: [readKey], expect: 200 },
        paths: ['/api/v1/bans', '/api/v1/bans/attackers', '/api/v1/servers', '/api/v1/bans/stats?period=month'],
      },
      'any',
    )
    const afterLoad = memoryOf(server.pid)
    await pause(settleSeconds.load * 1000)
    const later = memoryOf(server.pid)
    head(title)
    for (const [name, measured] of Object.entries({ reports, heartbeats, pages })) print(lineOf(name, [measured]))
    say(
      `  ready after ${ready.toFixed(0)} ms, ${atStart.toFixed(0)} MB at the start, ${afterLoad.toFixed(0)} MB after the load, ${later.toFixed(0)} MB a minute later`,
    )
    judge(`memory at the start, ${title}, at most`, atStart, most.start, ' MB')
    judge(`memory after load, ${title}, at most`, afterLoad, most.load, ' MB')
    return ready
  } finally {
    await server.stop()
  }
}

const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'stockade-memory-'))
try {
  const few = await seed(join(folder, 'few'), 5, 0)
  await measure('5 hosts', few, { start: goals.atStart, load: goals.afterLoad })
  say(`making ${hosts} hosts and ${bans.toLocaleString('en')} bans`)
  const many = grow(await seed(join(folder, 'base'), hosts, 0), join(folder, 'many'), bans)
  const title = `${hosts.toLocaleString('en')} hosts, ${bans.toLocaleString('en')} bans`
  const ready = await measure(title, many, { start: goals.afterLoad, load: goals.afterLoad })
  judge(`ready with ${bans.toLocaleString('en')} bans, at most`, ready, goals.ready, ' ms')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
