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
  /** Input that PostgreSQL writes by one statement: it needs no transaction around it, which would be two round trips more. */
  readonly isOneStatement?: (input: Input) => boolean
  /** How input and output cross to the writer thread, where plain objects would be too dear. */
  readonly packing?: { pack(input: Input): unknown; unpack(value: unknown): Output }
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
  /**
   * For reads that no index serves whole, such as searches and top lists: beside the event loop and beside other reads.
   * One that takes longer than `longestScan` is ended and refused with 503. `scanFor` says what a search is about.
   */
  readonly scan: Kysely<Schema>
  /** Runs a hot write; resolves when it is durable. */
  run<Input, Output>(procedure: Procedure<Input, Output>, input: Input): Promise<Output>
  /** SQLite's file; null with PostgreSQL. */
  readonly file: string | null
  /** Bytes of the write-ahead log on the disk; null with PostgreSQL, which has its own ways to tell. */
  readonly logBytes: (() => number) | null
  /** Throws when storage does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}
