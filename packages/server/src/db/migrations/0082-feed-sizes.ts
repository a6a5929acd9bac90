import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** How much a feed may hold at its next reading, and when somebody was told last that something is left out. */
export const feedSizes = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    for (const column of ['allowed', 'allowed_at', 'told_at'])
      await sql.raw(`alter table feeds add column ${column} ${big}`).execute(db)
  },
})
