import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** The digest of what an access token must know of its session. Of sessions from before it is empty: their next refresh fills it in. */
export const accessHash = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(`alter table sessions add column access_hash text not null default ''`).execute(db)
  },
})
