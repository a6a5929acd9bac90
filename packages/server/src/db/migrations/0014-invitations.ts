import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Users who choose their own password, and users who must have a second factor whatever the settings say. */
export const invitations = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const statements = [
      `alter table users add column mfa_required integer not null default 0`,
      `alter table users add column invite_hash text`,
      `alter table users add column invite_expires_at ${big}`,
      `create unique index users_invite on users (invite_hash) where invite_hash is not null`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
