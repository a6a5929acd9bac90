import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** Why fail2ban holds the fleet bans of a host instead of its kernel. */
export const fleetFallback = () => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('alter table fleet_hosts add column fallback text').execute(db)
  },
})
