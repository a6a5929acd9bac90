import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** Each audit entry's place in the chain of hashes, and the signed checkpoints of that chain. */
export const auditChain = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    const statements = [
      `create table audit_chain (seq ${big} primary key, event_id ${big} not null unique, at ${big} not null, hash text not null)`,
      `create table audit_checkpoints (number integer primary key, kind text not null, seq ${big} not null, hash text not null,
        at ${big} not null, before text not null, public_key text not null, signature text not null)`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
