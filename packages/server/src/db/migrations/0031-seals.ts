import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Operators' signatures of commands, and what each host last said that it wants signed, both as JSON. */
export const seals = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(`alter table commands add column seal text`).execute(db)
    await sql.raw(`alter table servers add column sealed text`).execute(db)
  },
})
