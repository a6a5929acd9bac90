import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** The digest of each host's machine id, and the mark of a server that two hosts report for, as JSON. */
export const clones = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(`alter table servers add column machine text`).execute(db)
    await sql.raw(`alter table servers add column clone text`).execute(db)
  },
})
