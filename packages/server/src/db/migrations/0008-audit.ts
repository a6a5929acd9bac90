import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { eventKinds } from '@stockade/contract'
import type { Engine } from '../database.ts'

/**
 * The audit log: which events stand in it, narrow and indexed as it is asked for, so that bans, of which there are far more,
 * pay nothing. Neither it nor the events can be changed; only retention deletes, and says so in its transaction.
 */
export const audit = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const sqlite = engine === 'sqlite'
    const big = sqlite ? 'integer' : 'bigint'
    const id = sqlite ? '' : ', event_id'
    const guarded = ['events', 'audit']
    const statements = [
      `create table audit (event_id ${big} primary key, at ${big} not null, name text not null, user_id ${big})`,
      `create index audit_at on audit (at${id})`,
      `create index audit_name on audit (name, at${id})`,
      `create index audit_user on audit (user_id, at, name${id})`,
      ...(sqlite
        ? [
            `create table retention_gate (is_open integer not null)`,
            `insert into retention_gate values (0)`,
            ...guarded.flatMap(table => [
              `create trigger ${table}_unchanged before update on ${table}
                begin select raise(abort, '${table} is append-only'); end`,
              `create trigger ${table}_kept before delete on ${table} when (select is_open from retention_gate) = 0
                begin select raise(abort, '${table} is append-only'); end`,
            ]),
          ]
        : [
            `create function refuse_change() returns trigger language plpgsql as $$ begin
              if tg_op = 'DELETE' and current_setting('stockade.retention', true) = 'on' then return null; end if;
              raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
            end $$`,
            ...guarded.map(
              table => `create trigger ${table}_kept before update or delete or truncate on ${table}
                for each statement execute function refuse_change()`,
            ),
          ]),
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
    const audited = Object.entries(eventKinds).flatMap(([name, kind]) => (kind.audited ? [name] : []))
    await sql`insert into audit (event_id, at, name, user_id)
      select id, at, name, actor_user_id from events where name in (${sql.join(audited)})`.execute(db)
  },
})
