import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Deliveries are kept of every channel, so also of the chat and the e-mail of the settings. */
export const oneMessageSystem = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [
      `alter table channel_deliveries add column channel text not null default ''`,
      `update channel_deliveries set channel = 'channel:' || channel_id`,
      'drop index channel_deliveries_of',
      'alter table channel_deliveries drop column channel_id',
      'create index channel_deliveries_of on channel_deliveries (channel, id)',
    ])
      await sql.raw(statement).execute(db)
  },
})
