import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Failures by network too, and the networks from which each user has signed in. */
export const guessing = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const statements = [
      `alter table failed_attempts add column net text not null default ''`,
      `alter table failed_attempts add column wide text not null default ''`,
      `update failed_attempts set net = ip, wide = ip`,
      `create index failed_attempts_net on failed_attempts (kind, net, at)`,
      `create index failed_attempts_wide on failed_attempts (kind, wide, at)`,
      `create table known_networks (
        user_id ${big} not null references users (id) on delete cascade, net text not null, seen_at ${big} not null,
        primary key (user_id, net))`,
      // IPv6 is known by its /64, which SQL alone can't tell; those become known with the next sign-in.
      `insert into known_networks (user_id, net, seen_at)
        select user_id, ip_address, max(created_at) from sessions
        where ip_address not like '%:%' group by user_id, ip_address`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
