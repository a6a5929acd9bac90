import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

const step = 300_000
/** Addresses by the time of their last ban in steps of five minutes, instead of an hour. */
const lastBans = (engine: Engine) => {
  const [big, summed] =
    engine === 'sqlite'
      ? ['integer', 'id <= (select ban_id from rolled_up)']
      : ['bigint', 'id not in (select ban_id from unsummed_bans)']
  return [
    `create table rolled_last_bans (bucket ${big} primary key, n ${big} not null)`,
    `insert into rolled_last_bans (bucket, n) select at - at % ${step}, count(*) from
      (select max(banned_at) as at from bans where ${summed} group by ip) as last group by 1`,
  ]
}

/** The view holds sums of the bans up to `rolled_up`, and a row for each ban since. A summed ban leaves the sum as it ends. */
const onSqlite = [
  ...lastBans('sqlite'),
  'drop table rolled_ip_hours',
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
  ...lastBans('postgres'),
  'drop view ip_hours',
  'drop table rolled_ip_hours',
  // How the counts of addresses by the time of their last ban change once what waits is summed.
  `create view last_bans as
    with waiting as (
      select ip, max(banned_at) as latest, (select max(bans.banned_at) from bans
          where bans.ip = unsummed_bans.ip and bans.id not in (select ban_id from unsummed_bans)) as before
        from unsummed_bans group by ip),
    moved as (select * from waiting where before is null or before < latest)
    select bucket, n from rolled_last_bans
    union all select latest - latest % ${step}, 1 from moved
    union all select before - before % ${step}, -1 from moved where before is not null`,
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

/**
 * Active bans by server, and addresses by five minutes: counting half a million bans, and looking up whether thousands of addresses
 * of the first partial hour were banned again, took most of statistics.
 */
export const activeTotals = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of engine === 'sqlite' ? onSqlite : onPostgres) await sql.raw(statement).execute(db)
  },
})
