import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Migration } from 'kysely/migration'
import { version } from '../core/places.ts'
import type { Database } from './database.ts'
import { renameChain, stampSchema, storedSchema } from './schema-state.ts'
import { firstSchema } from './migrations/0001-schema.ts'
import { feedChanges } from './migrations/0063-feed-changes.ts'
import { addressCommands } from './migrations/0064-address-commands.ts'
import { fleetFallback } from './migrations/0066-fleet-fallback.ts'
import { agentMoves } from './migrations/0070-agent-moves.ts'
import { keyChanges } from './migrations/0071-key-changes.ts'
import { fleetDays } from './migrations/0072-fleet-days.ts'
import { activeTotals } from './migrations/0073-active-totals.ts'
import { openCommands } from './migrations/0074-open-commands.ts'
import { banChanges } from './migrations/0075-ban-changes.ts'
import { listConsents } from './migrations/0077-list-consents.ts'
import { creators } from './migrations/0080-creators.ts'
import { lateBans } from './migrations/0081-late-bans.ts'
import { feedSizes } from './migrations/0082-feed-sizes.ts'
import { whitelistNames } from './migrations/0083-whitelist-names.ts'
import { feedsSent } from './migrations/0084-feeds-sent.ts'
import { enrolmentTokens } from './migrations/0085-enrolment-tokens.ts'
import { tokenMakers } from './migrations/0086-token-makers.ts'
import { enrolmentIndexes } from './migrations/0087-enrolment-indexes.ts'
import { oneMessageSystem } from './migrations/0090-one-message-system.ts'
import { alertsBySwitches } from './migrations/0091-alerts-by-switches.ts'

/** Every change of the schema by its name, in order. */
const migrationsOf = (engine: Database['engine']) => ({
  '0001-schema': firstSchema(engine),
  '0063-feed-changes': feedChanges(engine),
  '0064-address-commands': addressCommands(engine),
  '0066-fleet-fallback': fleetFallback(),
  '0070-agent-moves': agentMoves(engine),
  '0071-key-changes': keyChanges(engine),
  '0072-fleet-days': fleetDays(engine),
  '0073-active-totals': activeTotals(engine),
  '0074-open-commands': openCommands(),
  '0075-ban-changes': banChanges(engine),
  '0077-list-consents': listConsents(engine),
  '0080-creators': creators(),
  '0081-late-bans': lateBans(engine),
  '0082-feed-sizes': feedSizes(engine),
  '0083-whitelist-names': whitelistNames(engine),
  '0084-feeds-sent': feedsSent(engine),
  '0085-enrolment-tokens': enrolmentTokens(engine),
  '0086-token-makers': tokenMakers(engine),
  '0087-enrolment-indexes': enrolmentIndexes,
  '0090-one-message-system': oneMessageSystem(),
  '0091-alerts-by-switches': alertsBySwitches(engine),
})

/** Migrations that only add what an older program can do without. */
const additive = new Set([
  '0070-agent-moves',
  '0071-key-changes',
  '0074-open-commands',
  '0075-ban-changes',
  '0077-list-consents',
  '0080-creators',
  '0081-late-bans',
  '0082-feed-sizes',
  '0083-whitelist-names',
  '0084-feeds-sent',
  '0085-enrolment-tokens',
  '0086-token-makers',
  '0087-enrolment-indexes',
])

/** Names of all migrations that this code knows, in order. */
export const knownMigrations = (engine: Database['engine']): string[] => Object.keys(migrationsOf(engine))
const done = { up: () => Promise.resolve() }

/**
 * A migration that may take as long as it needs. PostgreSQL ends other statements after 30 s; the setting lasts until the end of the
 * migration's transaction.
 */
export const unhurried = (engine: Database['engine'], { up }: Migration): Migration => ({
  async up(db) {
    if (engine === 'postgres') await sql`set local statement_timeout = 0`.execute(db)
    await up(db)
  },
})

/**
 * Brings the schema up to date; several processes may start at once, one of them does it. All of it is one transaction. What it
 * finds of a newer version stays, see `stateOf`.
 */
export const migrate = async (db: Database): Promise<void> => {
  const migrationNames = knownMigrations(db.engine)
  const stored = await storedSchema(db)
  if (stored.done.length > 0) await renameChain(db)
  const unknown = stored.done.filter(name => !migrationNames.includes(name))
  const migrator = new Migrator({
    db: db.write,
    // Some were made at the same time: a database may know a later one already.
    allowUnorderedMigrations: true,
    provider: {
      getMigrations: async () => ({
        ...Object.fromEntries(
          Object.entries(migrationsOf(db.engine)).map(([name, migration]) => [name, unhurried(db.engine, migration)]),
        ),
        ...Object.fromEntries(unknown.map(name => [name, done])),
      }),
    },
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) throw error instanceof Error ? error : new Error(String(error))
  const minReader = migrationNames.filter(name => !additive.has(name)).at(-1) ?? ''
  if (results.length > 0 || (stored.version === null && unknown.length === 0))
    await stampSchema(db.write, version, minReader)
}
