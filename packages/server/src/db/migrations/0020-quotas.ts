import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** What each server reported on a day, and servers whose reports are refused. */
export const quotas = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const statements = [
      `create table server_quotas (server_no integer not null, day integer not null, reports ${big} not null default 0,
        bytes ${big} not null default 0, told integer not null default 0, primary key (server_no, day))`,
      `alter table servers add column quarantined_at ${big}`,
      `alter table servers add column quarantined_by text`,
      `alter table servers add column quarantine_reason text`,
      `create index servers_quarantined on servers (no) where quarantined_at is not null`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
