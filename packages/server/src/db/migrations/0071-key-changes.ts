import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** The columns that decide what a key may do; the time of its last use is not among them. */
const deciding =
  'name, hash, prefix, permissions, kind, user_id, server_no, expires_at, scopes, source_networks, access_tags'

const onSqlite = [
  `create table key_changes (place integer primary key autoincrement, hash text not null, changed_at integer not null)`,
  ...(
    [
      ['insert', 'insert', 'values (new.hash, unixepoch() * 1000)'],
      ['delete', 'delete', 'values (old.hash, unixepoch() * 1000)'],
      [
        'update',
        `update of ${deciding}`,
        'select old.hash, unixepoch() * 1000 union select new.hash, unixepoch() * 1000',
      ],
    ] as const
  ).map(
    ([name, happens, rows]) => `create trigger api_keys_${name} after ${happens} on api_keys begin
      insert into key_changes (hash, changed_at) ${rows}; end`,
  ),
]
const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
const onPostgres = [
  `create table key_changes (place xid8 not null default pg_current_xact_id(), hash text not null, changed_at bigint not null)`,
  `create index key_changes_place on key_changes (place)`,
  `create function note_key_change() returns trigger language plpgsql as $$ begin
    if tg_op <> 'INSERT' then insert into key_changes (hash, changed_at) values (old.hash, ${now}); end if;
    if tg_op = 'INSERT' or (tg_op = 'UPDATE' and new.hash <> old.hash) then
      insert into key_changes (hash, changed_at) values (new.hash, ${now}); end if;
    return null; end $$`,
  `create trigger api_keys_change after insert or delete or update of ${deciding} on api_keys
    for each row execute function note_key_change()`,
]

/** Which keys changed, so that each process reads those again and not all keys. */
export const keyChanges = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of engine === 'sqlite' ? onSqlite : onPostgres) await sql.raw(statement).execute(db)
  },
})
