import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** What bouncers were sent of a feed, so that a process that starts can tell them what ended. */
export const feedsSent = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const key = `feed_id ${big} primary key references feeds (id) on delete cascade`
    await sql.raw(`create table feeds_sent (${key}, content text not null, saved_at ${big} not null)`).execute(db)
  },
})
