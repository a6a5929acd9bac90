import pg from 'pg'
import type { PoolClient } from 'pg'
import {
  CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Dialect } from 'kysely'
import { codeOf } from '@stockade/contract/error-code.ts'
import type { Database, Procedure } from './database.ts'
import { untilItPasses } from './passing.ts'
import { preparing } from './preparing.ts'
import { watchReplica } from './replica.ts'
import type { Replica, ReplicaWatch } from './replica.ts'
import { longestScan, mostScans, scanDriver } from './scans.ts'
import type { ScanWatch, Scanner } from './scans.ts'
import type { Schema } from './schema.ts'

// Counts and epoch milliseconds stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

/** So many long reads at a time. */
const scansAtOnce = 3
/** Connections of their own, so that long reads never take those of the work at hand; the server ends what takes too long. */
const createScanner = (pool: pg.Pool): Scanner => {
  let running = 0
  const turn = () =>
    pool.connect().catch((error: Error) => {
      // It waited for others as long as a search may take: that is no storage that is away.
      if (running >= scansAtOnce && error.message === 'timeout exceeded when trying to connect') return null
      throw error
    })
  return async ({ sql, parameters }, begins) => {
    if (pool.waitingCount >= mostScans) return 'refused'
    const client = await turn()
    if (!client) return 'refused'
    begins()
    running++
    let failed: Error | undefined
    try {
      return (await client.query<object>(sql, [...parameters])).rows
    } catch (error) {
      failed = error instanceof Error ? error : new Error(String(error))
      if (codeOf(failed) === '57014') return 'too_long'
      throw failed
    } finally {
      running--
      client.release(failed && !('severity' in failed) ? failed : undefined)
    }
  }
}
const scanPool = (url: string, longest: number, log: (error: Error) => void): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: scansAtOnce,
    connectionTimeoutMillis: longest,
    statement_timeout: longest,
    application_name: 'stockade',
  })
  pool.on('error', log)
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}
interface Scans {
  readonly scanner: Scanner
  close(): Promise<unknown>
}
const scansAt = (url: string, longest: number, log: (error: Error) => void): Scans => {
  const pool = scanPool(url, longest, log)
  return { scanner: createScanner(pool), close: () => pool.end() }
}
/** Reads at the replica while it may be used. What fails there is read from the primary. */
const scansOfBoth = (primary: Scans, standby: Scans, replica: Replica): Scans => ({
  async scanner(query, begins) {
    if (!replica.isUsable()) return primary.scanner(query, begins)
    try {
      return await standby.scanner(query, begins)
    } catch (error) {
      replica.doubt(error instanceof Error ? error : new Error(String(error)))
      return primary.scanner(query, begins)
    }
  },
  close: () => Promise.all([replica.close(), primary.close(), standby.close()]),
})
const scanDialect = ({ scanner, close }: Scans, watch?: ScanWatch): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => ({ ...scanDriver(scanner, watch), destroy: async () => void (await close()) }),
  createIntrospector: db => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

export interface Postgres extends Database {
  readonly pool: pg.Pool
}

interface PostgresOptions {
  /** Milliseconds that a long read may take. */
  readonly longest?: number
  /** Hears of long reads. */
  readonly watch?: ScanWatch
  /** A standby for long reads, and who hears whether it is used. */
  readonly replica?: { readonly url: string; readonly hear: ReplicaWatch } | null
}
/** Connects to PostgreSQL 15 or newer. `log` hears of connections that break while idle. */
export const openPostgres = async (
  url: string,
  log: (error: Error) => void,
  { longest = longestScan, watch, replica = null }: PostgresOptions = {},
): Promise<Postgres> => {
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: 5000,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 10_000,
    application_name: 'stockade',
  })
  pool.on('error', log)
  // A connection that breaks between two queries of a transaction emits an error; without a
  // listener that would end the process. Its next query fails, and the caller gets the error.
  pool.on('connect', client => client.on('error', () => {}))
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: preparing(pool) }) })
  const ownScans = scansAt(url, longest, log)
  const scans = replica
    ? scansOfBoth(
        ownScans,
        scansAt(replica.url, longest, () => {}),
        watchReplica(url, replica.url, replica.hear),
      )
    : ownScans
  const scan = new Kysely<Schema>({ dialect: scanDialect(scans, watch) })

  const once = async <Output>(work: (client: PoolClient) => Promise<Output>, isAlone: boolean): Promise<Output> => {
    const client = await pool.connect()
    let failed: Error | undefined
    try {
      if (isAlone) return await work(client)
      await client.query('begin')
      const value = await work(client)
      await client.query('commit')
      return value
    } catch (error) {
      failed = error instanceof Error ? error : new Error(String(error))
      if (!isAlone) await client.query('rollback').catch(() => {})
      throw failed
    } finally {
      // A connection whose server went away must not go back into the pool.
      client.release(failed && !('severity' in failed) ? failed : undefined)
    }
  }
  return {
    engine: 'postgres',
    read: db,
    write: db,
    scan,
    file: null,
    logBytes: null,
    pool,
    run: <Input, Output>(procedure: Procedure<Input, Output>, input: Input) =>
      untilItPasses(() =>
        once(client => procedure.postgres(client, input), procedure.isOneStatement?.(input) ?? false),
      ),
    async ping() {
      await db.executeQuery(CompiledQuery.raw('select 1'))
    },
    async close() {
      await scan.destroy()
      await db.destroy()
    },
  }
}
