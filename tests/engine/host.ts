/**
 * A host to protect, on one machine: a network namespace with its own nftables, a private fail2ban with a copy of its
 * packaged configuration (the installed one, or another version), and (when asked) the agent, all under one temporary directory.
 *
 *   const host = await aHost()
 *   await host.startAgent({ baseUrl: `http://${host.gateway}:8420`, token })   // enrols at the first start
 *   await host.attack('203.0.113.7')                                         // three failed logins: a ban
 *   await host.bannedInNft('203.0.113.7')                                    // true once the firewall has it
 *   await host.killAgent()                                                   // -9; startAgent() goes on where it was
 *   await host.stop()
 *
 * Names are unique, so that hosts run side by side; only processes started here are ended, by their ids. Needs root,
 * fail2ban, nft and ip: `missingForHosts()` names what is absent, and `describeHosts` then skips with one loud line.
 */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe } from 'vitest'
import { buildAgent } from '../../packages/agent/build.mjs'
import { installedEngine, ownClock, stamp, writeConfig, writePolicy } from './host-config.ts'
import type { HostSettings } from './host-config.ts'
import { enterNamespaces } from './other-root.ts'
import { sight, until, within } from '../../packages/server/src/testing/waiting.ts'

export { until } from '../../packages/server/src/testing/waiting.ts'

const run = promisify(execFile)

export interface Host {
  readonly name: string
  readonly directory: string
  /** The test machine's address as the host sees it: a server that listens on all addresses is reached here. */
  readonly gateway: string
  readonly gateway6: string
  /** The host's own address. */
  readonly address: string
  readonly f2bConfig: string
  readonly agentState: string
  readonly agentConfig: string
  /** Failed logins of an address in the log that jail `sshd` reads; three in ten minutes are a ban. */
  attack(ip: string, options?: { times?: number; user?: string }): Promise<void>
  /** Sets the clock of a host with `hasOwnClock`: the given seconds ahead of the real time. */
  setClock(seconds: number): void
  /** Raw bytes at the end of that log. */
  writeLog(bytes: Buffer | string): Promise<void>
  /** Whether a set of the host's nftables holds the address. */
  bannedInNft(ip: string): Promise<boolean>
  /** What fail2ban itself says. */
  bannedInEngine(jail: string, ip: string): Promise<boolean>
  /** fail2ban's control socket. */
  readonly f2bSocket: string
  /** fail2ban-client in this host; its standard output. */
  client(...words: string[]): Promise<string>
  /** Runs a program inside the host's namespace. */
  inside(...command: string[]): Promise<string>
  /** `programs`: the path on which fail2ban finds the programs of its actions. */
  startEngine(programs?: string): Promise<void>
  stopEngine(): Promise<void>
  /** Starts the agent, enrolled with `token` when it is not yet. Later calls need no arguments. */
  startAgent(options?: AgentOptions): Promise<void>
  /** Runs the agent's program for one command, such as `trust list`, with this host's folders; its standard output. */
  agentCommand(...words: string[]): Promise<string>
  /** SIGTERM, and waits for the end. */
  stopAgent(): Promise<void>
  /** kill -9. */
  killAgent(): Promise<void>
  agentRunning(): boolean
  agentPid(): number | null
  /** Of the last start, epoch milliseconds. */
  agentStartedAt(): number | null
  /** Everything the agent has written to its log. */
  agentLog(): string
  stop(): Promise<void>
}

export interface AgentOptions {
  readonly baseUrl?: string
  readonly token?: string
  readonly args?: readonly string[]
  /** A program that starts the agent, with its arguments. */
  readonly starter?: readonly string[]
  /** False: as on a host without Python or without the capability, so without a netlink socket. */
  readonly hasLauncher?: boolean
  /** Megabytes of its heap, as many as the installed agent has when not given. */
  readonly heap?: number
  /** The Node to run it with; else STOCKADE_AGENT_NODE, else the system's, since that is what hosts have. */
  readonly node?: string
}

/** What a host of this kind needs and this machine has not; empty when all is there. */
export function missingForHosts(): string[] {
  if (process.getuid?.() !== 0) return ['root']
  const absent = ['fail2ban-server', 'fail2ban-client', 'nft', 'ip'].filter(program => !onPath(program))
  if (absent.length > 0) return absent
  const probe = `skdprobe${randomBytes(3).toString('hex')}`
  try {
    execFileSync('ip', ['netns', 'add', probe], { stdio: 'ignore' })
    execFileSync('ip', ['netns', 'exec', probe, 'nft', 'list', 'tables'], { stdio: 'ignore' })
    return []
  } catch {
    return ['network namespaces with nftables']
  } finally {
    quietly(() => execFileSync('ip', ['netns', 'del', probe], { stdio: 'ignore' }))
  }
}

/** `describe` for tests with real hosts: skips loudly where they cannot run. */
export function describeHosts(name: string, body: () => void): void {
  const missing = missingForHosts()
  if (missing.length > 0) loudly(`SKIPPED: ${name}: needs ${missing.join(', ')}`)
  describe.skipIf(missing.length > 0)(name, body)
}

/** One line on the terminal, whatever the test runner does with the console. */
export function loudly(text: string): void {
  process.stderr.write(`\n!!! ${text}\n`)
}

const hosts = new Set<{ end: () => void }>()
process.on('exit', () => {
  for (const host of hosts) quietly(host.end)
})

/** sshd's filter ties lines of one process together, so each line has its own. */
let lastPid = 4000

let bundle: Promise<string> | null = null

/** The powers that the agent's systemd unit leaves to root. */
const unitRights = ['setpriv', '--bounding-set', '-all,+net_admin,+dac_read_search', '--no-new-privs']

/** Gives the agent its netlink socket, as the installed start script does. */
export const launcherFile = join(import.meta.dirname, '../../packages/agent/src/python/launcher.py')

export async function aHost(settings: HostSettings = {}): Promise<Host> {
  const id = randomBytes(3).toString('hex')
  const name = `skd${id}`
  const directory = fs.mkdtempSync(join(tmpdir(), `stockade-host-`))
  const path = (...parts: string[]): string => join(directory, ...parts)
  const net = await createNamespace(name, id)
  const namespaces = await enterNamespaces(name, {
    root: settings.root,
    layer: settings.hasOwnSystem === true ? path('layer') : undefined,
  })
  let agent: ChildProcess | null = null
  let settingsOfAgent: AgentOptions = {}
  let startedAt: number | null = null

  const engine = settings.engine ?? installedEngine
  const env = {
    ...process.env,
    PATH: `${path('programs')}:${process.env['PATH'] ?? ''}`,
    ...(settings.hasOwnClock === true ? ownClock(directory, path('clock')) : {}),
  }
  let ahead = 0
  const setClock = (seconds: number): void => {
    ahead = seconds
    fs.writeFileSync(path('clock.new'), `${seconds < 0 ? '' : '+'}${seconds}s\n`)
    fs.renameSync(path('clock.new'), path('clock'))
  }
  setClock(0)
  const inside = async (...command: string[]): Promise<string> => {
    const { stdout } = await run(namespaces.program, [...namespaces.args, ...command], {
      env,
      maxBuffer: 64 * 1024 * 1024,
    })
    return sight(command.join(' '), stdout)
  }
  const fail2banClient = join(engine.bin, 'fail2ban-client')
  const client = (...words: string[]): Promise<string> => inside(fail2banClient, '-c', path('etc'), ...words)
  const enginePid = (): number => Number(quietly(() => fs.readFileSync(path('run', 'f2b.pid'), 'utf8')) ?? 0)

  writeConfig(directory, settings)
  writePolicy(directory, settings.policy)

  const end = (): void => {
    if (agent?.pid !== undefined && agent.exitCode === null) quietly(() => process.kill(agent?.pid ?? 0, 'SIGKILL'))
    const pid = enginePid()
    if (pid > 1 && isOurs(pid, directory)) quietly(() => process.kill(pid, 'SIGKILL'))
    namespaces.end()
    quietly(() => execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' }))
    quietly(() => execFileSync('ip', ['link', 'del', net.link], { stdio: 'ignore' }))
    quietly(() => fs.rmSync(directory, { recursive: true, force: true }))
  }
  const registered = { end }
  hosts.add(registered)

  const agentArgs = (): string[] => [
    ...['--config', path('agent-etc'), '--state', path('agent-lib'), '--run', path('agent-run')],
    ...['--f2b-config', path('etc'), '--f2b-socket', path('run', 'f2b.sock')],
    ...['--f2b-client', fail2banClient, '--f2b-server', join(engine.bin, 'fail2ban-server')],
  ]

  async function ended(signal: NodeJS.Signals): Promise<void> {
    const child = agent
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const over = new Promise(resolve => child.once('exit', resolve))
    child.kill(signal)
    await within(over, `the end of the agent after ${signal}`, () => host.agentLog())
  }

  const host: Host = {
    name,
    directory,
    gateway: net.gateway,
    gateway6: net.gateway6,
    address: net.address,
    f2bConfig: path('etc'),
    f2bSocket: path('run', 'f2b.sock'),
    agentState: path('agent-lib'),
    agentConfig: path('agent-etc'),
    attack(ip, { times = 3, user = 'admin' } = {}) {
      const lines = Array.from(
        { length: times },
        (_, i) =>
          `${stamp(ahead)} ${name} sshd[${(lastPid += 1)}]: Failed password for invalid user ${user}${i} from ${ip} port ${40000 + i} ssh2\n`,
      )
      return fs.promises.appendFile(path('log', 'auth.log'), lines.join(''))
    },
    setClock,
    writeLog: bytes => fs.promises.appendFile(path('log', 'auth.log'), bytes),
    async bannedInNft(ip) {
      const escaped = ip.replace(/\./g, '\\.')
      // The agent's sets of addresses that are never dropped are no bans.
      const ruleset = (await inside('nft', 'list', 'ruleset')).replace(/\tset keep\w* \{[^]*?\n\t\}/g, '')
      return new RegExp(`(?<![0-9a-f:.])${escaped}(?![0-9a-f:.])`).test(ruleset)
    },
    bannedInEngine: async (jail, ip) => (await client('get', jail, 'banned', ip)).trim() === '1',
    client,
    inside,
    async startEngine(programs) {
      if (programs === undefined) await client('start')
      else await inside('env', `PATH=${programs}`, fail2banClient, '-c', path('etc'), 'start')
      await until(async () => (await client('ping')).includes('pong'), 'the answer of fail2ban')
    },
    async stopEngine() {
      const pid = enginePid()
      await client('stop')
      // It answers before it removes the file with its process id, which may be that of the next one by then.
      await until(() => !isOurs(pid, directory), 'the end of the process of fail2ban')
    },
    async agentCommand(...words) {
      bundle ??= buildAgent()
      const program = [settingsOfAgent.node ?? process.execPath, await bundle, ...words, ...agentArgs()]
      return inside('/usr/bin/python3', '-I', launcherFile, ...program)
    },
    async startAgent(options = {}) {
      settingsOfAgent = { ...settingsOfAgent, ...options }
      bundle ??= buildAgent()
      const file = await bundle
      const node =
        settingsOfAgent.node ??
        process.env['STOCKADE_AGENT_NODE'] ??
        (settings.root === undefined && fs.existsSync('/usr/bin/node') ? '/usr/bin/node' : process.execPath)
      if (!fs.existsSync(path('agent-etc', 'agent.json'))) {
        if (!settingsOfAgent.baseUrl || !settingsOfAgent.token)
          throw new Error('the first start needs baseUrl and token')
        await run(
          namespaces.program,
          [
            ...namespaces.args,
            node,
            file,
            'enroll',
            ...agentArgs(),
            '--base-url',
            settingsOfAgent.baseUrl,
            '--insecure-http',
          ],
          {
            env: { ...env, STOCKADE_TOKEN: settingsOfAgent.token },
          },
        )
      }
      const log = fs.openSync(path('agent.log'), 'a')
      startedAt = Date.now()
      agent = spawn(
        namespaces.program,
        [
          ...namespaces.args,
          ...(settingsOfAgent.starter ?? (settings.hasUnitRights === true ? unitRights : [])),
          ...(settingsOfAgent.hasLauncher === false ? [] : ['/usr/bin/python3', '-I', launcherFile]),
          node,
          `--max-old-space-size=${settingsOfAgent.heap ?? 64}`,
          '--max-semi-space-size=1',
          file,
          'run',
          ...agentArgs(),
          ...(settingsOfAgent.args ?? []),
        ],
        { env, stdio: ['ignore', log, log] },
      )
      fs.closeSync(log)
    },
    stopAgent: () => ended('SIGTERM'),
    killAgent: () => ended('SIGKILL'),
    agentRunning: () => agent !== null && agent.exitCode === null && agent.signalCode === null,
    agentPid: () => agent?.pid ?? null,
    agentStartedAt: () => startedAt,
    agentLog: () => quietly(() => fs.readFileSync(path('agent.log'), 'utf8')) ?? '',
    async stop() {
      await ended('SIGKILL')
      await client('stop').catch(() => undefined)
      end()
      hosts.delete(registered)
    },
  }
  try {
    await host.startEngine()
  } catch (error) {
    await host.stop()
    throw error
  }
  return host
}

export const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** A point-to-point link from the test machine into the namespace, IPv4 and IPv6. */
export async function createNamespace(name: string, id: string) {
  const link = `sk${id}`
  await run('ip', ['netns', 'add', name])
  for (let tries = 0; tries < 50; tries += 1) {
    const [a, b] = randomBytes(2)
    const net = `10.${100 + ((a ?? 0) % 100)}.${b ?? 0}`
    const net6 = `fd88:${id.slice(0, 4)}:${((a ?? 0) * 256 + (b ?? 0)).toString(16)}`
    if ((await run('ip', ['-4', 'addr', 'show', 'to', `${net}.0/24`])).stdout !== '') continue
    await run('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name])
    await run('ip', ['addr', 'add', `${net}.1/24`, 'dev', link])
    await run('ip', ['addr', 'add', `${net6}::1/64`, 'dev', link, 'nodad'])
    await run('ip', ['link', 'set', link, 'up'])
    const inNs = ['-n', name]
    await run('ip', [...inNs, 'link', 'set', 'lo', 'up'])
    await run('ip', [...inNs, 'addr', 'add', `${net}.2/24`, 'dev', 'eth0'])
    await run('ip', [...inNs, 'addr', 'add', `${net6}::2/64`, 'dev', 'eth0', 'nodad'])
    await run('ip', [...inNs, 'link', 'set', 'eth0', 'up'])
    return { link, gateway: `${net}.1`, gateway6: `${net6}::1`, address: `${net}.2` }
  }
  throw new Error('no free test network')
}

/** A process id may have been given to somebody else since. */
function isOurs(pid: number, directory: string): boolean {
  return (quietly(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '').includes(directory)
}

function onPath(program: string): boolean {
  return [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'].some(
    place => place !== '' && fs.existsSync(join(place, program)),
  )
}

function quietly<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
