import { rmSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { spawnServer } from '@stockade/server/testing'
import { prepare } from '../packages/server/src/features/bans/append.sqlite.ts'
import { groupColumns } from '../packages/server/src/features/bans/columns/group.ts'
import type { ColumnsAsked } from '../packages/server/src/features/bans/columns/group.ts'
import type { ColumnFilter } from '../packages/server/src/features/bans/columns/hits.ts'
import { followSqlite } from '../packages/server/src/features/bans/columns/load.sqlite.ts'
import { packBatch } from '../packages/server/src/features/bans/packed.ts'
import { aRow, anAddress } from './bans.ts'
import { judge, say } from './report.ts'
import { databaseIn, seed } from './seed.ts'

/*
 * `npm run bench -- attackers`: what grouping bans by address costs on SQLite, without HTTP. CPU is that of the process, the best of
 * 15, so that other work on the machine counts little.
 */
const bans = process.env.BENCH === 'short' ? 100_000 : 1_000_000
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'stockade-attackers-'))
const day = 86_400_000
const cpu = (work: () => void): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
const best = (work: () => void): number => Math.min(...Array.from({ length: 15 }, () => cpu(work)))
const every: ColumnFilter = {
  servers: null,
  server: null,
  jail: null,
  country: null,
  asn: null,
  range: null,
  active: null,
  from: null,
  to: null,
  tree: null,
}
type Mix = Partial<Omit<ColumnsAsked, 'filter'>> & { readonly filter?: Partial<ColumnFilter> }
const mixes = (now: number): Readonly<Record<string, readonly [goal: number, asked: Mix]>> => ({
  all: [10, {}],
  'all, by bans': [10, { sort: 'bans' }],
  'all, by first ban': [10, { sort: 'first', descending: false }],
  'all, by servers': [30, { sort: 'servers' }],
  'all, page 100': [30, { offset: 4950 }],
  '24 hours': [10, { filter: { from: now - day } }],
  '7 days': [10, { filter: { from: now - 7 * day } }],
  '30 days': [10, { filter: { from: now - 30 * day } }],
  '7 days, by bans': [10, { filter: { from: now - 7 * day }, sort: 'bans' }],
  'one jail': [30, { filter: { jail: 1 } }],
  'one country': [30, { filter: { country: 2 } }],
  'one server': [30, { filter: { server: 3 } }],
  'five servers': [30, { filter: { servers: [1, 2, 3, 4, 5] } }],
  active: [30, { filter: { active: true } }],
})
/** Resident memory of a process in MB. */
const memoryOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

try {
  say(`seeding ${bans.toLocaleString('en')} bans`)
  const { dataDir, readKey } = await seed(folder, 20, bans)
  const server = await spawnServer({ dataDir })
  const read = async (path: string) => {
    const reply = await fetch(`http://127.0.0.1:${server.port}/api/v1${path}`, {
      headers: { authorization: `Bearer ${readKey}` },
    })
    await reply.text()
  }
  // What SQL keeps in memory for the same list is no memory of the columns.
  for (let n = 0; n < 5; n++) await read('/bans/attackers?q=no-ban-has-this')
  const before = memoryOf(server.pid)
  const began = performance.now()
  await read('/bans/attackers')
  say(`first list over HTTP, with loading: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  for (let n = 0; n < 20; n++) await read('/bans/attackers?sort=bans')
  const loaded = memoryOf(server.pid)
  await server.stop()
  say(`memory of the server: ${before.toFixed(0)} MB before, ${loaded.toFixed(0)} MB with the columns`)

  const file = databaseIn(dataDir)
  const db = new DatabaseSync(file)
  db.exec('pragma query_only = on; pragma cache_size = -4096')
  const loading: { followed: ReturnType<typeof followSqlite> | null } = { followed: null }
  say(`CPU to load: ${(cpu(() => (loading.followed = followSqlite(db))) / 1000).toFixed(2)} s`)
  const { followed } = loading
  if (!followed) throw new Error('The columns did not load.')
  const now = Date.now()
  const lines = Object.entries(mixes(now)).map(([name, [goal, { filter, ...asked }]]) => {
    const mix = { now, sort: 'last', descending: true, offset: 0, limit: 50, ...asked } as const
    return [
      name,
      goal,
      best(() => groupColumns(followed.columns, { ...mix, filter: { ...every, ...filter } })),
    ] as const
  })
  const writer = new DatabaseSync(file)
  writer.exec('pragma synchronous = off')
  const append = prepare(writer)
  const added = 20_000
  const write = cpu(() => {
    for (let done = 0; done < added; done += 50) {
      writer.exec('begin immediate')
      append(packBatch({ items: Array.from({ length: 50 }, () => aRow(1 + (done % 20), now, anAddress(), 600)), now }))
      writer.exec('commit')
    }
  })
  const follow = cpu(() => followed.catchUp())
  const settle = cpu(() => followed.columns.settle())
  say(`a ban: ${((write * 1000) / added).toFixed(1)} us in the writer, whether columns are loaded or not;`)
  say(
    `  while they are: ${((follow * 1000) / added).toFixed(1)} us to take it in and ${((settle * 1000) / (bans / 16)).toFixed(1)} us to sort it in, in the thread`,
  )
  judge(`memory of ${bans.toLocaleString('en')} bans, at most`, loaded - before, 60, ' MB')
  for (const [name, goal, found] of lines) judge(`CPU of a page: ${name}, at most`, found, goal, ' ms')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
