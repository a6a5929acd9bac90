import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** From where a key was last used, and when a host's newest key was first used. */
export const keyUses = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const statements = [
      `alter table api_keys add column last_used_from text`,
      `alter table servers add column key_rotated_at ${big}`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
