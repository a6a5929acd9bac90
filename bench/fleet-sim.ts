import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { liveDay, untilRead } from './fleet-sim/day.ts'
import type { World } from './fleet-sim/day.ts'
import { startService, startSource } from './fleet-sim/servers.ts'
import { createSimHost } from './fleet-sim/sim-host.ts'
import type { SimHost } from './fleet-sim/sim-host.ts'
import { createWantedState } from './fleet-sim/wanted.ts'
import { say } from './report.ts'

/*
 * `npm run check -- fleet-day`: a fleet of hosts that run the agent's own code over a model of the kernel, against a real server, through a day of
 * fleet bans, lists, tags, outages, new installations and lies, compressed to minutes. At the end what each kernel holds is compared
 * with what was asked of the server. Ends with 1 when anything differs. `--postgres`: two server processes on PostgreSQL.
 */

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '300' },
    /** Milliseconds between two operations. */
    every: { type: 'string', default: '700' },
    /** Hosts that meet trouble, in a second. */
    troubles: { type: 'string', default: '4' },
    restarts: { type: 'string', default: '2' },
    /** Entries of the large list; 0: none. */
    entries: { type: 'string', default: '100000' },
    clicks: { type: 'string', default: '5' },
    /** Seconds until all must be equal after the day. */
    patience: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
    postgres: { type: 'boolean', default: false },
    /** Requests that a host makes in a minute at most; a real agent makes 80. */
    budget: { type: 'string', default: '80' },
    /** Without what an agent looks for only once a minute. */
    quick: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
})
const setting = {
  hosts: Number(values.hosts),
  seconds: Number(values.seconds),
  every: Number(values.every),
  troubles: Number(values.troubles),
  restarts: Number(values.restarts),
  entries: Number(values.entries),
  clicks: Number(values.clicks),
  patience: Number(values.patience),
  budget: Number(values.budget),
}
let seed = Number(values.seed) % 2_147_483_647 || 1
const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647

const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'sim-'))
const service = await startService(values.postgres)
const source = await startSource()
const wanted = createWantedState()
const hosts: SimHost[] = []
const tell = (text: string): void => void (values.verbose && say(text))
const log = { info: tell, warn: tell, debug: () => undefined }

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(2)
const until = async (isTrue: () => boolean, patience: number): Promise<boolean> => {
  const end = Date.now() + patience * 1000
  while (!isTrue() && Date.now() < end) await sleep(5)
  return isTrue()
}
const problems: string[] = []

let enrolled = 0
const addHost = async (): Promise<void> => {
  const index = enrolled++
  const name = `host-${index}`
  const enrolment = await service.enrol(name)
  const host = createSimHost({
    enrolment,
    name,
    ownAddress: `12.0.${Math.floor(index / 250)}.${1 + (index % 250)}`,
    baseUrl: () => service.urlFor(index),
    folder: join(folder, String(index)),
    perMinute: setting.budget,
    log,
  })
  hosts.push(host)
  await host.start()
}
const world: World = { service, source, wanted, hosts, random, addHost, hasSlowTrouble: !values.quick }

const enrolAll = async (): Promise<void> => {
  const since = performance.now()
  for (let at = 0; at < setting.hosts; at += 20)
    await Promise.all(Array.from({ length: Math.min(20, setting.hosts - at) }, addHost))
  say(`${hosts.length} hosts enrolled in ${seconds(since)} s`)
}

/** Seconds from the request of a ban to the last host's proof. */
const measureClicks = async (): Promise<void> => {
  for (let n = 0; n < setting.clicks; n++) {
    const before = Math.max(...hosts.map(({ acked }) => acked.fleet))
    const since = performance.now()
    const body = { entry: `198.51.100.${n + 1}`, target: { all: true as const }, duration: -1 }
    const made = await service.admin().call('POST /fleet/bans', { body })
    const answered = seconds(since)
    const isDone = await until(() => hosts.every(({ acked }) => acked.fleet > before), 60)
    say(
      `click ${n + 1}: answered after ${answered} s, held by the last of ${hosts.length} hosts after ${seconds(since)} s`,
    )
    if (!isDone) problems.push(`a ban did not reach all hosts within 60 s`)
    wanted.bans.set(made.id, { entry: made.entry, until: null, target: body.target })
  }
}

/** Seconds from a subscription to the last host's proof of all entries. */
const measureList = async (): Promise<void> => {
  if (setting.entries === 0) return
  const lineOf = (n: number): string => `${23 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.${1 + 2 * (n % 120)}`
  const lines = Array.from({ length: setting.entries }, (_, n) => lineOf(n))
  source.texts.set('/large', `${lines.join('\n')}\n`)
  const since = performance.now()
  const body = {
    name: 'large',
    source: { kind: 'url' as const, url: source.urlOf('/large') },
    target: { all: true as const },
    mode: 'enforce' as const,
    allow_private: true,
  }
  const { id } = await service.admin().call('POST /lists', { body })
  const version = await untilRead(service, id)
  say(`list: ${setting.entries} entries read after ${seconds(since)} s`)
  const isHeld = ({ acked }: SimHost) => (acked.lists.get(id) ?? 0) >= version
  const half = until(() => hosts.filter(isHeld).length > hosts.length / 2, 300).then(() => seconds(since))
  const isDone = await until(() => hosts.every(isHeld), 300)
  say(`list: held by half of the hosts after ${await half} s, by the last of ${hosts.length} after ${seconds(since)} s`)
  if (!isDone) problems.push('the list did not reach all hosts within 300 s')
  wanted.lists.set(id, { name: 'large', target: body.target, mode: 'enforce', lines })
  problems.push(...wanted.differences(hosts).slice(0, 5))
  await measureClicks()
  await service.admin().call('DELETE /lists/{id}', { params: { id } })
  wanted.lists.delete(id)
}

/** What the server still waits for, though all hosts are there: a host each, with the reason that the server gives. */
const pendingAtServer = async (): Promise<{ readonly count: number; readonly examples: string[] }> => {
  const admin = service.admin()
  const query = { state: 'pending' as const, limit: 5 }
  const nameOf = (what: string, of: { server: { hostname: string }; reason: string | null; at: string | null }) =>
    `the server waits for ${of.server.hostname}, ${what}: ${of.reason ?? 'no reason'} (heard last: ${of.at ?? 'never'})`
  const examples: string[] = []
  let count = 0
  for (let page = 1; ; page++) {
    const list = await admin.call('GET /fleet/bans', { query: { active: true, limit: 100, page } })
    for (const { id, state } of list.fleet_bans) {
      count += state.pending
      if (state.pending === 0 || examples.length >= 20) continue
      const { servers } = await admin.call('GET /fleet/bans/{id}/servers', { params: { id }, query })
      examples.push(...servers.map(server => nameOf(`ban ${id}`, server)))
    }
    if (page * 100 >= list.total) break
  }
  const { lists } = await admin.call('GET /lists', { query: { limit: 100 } })
  for (const { id, held, version } of lists) {
    count += held.pending
    if (held.pending === 0 || examples.length >= 20) continue
    const { servers } = await admin.call('GET /lists/{id}/servers', { params: { id }, query })
    examples.push(...servers.map(server => nameOf(`version ${version} of list ${id}`, server)))
  }
  return { count, examples }
}

const settle = async (): Promise<void> => {
  const since = performance.now()
  for (const host of hosts) {
    host.cut('no')
    host.kernel.refuse(false)
    if (!host.isRunning()) await host.start()
  }
  const end = Date.now() + setting.patience * 1000
  let found = wanted.differences(hosts)
  let pending = await pendingAtServer()
  while ((found.length > 0 || pending.count > 0) && Date.now() < end) {
    await sleep(1000)
    found = wanted.differences(hosts)
    tell(found.slice(0, 3).join('; '))
    if (found.length === 0) pending = await pendingAtServer()
  }
  say(`${wanted.bans.size} bans and ${wanted.lists.size} lists stand; settled after ${seconds(since)} s`)
  say(`differences: ${found.length}; pending at the server: ${pending.count}`)
  problems.push(...found.slice(0, 20))
  problems.push(...pending.examples)
}

const run = async (): Promise<void> => {
  say(`seed ${values.seed}, ${setting.hosts} hosts, ${values.postgres ? 'two processes on PostgreSQL' : 'SQLite'}`)
  await enrolAll()
  await until(() => hosts.every(({ acked }) => acked.fleet >= 0), 60)
  await measureClicks()
  await measureList()
  const { counts, refusals, failures } = await liveDay(world, setting)
  say(`the day: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}; ${refusals} refused`)
  problems.push(...failures.slice(0, 5))
  await service.signIn()
  await settle()
  const { now, most } = service.memory()
  say(`memory of the server: ${now.toFixed(0)} MB, at most ${most.toFixed(0)} MB`)
}

try {
  await run()
} catch (error) {
  problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
} finally {
  await Promise.all(hosts.map(host => host.stop()))
  source.close()
  await service.close()
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) say(`  ${problem}`)
say(problems.length === 0 ? 'equal' : `NOT EQUAL; repeat with --seed ${values.seed}`)
process.exit(problems.length === 0 ? 0 : 1)
