import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** On SQLite the bans that were deleted lately, for the thread that holds bans in columns. */
export const removedBans = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    if (engine !== 'sqlite') return
    await sql
      .raw(
        `create table removed_bans (seq integer primary key autoincrement, ban_id integer not null, ip blob not null)`,
      )
      .execute(db)
    await sql
      .raw(
        `create trigger bans_removed after delete on bans begin
          insert into removed_bans (ban_id, ip) values (old.id, old.ip);
          delete from removed_bans where seq <= (select max(seq) from removed_bans) - 100000; end`,
      )
      .execute(db)
  },
})
