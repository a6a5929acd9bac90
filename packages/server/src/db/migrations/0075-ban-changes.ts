import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/**
 * On PostgreSQL: bans that came or went without an event, for readers that keep bans in memory. Reported bans have an event; those that a host had before, and
 * those that retention removes, have none. A job removes what is older than an hour, so a reader that was away for as long reads all bans again.
 */
const onPostgres = [
  `create table ban_changes (xid xid8 not null default pg_current_xact_id(), at timestamptz not null default now(),
    ban_id bigint not null, ip bytea not null)`,
  'create index ban_changes_order on ban_changes (xid)',
  'create index ban_changes_at on ban_changes (at)',
  `create function note_removed_bans() returns trigger language plpgsql as $$ begin
    insert into ban_changes (ban_id, ip) select id, ip from gone; return null; end $$`,
  `create trigger bans_removed after delete on bans referencing old table as gone
    for each statement execute function note_removed_bans()`,
  `create function note_adopted_ban() returns trigger language plpgsql as $$ begin
    insert into ban_changes (ban_id, ip) values (new.id, new.ip); return null; end $$`,
  `create trigger bans_adopted after insert on bans for each row when (new.origin is not null)
    execute function note_adopted_ban()`,
]

export const banChanges = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    if (engine === 'postgres') for (const statement of onPostgres) await sql.raw(statement).execute(db)
  },
})
