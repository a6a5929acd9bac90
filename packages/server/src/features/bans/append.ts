import type { Procedure } from '../../db/database.ts'
import { appendToPostgres, isOneStatement } from './append.postgres.ts'
import type { AppendInput, Appended } from './ban-input.ts'
import { packBatch, unpackResults } from './packed.ts'

/**
 * Writes a batch of bans and ends with their events as one durable transaction. Without items it only brings the sums up
 * to date; on SQLite a batch does so too when enough bans have come since.
 */
export const appendBans: Procedure<AppendInput, Appended[]> = {
  name: 'appendBans',
  module: new URL('./append.sqlite.ts', import.meta.url).href,
  postgres: appendToPostgres,
  isOneStatement,
  packing: { pack: packBatch, unpack: value => unpackResults(value as Float64Array) },
}
