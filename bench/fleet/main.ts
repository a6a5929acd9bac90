import { Agent } from 'node:http'
import { say } from '../report.ts'
import { fileLimit } from '../processes.ts'
import { startCrew } from './crew.ts'
import type { Crew } from './crew.ts'
import { placesOf, registerAll, removeAll } from './enrolment.ts'
import { machineNow } from './messages.ts'
import { readOptions } from './options.ts'
import type { Options } from './options.ts'
import { isGrave, printGoals, printLatencies, readBack } from './outcome.ts'
import { measureCalm, measureOrder, measureRestart, measureWhitelistChange } from './phases.ts'
import type { ResultName, Run } from './phases.ts'
import { asAdmin } from './requests.ts'
import { foreignService, startService } from './servers.ts'
import type { Service } from './servers.ts'
import { createWatch } from './watch.ts'

/*
 * `npm run bench -- fleetsim --agents 1000 --bans-per-second 50`: many light agents speak the wire protocol of real ones (host.ts) against servers
 * of their own or, with --url and --key, against yours. Worker processes share them. At the end everything that was acknowledged is read
 * back: nothing may be lost or doubled. Ends with 1 when something was, or when something failed.
 */

/** Files of a worker besides the connections of its hosts, and connections of a host at most when a change meets its poll. */
const [filesForOthers, filesOfHost] = [200, 2]

/** Does the work, and says whose CPU it took. */
const runPhase = async <T>(service: Service, crew: Crew | null, name: string, work: () => Promise<T>): Promise<T> => {
  const spentBy = () => {
    const { user, system } = process.cpuUsage()
    return { ...service.cpu(), simulator: (crew?.cpu() ?? 0) + (user + system) / 1e6 }
  }
  const [began, before] = [machineNow(), spentBy()]
  crew?.phase(name)
  const result = await work()
  const after = spentBy()
  const spent = (part: keyof typeof after) => (after[part] - before[part]).toFixed(1)
  say(
    `  CPU of ${name}, ${((machineNow() - began) / 1000).toFixed(1)} s: servers ${spent('servers')}, simulator ${spent('simulator')}, HAProxy ${spent('proxies')}, PostgreSQL ${spent('database')} s`,
  )
  return result
}

/** Registers the hosts and starts the workers that run them. */
const populate = async (options: Options, service: Service, control: Agent): Promise<Run> => {
  const adminAt = (url: string) => asAdmin({ base: new URL(url), agent: control, token: service.key })
  const watch = createWatch(service)
  const errors = new Map<string, number>()
  const results = new Map<ResultName, number>()
  watch.describe('without agents')
  const began = machineNow()
  // At one process: each of several would hear of each host from the others.
  const enrolled = await runPhase(service, null, 'registration', () =>
    registerAll(adminAt(service.url), options.agents),
  )
  const seconds = (machineNow() - began) / 1000
  say(`registered in ${seconds.toFixed(1)} s, ${(options.agents / seconds).toFixed(0)} a second`)
  const entrances = await service.open()
  watch.describe('with registered agents')
  if (options.servers > 1)
    say(`HAProxy runs as ${entrances.length === 1 ? 'one process' : `${entrances.length} processes`}`)
  const crew = startCrew(options.workers, placesOf(enrolled, entrances), options)
  return {
    ...{ options, service, admin: adminAt(entrances[0] ?? service.url), crew, enrolled, watch, errors, results },
    fail: what => void errors.set(what, (errors.get(what) ?? 0) + 1),
    result: (name, value) => void results.set(name, Math.max(results.get(name) ?? 0, value)),
  }
}

const runPhases = async (run: Run): Promise<void> => {
  const { options, service, crew, enrolled, watch, fail } = run
  const phase = (name: string, work: () => Promise<unknown>) => runPhase(service, crew, name, work)
  const registered = watch.look()
  await phase('start', async () => {
    if (await crew.until(() => crew.beats().length >= enrolled.length, options.startPeriod + 300)) return
    fail(`${enrolled.length - crew.beats().length} agents had no heartbeat taken within five minutes`)
  })
  if (options.calm > 0) await phase('calm', () => measureCalm(run, registered?.megabytes ?? null))
  crew.attack()
  const end = machineNow() + options.seconds * 1000
  const watching = setInterval(watch.look, Math.max(500, options.seconds * 5))
  await phase('bans', () => crew.until(() => false, Math.min(3, options.seconds / 4)))
  for (let turn = 0; turn < options.whitelistChanges; turn++)
    await phase('whitelist', () => measureWhitelistChange(run, turn))
  for (let turn = 0; turn < options.batches; turn++) await phase('order', () => measureOrder(run))
  if (options.kill) await phase('restart', () => measureRestart(run))
  await phase('bans', () => crew.until(() => machineNow() > end, options.seconds))
  clearInterval(watching)
}

/** Resolves to the exit code. */
const simulate = async (options: Options, service: Service, control: Agent): Promise<number> => {
  const from = new Date(Date.now() - 60_000).toISOString()
  const run = await populate(options, service, control)
  const { admin, crew, enrolled, errors, results, watch } = run
  await runPhases(run)
  const { latencies, errors: errorsOfHosts } = await crew.stop()
  for (const [what, count] of errorsOfHosts) errors.set(what, (errors.get(what) ?? 0) + count)
  const { lost, doubled } = await readBack(admin, crew.bans, from)
  printLatencies(latencies)
  for (const [what, count] of errors) say(`  error  ${what}: ${count}`)
  watch.report()
  printGoals(options, results, latencies)
  say(`bans acknowledged ${crew.bans.size}, lost ${lost}, doubled ${doubled}`)
  if (options.url && !options.keep) await removeAll(admin, enrolled)
  const hasGraveErrors = [...errors.keys()].some(what => isGrave(what, options.kill))
  return lost + doubled > 0 || hasGraveErrors ? 1 : 0
}

const options = readOptions()
const files = Math.ceil(options.agents / options.workers) * filesOfHost + filesForOthers
if (files > fileLimit()) {
  const least = Math.ceil((options.agents * filesOfHost) / (fileLimit() - filesForOthers))
  say(`A worker may open ${fileLimit()} files (ulimit -Hn) and needs ${files}. Give at least --workers ${least}.`)
  process.exit(2)
}
const service = options.url ? foreignService(options.url, options.key) : await startService(options)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void service.close().finally(() => process.exit(1)))
const control = new Agent({ keepAlive: true })
say(
  `${options.agents} agents in ${options.workers} ${options.workers === 1 ? 'process' : 'processes'}, a heartbeat each ${options.heartbeat} s, ${options.bansPerSecond} bans a second for ${options.seconds} s, against ${
    options.url ??
    `${options.servers === 1 ? 'a server' : `${options.servers} servers`} of its own on ${options.database}${options.servers > 1 ? ' behind HAProxy' : ''}`
  }`,
)
let code = 1
try {
  code = await simulate(options, service, control)
} finally {
  control.destroy()
  await service.close()
}
process.exit(code)
