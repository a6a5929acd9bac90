import type { ColumnTypes } from './column-types.ts'

/** The sums that are kept of bans: key columns, and how each comes from a ban. */
const sums: readonly { name: string; keys: Readonly<Record<string, string>>; value?: string }[] = [
  { name: 'server_totals', keys: { server_no: 'server_no' }, value: 'total_bans' },
  { name: 'ban_cube', keys: { server_no: 'server_no', jail_id: 'jail_id', country_id: 'country_id' } },
  // Of 3,000 servers the cube has hundreds of thousands of cells, this has hundreds.
  { name: 'ban_fleet', keys: { jail_id: 'jail_id', country_id: 'country_id' } },
  { name: 'ban_hours_jail', keys: { bucket: 'hour', jail_id: 'jail_id' } },
  { name: 'ban_hours_country', keys: { bucket: 'hour', country_id: 'country_id' } },
  { name: 'ban_hours_server', keys: { server_no: 'server_no', bucket: 'hour' } },
  { name: 'ban_days_jail', keys: { server_no: 'server_no', bucket: 'day', jail_id: 'jail_id' } },
  { name: 'ban_days_country', keys: { server_no: 'server_no', bucket: 'day', country_id: 'country_id' } },
]
/** The views of the same name without `rolled_` add the bans that are not summed yet, so that every read of a view is exact in itself. */
const viewsOver = (unsummed: string, of: (column: string) => string): string[] =>
  sums.map(
    ({
      name,
      keys,
      value = 'n',
    }) => `create view ${name} as select ${Object.keys(keys).join(', ')}, ${value} from rolled_${name}
      union all select ${Object.values(keys).map(of).join(', ')}, 1 from ${unsummed}`,
  )

/**
 * Instead of three indexes of SQLite's bans, lists that are kept like the sums: a batch of bans would write a page for nearly every
 * one into each index, thousands together write a few. The views hold every ban.
 */
const lists: readonly { name: string; column: string; more?: Readonly<Record<string, string>> }[] = [
  {
    name: 'server_bans',
    column: 'server_no',
    more: { ip: 'blob not null', jail_id: 'integer not null', country_id: 'integer not null', asn: 'integer' },
  },
  { name: 'jail_bans', column: 'jail_id' },
  { name: 'country_bans', column: 'country_id' },
]
const listsOf = ({ name, column, more = {} }: (typeof lists)[number]): string[] => {
  const columns = [column, 'banned_at', 'id', ...Object.keys(more)].join(', ')
  const others = Object.entries(more).map(([other, type]) => `${other} ${type}, `)
  return [
    `create table rolled_${name} (${column} integer not null, banned_at integer not null, id integer not null,
      ${others.join('')}primary key (${column}, banned_at, id)) without rowid`,
    `create view ${name} as select ${columns} from rolled_${name} union all
      select ${columns} from bans not indexed where id > (select ban_id from rolled_up)`,
  ]
}

const sqliteBuckets: Readonly<Record<string, string>> = {
  hour: '(banned_at / 3600000) * 3600000',
  day: '(banned_at / 86400000) * 86400000',
}
const onSqlite = [
  // The unary plus keeps SQLite from taking an index for the few bans after the last sum.
  ...viewsOver('bans where id > (select ban_id from rolled_up)', column => sqliteBuckets[column] ?? `+${column}`),
  ...lists.flatMap(listsOf),
  // Bans that retention removed, for readers that keep bans in memory.
  'create table removed_bans (seq integer primary key autoincrement, ban_id integer not null, ip blob not null)',
  `create trigger bans_removed after delete on bans begin
    insert into removed_bans (ban_id, ip) values (old.id, old.ip);
    delete from removed_bans where seq <= (select max(seq) from removed_bans) - 100000; end`,
]

const postgresBuckets: Readonly<Record<string, string>> = {
  hour: 'banned_at - banned_at % 3600000',
  day: 'banned_at - banned_at % 86400000',
}
/**
 * On PostgreSQL a ban waits in `unsummed_bans` for a job that adds it to the sums, so that reporting it is one statement. A row leaves
 * that table in the transaction that sums it.
 */
const onPostgres = [
  'create index bans_server on bans (server_no, banned_at, ip, id)',
  'create index bans_jail on bans (jail_id, banned_at, id)',
  'create index bans_country on bans (country_id, banned_at, id)',
  `create table unsummed_bans (ban_id bigint not null, server_no integer not null, jail_id integer not null,
    country_id integer not null, ip bytea not null, banned_at bigint not null)`,
  // No index: it is read as a whole, and emptied each second.
  'alter table unsummed_bans replica identity full',
  'alter table unsummed_bans set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)',
  ...viewsOver('unsummed_bans', column => postgresBuckets[column] ?? column),
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

/** Bans, those that are active, and the sums that every count comes from. */
export const bans = ({ isSqlite, key, smallKey, big, bytes, real, clustered }: ColumnTypes): string[] => [
  `create table jails (id ${smallKey}, name text not null unique)`,
  `create table countries (id ${smallKey}, code text not null unique)`,
  `create table networks (asn ${big} primary key, org text)`,
  // The writer numbers SQLite's bans: looking up and writing down the last number for each row has its price.
  `create table bans (
    id ${isSqlite ? 'integer primary key' : key}, server_no integer not null, jail_id integer not null, country_id integer not null,
    ip ${bytes} not null, prefix integer, banned_at ${big} not null, ban_duration integer, unbanned_at ${big},
    asn ${big}, city text, latitude ${real}, longitude ${real}, log_lines text not null, banned_by text,
    event_id ${bytes} not null, reported integer not null default 0, reputation_score integer,
    origin text, dropped_packets ${big}, dropped_seen ${big}, dropped_at ${big})`,
  `create unique index bans_event on bans (event_id, server_no)`,
  // In the order of lists, and with what searches ask for: new rows go to its end, so this costs bytes and little else.
  isSqlite
    ? 'create index bans_at on bans (banned_at, id, server_no, jail_id, country_id, asn, ban_duration, ip, city)'
    : 'create index bans_at on bans (banned_at, id) include (server_no, jail_id, country_id, asn, ban_duration, ip, city)',
  // SQLite ends each index with the row's id by itself.
  `create index bans_ip on bans (ip, banned_at${isSqlite ? '' : ', id'})`,
  // Of few bans each, and of none when it is reported. The first is worded as the search for it is.
  `create index bans_lifted on bans (id) where unbanned_at is not null
    and (ban_duration is null or ban_duration < 0 or unbanned_at < banned_at + cast(ban_duration as bigint) * 1000)`,
  `create index bans_reported on bans (id) where reported = 1`,
  `create index bans_score on bans (reputation_score) where reputation_score is not null`,
  `create index bans_by on bans (banned_by) where banned_by is not null`,
  `create index bans_adopted on bans (server_no, banned_at) where origin is not null`,
  // Clustered by time: new rows go to the end, and the list of active bans is read in its order.
  `create table active_bans (
    banned_at ${big} not null, ban_id ${big} not null, server_no integer not null, jail_id integer not null,
    country_id integer not null, ip ${bytes} not null, prefix integer, expires_at ${big},
    primary key (banned_at, ban_id)) ${clustered}`,
  `create index active_bans_end on active_bans (expires_at)`,
  // SQLite: the sums hold the bans up to `ban_id`. On PostgreSQL bans wait in `unsummed_bans`.
  `create table rolled_up (ban_id ${big} not null)`,
  `insert into rolled_up values (${isSqlite ? '0' : '9223372036854775807'})`,
  // How many addresses were last banned in each hour: the distinct addresses of any window that ends now are a sum.
  `create table rolled_ip_hours (bucket ${big} primary key, n ${big} not null)`,
  ...sums.map(
    ({ name, keys, value = 'n' }) =>
      `create table rolled_${name} (${Object.keys(keys)
        .map(key => `${key} ${key === 'bucket' ? big : 'integer'} not null, `)
        .join('')}${value} ${big} not null, primary key (${Object.keys(keys).join(', ')})) ${clustered}`,
  ),
  ...(isSqlite ? onSqlite : onPostgres),
]
