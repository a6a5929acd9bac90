import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'

/** How scheduled backups fare. Times in milliseconds since 1970, 0 for never. */
export interface BackupState {
  readonly startedAt: number
  readonly endedAt: number
  readonly savedAt: number
  /** Of the last backup. */
  readonly file: string | null
  readonly bytes: number | null
  readonly seconds: number | null
  /** Why the last attempt failed, as a sentence; null where it did not. */
  readonly problem: string | null
  /** The last drill. */
  readonly triedAt: number
  readonly verifiedAt: number
  /** Why the last drill failed. */
  readonly drillProblem: string | null
}
export const noBackupYet: BackupState = {
  startedAt: 0,
  endedAt: 0,
  savedAt: 0,
  file: null,
  bytes: null,
  seconds: null,
  problem: null,
  triedAt: 0,
  verifiedAt: 0,
  drillProblem: null,
}
type Sql = Kysely<Schema>
const key = 'backups.state'

export const readBackupState = async (sql: Sql): Promise<BackupState> => {
  const row = await sql.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
  return row ? { ...noBackupYet, ...(JSON.parse(row.value) as Partial<BackupState>) } : noBackupYet
}
export const writeBackupState = async (sql: Sql, state: BackupState): Promise<void> => {
  const value = JSON.stringify(state)
  await sql
    .insertInto('meta')
    .values({ key, value })
    .onConflict(on => on.column('key').doUpdateSet({ value }))
    .execute()
}
