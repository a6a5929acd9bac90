import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Whitelist entries that lift themselves. */
export const whitelistEnds = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const statements = [
      `alter table whitelist add column expires_at ${big}`,
      `create index whitelist_expiry on whitelist (expires_at) where expires_at is not null`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
