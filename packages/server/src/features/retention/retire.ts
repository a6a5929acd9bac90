import type { Procedure } from '../../db/database.ts'
import type { RetireInput, Retired, TrimInput, Trimmed } from './retire-chunk.ts'
import { retireFromPostgres, trimPostgres } from './retire.postgres.ts'

/**
 * Removes a chunk of old bans and takes them out of what totals are read from, in one transaction. Hourly and daily sums and
 * the servers' totals keep what was.
 */
export const retireBans: Procedure<RetireInput, Retired> = {
  name: 'retireBans',
  module: new URL('./retire.sqlite.ts', import.meta.url).href,
  postgres: retireFromPostgres,
}
/** Removes a chunk of old events, and what the audit log says of them. */
export const trimEvents: Procedure<TrimInput, Trimmed> = {
  name: 'trimEvents',
  module: new URL('./trim.sqlite.ts', import.meta.url).href,
  postgres: trimPostgres,
}
