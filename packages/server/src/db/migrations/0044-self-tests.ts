import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** The last self-test of each server, as JSON, when Stockade last asked for one by itself, and whether the host can do it. */
export const selfTests = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    await sql.raw(`alter table servers add column self_test text`).execute(db)
    await sql.raw(`alter table servers add column self_test_asked_at ${big}`).execute(db)
    await sql.raw(`alter table servers add column shield_supported integer not null default 0`).execute(db)
  },
})
