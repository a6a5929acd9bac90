import type { ColumnTypes } from './column-types.ts'

/** Tables that nothing changes; only retention deletes from them, and says so in its transaction. */
const guarded = ['events', 'audit']
const sqliteGuards = [
  'create table retention_gate (is_open integer not null)',
  'insert into retention_gate values (0)',
  ...guarded.flatMap(table => [
    `create trigger ${table}_unchanged before update on ${table} begin select raise(abort, '${table} is append-only'); end`,
    `create trigger ${table}_kept before delete on ${table} when (select is_open from retention_gate) = 0
      begin select raise(abort, '${table} is append-only'); end`,
  ]),
]
const postgresGuards = [
  `create function refuse_change() returns trigger language plpgsql as $$ begin
    if tg_op = 'DELETE' and current_setting('stockade.retention', true) = 'on' then return null; end if;
    raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
  end $$`,
  ...guarded.map(
    table => `create trigger ${table}_kept before update or delete or truncate on ${table}
      for each statement execute function refuse_change()`,
  ),
]

/** Settings, leases, the stream of events, and the audit log: which events it holds, narrow and indexed as it is asked for. */
export const storage = ({ isSqlite, key, big }: ColumnTypes): string[] => [
  `create table meta (key text primary key, value text not null)`,
  `create table settings (key text primary key, value text not null, updated_at ${big} not null)`,
  `create table leases (name text primary key, holder text not null, fence ${big} not null, until ${big} not null)`,
  // Requests of a minute, which several processes count together: not worth a crash-safe log.
  `create ${isSqlite ? '' : 'unlogged '}table rate_counts (key text not null, bucket ${big} not null, n integer not null, primary key (key, bucket))`,
  `create table events (
    id ${key}, ${isSqlite ? '' : 'xid xid8 not null default pg_current_xact_id(),'} at ${big} not null,
    name text not null, actor text, actor_user_id ${big}, actor_ip text, server_no integer, ban_id ${big},
    data text)`,
  // On PostgreSQL ids are not in commit order: readers go by (xid, id), so that none is skipped.
  ...(isSqlite ? [] : ['create index events_order on events (xid, id)']),
  `create table cursors (name text primary key, xid text not null, event_id ${big} not null)`,
  `create table audit (event_id ${big} primary key, at ${big} not null, name text not null, user_id ${big})`,
  `create index audit_at on audit (at${isSqlite ? '' : ', event_id'})`,
  `create index audit_name on audit (name, at${isSqlite ? '' : ', event_id'})`,
  `create index audit_user on audit (user_id, at, name${isSqlite ? '' : ', event_id'})`,
  `create table audit_chain (seq ${big} primary key, event_id ${big} not null unique, at ${big} not null, hash text not null)`,
  `create table audit_checkpoints (number integer primary key, kind text not null, seq ${big} not null, hash text not null,
    at ${big} not null, before text not null, public_key text not null, signature text not null)`,
  ...(isSqlite ? sqliteGuards : postgresGuards),
]
