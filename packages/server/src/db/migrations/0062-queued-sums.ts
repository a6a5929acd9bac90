import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

const hour = 'banned_at - banned_at % 3600000'
const day = 'banned_at - banned_at % 86400000'
/** Each view of sums: its columns, and how a ban that is not summed yet gives them. */
const views: Readonly<Record<string, readonly [columns: string, of: string]>> = {
  server_totals: ['server_no, total_bans', 'server_no'],
  ban_cube: ['server_no, jail_id, country_id, n', 'server_no, jail_id, country_id'],
  ban_fleet: ['jail_id, country_id, n', 'jail_id, country_id'],
  ban_hours_jail: ['bucket, jail_id, n', `${hour}, jail_id`],
  ban_hours_country: ['bucket, country_id, n', `${hour}, country_id`],
  ban_hours_server: ['server_no, bucket, n', `server_no, ${hour}`],
  ban_days_jail: ['server_no, bucket, jail_id, n', `server_no, ${day}, jail_id`],
  ban_days_country: ['server_no, bucket, country_id, n', `server_no, ${day}, country_id`],
}

/**
 * On PostgreSQL a ban waits in `unsummed_bans` for a job that adds it to the sums, so that reporting it is one statement. A row leaves
 * that table in the transaction that sums it, and the views add what is still there, so each read is exact. On SQLite the same
 * is done by row number (`rolled_up`).
 */
export const queuedSums = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    if (engine === 'sqlite') return
    const statements = [
      `create table unsummed_bans (ban_id bigint not null, server_no integer not null, jail_id integer not null,
        country_id integer not null, ip bytea not null, banned_at bigint not null)`,
      // No index: it is read as a whole, and emptied each second.
      `alter table unsummed_bans replica identity full`,
      `alter table unsummed_bans set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
      ...Object.entries(views).map(
        ([name, [columns, of]]) => `create or replace view ${name} as select ${columns} from rolled_${name} union all
          select ${of}, 1 from unsummed_bans`,
      ),
      // How the counts of addresses by the hour of their last ban change once what waits is summed.
      `create view ip_hours as
        with waiting as (
          select ip, max(banned_at) as latest, (select max(bans.banned_at) from bans
              where bans.ip = unsummed_bans.ip and bans.id not in (select ban_id from unsummed_bans)) as before
            from unsummed_bans group by ip),
        moved as (select * from waiting where before is null or before < latest)
        select bucket, n from rolled_ip_hours
        union all select latest - latest % 3600000, 1 from moved
        union all select before - before % 3600000, -1 from moved where before is not null`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
