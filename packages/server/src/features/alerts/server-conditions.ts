import type { ConditionKind, ProtectionCheckId } from '@stockade/contract'
import { entriesOf } from '@stockade/contract/records.ts'
import type { Config } from '../../config.ts'
import { iso, second } from '../../core/clock.ts'
import { levelOf } from '../servers/protection.ts'
import type { Server } from '../servers/registry.ts'
import type { Finding } from './kinds.ts'

/* Conditions of servers, from memory: no query, and nothing in the path of a report. */

const firewallChecks: readonly ProtectionCheckId[] = ['enforced', 'shield', 'keep', 'published']
/** The first of these checks that found something. What a server cannot look at (`unknown`) is on its page, and no fault. */
const failedCheck = (server: Server, ids: readonly string[]) =>
  server.row.status === 'online'
    ? server.protection?.checks.find(({ id, state }) => ids.includes(id) && state !== 'unknown')
    : undefined

/** A heartbeat that is so much later than its interval is missing. */
const lateBy = 25 * second
/**
 * Who must have been heard after which time: a message within a minute of a silence does not wait until `status` says offline. Nobody is
 * silent soon after our own start, as with `status`.
 */
export const createSilence = (
  config: Pick<Config, 'heartbeatInterval' | 'offlineAfter'>,
  startedAt: number,
): ((now: number) => number) => {
  const interval = config.heartbeatInterval * second
  const offlineAfter = config.offlineAfter * second
  const knownFrom = startedAt + Math.max(2 * interval, offlineAfter)
  const silentAfter = Math.min(offlineAfter, interval + lateBy)
  return now => (now < knownFrom ? -Infinity : now - silentAfter)
}

type Words = readonly [title: string, detail: string] | null
const conditions: Readonly<Partial<Record<ConditionKind, (server: Server, heardAfter: number) => Words>>> = {
  'server-unprotected': server =>
    levelOf(server) === 'unprotected'
      ? [`${server.row.hostname} is unprotected`, server.protection?.summary ?? '']
      : null,
  'server-degraded': server =>
    levelOf(server) === 'degraded' ? [`${server.row.hostname} is degraded`, server.protection?.summary ?? ''] : null,
  'server-silent': ({ row, lastHeartbeat }, heardAfter) =>
    row.status === 'offline' || (row.status === 'online' && lastHeartbeat !== null && lastHeartbeat < heardAfter)
      ? [
          `${row.hostname} is silent`,
          lastHeartbeat === null
            ? 'No heartbeat comes any more.'
            : `Last seen ${iso(lastHeartbeat)}. Bans on the server stay in force.`,
        ]
      : null,
  'engine-down': server => {
    const check = failedCheck(server, ['engine'])
    return check?.state === 'bad' ? [`fail2ban is down on ${server.row.hostname}`, check.detail] : null
  },
  'whitelist-drift': server => {
    const check = failedCheck(server, ['ignore'])
    return check ? [`The whitelist is not applied on ${server.row.hostname}`, check.detail] : null
  },
  'shield-drift': server => {
    const check = failedCheck(server, firewallChecks)
    return check ? [`The firewall of ${server.row.hostname} is not as it should be`, check.detail] : null
  },
  'agent-cloned': ({ row }) =>
    row.clone === null
      ? null
      : [
          `Two servers use the identity of ${row.hostname}`,
          'A copied machine, or a stolen key. Settle it on the page of the server.',
        ],
  'server-quarantined': ({ row }) =>
    row.quarantined_at === null ? null : [`${row.hostname} is in quarantine`, row.quarantine_reason ?? ''],
}

/**
 * What holds now of all servers, by kind.
 * @param heardAfter online servers without a heartbeat since then are silent
 */
export const findOnServers = (servers: readonly Server[], heardAfter: number): Map<ConditionKind, Finding[]> => {
  const findingsByKind = new Map<ConditionKind, Finding[]>()
  const conditionEntries = entriesOf(conditions)
  for (const [kind] of conditionEntries) findingsByKind.set(kind, [])
  for (const server of servers)
    for (const [kind, words] of conditionEntries) {
      const sentence = words(server, heardAfter)
      if (sentence)
        findingsByKind
          .get(kind)
          ?.push({ subject: server.row.id, serverNo: server.row.no, title: sentence[0], detail: sentence[1] })
    }
  return findingsByKind
}
