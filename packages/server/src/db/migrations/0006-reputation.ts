import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Places of durable readers in the stream of events, and what is to be reported to the reputation database. */
export const reputation = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const sqlite = engine === 'sqlite'
    const big = sqlite ? 'integer' : 'bigint'
    const bytes = sqlite ? 'blob' : 'bytea'
    const statements = [
      `create table cursors (name text primary key, xid text not null, event_id ${big} not null)`,
      `create table reputation_reports (
        ban_id ${big} primary key, ip ${bytes} not null, state text not null, attempts integer not null default 0,
        due_at ${big} not null, created_at ${big} not null, ended_at ${big}, error text)`,
      `create index reputation_reports_due on reputation_reports (state, due_at)`,
      `create index reputation_reports_ended on reputation_reports (ended_at)`,
      `create table reputation_addresses (ip ${bytes} primary key, reported_at ${big} not null, score integer)`,
      `create index reputation_addresses_at on reputation_addresses (reported_at)`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
