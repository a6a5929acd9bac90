import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Open commands of a server, without a look at those that it ever had. */
export const openCommands = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`create index commands_open on commands (server_no, created_at, id) where status in ('pending', 'running')`)
      .execute(db)
  },
})
