import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Where a ban comes from if the host did not report it as news, and what hosts call themselves. */
export const adopted = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(`alter table bans add column origin text`).execute(db)
    await sql.raw(`create index bans_adopted on bans (server_no, banned_at) where origin is not null`).execute(db)
    await sql.raw(`alter table servers add column reported_hostname text`).execute(db)
  },
})
