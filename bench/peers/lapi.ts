import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@stockade/server/testing'

/*
 * CrowdSec's local API, the peer that reports are compared with: Debian's package, unpacked and not installed, on loopback, in a temporary
 * folder of its own, without its central API and without its own log reader. On SQLite only: this version does not start with PostgreSQL 16 or
 * newer (it asks for settings that are gone), and the tests bring 18.
 */

const unpacked = fileURLToPath(new URL('../../node_modules/.cache/stockade-peers', import.meta.url))
const program = (name: 'crowdsec' | 'cscli') => join(unpacked, 'usr/bin', name)
/** Fetches and unpacks Debian's package, once. @throws Error where this is not Debian, or the package is not to be had. */
const unpack = (): void => {
  if (existsSync(program('crowdsec'))) return
  mkdirSync(unpacked, { recursive: true })
  execFileSync('apt-get', ['download', '-qq', 'crowdsec'], { cwd: unpacked, stdio: 'ignore' })
  const file = readdirSync(unpacked).find(name => name.endsWith('.deb'))
  if (file === undefined) throw new Error('apt-get has no package crowdsec. The comparison needs Debian.')
  execFileSync('dpkg-deb', ['-x', file, '.'], { cwd: unpacked })
}

/** Each commit waits for the disk (`durable`), or as Debian configures it on ext4 (`wal`), which a power cut may cost the last commits. */
export type LapiStorage = 'durable' | 'wal'
const configOf = (folder: string, port: number, storage: LapiStorage) => `common:
  daemonize: false
  log_media: stdout
  log_level: error
  working_dir: ${folder}
config_paths:
  config_dir: ${folder}
  data_dir: ${folder}/data
  simulation_path: ${folder}/simulation.yaml
  hub_dir: ${folder}/hub
  index_path: ${folder}/hub/.index.json
  notification_dir: ${folder}/notifications
  plugin_dir: ${folder}/plugins
db_config:
  log_level: error
  type: sqlite
  db_path: ${folder}/data/crowdsec.db
  use_wal: ${String(storage === 'wal')}
  flush:
    max_items: 100000000
    max_age: 365d
api:
  client:
    credentials_path: ${folder}/credentials.yaml
  server:
    log_level: error
    listen_uri: 127.0.0.1:${port}
    profiles_path: ${folder}/profiles.yaml
prometheus:
  enabled: false
`

export interface Lapi {
  readonly port: number
  readonly pid: () => number
  /** Of the one machine that reports. */
  readonly token: () => string
  /** Adds a bouncer with that key. */
  addBouncer(key: string): void
  /** Ends it and starts it on the same data, with another process and another token. */
  restart(): Promise<void>
  stop(): Promise<void>
}
const signIn = async (port: number): Promise<string | null> => {
  const reply = await fetch(`http://127.0.0.1:${port}/v1/watchers/login`, {
    method: 'POST',
    // It refuses clients that do not name a program and its version.
    headers: { 'content-type': 'application/json', 'user-agent': 'bench/1.0' },
    body: JSON.stringify({ machine_id: 'bench', password: 'bench-password', scenarios: ['bench/ssh'] }),
  }).catch(() => null)
  return reply?.ok ? ((await reply.json()) as { token: string }).token : null
}
const longestStart = 30_000
const tokenOf = async (port: number, child: ChildProcess): Promise<string> => {
  for (const began = Date.now(); Date.now() - began < longestStart && child.exitCode === null; await pause(100)) {
    const token = await signIn(port)
    if (token !== null) return token
  }
  throw new Error('The peer does not answer.')
}
const ended = (child: ChildProcess) =>
  new Promise<void>(resolve => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })

export const versionOfLapi = (): string => {
  unpack()
  const { stdout, stderr } = spawnSync(program('crowdsec'), ['-version'], { encoding: 'utf8' })
  return /version: v?(\S+)/.exec(stdout + stderr)?.[1] ?? '?'
}
export const startLapi = async (storage: LapiStorage): Promise<Lapi> => {
  unpack()
  const folder = mkdtempSync(join(tmpdir(), 'stockade-peer-'))
  const port = await freePort()
  const config = join(folder, 'config.yaml')
  for (const name of ['data', 'hub', 'notifications', 'plugins']) mkdirSync(join(folder, name))
  writeFileSync(config, configOf(folder, port, storage))
  writeFileSync(join(folder, 'simulation.yaml'), 'simulation: false\n')
  writeFileSync(join(folder, 'hub/.index.json'), '{}')
  writeFileSync(join(folder, 'credentials.yaml'), `url: http://127.0.0.1:${port}\n`)
  writeFileSync(join(folder, 'profiles.yaml'), readFileSync(join(unpacked, 'etc/crowdsec/profiles.yaml')))
  const credentials = ['--password', 'bench-password', '-f', join(folder, 'credentials.yaml')]
  let child: ChildProcess | null = null
  let token = ''
  const start = async () => {
    child = spawn(program('crowdsec'), ['-c', config, '-no-cs', '-no-capi'], { stdio: 'ignore' })
    token = await tokenOf(port, child)
  }
  const end = async () => {
    if (child) await ended(child)
  }
  const stop = async () => {
    await end()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    execFileSync(program('cscli'), ['-c', config, 'machines', 'add', 'bench', ...credentials], { stdio: 'ignore' })
    await start()
    return {
      ...{ port, pid: () => child?.pid ?? 0, token: () => token, stop },
      addBouncer(key) {
        execFileSync(program('cscli'), ['-c', config, 'bouncers', 'add', 'bench', '-k', key], { stdio: 'ignore' })
      },
      async restart() {
        await end()
        await start()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
