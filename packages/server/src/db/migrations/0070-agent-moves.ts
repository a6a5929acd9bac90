import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Orders to use another address of the server, and what hosts say of the last one. */
export const agentMoves = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    await sql
      .raw(`create table agent_addresses (revision ${big} not null primary key, url text, ordered_by text not null)`)
      .execute(db)
    await sql
      .raw(
        `create table agent_moves (
          server_no integer primary key, revision ${big} not null, state text not null, reason text,
          changed_at ${big} not null)`,
      )
      .execute(db)
  },
})
