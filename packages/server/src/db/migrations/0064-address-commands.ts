import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Commands of one address, for its page. Databases of development builds have the index already. */
export const addressCommands = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const ip = engine === 'sqlite' ? `(params ->> '$.ip')` : `((params::jsonb) ->> 'ip')`
    await sql
      .raw(
        `create index if not exists commands_address on commands (${ip}, created_at) where type in ('ban-ip', 'unban-ip')`,
      )
      .execute(db)
  },
})
