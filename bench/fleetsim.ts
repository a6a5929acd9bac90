import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { spawnServer } from '@stockade/server/testing'
import { createLine } from '../packages/agent/src/loops/line.ts'
import type { Line } from '../packages/agent/src/loops/line.ts'

/*
 * `npm run fleetsim -- --agents 1000 --bans-per-second 50`: many light agents in one process speak the wire protocol of
 * real ones (heartbeats, long polls, desired state, batches of bans with ids, results) against a server of their own or,
 * with --url and --key, against yours. Latencies count from the moment at which a request was meant to leave, so that a
 * server that falls behind shows. At the end everything that was acknowledged is read back: nothing may be lost or doubled.
 * Ends with 1 when something was.
 */

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '100' },
    'bans-per-second': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '30' },
    /** Seconds between two heartbeats of one agent. */
    heartbeat: { type: 'string', default: '30' },
    /** Seconds over which the agents start. */
    'start-period': { type: 'string', default: '2' },
    /** Seconds without changes once all agents are there, in which heartbeats and memory are measured by themselves. */
    calm: { type: 'string', default: '0' },
    /** Commands for every host in one batch, one after the other. */
    batches: { type: 'string', default: '1' },
    /** Changes of the whitelist, one after the other. */
    'whitelist-changes': { type: 'string', default: '1' },
    /** Kill the server and start it again in the middle (only its own server). */
    kill: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    url: { type: 'string' },
    /** An API key with `admin`. */
    key: { type: 'string' },
    /** Leave the servers registered at the end (only with --url). */
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const say = (text = '') => void process.stdout.write(`${text}\n`)
const number = (
  name:
    | 'agents'
    | 'bans-per-second'
    | 'seconds'
    | 'heartbeat'
    | 'start-period'
    | 'calm'
    | 'batches'
    | 'whitelist-changes'
    | 'seed',
) => {
  const value = Number(values[name])
  if (Number.isFinite(value) && value >= 0) return value
  say(`--${name} must be a number, not "${values[name]}".`)
  return process.exit(2)
}
if (values.help) {
  say('npm run fleetsim -- [--agents 100] [--bans-per-second 20] [--seconds 30] [--heartbeat 30] [--start-period 2]')
  say(
    '                    [--calm 0] [--batches 1] [--whitelist-changes 1] [--kill] [--seed 1] [--url URL --key KEY [--keep]]',
  )
  process.exit(0)
}
const setting = {
  agents: number('agents'),
  bans: number('bans-per-second'),
  seconds: number('seconds'),
  heartbeat: number('heartbeat'),
  startPeriod: number('start-period'),
  calm: number('calm'),
  batches: number('batches'),
  changes: number('whitelist-changes'),
}
let state = number('seed') % 2_147_483_647 || 1
/** The same numbers for the same seed. */
const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647

// What was measured
const latencies = new Map<string, number[]>()
const errors = new Map<string, number>()
const note = (what: string, since: number) => {
  const list = latencies.get(what)
  if (list) list.push(performance.now() - since)
  else latencies.set(what, [performance.now() - since])
}
const fail = (what: string) => errors.set(what, (errors.get(what) ?? 0) + 1)
const at = (list: readonly number[], share: number) =>
  [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0

interface Reply {
  readonly status: number
  readonly json: Record<string, unknown>
  readonly etag: string | undefined
  readonly text: string
}
let base = new URL('http://127.0.0.1')
const ask = (
  agent: Agent,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const outgoing = request(
      {
        host: base.hostname,
        port: base.port,
        path: `${base.pathname.replace(/\/$/, '')}/api/v1${path}`,
        method,
        agent,
        ...(signal && { signal }),
        headers: {
          authorization: `Bearer ${token}`,
          ...(sent === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
          ...headers,
        },
      },
      reply => {
        let text = ''
        reply.setEncoding('utf8')
        reply.on('data', (piece: string) => (text += piece))
        reply.on('error', reject)
        reply.on('end', () => {
          const isJson = reply.headers['content-type']?.includes('json') === true && text !== ''
          const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {}
          resolve({ status: reply.statusCode ?? 0, json, etag: reply.headers.etag, text })
        })
      },
    )
    const patience = setTimeout(() => outgoing.destroy(new Error('no answer for a minute')), 60_000)
    outgoing.on('close', () => clearTimeout(patience))
    outgoing.on('error', reject)
    outgoing.end(sent)
  })
const control = new Agent({ keepAlive: true })

// The server
const own = values.url ? null : await spawnServer({ env: { STOCKADE_LOG_LEVEL: 'warn' } })
base = new URL(values.url ?? own?.url ?? '')
let key = values.key ?? ''
if (own) {
  const { client } = await own.setUp()
  key = (await client.call('POST /keys', { body: { name: 'fleetsim', permissions: 'admin' } })).key
}
let server = own
const admin = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const reply = await ask(control, key, method, path, body)
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 300)}`)
  return reply.json
}

// The agents
/** Event ids of bans that the server acknowledged, and of those that it never did. */
const acknowledged = new Set<string>()
const delivered = new Map<string, number>()
const synced = new Map<string, Set<string>>()
let stopping = false
/** All agents are there, and nothing is changed yet. */
let isCalm = false
let nextAddress = 0

interface Host {
  readonly id: string
  readonly key: string
  readonly socket: Agent
  /** Heartbeats and polls take turns on one connection, as those of an agent do. */
  readonly line: Line
  /** One for each host: a signal that all share looks through all of its listeners with each request. */
  readonly ending: AbortController
  /** When the last heartbeat was taken. */
  beatAt: number
  readonly outbox: { event_id: string; meant: number; ban: object }[]
}
const register = async (index: number): Promise<Host> => {
  const made = await admin('POST', '/servers', { hostname: `sim-${index}.example` })
  const ending = new AbortController()
  return {
    id: String(made.id),
    key: String(made.api_key),
    // As the agent's (packages/agent/src/transport.ts).
    socket: new Agent({ keepAlive: true, maxSockets: 4, timeout: 15_000 }),
    line: createLine(() => performance.now(), ending.signal),
    ending,
    beatAt: -Infinity,
    outbox: [],
  }
}
/** A request that is tried again until it is taken, as an agent does it; what is refused for good counts as an error. */
const insist = async (
  host: Host,
  what: string,
  meant: number,
  ...call: [string, string, unknown?, Record<string, string>?]
) => {
  for (let attempt = 0; !stopping || attempt === 0; attempt++) {
    try {
      const reply = await ask(host.socket, host.key, ...call)
      if (reply.status < 400) {
        note(what, meant)
        return reply
      }
      fail(`${what}: ${reply.status}`)
      if (reply.status < 500 && reply.status !== 429) return null
    } catch (error) {
      fail(`${what}: ${error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : 'failed'}`)
    }
    await sleep(Math.min(5000, 200 * 2 ** attempt) * (0.5 + random() / 2))
  }
  return null
}
/** Orders come with the answers to polls and to heartbeats. */
const takeOrders = (host: Host, { json }: Reply) => {
  const orders = (json.commands ?? []) as { id: string }[]
  const now = performance.now()
  for (const { id } of orders) if (!delivered.has(id)) delivered.set(id, now)
  if (orders.length > 0)
    void insist(host, 'results', now, 'POST', '/agent/results', {
      results: orders.map(({ id }) => ({ id, success: true, output: 'done', exit_code: 0 })),
    })
}
const beats = async (host: Host) => {
  const slot = performance.now() + random() * setting.heartbeat * 1000
  for (let turn = -1; !stopping; turn++) {
    const meant = turn < 0 ? performance.now() : slot + turn * setting.heartbeat * 1000
    while (!stopping && performance.now() < meant) await sleep(Math.max(1, Math.min(250, meant - performance.now())))
    if (stopping) return
    // It waits for the end of a poll, of which the hold has whole seconds: that is not the server's doing, so it counts from then on.
    const beat = await host.line.heartbeat(() =>
      insist(host, isCalm ? 'calm heartbeat' : 'heartbeat', performance.now(), 'POST', '/servers/heartbeat', {
        hostname: 'sim.example',
        os: 'Simulated',
        engine_version: '1.0.2',
        agent_version: 'fleetsim',
        metrics: { cpu_percent: random() * 100, memory_percent: 40, disk_percent: 10, uptime: 1000 },
        jails: [{ name: 'sshd', enabled: true, current_bans: 3 }],
      }),
    )
    if (beat) {
      host.beatAt = performance.now()
      takeOrders(host, beat)
    }
    host.line.due(slot + (turn + 1) * setting.heartbeat * 1000 - performance.now())
  }
}
const polls = async (host: Host) => {
  let wanted = ''
  let list = ''
  while (!stopping) {
    const known = wanted === '' ? '' : `&state=${encodeURIComponent(wanted)}`
    const reply = await host.line
      .poll(hold =>
        ask(
          host.socket,
          host.key,
          'GET',
          `/servers/${host.id}/commands/pending?wait=${hold}${known}`,
          undefined,
          {},
          host.ending.signal,
        ),
      )
      .catch(() => null)
    if (stopping) return
    if (!reply || reply.status >= 400) {
      fail(`poll: ${reply?.status ?? 'no answer'}`)
      await sleep(500 + random() * 1500)
      continue
    }
    takeOrders(host, reply)
    const version = String((reply.json.desired_state as { version?: unknown } | undefined)?.version ?? '')
    if (version === wanted) continue
    const desired = await insist(host, 'state', performance.now(), 'GET', '/agent/state')
    if (!desired) continue
    const whitelist = desired.json.whitelist as { version: string; count: number; spread_seconds: number }
    wanted = String(desired.json.version)
    if (whitelist.version !== list) {
      await sleep(random() * whitelist.spread_seconds * 1000)
      const text = await insist(host, 'whitelist.txt', performance.now(), 'GET', '/whitelist.txt')
      if (!text) continue
      list = whitelist.version
    }
    await insist(host, 'ack', performance.now(), 'POST', '/agent/state/ack', {
      version: wanted,
      whitelist_version: whitelist.version,
      entry_count: whitelist.count,
      error: null,
    })
    const holders = synced.get(whitelist.version) ?? new Set()
    synced.set(whitelist.version, holders.add(host.id))
  }
}
const sends = async (host: Host) => {
  while (!stopping || host.outbox.length > 0) {
    const batch = host.outbox.slice(0, 500)
    if (batch.length > 0) {
      const reply = await insist(host, 'bans', batch[0]?.meant ?? performance.now(), 'POST', '/bans/batch', {
        bans: batch.map(({ ban }) => ban),
      })
      if (reply) {
        host.outbox.splice(0, batch.length)
        for (const result of reply.json.results as { event_id: string; id: number | null; error: string | null }[])
          if (result.error === null && result.id !== null) acknowledged.add(result.event_id)
          else fail(`ban refused: ${String(result.error)}`)
      } else if (stopping) return
    }
    await sleep(200 + random() * 200)
  }
}
const attack = async (hosts: readonly Host[]) => {
  const started = performance.now()
  for (let count = 0; !stopping;) {
    const due = Math.floor(((performance.now() - started) / 1000) * setting.bans)
    for (; count < due; count++) {
      const host = hosts[Math.floor(random() * hosts.length)]
      const address = nextAddress++
      const event_id = randomUUID()
      host?.outbox.push({
        event_id,
        meant: performance.now(),
        ban: {
          event_id,
          ip: `11.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
          jail: random() < 0.7 ? 'sshd' : 'nginx-http-auth',
          log_lines:
            'Nov 21 10:00:00 sim sshd[1]: Failed password for invalid user test from 203.0.113.7 port 4711 ssh2',
          ban_duration: 600,
          banned_at: new Date().toISOString(),
        },
      })
    }
    await sleep(20)
  }
}

say(
  `${setting.agents} agents, ${setting.bans} bans a second for ${setting.seconds} s, against ${own ? 'a server of its own' : base.href}`,
)
const from = new Date(Date.now() - 60_000).toISOString()
/** What the server's process holds: memory and descriptors of a soak must not rise with time. */
interface Held {
  readonly at: number
  readonly mb: number
  readonly files: number
  readonly walMb: number
}
const held: Held[] = []
const look = () => {
  if (!server) return
  try {
    const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]
    if (memory === undefined) return
    const wal = join(server.dataDir, 'stockade.sqlite3-wal')
    held.push({
      at: performance.now(),
      mb: Number(memory) / 1024,
      files: readdirSync(`/proc/${server.pid}/fd`).length,
      walMb: existsSync(wal) ? statSync(wal).size / 1e6 : 0,
    })
  } catch {
    // It was just killed.
  }
}

const hosts: Host[] = []
const registering = performance.now()
for (let index = 0; index < setting.agents; index += 20)
  hosts.push(
    ...(await Promise.all(Array.from({ length: Math.min(20, setting.agents - index) }, (_, n) => register(index + n)))),
  )
say(`registered in ${((performance.now() - registering) / 1000).toFixed(1)} s`)
look()
const registered = held.at(-1)
const began = performance.now()
const work: Promise<void>[] = []
for (const host of hosts)
  work.push(
    sleep(random() * setting.startPeriod * 1000).then(async () => {
      await Promise.all([beats(host), polls(host), sends(host)])
    }),
  )
await sleep(setting.startPeriod * 1000)

/** Resolves to the seconds until each agent had a heartbeat taken since then. */
const untilAllBeat = async (since: number): Promise<string> => {
  while (performance.now() - since < 300_000 && !hosts.every(({ beatAt }) => beatAt > since)) await sleep(50)
  const missing = hosts.filter(({ beatAt }) => beatAt <= since).length
  if (missing > 0) fail(`${missing} agents had no heartbeat taken within five minutes`)
  return ((performance.now() - since) / 1000).toFixed(1)
}
if (setting.calm > 0) {
  await untilAllBeat(began)
  isCalm = true
  await sleep(setting.calm * 1000)
  look()
  isCalm = false
  const rest = held.at(-1)
  if (rest && registered)
    say(
      `at rest the server held ${rest.mb.toFixed(0)} MB and ${rest.files} files: ${(((rest.mb - registered.mb) * 1024) / hosts.length).toFixed(1)} KB and ${((rest.files - registered.files) / hosts.length).toFixed(2)} files for each agent that is there`,
    )
}
work.push(attack(hosts))
const until = performance.now() + setting.seconds * 1000
await sleep(Math.min(3000, setting.seconds * 250))
const watching = setInterval(look, Math.max(500, setting.seconds * 5))
/** How much memory rises in an hour, by least squares over the second half: the first is caches that fill. */
const slope = (): number => {
  const later = held.slice(held.length >> 1)
  const mean = (of: (sample: Held) => number) => later.reduce((sum, sample) => sum + of(sample), 0) / later.length
  const [at0, mb0] = [mean(({ at: when }) => when), mean(({ mb }) => mb)]
  const over = later.reduce((sum, { at: when, mb }) => sum + (when - at0) * (mb - mb0), 0)
  const under = later.reduce((sum, { at: when }) => sum + (when - at0) ** 2, 0)
  return under === 0 ? 0 : (over / under) * 3_600_000
}

/** What the server says of itself is asked for once: to ask while it works would be a load that no operator makes. */
const areAllSynced = async (): Promise<boolean> => {
  const { servers } = await admin('GET', '/whitelist/sync-status')
  const ours = new Set(hosts.map(({ id }) => id))
  return (servers as { id: string; sync_status: string }[]).every(
    ({ id, sync_status }) => !ours.has(id) || sync_status === 'synced',
  )
}
for (let turn = 0; turn < setting.changes; turn++) {
  const asked = performance.now()
  const before = new Set(synced.keys())
  await admin('POST', '/whitelist', { ip: `198.51.100.${turn + 1}`, description: 'fleetsim' })
  const isEverywhere = () =>
    [...synced].some(([version, holders]) => !before.has(version) && holders.size === hosts.length)
  while (!isEverywhere() && performance.now() - asked < 70_000) await sleep(10)
  const seconds = (performance.now() - asked) / 1000
  if (!isEverywhere()) fail('a whitelist change did not reach everybody within 70 s')
  else if (!(await areAllSynced())) fail('a whitelist change is acknowledged, but the server does not say so')
  else say(`a whitelist change was acknowledged by all ${hosts.length} after ${seconds.toFixed(2)} s`)
}
/** Maximum number of servers in one batch of commands. */
const largestBatch = 10_000
const ordered = async () => {
  const asked = performance.now()
  const batches: Record<string, unknown>[] = []
  for (let first = 0; first < hosts.length; first += largestBatch)
    batches.push(
      await admin('POST', '/commands/batch', {
        server_ids: hosts.slice(first, first + largestBatch).map(({ id }) => id),
        type: 'jail-status',
        params: { jail: 'sshd' },
      }),
    )
  const accepted = performance.now() - asked
  const ids = batches.flatMap(({ commands }) => (commands as { id: string }[]).map(({ id }) => id))
  const patience = performance.now() + 60_000
  while (performance.now() < patience && ids.some(id => !delivered.has(id))) await sleep(10)
  const times = ids.flatMap(id => (delivered.has(id) ? [(delivered.get(id) ?? 0) - asked] : []))
  if (times.length < ids.length) fail('commands were not delivered within a minute')
  const completed = async () => {
    let total = 0
    for (const { batch_id } of batches)
      total += Number((await admin('GET', `/commands?batch_id=${String(batch_id)}&status=completed&limit=1`)).total)
    return total
  }
  while (performance.now() < patience && (await completed()) < ids.length) await sleep(200)
  say(
    `a batch for ${ids.length} was accepted after ${accepted.toFixed(0)} ms, delivered after ${at(times, 0.5).toFixed(0)} ms (p50), ${at(times, 1).toFixed(0)} ms (all), completed after ${(performance.now() - asked).toFixed(0)} ms`,
  )
  const done = await completed()
  if (done !== ids.length) fail(`only ${done} of ${ids.length} commands completed`)
}
for (let turn = 0; turn < setting.batches; turn++) await ordered()
if (values.kill && server) {
  const { dataDir, port } = server
  say('the server is killed')
  await server.kill()
  await sleep(2000)
  server = await spawnServer({ dataDir, port, env: { STOCKADE_LOG_LEVEL: 'warn' } })
  say('the server is back')
  say(`each agent had a heartbeat taken ${await untilAllBeat(performance.now())} s after that`)
}
while (performance.now() < until) await sleep(100)
clearInterval(watching)

// The end: everything that waits is sent, then all of it is read back.
stopping = true
for (const host of hosts) host.ending.abort()
await Promise.race([Promise.all(work), sleep(60_000)])
for (const host of hosts) host.socket.destroy()
const found = new Map<string, number>()
for (let page = 1; ; page++) {
  const list = (await admin('GET', `/bans?from=${from}&limit=100&page=${page}`)).bans as { event_id: string }[]
  for (const { event_id } of list) found.set(event_id, (found.get(event_id) ?? 0) + 1)
  if (list.length < 100) break
}
const lost = [...acknowledged].filter(id => !found.has(id)).length
const doubled = [...acknowledged].filter(id => (found.get(id) ?? 0) > 1).length
say()
say(
  `${'request'.padEnd(16)}${'count'.padStart(9)}${'p50 ms'.padStart(10)}${'p99 ms'.padStart(10)}${'max ms'.padStart(10)}`,
)
for (const [what, list] of latencies)
  say(
    `${what.padEnd(16)}${String(list.length).padStart(9)}${[0.5, 0.99, 1].map(share => at(list, share).toFixed(1).padStart(10)).join('')}`,
  )
for (const [what, count] of errors) say(`  error  ${what}: ${count}`)
if (held.length > 3) {
  const most = (of: (sample: Held) => number) => Math.max(...held.map(of))
  say(
    `the server held ${held[0]?.mb.toFixed(0) ?? '?'} MB at first, ${most(({ mb }) => mb).toFixed(0)} MB at most, ${held.at(-1)?.mb.toFixed(0) ?? '?'} MB at last; in the second half it rose by ${slope().toFixed(1)} MB an hour`,
  )
  say(
    `open files at most ${most(({ files }) => files)}, at last ${held.at(-1)?.files ?? '?'}; write-ahead log at most ${most(({ walMb }) => walMb).toFixed(0)} MB`,
  )
}
say(`bans acknowledged ${acknowledged.size}, lost ${lost}, doubled ${doubled}`)
if (!own && !values.keep) for (const { id } of hosts) await admin('DELETE', `/servers/${id}`)
control.destroy()
await server?.close()
const grave = [...errors.keys()].filter(what => !values.kill || !/ECONN|EPIPE|socket hang up|no answer|50\d/.test(what))
process.exit(lost + doubled > 0 || grave.length > 0 ? 1 : 0)
