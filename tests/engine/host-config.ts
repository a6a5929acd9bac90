import * as fs from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/* The files of a host of the tests: fail2ban's configuration, its programs and logs, and the agent's policy. */

/** A fail2ban on this machine. */
export interface EngineFiles {
  readonly version: string
  /** Where fail2ban-client and fail2ban-server are. */
  readonly bin: string
  /** Its packaged configuration. */
  readonly config: string
}

export const installedEngine: EngineFiles = { version: 'installed', bin: '/usr/bin', config: '/etc/fail2ban' }

export interface HostSettings {
  readonly jailLocal?: string
  readonly bantime?: number
  readonly policy?: Readonly<Record<string, unknown>> | null
  readonly engine?: EngineFiles
  /** The actions of all jails: for some ports, and for all. */
  readonly banactions?: readonly [string, string]
  /** Programs that this host has under another name or in place of the machine's: name -> path. */
  readonly programs?: Readonly<Record<string, string>>
  /** Gives fail2ban and the agent a clock that `setClock` sets. Needs `clockLibrary`. */
  readonly hasOwnClock?: boolean
  /** Another Debian whose programs this host has in place of the machine's: its root directory. */
  readonly root?: string
  /** Gives the host a /run and an /etc of its own, for daemons such as D-Bus and firewalld. Not together with `root`. */
  readonly hasOwnSystem?: boolean
  /** Runs the agent with the capabilities of its systemd unit instead of all of root's. */
  readonly hasUnitRights?: boolean
}

export function writeConfig(directory: string, settings: HostSettings): void {
  const path = (...parts: string[]): string => join(directory, ...parts)
  for (const part of ['run', 'log', 'lib', 'programs']) fs.mkdirSync(path(part))
  for (const [name, target] of Object.entries(settings.programs ?? {})) fs.symlinkSync(target, path('programs', name))
  fs.cpSync((settings.engine ?? installedEngine).config, path('etc'), { recursive: true })
  for (const file of fs.readdirSync(path('etc', 'jail.d'))) fs.rmSync(path('etc', 'jail.d', file))
  const [portAction, allPortsAction] = settings.banactions ?? ['nftables-multiport', 'nftables-allports']
  fs.writeFileSync(path('log', 'auth.log'), '')
  fs.writeFileSync(path('log', 'web.log'), '')
  fs.writeFileSync(
    path('etc', 'fail2ban.local'),
    [
      '[DEFAULT]',
      `logtarget = ${path('log', 'fail2ban.log')}`,
      `socket = ${path('run', 'f2b.sock')}`,
      `pidfile = ${path('run', 'f2b.pid')}`,
      `dbfile = ${path('lib', 'f2b.sqlite3')}`,
      'dbpurgeage = 1d',
      'dbmaxmatches = 10',
      '',
    ].join('\n'),
  )
  fs.writeFileSync(
    path('etc', 'jail.local'),
    [
      '[DEFAULT]',
      'backend = polling',
      `banaction = ${portAction}`,
      `banaction_allports = ${allPortsAction}`,
      `bantime = ${settings.bantime ?? 600}`,
      'findtime = 600',
      'maxretry = 3',
      '[sshd]',
      // Debian 13 has the journal here.
      'backend = polling',
      'enabled = true',
      'port = 22',
      `logpath = ${path('log', 'auth.log')}`,
      '[nginx-http-auth]',
      'enabled = true',
      `logpath = ${path('log', 'web.log')}`,
      settings.jailLocal ?? '',
      '',
    ].join('\n'),
  )
}

/** Sets the clock of single programs; unpacked or installed, null where it is neither. */
export const clockLibrary = ((): string | null => {
  const architecture = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[process.arch as string] ?? ''
  const unpacked = fileURLToPath(new URL('../../node_modules/.cache/stockade-syslog', import.meta.url))
  const file = `/usr/lib/${architecture}/faketime/libfaketimeMT.so.1`
  return [`${unpacked}${file}`, file].find(path => fs.existsSync(path)) ?? null
})()

/** With this library Python's sleep fails: it sleeps until a time of the steady clock. */
const ownSleep = `
import threading, time
time.sleep = lambda seconds: threading.Event().wait(seconds) and None
`

/** The environment of programs whose clock the file sets. Their steady clock stays the kernel's. */
export const ownClock = (directory: string, file: string): Readonly<Record<string, string>> => {
  if (clockLibrary === null) return {}
  fs.mkdirSync(join(directory, 'python'))
  fs.writeFileSync(join(directory, 'python', 'sitecustomize.py'), ownSleep)
  return {
    LD_PRELOAD: clockLibrary,
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    PYTHONPATH: join(directory, 'python'),
  }
}

/** `Nov 21 09:00:00`, local time, as syslog writes it, for a clock that is ahead by the given seconds. */
export function stamp(ahead = 0): string {
  const now = new Date(Date.now() + ahead * 1000)
  const month =
    ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'][now.getMonth()] ?? ''
  return `${month} ${String(now.getDate()).padStart(2)} ${now.toTimeString().slice(0, 8)}`
}

/** The logs of these hosts lie in their own folder, so their policy names it; `policy` is added, or null for no file. */
export function writePolicy(directory: string, policy: HostSettings['policy'] = {}): void {
  if (policy === null) return
  fs.mkdirSync(join(directory, 'agent-etc'), { mode: 0o700 })
  const text = { version: 1, log_paths: [join(directory, 'log', '*.log')], ...policy }
  fs.writeFileSync(join(directory, 'agent-etc', 'policy.json'), JSON.stringify(text), { mode: 0o644 })
}
