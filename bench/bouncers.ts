import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { aHost, spawnServer } from '@stockade/server/testing'
import { startLapi, versionOfLapi } from './peers/lapi.ts'
import { cpuOfTree, memoryOfTree } from './processes.ts'
import { judge, median, say } from './report.ts'

/*
 * `npm run bench -- bouncers`: a feed as bouncers read it, beside CrowdSec's local API with the same decisions, on the same machine in the same minutes: a
 * stream of everything, an update with ten changes, and 500 bouncers that ask every ten seconds. CPU and memory are those of the server with the processes that it
 * started, with the memory options of a release. `BENCH=short`: 10,000 decisions and less time.
 */

const short = process.env.BENCH === 'short'
const total = short ? 10_000 : 100_000
const rounds = short ? 3 : 7
const pulling = { bouncers: 500, everySeconds: 10, seconds: short ? 10 : 30 }

/** Addresses that no list of reserved ones has. */
const addressOf = (index: number) => `45.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`
const addresses = Array.from({ length: total }, (_, index) => addressOf(index))
const changed = (round: number) => Array.from({ length: 10 }, (_, index) => addressOf(200_000 + round * 10 + index))

interface Subject {
  readonly name: string
  port: number
  pid: number
  readonly path: string
  readonly key: string
  ban(ips: readonly string[]): Promise<void>
  /** Restarts the program, so that memory used by the reports is not counted. */
  restart(): Promise<void>
  stop(): Promise<void>
}
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
/** Bytes of the answer; bouncer `index` has an address and a name of its own. */
const pull = ({ port, path, key }: Subject, query: string, index = 0): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, 'user-agent': `bench-${index}/1.0` }
    const localAddress = `127.0.${1 + (index >> 7)}.${1 + (index & 127)}`
    const sent = request({ host: '127.0.0.1', port, path: `${path}?${query}`, headers, localAddress, agent }, reply => {
      let bytes = 0
      reply.on('data', (part: Buffer) => (bytes += part.length))
      reply.on('end', () =>
        reply.statusCode === 200 ? resolve(bytes) : reject(new Error(`status ${String(reply.statusCode)}`)),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
const timed = async (work: () => Promise<unknown>) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}
/** Milliseconds that a pull of everything takes, and of CPU. */
const costOf = async (subject: Subject) => {
  const began = cpuOfTree(subject.pid)
  const took = await timed(() => pull(subject, 'startup=true'))
  return { took, cpu: 1000 * (cpuOfTree(subject.pid) - began) }
}
/** The most memory that it has while this is done. */
const memoryDuring = async (subject: Subject, work: () => Promise<unknown>): Promise<number> => {
  let most = 0
  const look = () => (most = Math.max(most, memoryOfTree(subject.pid)))
  const timer = setInterval(look, 50)
  await work().finally(() => clearInterval(timer))
  look()
  return most
}
const inGroups = function* <T>(items: readonly T[], size: number) {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

const aLapi = async (): Promise<Subject> => {
  const lapi = await startLapi('wal')
  const key = 'bench-bouncer'
  lapi.addBouncer(key)
  const now = new Date().toISOString()
  const subject: Subject = {
    ...{ name: 'LAPI', port: lapi.port, pid: lapi.pid(), path: '/v1/decisions/stream', key, stop: () => lapi.stop() },
    async restart() {
      await lapi.restart()
      subject.pid = lapi.pid()
    },
    async ban(ips) {
      for (const some of inGroups(ips, 1000)) {
        const decisions = some.map(value => ({
          ...{ duration: '24h', origin: 'bench', scenario: 'bench/ssh', scope: 'Ip', type: 'ban', value },
        }))
        const source = { scope: 'Ip', value: some[0], ip: some[0] }
        const alert = {
          ...{ capacity: 0, decisions, events: [], events_count: 1, labels: null, leakspeed: '0', message: 'bench' },
          ...{ scenario: 'bench/ssh', scenario_hash: '', scenario_version: '', simulated: false, source },
          ...{ start_at: now, stop_at: now },
        }
        const reply = await fetch(`http://127.0.0.1:${lapi.port}/v1/alerts`, {
          method: 'POST',
          headers: {
            ...{
              'content-type': 'application/json',
              'user-agent': 'bench/1.0',
              authorization: `Bearer ${lapi.token()}`,
            },
          },
          body: JSON.stringify([alert]),
        })
        if (reply.status !== 201) throw new Error(`The peer answered ${reply.status}.`)
      }
    },
  }
  return subject
}
/** Eight hosts, since bans of one are a part of a feed only. */
const aStockade = async (): Promise<Subject> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-bench-'))
  const options = { dataDir, env: { STOCKADE_LOG_LEVEL: 'fatal', STOCKADE_RATE_LIMIT: '0' } }
  let server = await spawnServer(options)
  const { client } = await server.setUp()
  const hosts = await Promise.all(Array.from({ length: 8 }, (_, index) => aHost(server, client, `bench-${index}`)))
  const body = { name: 'bench', maximum: 200_000 }
  const { token } = await client.call('POST /fleet/feeds', { body })
  const path = '/api/v1/crowdsec/v1/decisions/stream'
  let next = 0
  const subject: Subject = {
    ...{ name: 'Stockade', port: server.port, pid: server.pid, path, key: token },
    async restart() {
      await server.stop()
      server = await spawnServer({ ...options, port: server.port })
      subject.pid = server.pid
    },
    async stop() {
      await server.stop()
      rmSync(dataDir, { recursive: true })
    },
    async ban(ips) {
      for (const some of inGroups(ips, 100)) {
        const bans = some.map(ip => ({ ip, jail: 'sshd', ban_duration: 86_400 }))
        await hosts[next++ % hosts.length]?.client.call('POST /bans/batch', { body: { bans } })
      }
    },
  }
  return subject
}

interface Cost {
  readonly took: number
  readonly cpu: number
}
interface Figures {
  /** The first stream of a feed that no bouncer followed, of one that bouncers followed before a restart, and one whose text is built again. */
  readonly unknown: Cost
  readonly first: Cost
  readonly anew: Cost
  readonly again: number
  /** At rest before the first bouncer, at rest between bouncers, and while they are sent everything. */
  readonly memory: { readonly before: number; readonly rest: number; readonly most: number }
  readonly update: number
  readonly cpu: number
}
/** Pulls until the update is there; answers how long the pull took that brought it. */
const updateOf = async (subject: Subject, round: number): Promise<number> => {
  await subject.ban(changed(round))
  for (let attempt = 0; attempt < 600; attempt++) {
    let bytes = 0
    const took = await timed(async () => (bytes = await pull(subject, '')))
    if (bytes > 500) return took
    await pause(200)
  }
  return NaN
}
/** Past the time for which a text is kept. */
const textAge = 21_000
const measure = async (subject: Subject): Promise<Figures> => {
  say(`${subject.name}: ${total.toLocaleString('en')} decisions are banned.`)
  const settle = () => pause(short ? 1000 : 5000)
  await subject.ban(addresses)
  await subject.restart()
  await settle()
  const before = memoryOfTree(subject.pid)
  const unknown = await costOf(subject)
  await subject.restart()
  await settle()
  const first = await costOf(subject)
  await pause(textAge)
  const anew = await costOf(subject)
  const again: number[] = []
  for (let round = 0; round < rounds; round++) {
    await pause(100)
    again.push(await timed(() => pull(subject, 'startup=true')))
  }
  await pause(textAge)
  const rest = memoryOfTree(subject.pid)
  const most = await memoryDuring(subject, async () => {
    let bytes = 0
    for (let round = 0; round < 3; round++) bytes = await pull(subject, 'startup=true')
    say(`  ${(bytes / 1e6).toFixed(1)} MB`)
  })
  const updates: number[] = []
  for (let round = 0; round < (short ? 2 : 3); round++) updates.push(await updateOf(subject, round))
  const { bouncers, everySeconds, seconds } = pulling
  for (let from = 0; from < bouncers; from += 10)
    await Promise.all(Array.from({ length: 10 }, (_, index) => pull(subject, '', from + index)))
  const cpu = cpuOfTree(subject.pid)
  const pulls: Promise<number>[] = []
  const began = performance.now()
  for (let count = 0; count < (bouncers * seconds) / everySeconds; count++) {
    await pause(Math.max(0, began + (count * everySeconds * 1000) / bouncers - performance.now()))
    pulls.push(pull(subject, '', count % bouncers))
  }
  await Promise.all(pulls)
  return {
    ...{ unknown, first, anew, again: median(again), memory: { before, rest, most }, update: median(updates) },
    cpu: (cpuOfTree(subject.pid) - cpu) / ((performance.now() - began) / 1000),
  }
}

const versus = (what: string, { own, peer }: { readonly own: number; readonly peer: number }, unit: string) => {
  say(`  ${what}: ${own.toFixed(unit === '' ? 4 : 1)}${unit}, LAPI ${peer.toFixed(unit === '' ? 4 : 1)}${unit}`)
  judge(`${what}: at most`, own / peer, 0.25, ' of LAPI')
}
say(`LAPI ${versionOfLapi()} on SQLite, Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}`)
say(`Other work on this machine: load ${(loadavg()[0] ?? 0).toFixed(1)} at the start.`)
const results: Figures[] = []
// One after the other: what one holds in memory is not the other's.
for (const start of [aStockade, aLapi]) {
  const subject = await start()
  try {
    results.push(await measure(subject))
  } finally {
    await subject.stop()
  }
}
agent.destroy()
const [own, peer] = results
if (!own || !peer) throw new Error('Nothing was measured.')
for (const [what, of] of [
  ['the first of a feed that no bouncer followed', 'unknown'],
  ['the first after a restart', 'first'],
  ['a text made anew', 'anew'],
] as const) {
  versus(`stream of everything, ${what}`, { own: own[of].took, peer: peer[of].took }, ' ms')
  versus(`CPU of ${what}`, { own: own[of].cpu, peer: peer[of].cpu }, ' ms')
}
versus('stream of everything, later ones', { own: own.again, peer: peer.again }, ' ms')
const added = ({ memory }: Figures) => memory.most - memory.before
for (const { memory } of results)
  say(
    `  memory before ${memory.before.toFixed(0)} MB, between streams ${memory.rest.toFixed(0)}, at most ${memory.most.toFixed(0)}`,
  )
versus('memory that bouncers add', { own: added(own), peer: added(peer) }, ' MB')
versus('memory at most', { own: own.memory.most, peer: peer.memory.most }, ' MB')
say(`  update with ten changes: LAPI ${peer.update.toFixed(1)} ms`)
judge('update with ten changes: at most', own.update, 5, ' ms')
versus(`${pulling.bouncers} bouncers, share of a core`, { own: own.cpu, peer: peer.cpu }, '')
