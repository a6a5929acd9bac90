import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'

/** How many packets of a banned address the shields dropped. */
export const droppedPackets = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const big = engine === 'sqlite' ? 'integer' : 'bigint'
    for (const column of ['dropped_packets', 'dropped_seen', 'dropped_at'])
      await sql.raw(`alter table bans add column ${column} ${big}`).execute(db)
  },
})
