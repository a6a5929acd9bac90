import type { Kysely } from 'kysely'
import type { DatabaseSync } from 'node:sqlite'
import type { PoolClient } from 'pg'
import type { Schema } from './schema.ts'

export type Engine = 'sqlite' | 'postgres'

/**
 * A hot write that each engine does in its own best way, as one transaction. On SQLite `module` is loaded by the writer
 * thread; it exports `prepare(db)`, which prepares the statements once and returns the function that takes the input.
 */
export interface Procedure<Input, Output> {
  readonly name: string
  readonly module: string
  readonly postgres: (client: PoolClient, input: Input) => Promise<Output>
}
export type PreparedProcedure<Input, Output> = (input: Input) => Output
export type Prepare<Input, Output> = (db: DatabaseSync) => PreparedProcedure<Input, Output>

/** One database behind both engines. */
export interface Database {
  readonly engine: Engine
  /** For reading; on SQLite a connection of its own that can't write. */
  readonly read: Kysely<Schema>
  /** For writing; transactions begin immediately, one after the other. Keep them short. */
  readonly write: Kysely<Schema>
  /** Runs a hot write; resolves when it is durable. */
  run<Input, Output>(procedure: Procedure<Input, Output>, input: Input): Promise<Output>
  /** Throws when storage does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}
