import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { spawnServer } from '@stockade/server/testing'
import { day, hour, hourOf, iso, minute } from '../packages/server/src/core/clock.ts'
import { packBatch } from '../packages/server/src/features/bans/packed.ts'
import { cellTables, stepOf } from '../packages/server/src/features/bans/sums.ts'
import { aRow, anAddress, countryCodes, jailNames, pick } from './bans.ts'
import { judgeReads } from './goals.ts'
import { createMeasurements } from './measurements.ts'
import type { Note } from './measurements.ts'
import { cpuOf, cpuOfTree } from './processes.ts'
import { applyLoad, coresApart, moveTo } from './programs.ts'
import { addressesOfPages, caughtUp, filters, fleetStatistics, lookUps, measureKinds, pathsOf } from './reads.ts'
import { serverStatistics } from './reads.ts'
import type { ReadKind, ReadServer } from './reads.ts'
import { head, print, say } from './report.ts'
import { addFleet, banDurations, createAttackers, databaseIn, momentOf, returningShare, writeInto } from './seed.ts'
import type { AppendBans, Fleet } from './seed.ts'

/*
 * `npm run bench -- hundred-million`: what is read from a hundred million bans of 30 days on SQLite. All of them as rows would take 70 GB
 * and hours, but totals and statistics read sums. So most bans are drawn one by one and only counted: their sums are those that the
 * server would have made. Real rows, written by the server's own statements, are there for the hours that are read row by row: those
 * in which the windows of statistics begin, and the latest. One server has all of its rows in `rolled_server_bans`, which is all
 * that its statistics read.
 *
 * What differs from a hundred million rows:
 * - Indexes of bans and of active bans hold a hundredth of the rows, so they are a level or two lower, and fit into memory.
 * - Addresses by their last ban: that a new address comes a second time by chance is a probability, not a drawing.
 * - An address of a partial five minutes that was banned later in an hour without rows counts once more (some thousands of 67 million).
 * - Columns of bans can't be filled, so SQL counts the addresses of one server, as on a machine with less than 45 GB of memory.
 *   Lists of attackers need all rows and are left out.
 *
 * `BENCH=short` takes a million bans, and checks the same in less than a minute.
 */

const short = process.env.BENCH === 'short'
const hosts = 20
const bans = short ? 1_000_000 : 100_000_000
const setting = short
  ? { rounds: 1, seconds: 0.5, serverSeconds: 1, seeding: 8000 }
  : { rounds: 3, seconds: 2, serverSeconds: 10, seeding: 150_000 }
/** What was calculated from the figures of one and of ten million bans, ms of CPU. */
const calculated: Readonly<Record<string, string>> = {
  'page newest': '1.3-2.4',
  'page active': '1.3-2.4',
  'page not active': '1.3-2.4',
  'page server': '1.3-2.4',
  'page jail': '1.3-2.4',
  'page country': '1.3-2.4',
  'page from and to': '8-15',
  'statistics of a day': '60',
  'statistics of a week': '60',
  'statistics of a month': '60',
  'look-up of an address': '0.7',
}

/** How many addresses `anAddress` draws from. */
const addressSpace = 85 * 2 ** 24
/** Addresses by the step of time of their last ban, as the server's sums hold them. */
const createLastBans = (known: readonly Uint8Array[], total: number) => {
  const latest: number[] = []
  const steps = new Map<number, number>()
  let step = -1
  let fresh = 0
  let stays = 1
  const settle = () => steps.set(step, (steps.get(step) ?? 0) + Math.round(fresh * stays))
  return {
    add(at: number, place: number, index: number) {
      if (place >= 0) {
        latest[place] = at
        return
      }
      if (at >= step + 5 * minute || step < 0) {
        if (step >= 0) settle()
        step = stepOf(at)
        fresh = 0
        // One of the new addresses that follow may be the same.
        stays = Math.exp((-(1 - returningShare) * (total - index)) / addressSpace)
      }
      fresh++
    },
    sums(): ReadonlyMap<number, number> {
      if (step >= 0) settle()
      for (const at of latest.slice(0, known.length)) steps.set(stepOf(at), (steps.get(stepOf(at)) ?? 0) + 1)
      return steps
    },
  }
}

/**
 * Jail, country and network of generated bans: those of some rows, drawn again and again, because a row takes longer to make than the
 * rest of a generated ban. The draw of a row with its server is a cell, which is what sums count.
 */
const createKinds = (db: DatabaseSync) => {
  const idsOf = (table: 'jails' | 'countries', column: 'name' | 'code', names: readonly string[]) => {
    const add = db.prepare(`insert into ${table} (${column}) values (?)`)
    return new Map(names.map(name => [name, Number(add.run(name).lastInsertRowid)]))
  }
  const jails = idsOf('jails', 'name', jailNames)
  const countries = idsOf('countries', 'code', countryCodes)
  return Array.from({ length: 65_536 }, () => {
    const { jail, country, asn } = aRow(1, 0)
    return { jailId: jails.get(jail) ?? 0, countryId: countries.get(country) ?? 0, asn }
  })
}
/** Counts generated bans by server, jail, country and hour; every sum is a sum of these cells. */
const createCells = (db: DatabaseSync) => {
  const width = { jail: jailNames.length + 1, country: countryCodes.length + 1 }
  const counts = new Uint32Array((hosts + 1) * width.jail * width.country)
  db.exec(`pragma temp_store = memory; create temp table generated
    (server_no integer, jail_id integer, country_id integer, hour integer, n integer)`)
  const insert = db.prepare('insert into generated values (?, ?, ?, ?, ?)')
  return {
    add(serverNo: number, jailId: number, countryId: number) {
      const cell = (serverNo * width.jail + jailId) * width.country + countryId
      counts[cell] = (counts[cell] ?? 0) + 1
    },
    finish(ofHour: number) {
      counts.forEach((n, cell) => {
        if (n === 0) return
        const place = Math.floor(cell / width.country)
        insert.run(Math.floor(place / width.jail), place % width.jail, cell % width.country, ofHour, n)
      })
      counts.fill(0)
    },
  }
}

interface Wanted {
  readonly bans: number
  readonly from: number
  readonly to: number
  /** Whether the bans of the hour that begins then are rows. */
  readonly isReal: (hourStart: number) => boolean
  /** The server that has all of its rows in the list of bans by server. */
  readonly listed: number
}
interface Generated {
  readonly rows: number
  readonly active: ReadonlyMap<number, number>
  readonly lastBans: ReturnType<typeof createLastBans>
}
/** Draws all bans in the order of time. Each has the number that it would have among all. */
const generate = (db: DatabaseSync, append: AppendBans, wanted: Wanted): Generated => {
  const { from, to, listed } = wanted
  const { known, next } = createAttackers()
  const kinds = createKinds(db)
  const cells = createCells(db)
  const lastBans = createLastBans(known, wanted.bans)
  const active = new Map<number, number>()
  const list = db.prepare(
    'insert into rolled_server_bans (server_no, banned_at, id, ip, jail_id, country_id, asn) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const advance = db.prepare('update rolled_up set ban_id = ?')
  let items: ReturnType<typeof aRow>[] = []
  let rows = 0
  const write = () => {
    append(packBatch({ items, now: to }))
    rows += items.length
    items = []
  }
  let current = { start: -1, isReal: false }
  /** `last`: the number of its last ban. */
  const finishHour = (last: number) => {
    if (current.isReal) {
      if (items.length > 0) write()
      append(packBatch({ items: [], now: to }))
    } else {
      cells.finish(current.start)
      advance.run(last)
    }
    db.exec('commit; begin immediate')
  }
  db.exec('begin immediate')
  for (let index = 0; index < wanted.bans; index++) {
    const at = momentOf(index, wanted.bans, to, to - from)
    if (at >= current.start + hour) {
      if (index > 0) finishHour(index)
      current = { start: hourOf(at), isReal: wanted.isReal(hourOf(at)) }
    }
    const serverNo = 1 + Math.floor(Math.random() * hosts)
    const duration = pick(banDurations)
    const place = next()
    lastBans.add(at, place, index)
    if (current.isReal) {
      items.push(aRow(serverNo, at, known[place] ?? anAddress(), duration))
      if (items.length === 1000) write()
      continue
    }
    const { jailId, countryId, asn } = pick(kinds)
    cells.add(serverNo, jailId, countryId)
    if (at + duration * 1000 > to) active.set(serverNo, (active.get(serverNo) ?? 0) + 1)
    if (serverNo === listed) list.run(serverNo, at, index + 1, known[place] ?? anAddress(), jailId, countryId, asn)
  }
  finishHour(wanted.bans)
  db.exec('commit')
  return { rows, active, lastBans }
}
/** Adds what was generated to the sums of the real rows. Last bans are counted of both together. */
const writeSums = (db: DatabaseSync, { active, lastBans }: Generated) => {
  db.exec('begin immediate')
  for (const [table, keys, value] of cellTables) {
    const length = table.includes('_days_') ? day : hour
    const columns = keys.map(key => (key === 'bucket' ? `hour - hour % ${length}` : key))
    db.exec(`insert into ${table} (${keys.join(', ')}, ${value})
      select ${columns.join(', ')}, sum(n) from generated where true group by ${keys.map((_, index) => index + 1).join(', ')}
      on conflict (${keys.join(', ')}) do update set ${value} = ${table}.${value} + excluded.${value}`)
  }
  const addActive = db.prepare(`insert into rolled_active_totals (server_no, n) values (?, ?)
    on conflict (server_no) do update set n = n + excluded.n`)
  for (const [serverNo, n] of active) addActive.run(serverNo, n)
  db.exec('delete from rolled_last_bans')
  const addStep = db.prepare('insert into rolled_last_bans (bucket, n) values (?, ?)')
  for (const [step, n] of lastBans.sums()) addStep.run(step, n)
  db.exec('commit; drop table generated')
}

/** A check of the bench itself: figures of something else than what is meant are none. */
const expect = (what: string, found: number, wanted: number, tolerance = 0) => {
  const shown = `${what}: ${found.toLocaleString('en')}, expected ${wanted.toLocaleString('en')}`
  if (!(Math.abs(found - wanted) <= wanted * tolerance)) throw new Error(`The bench is wrong about its bans. ${shown}`)
  say(`  yes  ${shown}${tolerance === 0 ? '' : ` within ${tolerance * 100} %`}`)
}
/** The sums of one hour of generated bans beside those that the server makes of rows: as many rows, and the same counts. */
const compareHour = (emptyDir: string, folder: string) => {
  const to = hourOf(Date.now())
  const [real, generated] = [true, false].map(isReal => {
    const dataDir = join(folder, isReal ? 'hour-real' : 'hour-generated')
    cpSync(emptyDir, dataDir, { recursive: true })
    const found = writeInto(dataDir, (db, append) => {
      const wanted = { bans: Math.round(bans / 720), from: to - hour, to, isReal: () => isReal, listed: 1 }
      const made = generate(db, append, wanted)
      if (!isReal) writeSums(db, made)
      const tables = [...cellTables, ['rolled_last_bans', [], 'n'], ['rolled_active_totals', [], 'n']] as const
      return tables.map(([table, , value]) => {
        const row = db.prepare(`select count(*) as cells, coalesce(sum(${value}), 0) as n from ${table}`).get()
        return { table, cells: Number(row?.cells), n: Number(row?.n) }
      })
    })
    rmSync(dataDir, { recursive: true })
    return found
  })
  say('One hour of generated bans beside one of real bans:')
  for (const [index, { table, cells, n }] of (generated ?? []).entries()) {
    const other = real?.[index]
    expect(`${table}, cells`, cells, other?.cells ?? NaN, 0.2)
    expect(`${table}, bans`, n, other?.n ?? NaN, 0.2)
  }
}

/** How long before now windows of statistics, and the periods before them, begin. */
const windows = [day, 2 * day, 7 * day, 14 * day, 30 * day]
/** Hours that are read row by row while it is measured, for half an hour; newest pages go back by some minutes. */
const realHours = (to: number): ReadonlySet<number> =>
  new Set([to - 15 * minute, to, ...windows.flatMap(length => [to - length, to - length + 30 * minute])].map(hourOf))

/** Bans from a moment on, by the times that `generate` gives them. */
const bansSince = (from: number, to: number): number => {
  let [low, high] = [0, bans]
  while (low < high) {
    const middle = (low + high) >> 1
    if (momentOf(middle, bans, to) >= from) high = middle
    else low = middle + 1
  }
  return bans - low
}
type Ask = <Reply>(path: string) => Promise<Reply>
const askOf =
  (port: number, headers: Record<string, string>): Ask =>
  async <Reply>(path: string) => {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { headers })
    if (!reply.ok) throw new Error(`${path} was answered by ${reply.status}: ${await reply.text()}`)
    return (await reply.json()) as Reply
  }
/** Without this an answer that is fast because it is empty would be a good figure. */
const checkTotals = async (ask: Ask, file: string, listedId: string, to: number) => {
  interface Statistics {
    readonly total_bans: number
    readonly bans_period: number
    readonly unique_ips: number
    readonly active_now: number
    readonly from: string
  }
  const total = async (query: string) => (await ask<{ total: number }>(`/bans?${query}`)).total
  say('Totals by the interface:')
  expect('bans', await total(''), bans)
  for (const period of ['day', 'week', 'month']) {
    const found = await ask<Statistics>(`/bans/stats?period=${period}`)
    expect(`bans of the ${period}`, found.total_bans, bansSince(Date.parse(found.from), to))
    if (period === 'month') expect('active bans', found.active_now, bans * 0.054, 0.05)
    // Addresses that come back add a part that depends on the period.
    expect(`addresses of the ${period}`, found.unique_ips, found.total_bans * (1 - returningShare), 0.5)
  }
  const from = Math.floor((to - 10 * day) / day) * day
  const found = await total(`server_id=${listedId}&from=${iso(from)}`)
  const db = new DatabaseSync(file, { readOnly: true })
  const row = db.prepare('select count(*) as n from server_bans where server_no = 1 and banned_at >= ?').get(from)
  db.close()
  expect('bans of one server in ten days, by sums and by its rows', found, Number(row?.n))
}

/** The list's filters by time, with beginnings and ends in hours that have rows. */
const timeFilters = (to: number): Record<string, string[]> => {
  const edges = windows.slice(0, -1).map(length => hourOf(to - length))
  const within = (start: number, index: number) => iso(start + (((index * 17 + 5) % 55) + 1) * minute)
  return {
    'from and to': edges.flatMap((end, place) =>
      edges
        .slice(place + 1)
        .flatMap(start =>
          [0, 1, 2].map(index => `from=${within(start, index + place)}&to=${within(end, 2 * index + place + 1)}`),
        ),
    ),
    from: edges.flatMap(start => [0, 1, 2].map(index => `from=${within(start, index)}`)),
    to: edges.flatMap(end => [0, 1, 2].map(index => `to=${within(end, index)}`)),
  }
}
const measurements = createMeasurements()
/** Long reads of SQLite are the work of a process that the server starts. */
const note: Note = async (name, load) => {
  const childrenOf = () => cpuOfTree(load.pid) - cpuOf(load.pid)
  const before = childrenOf()
  const measured = await applyLoad(load)
  // The warm-up is work too.
  const share = load.seconds / (load.seconds + load.warmUp)
  measurements.add(name, { ...measured, cpuSeconds: measured.cpuSeconds + (childrenOf() - before) * share })
}
const measure = async (fleet: Fleet, server: ReadServer, headers: Record<string, string>, to: number) => {
  const addresses = await addressesOfPages(server.port, headers)
  const known = { ...filters(fleet, addresses), ...timeFilters(to) }
  // The newest bans that are over lie behind those that began since: this is slowest right away, and no ban follows.
  const names = ['not active', 'newest', 'active', 'server', 'jail', 'country', 'from and to', 'from', 'to']
  const pages = names.map((name): ReadKind => [`page ${name}`, pathsOf('/bans?', known[name] ?? [])])
  const statistics = [...fleetStatistics, lookUps(addresses)]
  const ofServer = serverStatistics(fleet.hostIds.slice(0, 1))
  for (let round = 0; round < setting.rounds; round++) {
    await measureKinds([...pages, ...statistics], server, fleet.readKey, setting.seconds, note)
    await measureKinds(ofServer, server, fleet.readKey, setting.serverSeconds, note)
  }
  const linesOf = (kinds: readonly ReadKind[]) => kinds.map(([name]) => measurements.line(name))
  return { pages: linesOf(pages), attackers: [], statistics: linesOf([...statistics, ...ofServer]) }
}

const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'stockade-hundred-million-'))
const dataDir = join(folder, 'data')
try {
  say(
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite ?? '?'}, ${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}`,
  )
  say(coresApart ? 'Server on core 0, generator on core 1.' : 'Server and generator share the cores.')
  mkdirSync(dataDir)
  const first = await spawnServer({ dataDir })
  const fleet = await addFleet(first, hosts).finally(() => first.close())
  if (short) compareHour(dataDir, folder)

  say(`making ${bans.toLocaleString('en')} bans`)
  const started = performance.now()
  // The newest ban is of the moment when the measuring begins.
  const to = Date.now() + setting.seeding
  const real = realHours(to)
  const rows = writeInto(dataDir, (db, append) => {
    const wanted = { bans, from: to - 30 * day, to, isReal: (start: number) => real.has(start), listed: 1 }
    const generated = generate(db, append, wanted)
    writeSums(db, generated)
    // Columns of the rows alone would answer for one server. Their thread fails without this table, and SQL answers.
    db.exec('alter table removed_bans rename to removed_bans_unread')
    return generated.rows
  })
  say(`made in ${((performance.now() - started) / 1000).toFixed(0)} s, ${rows.toLocaleString('en')} of them as rows`)
  await new Promise(resolve => setTimeout(resolve, Math.max(0, to - Date.now())))

  const server = await spawnServer({ dataDir })
  moveTo('server', server.pid)
  try {
    const headers = { authorization: `Bearer ${fleet.readKey}` }
    await caughtUp(server.port, headers)
    await checkTotals(askOf(server.port, headers), databaseIn(dataDir), fleet.hostIds[0] ?? '', to)
    const began = new Date()
    say(
      `measured from ${iso(began.getTime()).slice(11, 16)} UTC, ${((began.getTime() - to) / 1000).toFixed(0)} s after the newest ban`,
    )
    const reads = await measure(fleet, server, headers, to)
    head(`Reads of ${bans.toLocaleString('en')} bans`, 'calc. ms')
    for (const line of [...reads.pages, ...reads.statistics]) print(line, calculated[line.name] ?? '')
    say('Calculated: ms of CPU, from the figures of one and of ten million bans.')
    say()
    judgeReads(reads)
  } finally {
    await server.stop()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
