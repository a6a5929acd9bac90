import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Migration } from 'kysely/migration'
import { version } from '../core/places.ts'
import type { Database } from './database.ts'
import { stampSchema, storedSchema } from './schema-state.ts'
import { foundation } from './migrations/0001-foundation.ts'
import { identity } from './migrations/0002-identity.ts'
import { rateCounts } from './migrations/0003-rate-counts.ts'
import { whitelist } from './migrations/0004-whitelist.ts'
import { templates } from './migrations/0005-templates.ts'
import { reputation } from './migrations/0006-reputation.ts'
import { notifications } from './migrations/0007-notifications.ts'
import { audit } from './migrations/0008-audit.ts'
import { portknock } from './migrations/0009-portknock.ts'
import { siem } from './migrations/0010-siem.ts'
import { preferences } from './migrations/0011-preferences.ts'
import { whitelistEnds } from './migrations/0012-whitelist-ends.ts'
import { keyUses } from './migrations/0013-key-uses.ts'
import { invitations } from './migrations/0014-invitations.ts'
import { lists } from './migrations/0015-lists.ts'
import { proof } from './migrations/0016-proof.ts'
import { guessing } from './migrations/0018-guessing.ts'
import { keyLimits } from './migrations/0017-key-limits.ts'
import { quotas } from './migrations/0020-quotas.ts'
import { auditChain } from './migrations/0021-audit-chain.ts'
import { hostPolicy } from './migrations/0025-host-policy.ts'
import { passkeys } from './migrations/0030-passkeys.ts'
import { seals } from './migrations/0031-seals.ts'
import { accessHash } from './migrations/0032-access-hash.ts'
import { reportVersions } from './migrations/0033-report-versions.ts'
import { protection } from './migrations/0034-protection.ts'
import { adopted } from './migrations/0035-adopted.ts'
import { clones } from './migrations/0036-clones.ts'
import { addressCommands } from './migrations/0040-address-commands.ts'
import { metricsHistory } from './migrations/0041-metrics-history.ts'
import { removedBans } from './migrations/0042-removed-bans.ts'
import { droppedPackets } from './migrations/0047-dropped-packets.ts'
import { fleetBans } from './migrations/0045-fleet-bans.ts'
import { blocklists } from './migrations/0052-blocklists.ts'
import { agentRollouts } from './migrations/0050-agent-rollouts.ts'
import { serverTags } from './migrations/0051-tags.ts'
import { channels } from './migrations/0056-channels.ts'
import { reports } from './migrations/0060-reports.ts'
import { rules } from './migrations/0054-rules.ts'
import { feeds } from './migrations/0055-feeds.ts'
import { alerts } from './migrations/0057-alerts.ts'
import { queuedSums } from './migrations/0062-queued-sums.ts'
import { feedChanges } from './migrations/0063-feed-changes.ts'
import { selfTests } from './migrations/0044-self-tests.ts'

/** Every change of the schema by its name, in order. */
const migrationsOf = (engine: Database['engine']) => ({
  '0001-foundation': foundation(engine),
  '0002-identity': identity(engine),
  '0003-rate-counts': rateCounts(engine),
  '0004-whitelist': whitelist(engine),
  '0005-templates': templates(engine),
  '0006-reputation': reputation(engine),
  '0007-notifications': notifications(engine),
  '0008-audit': audit(engine),
  '0009-portknock': portknock(engine),
  '0010-siem': siem(engine),
  '0011-preferences': preferences(engine),
  '0012-whitelist-ends': whitelistEnds(engine),
  '0013-key-uses': keyUses(engine),
  '0014-invitations': invitations(engine),
  '0015-lists': lists(engine),
  '0016-proof': proof(engine),
  '0017-key-limits': keyLimits(),
  '0018-guessing': guessing(engine),
  '0020-quotas': quotas(engine),
  '0021-audit-chain': auditChain(engine),
  '0025-host-policy': hostPolicy(),
  '0030-passkeys': passkeys(engine),
  '0031-seals': seals(),
  '0032-access-hash': accessHash(),
  '0033-report-versions': reportVersions(engine),
  '0034-protection': protection(engine),
  '0035-adopted': adopted(),
  '0036-clones': clones(),
  '0040-address-commands': addressCommands(engine),
  '0041-metrics-history': metricsHistory(engine),
  '0042-removed-bans': removedBans(engine),
  '0044-self-tests': selfTests(engine),
  '0045-fleet-bans': fleetBans(engine),
  '0047-dropped-packets': droppedPackets(engine),
  '0050-agent-rollouts': agentRollouts(engine),
  '0051-tags': serverTags(engine),
  '0052-blocklists': blocklists(engine),
  '0054-rules': rules(engine),
  '0055-feeds': feeds(engine),
  '0056-channels': channels(engine),
  '0057-alerts': alerts(engine),
  '0060-reports': reports(engine),
  '0062-queued-sums': queuedSums(engine),
  '0063-feed-changes': feedChanges(engine),
})

/** Migrations that only add what an older program can do without. */
const additive = new Set<string>()

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
  const known = knownMigrations(db.engine)
  const stored = await storedSchema(db)
  const unknown = stored.done.filter(name => !known.includes(name))
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
  const minReader = known.filter(name => !additive.has(name)).at(-1) ?? ''
  if (results.length > 0 || (stored.version === null && unknown.length === 0))
    await stampSchema(db.write, version, minReader)
}
