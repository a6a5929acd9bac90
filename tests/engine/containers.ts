/*
 * fail2ban in a container, made of a root of its own: other mounts, other processes, and the network of a namespace of the test or one of its
 * own. Nothing is mounted outside of the container's own namespace of mounts.
 */
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildAgent } from '../../packages/agent/build.mjs'
import type { SharedFolder } from '../../packages/agent/src/engine/places.ts'
import { until, within } from '../../packages/server/src/testing/waiting.ts'
import { installedEngine, stamp } from './host-config.ts'
import type { EngineFiles } from './host-config.ts'
import { createNamespace, launcherFile } from './host.ts'

export interface Container {
  readonly directory: string
  /** How its network reaches this one. */
  readonly gateway: string
  /** A folder of the host that the container has under another name. */
  volume(name: string): string
  /** `engine` of agent.json, as the guide describes it: everything but /var/log of the container is in the map. */
  mapped(): { socket: string; config: string; map: SharedFolder[]; share: SharedFolder }
  /** @param engine another version, whose shipped configuration takes the place of the one that is there */
  startEngine(network: 'shared' | 'own', engine?: EngineFiles): Promise<void>
  /** Ends it with all that was written outside of its volumes. */
  stopEngine(): Promise<void>
  /** fail2ban-client over the shared socket. */
  client(...words: string[]): string
  /** Three failed logins of an address. */
  attack(ip: string): void
  /** The agent on the host, or in a second container with the same volumes at the same paths. @param engine of its agent.json */
  startAgent(
    where: 'host' | 'beside',
    engine: unknown,
    args?: readonly string[],
    identity?: AgentIdentity,
  ): Promise<void>
  stopAgent(): Promise<void>
  /** A command of the agent on the host, such as `clean`. Throws unless it ends well. */
  command(...words: string[]): string
  /** What the agent says of its protection now; empty: nothing yet. */
  report(): { level?: string; summary?: string; checks?: { id: string; state: string; detail: string }[] }
  /** Whether the agent has a report about the address for its server. */
  reports(ip: string): boolean
  agentLog(): string
  end(): Promise<void>
}

export interface AgentIdentity {
  readonly base_url: string
  readonly server_id: string
  readonly api_key: string
  readonly insecure_http?: boolean
}

/** A server that is not there. */
const nobody: AgentIdentity = { base_url: 'http://127.0.0.1:9', server_id: 'a-server', api_key: 'svc_a-key' }

/** `$1`: the root, `$2`: the volumes, `$3`: an unpacked fail2ban, which names files by its path here; the other words run in it. */
const enter = `set -e
r=$1; v=$2; e=$3; shift 3
mount --make-rprivate /
mount -t tmpfs none $r
mkdir -p $r/usr $r/etc $r/data $r/run/fail2ban $r/var/log $r/var/lib/stockade-agent $r/proc $r/dev $r/sys $r/tmp $r/remotelogs $r/agent $r/opt
for d in bin lib lib64 sbin; do ln -s usr/$d $r/$d; done
ln -s /run $r/var/run
: > $r/var/log/hidden.log
mount --bind /usr $r/usr; mount --bind /etc $r/etc; mount --bind $v/etc $r/etc/fail2ban
mount --bind $v/data $r/data; mount --bind $v/run $r/run/fail2ban; mount --bind $v/log $r/remotelogs
mount --bind $v/share $r/var/lib/stockade-agent; mount --bind $v/agent $r/agent; mount --bind $v/opt $r/opt
if [ -n "$e" ]; then mkdir -p "$r$e"; mount --bind "$e" "$r$e"; fi
mount --rbind /dev $r/dev; mount -t proc proc $r/proc
exec chroot $r "$@"`

const settings = `[Definition]
socket = /run/fail2ban/fail2ban.sock
pidfile = /run/fail2ban/fail2ban.pid
dbfile = /data/fail2ban.sqlite3
logtarget = /data/fail2ban.log
`

const jails = `[DEFAULT]
banaction = nftables
ignoreip =
usedns = no
[sshd]
enabled = true
backend = polling
logpath = /remotelogs/auth.log
maxretry = 3
[hidden]
enabled = true
filter = sshd
backend = polling
logpath = /var/log/hidden.log
`

const volumes = ['etc', 'data', 'run', 'log', 'share', 'agent', 'opt']

export const aContainer = async (): Promise<Container> => {
  const name = `skc${randomBytes(3).toString('hex')}`
  const directory = fs.mkdtempSync(join(tmpdir(), 'stockade-container-'))
  const volume = (of: string): string => join(directory, 'volumes', of)
  for (const each of volumes) fs.mkdirSync(volume(each), { recursive: true })
  for (const root of ['root', 'beside']) fs.mkdirSync(join(directory, root))
  fs.cpSync('/etc/fail2ban', volume('etc'), { recursive: true })
  for (const file of fs.readdirSync(join(volume('etc'), 'jail.d'))) fs.rmSync(join(volume('etc'), 'jail.d', file))
  fs.writeFileSync(join(volume('etc'), 'fail2ban.local'), settings)
  fs.writeFileSync(join(volume('etc'), 'jail.local'), jails)
  fs.writeFileSync(join(volume('log'), 'auth.log'), '')
  fs.copyFileSync(await buildAgent(), join(volume('opt'), 'stockade-agent.mjs'))
  fs.copyFileSync(launcherFile, join(volume('opt'), 'launcher.py'))
  const { gateway } = await createNamespace(name, name.slice(3))

  const log = join(directory, 'agent.log')
  let engine: ChildProcess | null = null
  let agent: ChildProcess | null = null
  let pid = 4000

  const started = (words: readonly string[]): ChildProcess => {
    const out = fs.openSync(log, 'a')
    const [, ...rest] = words
    const child = spawn(words[0] ?? '', rest, { stdio: ['ignore', out, out] })
    fs.closeSync(out)
    return child
  }
  const ended = async (child: ChildProcess | null): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const over = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGKILL')
    await within(over, 'the end of a container', () => fs.readFileSync(log, 'utf8'))
  }
  const inNetwork = ['ip', 'netns', 'exec', name]
  const inRoot = (root: string, more: readonly string[] = [], unpacked = ''): string[] => [
    ...[...inNetwork, 'unshare', '-m', '-p', '-f', '--kill-child', ...more],
    ...['sh', '-c', enter, 'enter', join(directory, root), join(directory, 'volumes'), unpacked],
  ]
  const client = (...words: string[]): string =>
    execFileSync('fail2ban-client', ['-s', join(volume('run'), 'fail2ban.sock'), ...words], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  const isUp = (): boolean => {
    try {
      return client('ping').includes('pong')
    } catch {
      return false
    }
  }

  return {
    directory,
    gateway,
    volume,
    mapped: () => ({
      socket: join(volume('run'), 'fail2ban.sock'),
      config: volume('etc'),
      map: [
        { inside: '/etc/fail2ban', outside: volume('etc') },
        { inside: '/data', outside: volume('data') },
        { inside: '/remotelogs', outside: volume('log') },
      ],
      share: { inside: '/var/lib/stockade-agent', outside: volume('share') },
    }),
    client,
    async startEngine(network, { bin, config } = installedEngine) {
      if (config !== installedEngine.config) fs.cpSync(config, volume('etc'), { recursive: true })
      const unpacked = bin === installedEngine.bin ? '' : fs.realpathSync(join(bin, '../..'))
      engine = started([
        ...inRoot('root', network === 'own' ? ['-n'] : [], unpacked),
        ...[join(bin, 'fail2ban-server'), '-f', '-x', 'start'],
      ])
      await until(isUp, 'the answer of fail2ban')
    },
    async stopEngine() {
      await ended(engine)
      engine = null
    },
    attack(ip) {
      const line = (): string =>
        `${stamp()} host sshd[${(pid += 1)}]: Failed password for invalid user admin from ${ip} port 40000 ssh2\n`
      fs.appendFileSync(join(volume('log'), 'auth.log'), line() + line() + line())
    },
    async startAgent(where, of, args = [], as = nobody) {
      const identity = { ...as, agent_id: 'an-agent' }
      const base = where === 'host' ? volume('agent') : '/agent'
      for (const each of ['etc', 'state', 'run']) fs.mkdirSync(join(volume('agent'), each), { recursive: true })
      fs.rmSync(join(volume('agent'), 'run/protection.json'), { force: true })
      fs.writeFileSync(
        join(volume('agent'), 'etc/agent.json'),
        JSON.stringify(of === undefined ? identity : { ...identity, engine: of }),
      )
      const opt = where === 'host' ? volume('opt') : '/opt'
      const state = where === 'host' ? join(base, 'state') : '/var/lib/stockade-agent'
      agent = started([
        ...(where === 'host' ? inNetwork : inRoot('beside')),
        ...[
          '/usr/bin/python3',
          '-I',
          join(opt, 'launcher.py'),
          '/usr/bin/node',
          join(opt, 'stockade-agent.mjs'),
          'run',
        ],
        ...['--config', join(base, 'etc'), '--state', state, '--run', join(base, 'run')],
        ...['--service', 'client', '--check-pace', '0.2', ...args],
      ])
      await Promise.resolve()
    },
    command(...words) {
      const [ip, ...rest] = inNetwork
      const folders = ['config', 'state', 'run'].flatMap(name => [
        `--${name}`,
        join(volume('agent'), name === 'config' ? 'etc' : name),
      ])
      return execFileSync(
        ip ?? '',
        [...rest, '/usr/bin/node', join(volume('opt'), 'stockade-agent.mjs'), ...words, ...folders],
        { encoding: 'utf8', stdio: 'pipe' },
      )
    },
    async stopAgent() {
      await ended(agent)
      agent = null
    },
    report() {
      const file = join(volume('agent'), 'run/protection.json')
      return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}
    },
    reports: ip =>
      [join(volume('agent'), 'state'), volume('share')]
        .flatMap(folder =>
          fs.existsSync(folder)
            ? fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(file => join(folder, file))
            : [],
        )
        .filter(file => /outbox/.test(file) && fs.statSync(file).isFile())
        .some(file => fs.readFileSync(file, 'utf8').includes(ip)),
    agentLog: () => fs.readFileSync(log, 'utf8'),
    async end() {
      await ended(agent)
      await ended(engine)
      execFileSync('ip', ['netns', 'del', name])
      fs.rmSync(directory, { recursive: true, force: true })
    },
  }
}
