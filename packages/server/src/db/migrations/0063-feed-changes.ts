import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Since when a feed holds what it holds: all processes, and the next start, answer the same `Last-Modified`. */
export const feedChanges = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('alter table feeds add column digest text').execute(db)
    await sql
      .raw(`alter table feeds add column changed_at ${engine === 'sqlite' ? 'integer' : 'bigint'} not null default 0`)
      .execute(db)
  },
})
