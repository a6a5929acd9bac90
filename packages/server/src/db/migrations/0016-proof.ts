import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** When a session last proved who it is. Of sessions from before nothing is known but their beginning. */
export const proof = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const statements = [
      `alter table sessions add column proved_at ${big} not null default 0`,
      `update sessions set proved_at = created_at`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
