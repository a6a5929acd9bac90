import { createBackupRunner } from '../admin/run-scheduled.ts'
import { createOutgoing } from '../outgoing/outgoing.ts'
import { accountsFeature } from '../features/accounts/accounts.feature.ts'
import { agentMovesFeature } from '../features/agent-moves/agent-moves.feature.ts'
import { agentsFeature } from '../features/agents/agents.feature.ts'
import { alertsFeature } from '../features/alerts/alerts.feature.ts'
import { auditFeature } from '../features/audit/audit.feature.ts'
import { backupsFeature } from '../features/backups/backups.feature.ts'
import { bansFeature } from '../features/bans/bans.feature.ts'
import { blocklistsFeature } from '../features/blocklists/blocklists.feature.ts'
import { bootstrapFeature } from '../features/bootstrap/bootstrap.feature.ts'
import { channelsFeature } from '../features/channels/channels.feature.ts'
import { commandsFeature } from '../features/commands/commands.feature.ts'
import { deploymentsFeature } from '../features/deployments/deployments.feature.ts'
import { desiredFeature } from '../features/desired/desired.feature.ts'
import type { Core, Feature } from '../features/feature.ts'
import { feedsFeature } from '../features/feeds/feeds.feature.ts'
import { fleetFeature } from '../features/fleet/fleet.feature.ts'
import { ipinfoFeature } from '../features/ipinfo/ipinfo.feature.ts'
import { keysFeature } from '../features/keys/keys.feature.ts'
import { licenseFeature } from '../features/license/license.feature.ts'
import { liveFeature } from '../features/live/live.feature.ts'
import { lookupFeature } from '../features/lookup/lookup.feature.ts'
import { mfaFeature } from '../features/mfa/mfa.feature.ts'
import { monitoringFeature } from '../features/monitoring/monitoring.feature.ts'
import { oauthFeature } from '../features/oauth/oauth.feature.ts'
import { passkeysFeature } from '../features/passkeys/passkeys.feature.ts'
import { ownUnbanFeature } from '../features/own-unban/own-unban.feature.ts'
import { portknockFeature } from '../features/portknock/portknock.feature.ts'
import { preferencesFeature } from '../features/preferences/preferences.feature.ts'
import { reachFeature } from '../features/reach/reach.feature.ts'
import { reportsFeature } from '../features/reports/reports.feature.ts'
import { reputationFeature } from '../features/reputation/reputation.feature.ts'
import { retentionFeature } from '../features/retention/retention.feature.ts'
import { rulesFeature } from '../features/rules/rules.feature.ts'
import { serversFeature } from '../features/servers/servers.feature.ts'
import { rolloutsFeature } from '../features/rollouts/rollouts.feature.ts'
import { selfTestsFeature } from '../features/self-tests/self-tests.feature.ts'
import { sessionsFeature } from '../features/sessions/sessions.feature.ts'
import { signInFeature } from '../features/sessions/sign-in.feature.ts'
import { settingsFeature } from '../features/settings/settings.feature.ts'
import { siemFeature } from '../features/siem/siem.feature.ts'
import { templatesFeature } from '../features/templates/templates.feature.ts'
import { usersFeature } from '../features/users/users.feature.ts'
import { mirrorFeature } from '../features/whitelist/mirror.feature.ts'
import { whitelistFeature } from '../features/whitelist/whitelist.feature.ts'
import { pinOf } from '../http/self-signed.ts'

/** Every feature in build order. A feature uses only those above it. */
export const buildFeatures = async (core: Core, taken: () => Promise<unknown>) => {
  const built: Feature[] = []
  const add = <F extends Feature>(feature: F): F => {
    built.push(feature)
    return feature
  }
  const { service: settings, baseUrl } = add(await settingsFeature(core))
  const { port, databaseUrl, databaseReadUrl, tls } = core.config
  const databases = [databaseUrl, databaseReadUrl].flatMap(url => databaseAddress(url) ?? [])
  const outgoing = createOutgoing({ ports: [port], baseUrl, databases })
  const below = { ...core, settings, baseUrl, outgoing }

  const { service: ipinfo } = add(ipinfoFeature(below))
  const { service: users, throttle } = add(usersFeature(below))
  const { service: mfa } = add(mfaFeature({ ...below, throttle }))
  const { service: passkeys } = add(passkeysFeature(below))
  const people = { ...below, users, throttle, mfa, passkeys }
  const { service: sessions, proofs } = add(sessionsFeature(people))
  const { service: keys } = add(await keysFeature(people))
  const { service: license } = add(await licenseFeature(below))
  const hosts = add(await serversFeature({ ...below, users, keys, license, pin: tls?.isOwn ? pinOf(tls) : null }))
  const { service: servers, registry, tags, targeting } = hosts
  add(accountsFeature({ ...people, sessions, keys, servers, registry }))
  add(oauthFeature({ ...people, sessions, proofs, keys }))
  const { service: mirror, guardBan } = add(await mirrorFeature({ ...below, registry }))
  const { service: templates } = add(templatesFeature(below))
  const { service: commands } = add(
    await commandsFeature({ ...below, servers, registry, templates, passkeys, guardBan }),
  )
  const { service: protection } = add(reachFeature({ ...below, mirror, registry }))
  const fleet = { ...below, servers, registry, tags, targeting, mirror, protection, templates, commands }
  add(deploymentsFeature(fleet))
  const { service: bans, quotas, reasons, warmUp } = add(await bansFeature({ ...fleet, ipinfo, guardBan }))
  const { service: reputation } = add(reputationFeature(fleet))
  const { service: outbox } = add(channelsFeature(fleet))
  add(siemFeature({ ...fleet, bans, license }))
  const { service: whitelist } = add(whitelistFeature(fleet))
  const { service: fleetBans } = add(await fleetFeature(fleet))
  add(rulesFeature({ ...fleet, fleetBans }))
  const { service: blocklists } = add(await blocklistsFeature({ ...fleet, ipinfo }))
  add(feedsFeature(fleet))
  const spreadingFeatures = { ...fleet, fleetBans, blocklists }
  const { service: lookup } = add(lookupFeature({ ...spreadingFeatures, ipinfo, reputation, whitelist, reasons }))
  const { service: portknock } = add(await portknockFeature({ ...fleet, quotas }))
  const { service: moves } = add(await agentMovesFeature(fleet))
  const { service: desired } = add(await desiredFeature({ ...spreadingFeatures, portknock, moves }))
  add(agentsFeature({ ...spreadingFeatures, keys, bans, desired, enrolment: hosts.enrolment }))
  add(selfTestsFeature(fleet))
  add(rolloutsFeature(fleet))
  const { service: audit, noteRefusal } = add(auditFeature(below))
  add(ownUnbanFeature({ ...spreadingFeatures, whitelist }))
  add(retentionFeature({ ...fleet, audit }))
  add(backupsFeature({ ...below, backupRunner: createBackupRunner(core.config) }))
  add(alertsFeature({ ...fleet, license, outbox, moves }))
  add(monitoringFeature({ ...fleet, license }))
  add(reportsFeature({ ...fleet, outbox }))
  const { service: preferences } = add(preferencesFeature(below))
  const { service: signIn } = add(signInFeature({ ...people, sessions, proofs, registry, lookup }))
  const { service: feed } = add(liveFeature({ ...fleet, bans, fleetBans, taken }))
  add(bootstrapFeature({ ...signIn, preferences, servers, license, feed, warmUp }))
  return { built, baseUrl, users, keys, sessions, license, servers, noteRefusal }
}

/** Where PostgreSQL listens; null if the database is a file or a socket. */
const databaseAddress = (url: string | null) => {
  const parsed = url === null ? null : URL.parse(url)
  return parsed?.hostname ? { host: parsed.hostname, port: Number(parsed.port) || 5432 } : null
}
