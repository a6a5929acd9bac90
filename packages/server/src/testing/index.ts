import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createClient } from '@stockade/client'
import type { Client } from '@stockade/client'
import { times } from '@stockade/contract'
import { program } from '../../programs.cjs'
import { createApp } from '../app/app.ts'
import type { App } from '../app/app.ts'
import { readConfig } from '../config.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { issueLicence, makeAuthority } from '../features/license/document.ts'
import type { Licence } from '../features/license/document.ts'
import { freePort } from './free-port.ts'
import { hasProxy, startProxy } from './proxy.ts'
import { until, within } from './waiting.ts'

export { freePort } from './free-port.ts'
export { startPostgres } from './postgres.ts'
export { hasProxy, startProxy } from './proxy.ts'
export type { TestPostgres } from './postgres.ts'
export { conditionMs, eventually, sight, until, within } from './waiting.ts'

/** Which engine the tests of this run use; the whole suite runs once on each. */
export const engine: 'sqlite' | 'postgres' = process.env.STOCKADE_TEST_ENGINE === 'postgres' ? 'postgres' : 'sqlite'

export const password = 'Sup3r-secret-1'

/** The licence authority of this run; servers of tests trust it. */
export const authority = makeAuthority()
/** A licence of that authority: Pro, for many servers, for good, unless said. */
export const aLicence = (given: Partial<Omit<Licence, 'id'>> = {}): string =>
  issueLicence(authority.privateKey, {
    tier: 'pro',
    serverLimit: 100_000,
    registeredTo: 'Tests',
    issuedAt: Date.now(),
    expiresAt: null,
    ...given,
  })
const fleetLicence = aLicence({ issuedAt: 0 })

export interface Signed {
  readonly token: string
  readonly client: Client
}
export interface TestServer {
  readonly url: string
  readonly port: number
  readonly dataDir: string
  readonly setupCode: string | null
  /** A client with that credential, or none. */
  client(token?: string): Client
  /** Makes the first administrator (`admin`, `password`) with the set-up code. */
  setUp(): Promise<Signed>
  /** Signs the first administrator in again. */
  signIn(): Promise<Signed>
  /** Stops gracefully and removes what it stored, unless a data folder was given. */
  close(): Promise<void>
}
export interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly clock?: Clock
  /** A folder to come back to; then `close` leaves data alone. */
  readonly dataDir?: string
  readonly port?: number
  /** A PostgreSQL database to share or come back to. */
  readonly databaseUrl?: string
  /** A licence key to start with; a large one unless said. Null: none, as newcomers have it (three servers). */
  readonly licence?: string | null
  /** How many files a process of its own may open. */
  readonly files?: number
}

/** A database of its own in the tests' PostgreSQL; null with SQLite. */
export const freshDatabase = async (): Promise<{ url: string; drop(): Promise<void> } | null> => {
  if (engine === 'sqlite') return null
  const admin = process.env.STOCKADE_TEST_POSTGRES ?? ''
  const name = `t_${randomUUID().replaceAll('-', '')}`
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: admin })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  // A copy of files costs half of what a copy through the write-ahead log does.
  await run(`create database ${name} template stockade_template strategy file_copy`)
  const url = new URL(admin)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database if exists ${name} with (force)`) }
}

interface Place {
  readonly dataDir: string
  readonly env: Record<string, string>
  cleanUp(): Promise<void>
}
const placeOf = async (options: Options): Promise<Place> => {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'stockade-test-'))
  const database = options.databaseUrl ? null : await freshDatabase()
  const url = options.databaseUrl ?? database?.url
  const template = process.env.STOCKADE_TEST_SQLITE_TEMPLATE
  if (!options.dataDir && !url && template) copyFileSync(template, join(dataDir, 'stockade.sqlite3'))
  return {
    dataDir,
    env: {
      STOCKADE_HOST: '127.0.0.1',
      STOCKADE_PORT: String(options.port ?? (await freePort())),
      STOCKADE_DATA_DIR: dataDir,
      STOCKADE_RATE_LIMIT: '0',
      STOCKADE_RATE_LIMIT_SENSITIVE: '0',
      STOCKADE_LOG_LEVEL: process.env.STOCKADE_TEST_LOG ?? 'error',
      STOCKADE_LICENSE_PUBLIC_KEY: authority.publicKey,
      ...(options.licence === null ? {} : { STOCKADE_LICENSE_KEY: options.licence ?? fleetLicence }),
      ...(url ? { STOCKADE_DATABASE_URL: url, STOCKADE_SECRET_KEY: 'test-secret-of-thirty-two-characters' } : {}),
      ...options.env,
    },
    async cleanUp() {
      await database?.drop()
      if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
const dealings = (url: string, setupCode: () => string | null) => {
  const client = (token?: string) => createClient({ baseUrl: url, ...(token ? { token } : {}) })
  return {
    client,
    async signIn(): Promise<Signed> {
      const reply = await client().call('POST /auth/login', { body: { username: 'admin', password } })
      if (!('access_token' in reply)) throw new Error('a second factor is wanted')
      return { token: reply.access_token, client: client(reply.access_token) }
    },
    async setUp(): Promise<Signed> {
      const reply = await client().call('POST /setup', {
        body: { code: setupCode() ?? '', username: 'admin', email: 'admin@stockade.example', password },
      })
      return { token: reply.access_token, client: client(reply.access_token) }
    },
  }
}

/** Whether each server of the tests is two processes' worth over one database, with HAProxy in front. */
export const paired = process.env.STOCKADE_TEST_PAIR === '1' && hasProxy()
/** Two servers behind a proxy that gives each request to the other one of them. */
const startPair = async (config: Config, clock?: Clock): Promise<App> => {
  const baseUrl = config.baseUrl ?? `http://localhost:${config.port}`
  const one = async () => createApp({ ...config, baseUrl, port: await freePort() }, clock)
  const first = await one()
  const second = await one()
  let proxy: { close(): Promise<void> } | null = null
  return {
    ...second,
    async listen() {
      const addresses = [await first.listen(), await second.listen()]
      const ports = addresses.map(address => Number(new URL(address).port))
      proxy = await startProxy(config.dataDir, config.port, ports)
      return `http://127.0.0.1:${config.port}`
    },
    async close() {
      await Promise.all([first.close(), second.close()])
      await proxy?.close()
    },
  }
}

/** Makes a place and starts a server there; a server that does not start leaves nothing behind. */
const startAtPlace = async <Server>(options: Options, start: (place: Place) => Promise<Server>): Promise<Server> => {
  const place = await placeOf(options)
  try {
    return await start(place)
  } catch (error) {
    await place.cleanUp()
    throw error
  }
}

const startHere = async (place: Place, options: Options): Promise<TestServer> => {
  const config = readConfig(place.env)
  const app = await (paired ? startPair : createApp)(config, options.clock)
  await app.listen()
  const url = `http://127.0.0.1:${config.port}`
  return {
    url,
    port: config.port,
    dataDir: place.dataDir,
    setupCode: app.setupCode,
    ...dealings(url, () => app.setupCode),
    async close() {
      await app.close()
      await place.cleanUp()
    },
  }
}
/** Starts the whole server inside this process, on a free port, with storage of its own. */
export const startServer = (options: Options = {}): Promise<TestServer> =>
  startAtPlace(options, place => startHere(place, options))

const programs = new Map<string, string>()
/** The file of a program, as `npm start` runs it: the bundle when it is fresh. Looked up once, since the sources do not change under a test. */
const programOf = (name: string): string => {
  const file = programs.get(name) ?? program(name)
  programs.set(name, file)
  return file
}

export interface SpawnedServer extends TestServer {
  readonly pid: number
  /** What it printed. */
  output(): string
  /** Sends SIGTERM and does not wait for the end. */
  terminate(): void
  /** Resolves to the exit code. */
  readonly exited: Promise<number | null>
  /** SIGKILL: no farewell. Data stays. */
  kill(): Promise<void>
  /** SIGTERM; resolves to the exit code. Data stays. */
  stop(): Promise<number | null>
}

/** What `npm start` and the packages start the server with (scripts/run.cjs, packaging/stockade.sh). */
const memoryOptions = ['--max-semi-space-size=4', '--max-old-space-size=1024']
const spawnAt = async (place: Place, options: Options): Promise<SpawnedServer> => {
  const limit = options.files === undefined ? [] : ['prlimit', `--nofile=${options.files}:${options.files}`]
  const [command = process.execPath, ...args] = [
    ...limit,
    process.execPath,
    ...memoryOptions,
    programOf('server/src/main'),
  ]
  const child = spawn(command, args, {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      MALLOC_ARENA_MAX: '1',
      ...place.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', data => (output += String(data)))
  child.stderr.on('data', data => (output += String(data)))
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve))
  const isReady = () => output.includes('Stockade is ready')
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  await until(
    () => isReady() || isOver(),
    'the server to be ready',
    () => output,
  ).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  if (!isReady()) throw new Error(`The server did not start:\n${output}`)
  const url = `http://127.0.0.1:${place.env.STOCKADE_PORT ?? ''}`
  const setupCode = () => /setup\?code=(\w+)/.exec(output)?.[1] ?? null
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return within(exited, `the end of the server after ${signal}`, () => output)
  }
  return {
    url,
    port: Number(place.env.STOCKADE_PORT),
    pid: child.pid ?? 0,
    dataDir: place.dataDir,
    setupCode: setupCode(),
    output: () => output,
    ...dealings(url, setupCode),
    terminate: () => void child.kill('SIGTERM'),
    get exited() {
      return within(exited, 'the end of the server', () => output)
    },
    kill: () => end('SIGKILL').then(() => {}),
    stop: () => end('SIGTERM'),
    async close() {
      if (child.exitCode === null && child.signalCode === null) await end('SIGTERM')
      await place.cleanUp()
    },
  }
}
/** Starts the server as a process of its own, as a user's is. */
export const spawnServer = (options: Options = {}): Promise<SpawnedServer> =>
  startAtPlace(options, place => spawnAt(place, options))

/** A host that is enrolled: its server's id and a client with its key. */
export interface EnrolledHost {
  readonly id: string
  readonly key: string
  readonly agentId: string
  readonly client: Client
}
/** Registers a server and enrols a stand-in for its agent, through the interface. */
export const aHost = async (server: TestServer, admin: Client, hostname = 'web-01'): Promise<EnrolledHost> => {
  const made = await admin.call('POST /servers', { body: { hostname } })
  const agentId = randomUUID()
  const { api_key } = await server.client().call('POST /agent/enroll', {
    body: { token: made.install_command.split(' ').at(-1) ?? '', hostname, agent_id: agentId },
  })
  return { id: made.id, key: api_key, agentId, client: server.client(api_key) }
}

/** A `write` key that an administrator bound to one server: the key of a script, and not that of its agent. */
export const aServerKey = async (server: TestServer, admin: Client, serverId: string): Promise<Signed> => {
  const { key } = await admin.call('POST /keys', {
    body: { name: 'script', permissions: 'write', server_id: serverId },
  })
  return { token: key, client: server.client(key) }
}

export interface RawReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown
}
/** A request as it is, for what the typed client would not send. `path` begins with `/`; bodies that are no text are sent as JSON. */
export const raw = async (
  server: Pick<TestServer, 'url'>,
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<RawReply> => {
  const body =
    options.body === undefined || typeof options.body === 'string' ? options.body : JSON.stringify(options.body)
  const reply = await fetch(server.url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  const text = await reply.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: reply.status, headers: reply.headers, text, json }
}

/**
 * A poll of a host that waits as long as one may, and runs out: while it waits, nothing that began after it has waited as long, so
 * whatever ended by then was woken.
 */
export const openPoll = async ({ id, client }: Pick<EnrolledHost, 'id' | 'client'>) => {
  const leaving = new AbortController()
  let isOpen = true
  const over = client
    .call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: id },
      query: { wait: times.longPollMaximum },
      signal: leaving.signal,
    })
    .catch(() => undefined)
    .then(() => (isOpen = false))
  await new Promise(resolve => setTimeout(resolve, 100))
  return {
    isOpen: () => isOpen,
    async close() {
      leaving.abort()
      await over
    },
  }
}

const clockOf = (now: () => number) => {
  let ahead = 0
  const listeners: (() => void)[] = []
  return Object.assign(() => now() + ahead, {
    forward(seconds: number) {
      ahead += seconds * 1000
      for (const listener of listeners) listener()
    },
    onMove: (listener: () => void) => void listeners.push(listener),
  })
}
/** A clock that goes on by `forward` alone: what takes long on a busy machine takes no time by it. */
export const standingClock = (): Clock & { forward(seconds: number): void } => {
  const now = Date.now()
  return clockOf(() => now)
}
/** A clock that goes on by itself, and that tests move besides. */
export const movableClock = (): Clock & { forward(seconds: number): void } => clockOf(() => Date.now())
