import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** The view holds sums of the bans up to `rolled_up`, and a row for each ban since. A summed ban leaves the sum as it ends. */
const onSqlite = [
  `create table rolled_active_totals (server_no integer primary key, n integer not null)`,
  `insert into rolled_active_totals (server_no, n) select server_no, count(*) from active_bans
    where ban_id <= (select ban_id from rolled_up) group by server_no`,
  `create trigger active_bans_ended after delete on active_bans when old.ban_id <= (select ban_id from rolled_up) begin
    update rolled_active_totals set n = n - 1 where server_no = old.server_no; end`,
  `create view active_totals as select server_no, n from rolled_active_totals
    union all select +server_no, 1 from bans not indexed where id > (select ban_id from rolled_up) and unbanned_at is null`,
]
/**
 * A reported ban says in its row of `unsummed_bans` whether it is active. Ends wait too, since several processes would wait for each
 * other's rows of sums.
 */
const onPostgres = [
  `alter table unsummed_bans add column active integer not null default 0`,
  `update unsummed_bans set active = 1 where ban_id in (select ban_id from active_bans)`,
  `create table unsummed_ends (server_no integer not null, n bigint not null)`,
  // No index: it is read as a whole, and emptied each second.
  'alter table unsummed_ends replica identity full',
  'alter table unsummed_ends set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)',
  `create table rolled_active_totals (server_no integer primary key, n bigint not null)`,
  `insert into rolled_active_totals (server_no, n) select server_no, count(*) from active_bans
    where ban_id not in (select ban_id from unsummed_bans) group by server_no`,
  `create function note_ended_bans() returns trigger language plpgsql as $$ begin
    insert into unsummed_ends (server_no, n) select server_no, count(*) from ended group by server_no;
    return null; end $$`,
  `create trigger active_bans_ended after delete on active_bans referencing old table as ended
    for each statement execute function note_ended_bans()`,
  `create view active_totals as select server_no, n from rolled_active_totals
    union all select server_no, 1 from unsummed_bans where active = 1
    union all select server_no, -n from unsummed_ends`,
]

/** Active bans by server: counting half a million of them took most of a page and of statistics. */
export const activeTotals = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of engine === 'sqlite' ? onSqlite : onPostgres) await sql.raw(statement).execute(db)
  },
})
