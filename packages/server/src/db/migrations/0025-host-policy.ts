import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** What each host last said of its own policy, as JSON. */
export const hostPolicy = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(`alter table servers add column policy text`).execute(db)
  },
})
