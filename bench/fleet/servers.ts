import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, spawnServer, startPostgres } from '@stockade/server/testing'
import type { SpawnedServer } from '@stockade/server/testing'
import { cpuOf, cpuOfTree, heldBy } from '../processes.ts'
import type { Options } from './options.ts'
import { startProxies } from './proxies.ts'
import type { Proxies } from './proxies.ts'

/** What one server process holds. */
interface Held {
  readonly megabytes: number
  readonly files: number
}
/** CPU seconds since the start, also of processes that were killed meanwhile. */
export interface ServiceCpu {
  readonly servers: number
  readonly proxies: number
  readonly database: number
}
/** What the hosts speak to: one server, or several on one PostgreSQL behind HAProxy. */
export interface Service {
  /** Where administrators ask the one server process that runs before `open`. */
  readonly url: string
  /** An API key with `admin`. */
  readonly key: string
  /** Starts the other processes and HAProxy. Resolves to the URLs to connect to; host after host takes the next one. */
  open(): Promise<readonly string[]>
  /** Of each server process; null while one is away. */
  held(): readonly Held[] | null
  /** Megabytes of SQLite's write-ahead log. */
  log(): number
  cpu(): ServiceCpu
  /** Kills all server processes. Data stays. */
  kill(): Promise<void>
  /** Starts them again. Resolves when all are ready. */
  start(): Promise<void>
  close(): Promise<void>
}

/** A server that somebody else started. */
export const foreignService = (url: string, key: string): Service => ({
  ...{ url, key },
  open: async () => [url],
  held: () => null,
  log: () => 0,
  cpu: () => ({ servers: 0, proxies: 0, database: 0 }),
  kill: async () => {},
  start: async () => {},
  close: async () => {},
})

/** Server processes, which share a database if there are several. None runs before `start`. */
const serversOf = (folder: string, ports: readonly number[], databaseUrl: string | null) => {
  const places = ports.map(port => ({ port, dataDir: mkdtempSync(join(folder, 'data-')) }))
  const env = {
    STOCKADE_LOG_LEVEL: process.env.STOCKADE_TEST_LOG ?? 'warn',
    ...(ports.length > 1 && { STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8' }),
  }
  let running: SpawnedServer[] = []
  /** How many should run. */
  let wanted = 0
  /** CPU seconds of processes that were killed. */
  let spent = 0
  const cpu = () => running.reduce((sum, { pid }) => sum + cpuOf(pid), spent)
  return {
    cpu,
    held() {
      const held = running.flatMap(({ pid }) => heldBy(pid) ?? [])
      return held.length === wanted ? held : null
    },
    log: () =>
      places.reduce((sum, { dataDir }) => {
        const file = join(dataDir, 'stockade.sqlite3-wal')
        return sum + (existsSync(file) ? statSync(file).size / 1e6 : 0)
      }, 0),
    /** Starts processes until `count` of them run. The first one creates the schema, so it starts alone. */
    async start(count = places.length): Promise<SpawnedServer | undefined> {
      wanted = count
      const starting = places.slice(running.length, count).map(async place => {
        running.push(await spawnServer({ ...place, ...(databaseUrl !== null && { databaseUrl }), env }))
      })
      await Promise.all(starting)
      return running[0]
    },
    async kill() {
      spent = cpu()
      const killed = running
      running = []
      await Promise.all(killed.map(server => server.kill()))
    },
    async close() {
      await Promise.all(running.map(server => server.close()))
    },
  }
}

export const startService = async (options: Options): Promise<Service> => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-fleet-'))
  const closers: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const database = options.database === 'postgres' ? await startPostgres({ isDurable: true }) : null
    if (database) closers.push(() => database.stop())
    const ports: number[] = []
    while (ports.length < options.servers) ports.push(await freePort())
    const servers = serversOf(folder, ports, database?.url ?? null)
    closers.push(() => servers.close())
    // A server that starts before there is an administrator makes a set-up code of its own, which replaces the one before.
    const first = await servers.start(1)
    const signed = await first?.setUp()
    if (!signed) throw new Error('No server was started.')
    const { key } = await signed.client.call('POST /keys', { body: { name: 'fleetsim', permissions: 'admin' } })
    const url = `http://127.0.0.1:${ports[0]}`
    let proxies: Proxies | null = null
    return {
      ...{ url, key },
      async open() {
        if (ports.length === 1) return [url]
        await servers.start()
        proxies = await startProxies(folder, ports, options.agents)
        closers.push(proxies.close)
        return proxies.urls
      },
      held: servers.held,
      log: servers.log,
      cpu: () => ({
        servers: servers.cpu(),
        proxies: proxies?.cpu() ?? 0,
        database: database ? cpuOfTree(database.pid()) : 0,
      }),
      kill: servers.kill,
      async start() {
        await servers.start()
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
