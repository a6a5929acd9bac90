import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** When bans arrived that hosts reported long after they made them, as they say: sharing rules go by that and not by the clock of a host. */
export const lateBans = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    await sql.raw(`create table late_bans (ban_id ${big} primary key, arrived_at ${big} not null)`).execute(db)
    await sql.raw('create index late_bans_at on late_bans (arrived_at, ban_id)').execute(db)
  },
})
