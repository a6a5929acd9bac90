import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnServer } from '@stockade/server/testing'
import { judgeHeartbeats, judgeReads, judgeReports } from './goals.ts'
import type { Load } from './load.ts'
import { createMeasurements } from './measurements.ts'
import type { Inserted, Mode } from './inserts.ts'
import type { Synced } from './disk.ts'
import { applyLoad, coresApart, insertRows, moveTo, startEcho, syncDisk } from './programs.ts'
import { head, inTurn, judge, median, paired, print, printRows, ratio, say, spread } from './report.ts'
import type { Core } from './programs.ts'
import { measureReads, printReads, readLines } from './reads.ts'
import { databaseIn, grow, seed } from './seed.ts'
import type { Seeded } from './seed.ts'

/*
 * `npm run bench -- all`: the hot paths against what this machine can do at most, in one run. Absolute rates are this machine's
 * on this day; the ratios and the CPU a request are what to compare. `BENCH=short` takes a minute and is good for a
 * first look only; `BENCH=targets` takes seven and measures only what is promised of writing; `BENCH=long` reads from ten million bans, which take ten minutes and 8 GB to make.
 */

const short = process.env.BENCH === 'short'
const long = process.env.BENCH === 'long'
const targets = process.env.BENCH === 'targets'
/** Totals, for one, must not depend on it: `BENCH_HOSTS=3000` takes two minutes more to make. */
const hosts = Number(process.env.BENCH_HOSTS ?? 20)
const setting = short
  ? { rounds: 1, pairs: 1, seconds: 1.5, warmUp: 0.5, compile: 2, hosts, before: 20_000, bans: 100_000 }
  : {
      rounds: 3,
      pairs: 3,
      seconds: 4,
      warmUp: 1,
      compile: 6,
      hosts,
      before: 100_000,
      bans: long ? 10_000_000 : 1_000_000,
    }
const callers = targets ? [64] : [1, 16, 64]
/** At so many the targets are set: these are measured `pairs` times a round, echo, server and raw inserts in turn. */
const most = 64
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'stockade-bench-'))

const measurements = createMeasurements()
const { line } = measurements
const note = async (name: string, load: Load, core?: Core) => measurements.add(name, await applyLoad(load, core))

const serve = async <T>(dataDir: string, work: (server: { port: number; pid: number }) => Promise<T>) => {
  // BENCH_PROFILE names a folder for CPU profiles of the server and its writer, to see where the time goes.
  const profile = process.env.BENCH_PROFILE
  const env: Record<string, string> = profile ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` } : {}
  const server = await spawnServer({ dataDir, env })
  moveTo('server', server.pid)
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}
/** A server on a copy of the folder, so that each round starts from the same rows. */
const withServer = async <T>(seeded: Seeded, work: (server: { port: number; pid: number }) => Promise<T>) => {
  const dataDir = mkdtempSync(join(folder, 'round-'))
  cpSync(seeded.dataDir, dataDir, { recursive: true })
  try {
    return await serve(dataDir, work)
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

const timing = { seconds: setting.seconds, warmUp: setting.warmUp, spin: coresApart }
/** Rows by batch size; those beside a server that is not pinned stand apart. */
type Raw = Record<Mode, Map<number | 'any', Inserted[]>>
const writes = async (seeded: Seeded) => {
  const raw: Raw = { row: new Map(), all: new Map(), plain: new Map() }
  const disk: Synced[] = []
  const echo = await startEcho()
  const toEcho = {
    ...timing,
    port: echo.port,
    pid: echo.pid,
    method: 'POST',
    paths: ['/'],
    tokens: [],
    expect: 201,
  } as const
  const plain = join(folder, 'plain.sqlite3')
  await insertRows(plain, 'plain', 1000, 0, setting.hosts, setting.before)
  const insert = async (mode: Mode, group: number, under: number | 'any' = group) => {
    const file = join(folder, 'raw.sqlite3')
    cpSync(mode === 'plain' ? plain : databaseIn(seeded.dataDir), file)
    const done = await insertRows(file, mode, group, setting.seconds, setting.hosts)
    raw[mode].set(under, [...(raw[mode].get(under) ?? []), done])
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  }
  for (let round = 0; round < setting.rounds; round++) {
    say(`round ${round + 1} of ${setting.rounds}`)
    disk.push(await syncDisk(join(folder, 'disk'), 1))
    await withServer(seeded, async ({ port, pid }) => {
      const toServer = { ...timing, port, pid, method: 'POST', tokens: seeded.hostKeys } as const
      const bans = { ...toServer, body: 'report', paths: ['/api/v1/bans'], expect: 201 } as const
      const beats = {
        ...toServer,
        connections: 16,
        body: 'heartbeat',
        paths: ['/api/v1/servers/heartbeat'],
        expect: 200,
      } as const
      // A server that has just started compiles its hot code; nobody's server has just started.
      for (const load of [
        { ...bans, connections: most },
        beats,
        { ...toEcho, connections: most, body: 'report' } as const,
      ])
        await applyLoad({ ...load, seconds: setting.compile })
      for (const connections of callers) {
        for (let pair = 0; pair < (connections === most ? setting.pairs : 1); pair++) {
          await note(`echo ${connections}`, { ...toEcho, connections, body: 'report' })
          await note(`bans ${connections}`, { ...bans, connections })
          await insert('plain', connections)
        }
        if (targets) continue
        await insert('row', connections)
        await insert('all', connections)
      }
      for (const body of targets ? [] : (['report of our agent', 'report with random id'] as const))
        await note(body, { ...bans, body, connections: most })
      if (coresApart) {
        // As it runs at a user's: its two threads, the generator and the echo wherever there is room.
        for (const process of [pid, echo.pid]) moveTo('any', process)
        for (let pair = 0; pair < setting.pairs; pair++) {
          const anywhere = { connections: most, spin: false }
          await note('echo, any core', { ...toEcho, body: 'report', ...anywhere }, 'any')
          await note('bans, any core', { ...bans, ...anywhere }, 'any')
          await insert('plain', most, 'any')
        }
        for (const process of [pid, echo.pid]) moveTo('server', process)
      }
      await note('echo heartbeat', { ...toEcho, connections: 16, body: 'heartbeat' })
      await note('heartbeats', beats)
      if (!targets) await note('heartbeats 64', { ...beats, connections: most })
    })
  }
  echo.stop()
  return { raw, disk }
}

const ratesOf = (done: readonly Inserted[] | undefined) => (done ?? []).map(({ rows, seconds }) => rows / seconds)
const rateOf = (done: readonly Inserted[] | undefined) => median(ratesOf(done))
/** Requests a second of each measurement, in their order. */
const answeredOf = (name: string) => measurements.of(name).map(({ done, seconds }) => done / seconds)
const cpuOf = (done: readonly Inserted[] | undefined) =>
  median((done ?? []).map(({ rows, cpuSeconds }) => (cpuSeconds * 1e6) / rows))

try {
  say(
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite ?? '?'}, ${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}`,
  )
  say(coresApart ? 'Server and echo on core 0, generator on core 1.' : 'Server and generator share the cores.')
  say(
    `Medians of ${setting.rounds} round(s) of ${setting.seconds} s.${short ? ' Short setting: a first look only.' : ''}`,
  )
  if ((loadavg()[0] ?? 0) > 0.5)
    say(
      `Other work runs here (load ${(loadavg()[0] ?? 0).toFixed(1)}): rates and times are too low and too long; CPU is nearly right.`,
    )
  mkdirSync(join(folder, 'base'))
  say(`seeding ${setting.before.toLocaleString('en')} bans`)
  const base = await seed(join(folder, 'base'), setting.hosts, setting.before)
  const { raw, disk } = await writes(base)
  const readAll = () => {
    say(`seeding ${setting.bans.toLocaleString('en')} bans`)
    const large = grow(base, join(folder, 'large'), setting.bans - setting.before)
    return serve(large.dataDir, server =>
      measureReads(large, server, { ...setting, seconds: Math.min(2, setting.seconds) }, note),
    )
  }
  const reads = targets ? null : readLines(await readAll(), line)

  say()
  say(
    `Disk: write of 4 KiB + fdatasync ${Math.round(median(disk.map(({ rate }) => rate))).toLocaleString('en')}/s, p50 ${median(disk.map(({ p50 }) => p50)).toFixed(2)} ms, p99 ${median(disk.map(({ p99 }) => p99)).toFixed(2)} ms`,
  )
  head('Durable POST /bans', 'of echo', 'of plain', 'of row', 'of own')
  for (const connections of callers) {
    const bans = line(`bans ${connections}`, `POST /bans, ${connections} connections`)
    const echo = line(`echo ${connections}`, `  bare Fastify echo`)
    const plain = rateOf(raw.plain.get(connections))
    const row = rateOf(raw.row.get(connections))
    const all = rateOf(raw.all.get(connections))
    const rates = answeredOf(`bans ${connections}`)
    print(
      bans,
      inTurn(rates, answeredOf(`echo ${connections}`)),
      inTurn(rates, ratesOf(raw.plain.get(connections))),
      ...[row, all].map(other => ratio(bans.rate, other)),
    )
    print(echo)
    printRows(`  raw inserts, plain table, by ${connections}`, plain, cpuOf(raw.plain.get(connections)))
    if (targets) continue
    printRows(`  raw inserts, the server's table`, row, cpuOf(raw.row.get(connections)))
    printRows(`  server's own write, no HTTP`, all, cpuOf(raw.all.get(connections)))
  }
  for (const body of targets ? [] : ['report of our agent', 'report with random id']) {
    const bans = line(body, `${body}, 64 connections`)
    print(bans, ratio(bans.rate, line('echo 64').rate), ratio(bans.rate, rateOf(raw.plain.get(64))))
  }
  const free = line('bans, any core', 'as it runs, nothing pinned, 64')
  const freeEcho = line('echo, any core', '  bare Fastify echo')
  const freeToEcho = [answeredOf('bans, any core'), answeredOf('echo, any core')] as const
  const freeToPlain = [answeredOf('bans, any core'), ratesOf(raw.plain.get('any'))] as const
  if (coresApart) {
    print(free, inTurn(...freeToEcho), inTurn(...freeToPlain))
    print(freeEcho)
  }
  head('Heartbeats', 'of echo')
  const beats = line('heartbeats', 'heartbeat, 16 connections')
  const beatEcho = line('echo heartbeat', '  bare Fastify echo')
  const manyBeats = line('heartbeats 64', 'heartbeat, 64 connections')
  print(beats, ratio(beats.rate, beatEcho.rate))
  if (!targets) print(manyBeats)
  print(beatEcho)
  if (reads) printReads(reads, setting.bans)

  const atMost = line(`bans ${most}`)
  const rates = answeredOf(`bans ${most}`)
  const toEcho = [rates, answeredOf(`echo ${most}`)] as const
  const toPlain = [rates, ratesOf(raw.plain.get(most))] as const
  const loads = measurements.all()
  const everything = loads.length === 0 ? NaN : loads.reduce((sum, { errors }) => sum + errors, 0)
  say()
  say('Targets (ratios: the median of those of measurements in turn, and how far the middle half of them goes):')
  const byCpu = line(`echo ${most}`).cpu / atMost.cpu
  judge(`POST /bans at ${most} connections, of the echo, at least`, paired(...toEcho), 0.2, '', byCpu)
  say(`         ${spread(...toEcho)}`)
  // 8,000 a second where raw inserts reach 15,000, on whatever machine.
  const ofPlain = 8000 / 15_000
  judge(
    `the same, of ${Math.round(rateOf(raw.plain.get(most))).toLocaleString('en')} plain inserts a second, at least`,
    paired(...toPlain),
    ofPlain,
    '',
    cpuOf(raw.plain.get(most)) / atMost.cpu,
  )
  say(`         ${spread(...toPlain)}`)
  if (coresApart) {
    judge('the same as it runs, of the echo, at least', paired(...freeToEcho), 0.2)
    say(`         ${spread(...freeToEcho)}`)
    judge('the same as it runs, of plain inserts, at least', paired(...freeToPlain), ofPlain)
    say(`         ${spread(...freeToPlain)}`)
  }
  judge(`POST /bans at ${most} connections, p99, at most`, atMost.p99, 100, ' ms')
  judge('errors of all, at most', everything, 0)
  judge('heartbeats, of the echo, at least', beats.rate / beatEcho.rate, 0.6, '', beatEcho.cpu / beats.cpu)
  say()
  judgeReports(
    new Map(
      callers.map(connections => [connections, line(`bans ${connections}`, `POST /bans, ${connections} callers`)]),
    ),
  )
  judgeHeartbeats(targets ? [beats] : [beats, manyBeats])
  if (reads) judgeReads(reads)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const part of targets ? [] : ['admission', 'memory', 'postgres', 'reads-postgres', 'whitelist', 'retention']) {
  say()
  say(`${part}:`)
  const script = fileURLToPath(new URL(`./${part}.ts`, import.meta.url))
  if (spawnSync(process.execPath, [script], { stdio: 'inherit' }).status !== 0) process.exitCode = 1
}
