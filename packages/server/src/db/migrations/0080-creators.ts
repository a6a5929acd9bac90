import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Who made what stays: of that, somebody with access to some servers makes a share only. What is there already counts to nobody. */
export const creators = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ['fleet_bans', 'blocklists', 'alert_silences'])
      await sql.raw(`alter table ${table} add column creator text`).execute(db)
  },
})
