import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Client } from '@stockade/client'
import { aHost, spawnServer, startPostgres } from '@stockade/server/testing'
import type { EnrolledHost, SpawnedServer } from '@stockade/server/testing'

/*
 * `npm run check -- chaos [kill] [cut] [backup] [full] [overload] [postgres] [--rounds 20]`: what happens to servers, done on purpose. Every ban
 * that was acknowledged is written down here and looked for afterwards: one that is lost or doubled ends this with 1.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '3' },
    /** Judge what is lost or doubled, but no times: for a busy machine. */
    patient: { type: 'boolean', default: false },
  },
})
const rounds = Math.max(1, Number(values.rounds) || 1)
const seconds = Math.max(0.3, Number(values.seconds) || 1)
/** The most seconds that something may take. */
const limit = (most: number) => (values.patient ? 120 : most)
/** Sleeps, and goes on sleeping until there is something to judge; a busy machine may have done nothing yet. */
const atLeast = async (ms: number, isSomething: () => boolean) => {
  await sleep(ms)
  for (const until = performance.now() + 60_000; !isSomething() && performance.now() < until;) await sleep(20)
}
const say = (text: string) => void process.stdout.write(`${text}\n`)
let failed = false
const judge = (what: string, holds: boolean) => {
  if (!holds) failed = true
  say(`  ${holds ? 'yes' : 'NO '}  ${what}`)
}

/** Event id and row of each ban that was answered 201. */
type Oracle = Map<string, number>
let address = 0
const anAddress = () => `13.${(++address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`

interface Flood {
  readonly oracle: Oracle
  /** Answers by status; 0 for none. */
  readonly answers: Map<number, number>
  stop(): Promise<void>
}
/** Writers that report one ban after the other. With `insist` a ban without an answer is told again, with its id. */
const flood = (hosts: readonly Client[], writers: number, oracle: Oracle, insist = false): Flood => {
  let stopped = false
  const answers = new Map<number, number>()
  const count = (status: number) => answers.set(status, (answers.get(status) ?? 0) + 1)
  const write = async (index: number) => {
    const client = hosts[index % hosts.length]
    while (!stopped && client) {
      const body = {
        ip: anAddress(),
        jail: 'chaos',
        event_id: crypto.randomUUID(),
        ban_duration: -1,
        log_lines: 'x'.repeat(400),
      }
      for (let tries = 0; tries < (insist ? 50 : 1); tries++)
        try {
          oracle.set(body.event_id, (await client.call('POST /bans', { body })).id)
          count(201)
          break
        } catch (error) {
          const status = (error as { status?: unknown }).status
          count(typeof status === 'number' ? status : 0)
          await sleep(insist ? 5 : 20)
        }
    }
  }
  const running = Array.from({ length: writers }, (_, index) => write(index))
  return {
    oracle,
    answers,
    async stop() {
      stopped = true
      await Promise.all(running)
    },
  }
}
const compare = async (admin: Client, oracle: Oracle) => {
  const found = new Map<string, number[]>()
  for (let page = 1, more = true; more; page++) {
    const { bans } = await admin.call('GET /bans', { query: { jail: 'chaos', limit: 100, page } })
    for (const ban of bans) found.set(ban.event_id ?? '', [...(found.get(ban.event_id ?? '') ?? []), ban.id])
    more = bans.length === 100
  }
  const lost = [...oracle].filter(([event, id]) => !found.get(event)?.includes(id)).length
  const doubled = [...found.values()].filter(rows => rows.length > 1).length
  judge(`${oracle.size} acknowledged: ${lost} lost, ${doubled} doubled`, lost === 0 && doubled === 0 && oracle.size > 0)
  const { total } = await admin.call('GET /bans', { query: { jail: 'chaos' } })
  judge(`the total says ${total}, the rows are ${found.size}`, total === found.size)
}

interface Stage {
  server: SpawnedServer
  admin: Client
  readonly dataDir: string
  readonly hosts: EnrolledHost[]
  again(): Promise<void>
}
const onStage = async (
  work: (stage: Stage) => Promise<void>,
  dataDir = mkdtempSync(join(tmpdir(), 'stockade-chaos-')),
) => {
  const options = { dataDir, env: { STOCKADE_LOG_LEVEL: 'fatal' } }
  const server = await spawnServer(options)
  const { client } = await server.setUp()
  const { key } = await client.call('POST /keys', { body: { name: 'chaos', permissions: 'admin' } })
  const hosts = await Promise.all(Array.from({ length: 4 }, (_, index) => aHost(server, client, `chaos-${index}`)))
  const stage: Stage = {
    server,
    admin: server.client(key),
    dataDir,
    hosts,
    async again() {
      stage.server = await spawnServer({ ...options, port: server.port })
    },
  }
  try {
    await work(stage)
  } finally {
    await stage.server.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
const clients = (stage: Stage) => stage.hosts.map(({ client }) => client)

/** kill -9 in the middle of writes, again and again. */
const kill = () =>
  onStage(async stage => {
    const oracle: Oracle = new Map()
    let sound = true
    for (let round = 0; round < rounds; round++) {
      const running = flood(clients(stage), 64, oracle)
      const before = oracle.size
      await atLeast(Math.min(seconds, 0.3 + Math.random()) * 1000, () => oracle.size > before)
      await stage.server.kill()
      await running.stop()
      const db = new DatabaseSync(join(stage.dataDir, 'stockade.sqlite3'))
      const [check] = db.prepare('pragma integrity_check').all() as { integrity_check: string }[]
      sound &&= check?.integrity_check === 'ok'
      db.close()
      await stage.again()
    }
    judge(`the file is sound after each of ${rounds} kills`, sound)
    await compare(stage.admin, oracle)
  })

/** A proxy that lets each request through whole, and cuts one connection in ten before the answer gets back. */
const cuttingProxy = async (port: number): Promise<Server & { cuts: number }> => {
  const proxy = Object.assign(
    createServer(socket => {
      const behind = connect(port, '127.0.0.1')
      socket.pipe(behind)
      behind.on('data', piece => {
        if (Math.random() < 0.1) {
          proxy.cuts++
          socket.resetAndDestroy()
          behind.destroy()
        } else socket.write(piece)
      })
      behind.on('close', () => socket.destroy())
      socket.on('close', () => behind.destroy())
      for (const end of [socket, behind]) end.on('error', () => {})
    }),
    { cuts: 0 },
  )
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  return proxy
}
/** Answers that are lost after the commit: told again, a ban is the same ban. */
const cut = () =>
  onStage(async stage => {
    const proxy = await cuttingProxy(stage.server.port)
    const { createClient } = await import('@stockade/client')
    const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const through = stage.hosts.map(({ key }) => createClient({ baseUrl, token: key }))
    const running = flood(through, 16, new Map(), true)
    await atLeast(seconds * 1000, () => proxy.cuts > 0 && running.oracle.size > 0)
    await running.stop()
    proxy.close()
    judge(`${proxy.cuts} answers were cut`, proxy.cuts > 0)
    await compare(stage.admin, running.oracle)
  })

/** A backup costs the others little. */
const backup = () =>
  onStage(async stage => {
    const oracle: Oracle = new Map()
    const rate = async (during: () => Promise<void>) => {
      const before = oracle.size
      const started = performance.now()
      const running = flood(clients(stage), 16, oracle)
      await during()
      const took = performance.now() - started
      const done = oracle.size - before
      await running.stop()
      return (done / took) * 1000
    }
    const alone = await rate(() => sleep(seconds * 1000))
    const file = join(stage.dataDir, 'chaos.gz')
    const beside = await rate(async () => {
      const launcher = new URL('../scripts/stockade.cjs', import.meta.url).pathname
      const { execFile } = await import('node:child_process')
      await new Promise<void>((resolve, reject) =>
        execFile(
          process.execPath,
          [launcher, 'backup', file, '--plain'],
          { env: { PATH: process.env.PATH, STOCKADE_DATA_DIR: stage.dataDir } },
          error => (error ? reject(error) : resolve()),
        ),
      )
    })
    say(
      `  bans a second alone ${alone.toFixed(0)}, while a backup is made ${beside.toFixed(0)} (${(beside / alone).toFixed(2)})`,
    )
    await compare(stage.admin, oracle)
  })

/** A disk that is full: writes are refused and say when to come back, reads go on, and space is all it takes to recover. */
const full = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    say('  !!! skipped: a small file system needs root and mount')
    rmSync(folder, { recursive: true, force: true })
    return
  }
  try {
    await onStage(
      async stage => {
        const oracle: Oracle = new Map()
        const running = flood(clients(stage), 16, oracle)
        for (let wait = 0; wait < 20 * limit(30) && (running.answers.get(503) ?? 0) < 20; wait++) await sleep(50)
        judge('writes are refused with 503', (running.answers.get(503) ?? 0) > 0)
        const odd = [...running.answers.keys()].filter(status => status !== 201 && status !== 503)
        judge(`nothing else is answered${odd.length > 0 ? `, but ${odd.join(', ')}` : ''}`, odd.length === 0)
        const { total } = await stage.admin.call('GET /bans', {})
        judge('lists are read meanwhile', total > 0)
        execFileSync('mount', ['-o', 'remount,size=200m', folder], { stdio: 'ignore' })
        const before = oracle.size
        for (let wait = 0; wait < 20 * limit(10) && oracle.size < before + 50; wait++) await sleep(50)
        await running.stop()
        judge('it recovers by itself when there is space', oracle.size > before)
        await compare(stage.admin, oracle)
      },
      join(folder, 'data'),
    )
  } finally {
    execFileSync('umount', [folder], { stdio: 'ignore' })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Far more writers than it can serve: it goes on at its own pace, and heartbeats get through. */
const overload = () =>
  onStage(async stage => {
    const rate = async (writers: number) => {
      const running = flood(clients(stage), writers, oracle)
      const beats: number[] = []
      const before = oracle.size
      const until = performance.now() + seconds * 1000
      while (performance.now() < until) {
        const asked = performance.now()
        await stage.hosts[0]?.client.call('POST /servers/heartbeat', { body: { hostname: 'chaos-0' } })
        beats.push(performance.now() - asked)
        await sleep(20)
      }
      const done = (oracle.size - before) / seconds
      await running.stop()
      const refused = [...running.answers].filter(([status]) => ![201, 429, 503].includes(status))
      judge(
        `${writers} writers: ${done.toFixed(0)} bans a second, a heartbeat took at most ${Math.max(...beats).toFixed(0)} ms`,
        refused.length === 0,
      )
      return done
    }
    const oracle: Oracle = new Map()
    const normal = await rate(32)
    const most = await rate(320)
    judge(
      `with ten times the writers ${(most / normal).toFixed(2)} of the bans get through, at least 0.8`,
      most / normal >= 0.8,
    )
    await compare(stage.admin, oracle)
  })

/** PostgreSQL goes away under two processes and comes back; then their listening connections are cut. */
const postgres = async () => {
  const database = await startPostgres()
  const options = { databaseUrl: database.url, env: { STOCKADE_LOG_LEVEL: 'fatal' } }
  const servers = [await spawnServer(options)]
  try {
    const [first] = servers as [SpawnedServer]
    const { client, token } = await first.setUp()
    servers.push(await spawnServer(options))
    const second = servers[1] as SpawnedServer
    const hosts = await Promise.all(Array.from({ length: 4 }, (_, index) => aHost(first, client, `chaos-${index}`)))
    const writers = hosts.map(({ key }, index) => (index % 2 ? second : first).client(key))
    const [host] = hosts as [EnrolledHost]
    const oracle: Oracle = new Map()
    const running = flood(writers, 16, oracle)
    await atLeast(seconds * 500, () => oracle.size > 0)
    await database.down()
    const before = oracle.size
    const statuses = new Set<number>()
    const beat = async () => {
      const body = { hostname: 'chaos-0' }
      return host.client.call('POST /servers/heartbeat', { body }).then(
        () => 200,
        (error: unknown) => Number((error as { status?: unknown }).status ?? 0),
      )
    }
    for (const until = performance.now() + seconds * 5000; performance.now() < until; await sleep(100))
      statuses.add(await beat())
    await database.up()
    const up = performance.now()
    while (oracle.size === before && performance.now() < up + limit(30) * 1000) await sleep(10)
    const recovery = (performance.now() - up) / 1000
    await sleep(seconds * 500)
    await running.stop()
    const others = [...running.answers.keys()].filter(status => ![201, 503].includes(status))
    judge(`while it is away bans are answered ${[...running.answers.keys()].join(', ')}`, others.length === 0)
    judge(
      `heartbeats ${[...statuses].join(', ')}`,
      [...statuses].every(status => [200, 503].includes(status)),
    )
    judge(`bans are taken again after ${recovery.toFixed(1)} s, at most ${limit(5)}`, recovery <= limit(5))
    await compare(client, oracle)

    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    const listeners = "from pg_stat_activity where application_name = 'stockade-events'"
    // They come back by themselves within a second or two.
    for (const until = performance.now() + 60_000; performance.now() < until; await sleep(100))
      if ((await admin.query(`select 1 ${listeners}`)).rowCount === 2) break
    const cut = await admin.query(`select pg_terminate_backend(pid) ${listeners}`).finally(() => admin.end())
    const params = { serverId: host.id }
    const poll = second
      .client(host.key)
      .call('GET /servers/{serverId}/commands/pending', { params, query: { wait: values.patient ? 50 : 10 } })
    await sleep(200)
    const asked = performance.now()
    await first.client(token).call('POST /servers/{serverId}/commands', { params, body: { type: 'reload-all' } })
    const { commands } = await poll
    const waited = (performance.now() - asked) / 1000
    judge(
      `with both listeners cut (${cut.rowCount ?? 0}) an order reaches the other process after ${waited.toFixed(1)} s, at most ${limit(3)}`,
      cut.rowCount === 2 && commands.length === 1 && waited <= limit(3),
    )
  } finally {
    for (const server of servers) await server.close()
    await database.stop()
  }
}

const scenarios: Record<string, () => Promise<void>> = { kill, cut, backup, full, overload, postgres }
for (const name of positionals.length > 0 ? positionals : Object.keys(scenarios)) {
  const scenario = scenarios[name]
  if (!scenario) {
    say(`There is no scenario ${name}; there are ${Object.keys(scenarios).join(', ')}.`)
    process.exit(2)
  }
  say(name)
  await scenario()
}
process.exit(failed ? 1 : 0)
