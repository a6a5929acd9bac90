import pg from 'pg'
import type { PoolClient } from 'pg'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import type { Database, Procedure } from './database.ts'
import type { Schema } from './schema.ts'

// Counts and epoch milliseconds stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

/** Serialization failure and deadlock: the same transaction may pass when tried again. */
const passing = new Set(['40001', '40P01'])

export interface Postgres extends Database {
  readonly pool: pg.Pool
}

/** Connects to PostgreSQL 15 or newer. `log` hears of connections that break while idle. */
export const openPostgres = async (url: string, log: (error: Error) => void): Promise<Postgres> => {
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: 5000,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 10_000,
    application_name: 'stockade',
  })
  pool.on('error', log)
  // A connection that breaks while a transaction holds it, between two queries, has nobody else to tell; without a
  // listener that would end the process. Its next query fails, and whoever asked hears of it.
  pool.on('connect', client => client.on('error', () => {}))
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })

  const once = async <Output>(work: (client: PoolClient) => Promise<Output>): Promise<Output> => {
    const client = await pool.connect()
    let failed: Error | undefined
    try {
      await client.query('begin')
      const value = await work(client)
      await client.query('commit')
      return value
    } catch (error) {
      failed = error instanceof Error ? error : new Error(String(error))
      await client.query('rollback').catch(() => {})
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
    pool,
    async run<Input, Output>(procedure: Procedure<Input, Output>, input: Input) {
      for (let attempt = 1; ; attempt++)
        try {
          return await once(client => procedure.postgres(client, input))
        } catch (error) {
          if (attempt >= 5 || !passing.has(String((error as { code?: unknown }).code))) throw error
          await new Promise(resolve => setTimeout(resolve, Math.random() * 20 * attempt))
        }
    },
    async ping() {
      await db.executeQuery(CompiledQuery.raw('select 1'))
    },
    async close() {
      await db.destroy()
    },
  }
}
