import * as fs from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { aRealServer } from '../tests/e2e/real-server.ts'
import { crowdJail, fillCrowd } from '../tests/engine/crowd.ts'
import { aHost, sleep, until } from '../tests/engine/host.ts'
import { median, say } from './report.ts'

/*
 * `npm run bench -- rest`: what the agent needs while nothing happens, of a core and of memory, first alone, then with a port that knocks
 * open, and with 20,000 bans in fail2ban; and how long a ban takes to the server, and a flushed firewall until its rules are back. A
 * real server, a real agent and a real fail2ban, on this machine, at the usual intervals. The clock of a process has steps of 10 ms, so a
 * minute shows 0.02 %. `--seconds` of each of the three measurements. Needs root, fail2ban and nft.
 */

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '120' } } })
const seconds = Number(values.seconds)
/**
 * Of a core in percent, the programs that it starts included; MB that the agent does not share with other processes of Node, and that it had
 * at most with many bans; milliseconds from a decision of fail2ban to its report, and from a flush to the rules of port knocking.
 */
const goals = { alone: 0.2, knocking: 0.4, crowded: 2, memory: 45, mostMemory: 128, report: 2000, rules: 2000 }
const manyBans = 20_000
/** The first minute is busier: the checks of a new host, the self-test, the looks after new rules. */
const settleSeconds = 75

interface Usage {
  readonly own: number
  readonly programs: number
}

/** Seconds of the agent, and of the programs that it started and that ended: fields 14 to 17 of stat, in hundredths. */
const usageOf = (pid: number): Usage => {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
  return { own: (user + system) / 100, programs: (childUser + childSystem) / 100 }
}

const megabytes = (pid: number, file: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(fs.readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]) / 1024

const server = await aRealServer(() => ({ STOCKADE_HEARTBEAT_INTERVAL: '30', STOCKADE_OFFLINE_AFTER: '90' }))
const host = await aHost({ jailLocal: crowdJail })

const measure = async (title: string, goal: number): Promise<void> => {
  const pid = host.agentPid() ?? 0
  await sleep(settleSeconds * 1000)
  const before = usageOf(pid)
  await sleep(seconds * 1000)
  const after = usageOf(pid)
  const own = ((after.own - before.own) / seconds) * 100
  const programs = ((after.programs - before.programs) / seconds) * 100
  const isMet = own + programs <= goal
  if (!isMet) process.exitCode = 1
  say(
    `${title}: ${(own + programs).toFixed(2)} % of a core (itself ${own.toFixed(2)}, programs ${programs.toFixed(2)}), ` +
      `goal ${goal} %: ${isMet ? 'met' : 'missed'}`,
  )
  const [resident, ownMemory] = [megabytes(pid, 'status', 'VmRSS'), megabytes(pid, 'smaps_rollup', 'Pss_Anon')]
  say(
    `  memory: ${resident.toFixed(1)} MB resident, ${ownMemory.toFixed(1)} MB of it not of files; goal ${goals.memory} MB`,
  )
}

const judgeDelays = (title: string, delays: readonly number[], goal: number): void => {
  const isMet = median(delays) <= goal
  if (!isMet) process.exitCode = 1
  say(
    `${title}: ${delays.map(ms => ms.toFixed(0)).join(', ')} ms, goal of the middle one ${goal} ms: ${isMet ? 'met' : 'missed'}`,
  )
}
const reportDelays = async (serverId: string): Promise<number[]> => {
  const delays: number[] = []
  for (const last of [1, 2, 3, 4, 5]) {
    const ip = `192.0.2.${last}`
    await host.attack(ip)
    const decision = new RegExp(`^(\\S+ [\\d:]+),(\\d+) .*Ban ${ip.replaceAll('.', '[.]')}$`, 'm')
    const decided = () => decision.exec(fs.readFileSync(join(host.directory, 'log/fail2ban.log'), 'utf8'))
    await until(async () => (await server.bans(serverId)).some(ban => ban.ip === ip), `the report of ${ip}`)
    const [, second = '', fraction = ''] = decided() ?? []
    delays.push(Date.now() - Date.parse(`${second}.${fraction}`))
  }
  return delays
}
const rulesDelays = async (): Promise<number[]> => {
  const delays: number[] = []
  for (let round = 0; round < 5; round++) {
    await host.inside('nft', 'delete', 'table', 'inet', 'stockade_knock')
    const began = performance.now()
    await until(async () => (await host.inside('nft', 'list', 'tables')).includes('stockade_knock'), 'the rules')
    delays.push(performance.now() - began)
    await sleep(2000)
  }
  return delays
}

try {
  const { serverId, token } = await server.addServer(host.name)
  // The Node that packages bring, not the one of the machine.
  await host.startAgent({ baseUrl: server.url(host), token, args: [], node: process.execPath })
  await until(async () => (await server.engineVersion(serverId)) !== null, 'the first heartbeat')
  await measure('alone', goals.alone)
  const sequence = { name: 'bench', protected_port: 2201, knock_ports: [7001, 9003, 8002], server_ids: [serverId] }
  await server.admin().call('POST /portknock/sequences', { body: sequence })
  const isEnforced = async (): Promise<boolean> => {
    const { sequences } = await server.admin().call('GET /portknock/sequences', {})
    return sequences[0]?.servers[0]?.state === 'enforced'
  }
  await until(isEnforced, 'the port that knocks open')
  await measure('knocking', goals.knocking)
  judgeDelays('from a decision of fail2ban to its report', await reportDelays(serverId), goals.report)
  judgeDelays('from a flush to the rules of port knocking', await rulesDelays(), goals.rules)
  await fillCrowd(host, manyBans)
  await measure(`with ${manyBans.toLocaleString('en')} bans`, goals.crowded)
  const most = megabytes(host.agentPid() ?? 0, 'status', 'VmHWM')
  say(
    `  memory: ${most.toFixed(1)} MB resident at most; goal ${goals.mostMemory} MB: ${most <= goals.mostMemory ? 'met' : 'missed'}`,
  )
} finally {
  await host.stop()
  await server.close()
}
