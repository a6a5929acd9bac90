import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** What the dashboard keeps for each user. */
export const preferences = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    await sql
      .raw(
        `create table user_preferences (
          user_id ${big} primary key references users (id) on delete cascade, preferences text not null,
          updated_at ${big} not null)`,
      )
      .execute(db)
  },
})
