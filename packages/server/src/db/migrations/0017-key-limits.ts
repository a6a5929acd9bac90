import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** What limits a key, as JSON, and by which entry of an allow-list a provider's user was let in. */
export const keyLimits = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      `alter table api_keys add column scopes text`,
      `alter table api_keys add column source_networks text`,
      `alter table users add column oauth_admitted_as text`,
      `create index api_keys_user on api_keys (user_id)`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
