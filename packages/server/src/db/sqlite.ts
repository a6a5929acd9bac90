import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { CompiledQuery, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import { createTurnPause } from '../core/slices.ts'
import type { Database, Procedure } from './database.ts'
import { noStream, readingDriver } from './reading.ts'
import { longestScan, mostScans, scanDriver } from './scans.ts'
import type { ScanWatch, Scanned } from './scans.ts'
import type { Schema } from './schema.ts'
import type { ScanReply, ScanRequest } from './sqlite-scanner.ts'
import type { QueryAnswer, WriterNews, WriterReply, WriterRequest } from './sqlite-writer.ts'
import type { WriterData } from './sqlite-threads.ts'

const plain = (value: unknown): SQLInputValue => {
  if (typeof value === 'boolean') return Number(value)
  if (value === undefined || value === null) return null
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'bigint') return value
  if (value instanceof Uint8Array) return value
  throw new TypeError('SQLite has no such values.')
}

/** A migration that fails leaves nothing behind. */
class WritingAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}
/** Callers wait in the scanner's own queue, which has a bound. */
class ManyReaders extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true
  }
}
const dialectOf = (driver: Driver, adapter = new SqliteAdapter()): Dialect => ({
  createAdapter: () => adapter,
  createDriver: () => driver,
  createIntrospector: db => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/** Sends work to the writer thread and keeps transactions apart: one holder at a time, in the order of asking. */
const createWriter = (workerData: WriterData, hear: (news: WriterNews) => void) => {
  const worker = new Worker(new URL('./sqlite-writer.ts', import.meta.url), { workerData })
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let nextId = 1
  let broken: Error | null = null
  worker.on('message', (reply: WriterReply | WriterNews) => {
    if ('news' in reply) return hear(reply)
    const waiter = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.ok) waiter?.resolve(reply.value)
    else waiter?.reject(Object.assign(new Error(reply.message), { code: reply.code }))
  })
  const fail = (error: Error) => {
    broken = error
    for (const waiter of waiting.values()) waiter.reject(error)
    waiting.clear()
  }
  worker.on('error', error => fail(error instanceof Error ? error : new Error(String(error))))
  worker.on('exit', () => fail(new Error('The database is closed.')))

  const send = <T>(
    request: WriterRequest extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never,
  ) =>
    new Promise<T>((resolve, reject) => {
      if (broken) return reject(broken)
      const id = nextId++
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      worker.postMessage({ ...request, id })
    })

  let tail: Promise<void> = Promise.resolve()
  /** Waits for the writer; the caller must call what it gets when done. */
  const acquire = async (): Promise<() => void> => {
    const before = tail
    let release: () => void = () => {}
    tail = new Promise(resolve => (release = resolve))
    await before
    return release
  }
  return {
    acquire,
    query: (sql: string, parameters: readonly SQLInputValue[]) => send<QueryAnswer>({ kind: 'query', sql, parameters }),
    run: <T>(name: string, module: string, input: unknown) => send<T>({ kind: 'run', name, module, input }),
    async close() {
      const release = await acquire()
      await send({ kind: 'close' })
      release()
      await worker.terminate()
    },
  }
}
type Writer = ReturnType<typeof createWriter>

const writeDriver = (writer: Writer): Driver => {
  const releases = new WeakMap<DatabaseConnection, () => void>()
  const run = (text: string) => writer.query(text, [])
  return {
    async init() {},
    async acquireConnection() {
      const release = await writer.acquire()
      const connection: DatabaseConnection = {
        async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
          const answer = await writer.query(query.sql, query.parameters.map(plain))
          return {
            rows: answer.rows as R[],
            numAffectedRows: BigInt(answer.changes),
            insertId: BigInt(answer.lastId),
          }
        },
        streamQuery: noStream,
      }
      releases.set(connection, release)
      return connection
    },
    async beginTransaction() {
      await run('begin immediate')
    },
    async commitTransaction() {
      await run('commit')
    },
    async rollbackTransaction() {
      await run('rollback').catch((error: Error) => {
        // SQLite itself ends a transaction for which the disk has no room.
        if (!error.message.includes('no transaction is active')) throw error
      })
    },
    async releaseConnection(connection) {
      releases.get(connection)?.()
    },
    async destroy() {},
  }
}

/**
 * Reads are synchronous and short: pages and points by an index cost less than a hop to another thread. Many of them in a row, as
 * in a loop over thousands of ids, let others go between.
 */
const readDriver = (db: DatabaseSync): Driver => {
  const statements = new Map<string, StatementSync>()
  const statementOf = (sql: string) => {
    const knownStatement = statements.get(sql)
    if (knownStatement) return knownStatement
    if (statements.size > 500) statements.clear()
    const newStatement = db.prepare(sql)
    statements.set(sql, newStatement)
    return newStatement
  }
  const pause = createTurnPause()
  return readingDriver(async query => {
    for (let turn = pause(); turn; turn = pause()) await turn
    return statementOf(query.sql).all(...query.parameters.map(plain))
  })
}

interface Scan extends ScanRequest {
  readonly begins: () => void
  readonly resolve: (found: Scanned) => void
  readonly reject: (error: Error) => void
}
const closedError = () => new Error('The database is closed.')
/** How long the process stays when nothing is asked of it, in milliseconds. */
const idleScanner = 60_000
/** A process that is there while long reads come, and is replaced after one that took too long. */
const createScanner = (file: string, longest: number) => {
  const waiting: Scan[] = []
  let child: ChildProcess | null = null
  let running: Scan | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const end = (settle: (scan: Scan) => void) => {
    clearTimeout(timer)
    const scan = running
    running = null
    if (scan) settle(scan)
    next()
  }
  const drop = (settle: (scan: Scan) => void) => {
    child?.removeAllListeners()
    child?.on('error', () => {})
    child?.kill('SIGKILL')
    child = null
    end(settle)
  }
  const fail = (error: Error) => drop(scan => scan.reject(error))
  const process = () => {
    if (child) return child
    const scannerProcess = fork(new URL('./sqlite-scanner.ts', import.meta.url), [file], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    scannerProcess.on('message', reply => {
      const answer = reply as ScanReply
      end(scan => (answer.ok ? scan.resolve(answer.rows) : scan.reject(new Error(answer.message))))
    })
    scannerProcess.on('error', fail)
    scannerProcess.on('exit', () => fail(new Error('The reading process ended.')))
    scannerProcess.unref()
    scannerProcess.channel?.unref()
    child = scannerProcess
    return scannerProcess
  }
  const next = () => {
    if (running || closed) return
    running = waiting.shift() ?? null
    if (!running) {
      if (child) timer = setTimeout(() => fail(closedError()), idleScanner).unref()
      return
    }
    clearTimeout(timer)
    timer = setTimeout(() => drop(scan => scan.resolve('too_long')), longest)
    const { sql, parameters, begins } = running
    begins()
    process().send({ sql, parameters }, error => {
      if (error) fail(error)
    })
  }
  return {
    query: ({ sql, parameters }: CompiledQuery, begins: () => void) =>
      new Promise<Scanned>((resolve, reject) => {
        if (closed) return reject(closedError())
        if (waiting.length >= mostScans) return resolve('refused')
        waiting.push({ sql, parameters: parameters.map(plain), begins, resolve, reject })
        next()
      }),
    close() {
      closed = true
      for (const scan of waiting.splice(0)) scan.reject(closedError())
      fail(closedError())
    },
  }
}

/** Opens (or makes) the SQLite file. `watch` hears of long reads, `hear` of what the writer has to tell. */
export const openSqlite = async (
  file: string,
  {
    longest = longestScan,
    watch,
    hear = () => {},
    mostLogged,
  }: { longest?: number; watch?: ScanWatch; hear?: (news: WriterNews) => void; mostLogged?: number } = {},
): Promise<Database> => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const writer = createWriter({ file, ...(mostLogged === undefined ? {} : { mostLogged }) }, hear)
  // The first query waits for the worker: the file and its journal mode are there when the reader opens.
  await writer.query('select 1', [])
  const reading = new DatabaseSync(file, { timeout: 2000 })
  reading.exec('pragma query_only = on; pragma cache_size = -65536; pragma temp_store = memory')
  const read = new Kysely<Schema>({ dialect: dialectOf(readDriver(reading)) })
  const write = new Kysely<Schema>({ dialect: dialectOf(writeDriver(writer), new WritingAdapter()) })
  const scanner = createScanner(file, longest)
  const scan = new Kysely<Schema>({ dialect: dialectOf(scanDriver(scanner.query, watch), new ManyReaders()) })
  return {
    engine: 'sqlite',
    read,
    write,
    scan,
    file,
    logBytes: () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    async run<Input, Output>(procedure: Procedure<Input, Output>, input: Input) {
      const release = await writer.acquire()
      try {
        const { name, module, packing } = procedure
        if (!packing) return await writer.run<Output>(name, module, input)
        return packing.unpack(await writer.run(name, module, packing.pack(input)))
      } finally {
        release()
      }
    },
    async ping() {
      await read.executeQuery(CompiledQuery.raw('select 1'))
      await writer.query('select 1', [])
    },
    async close() {
      scanner.close()
      await scan.destroy()
      await read.destroy()
      await write.destroy()
      reading.close()
      await writer.close()
    },
  }
}
