import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'
import { columnTypes } from './0001-schema/column-types.ts'

/** Tokens that enrol many hosts, and what each of them enrolled. An older program knows none of them, so it refuses them. */
export const enrolmentTokens = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const { key, big } = columnTypes(engine)
    for (const statement of [
      `create table enrolment_tokens (
        id ${key}, name text not null, token_hash text not null unique, servers ${big} not null, used ${big} not null,
        ends_at ${big} not null, networks text, tags text not null, created_by text not null, created_at ${big} not null, revoked_at ${big})`,
      `create table enrolments (
        id ${key}, token_id ${big} not null, server_no ${big} not null, server_id text not null, hostname text not null,
        machine text, ip text not null, enrolled_at ${big} not null)`,
      'create index enrolments_of_token on enrolments (token_id, enrolled_at)',
    ])
      await sql.raw(statement).execute(db)
  },
})
