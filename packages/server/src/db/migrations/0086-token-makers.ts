import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/**
 * Who made an enrolment token, and which requests with it were refused. Nobody knows the maker of a token from before, so it
 * enrols nothing any more.
 */
export const tokenMakers = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    for (const column of [
      'creator text',
      `refused ${big} not null default 0`,
      `strayed ${big} not null default 0`,
      `refused_at ${big}`,
      'refused_from text',
    ])
      await sql.raw(`alter table enrolment_tokens add column ${column}`).execute(db)
  },
})
