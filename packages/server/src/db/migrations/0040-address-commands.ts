import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Finds the commands that banned or unbanned an address: who did it, and the words given as the reason. */
export const addressCommands = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const ip = engine === 'sqlite' ? `(params ->> '$.ip')` : `((params::jsonb) ->> 'ip')`
    await sql
      .raw(`create index commands_address on commands (${ip}, created_at) where type in ('ban-ip', 'unban-ip')`)
      .execute(db)
  },
})
