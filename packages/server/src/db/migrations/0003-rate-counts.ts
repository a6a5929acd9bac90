import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Requests counted by several processes together; of a minute, and not worth a crash-safe log. */
export const rateCounts = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const [unlogged, big] = engine === 'postgres' ? ['unlogged', 'bigint'] : ['', 'integer']
    await sql
      .raw(
        `create ${unlogged} table rate_counts (key text not null, bucket ${big} not null, n integer not null, primary key (key, bucket))`,
      )
      .execute(db)
  },
})
