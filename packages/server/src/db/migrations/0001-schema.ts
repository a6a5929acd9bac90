import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from '../database.ts'
import { accounts } from './0001-schema/accounts.ts'
import { bans } from './0001-schema/bans.ts'
import { columnTypes } from './0001-schema/column-types.ts'
import { commands } from './0001-schema/commands.ts'
import { messages } from './0001-schema/messages.ts'
import { policy } from './0001-schema/policy.ts'
import { servers } from './0001-schema/servers.ts'
import { storage } from './0001-schema/storage.ts'

/** The whole schema of the first release. Statements are written out, so that each reads as what the engine gets. */
export const firstSchema = (engine: Engine) => ({
  async up(db: Kysely<unknown>): Promise<void> {
    // Accounts refer to servers.
    for (const area of [storage, servers, accounts, bans, commands, policy, messages])
      for (const statement of area(columnTypes(engine))) await sql.raw(statement).execute(db)
    await sql`insert into whitelist_state (id, version, seq, entries, changed_at)
      values (1, ${`w0-${randomBytes(4).toString('hex')}`}, 0, 0, ${Date.now()})`.execute(db)
  },
})
