import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'
import { columnTypes } from './0001-schema/column-types.ts'

/** DNS names on the whitelist, and which entries are theirs. To an older program these are entries like any other. */
export const whitelistNames = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const { key, big } = columnTypes(engine)
    for (const statement of [
      `create table whitelist_names (
        id ${key}, name text not null unique, description text not null, addresses text not null,
        since ${big}, checked_at ${big}, next_at ${big} not null, failing_since ${big}, last_error text,
        created_by text not null, creator text, created_at ${big} not null)`,
      `alter table whitelist add column name_id ${big}`,
      'create index whitelist_of_names on whitelist (name_id) where name_id is not null',
    ])
      await sql.raw(statement).execute(db)
  },
})
