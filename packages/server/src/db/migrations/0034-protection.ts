import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** What each host last reported of its protection, as JSON, and the last level of which an event was recorded. */
export const protection = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    await sql.raw(`alter table heartbeats add column protection text`).execute(db)
    await sql.raw(`alter table servers add column protection_level text`).execute(db)
    await sql.raw(`alter table servers add column protection_since ${big}`).execute(db)
  },
})
