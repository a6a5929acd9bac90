import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** The events that stood in the audit log when this was written. */
const audited =
  `ban.create ban.remove ban.reputation server.create server.update server.delete server.regenerate_token server.enroll
    server.enroll_refused server.quota server.quarantine server.release server.forget_reports server.clone
    server.clone_settled server.protection command.create command.cancel command.retry auth.login auth.login_failed
    auth.guessing auth.logout auth.password_change auth.step_up access.refused audit.checkpoint mfa.enable mfa.disable
    mfa.reset mfa.backup_codes passkey.create passkey.update passkey.delete user.create user.update user.delete
    user.invite user.accept_invite user.reset_password user.server_access session.end key.create key.delete
    whitelist.add whitelist.update whitelist.remove whitelist.sync template.create template.update template.delete
    template.deploy template.remove settings.update settings.import license.activate siem.update siem.test siem.flush
    siem.discard siem.replay portknock.create portknock.update portknock.delete portknock.knock portknock.close
    portknock.unblock`.split(/\s+/)

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
    await sql`insert into audit (event_id, at, name, user_id)
      select id, at, name, actor_user_id from events where name in (${sql.join(audited)})`.execute(db)
  },
})
