import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, agents as contract } from '@stockade/contract'
import type { AgentActor } from '../../core/actor.ts'
import { parseRange } from '../../core/ip.ts'
import { jsonText } from '../../core/json-text.ts'
import { tameLine } from '../../core/text.ts'
import type { Metrics } from '../../db/tables/stored.ts'
import type { ListedJail } from '../servers/host-state.ts'
import type { ServerRow } from '../servers/servers.store.ts'

/* What a host says of itself, as it is stored. Its texts may come from attackers. */

type Heartbeat = BodyOf<typeof contract.heartbeat>
type JailsReport = BodyOf<typeof contract.putJails>
/** The columns of a server that its heartbeats may change. */
export type Said = ReturnType<typeof saidIn>

const line = (text: string, most = 200): string => tameLine(text, most * 4)
export const word = (text: string | null | undefined, most?: number): string | null => (text ? line(text, most) : null)

const sealedText = (told: Heartbeat['sealed']): ServerRow['sealed'] =>
  told
    ? jsonText({
        types: told.types.map(type => line(type)),
        operators: told.operators.map(({ name, kind, fingerprint }) => ({
          name: line(name),
          kind: line(kind),
          fingerprint: line(fingerprint),
        })),
        error: word(told.error, 1000),
      })
    : null
const upgradesText = (told: Heartbeat['upgrades']): ServerRow['upgrades'] =>
  told
    ? jsonText({
        able: told.able,
        reason: word(told.reason, 1000),
        release: word(told.release),
        previous: word(told.previous),
      })
    : null
const policyText = (told: Heartbeat['policy']): ServerRow['policy'] =>
  told ? jsonText({ state: told.state, error: word(told.error, 1000) }) : null

/** The columns of a server that its heartbeats may change. */
export const saidIn = (agent: AgentActor, row: ServerRow, beat: Heartbeat, now: number) => ({
  os: beat.os === undefined ? row.os : word(beat.os),
  engine_version: beat.engine_version === undefined ? row.engine_version : word(beat.engine_version),
  agent_version: beat.agent_version === undefined ? row.agent_version : word(beat.agent_version),
  sealed: beat.sealed === undefined ? row.sealed : sealedText(beat.sealed),
  upgrades: beat.upgrades === undefined ? row.upgrades : upgradesText(beat.upgrades),
  policy: beat.policy === undefined ? row.policy : policyText(beat.policy),
  agent_id: beat.agent_id?.toLowerCase() ?? row.agent_id,
  machine: beat.machine ?? row.machine,
  shield_supported: shieldOf(beat) ?? row.shield_supported,
  ip_address: row.ip_address ?? agent.ip,
  first_heartbeat_at: row.first_heartbeat_at ?? now,
  reported_hostname: tameLine(beat.hostname, bounds.hostname * 4),
})
type ToldJail = NonNullable<Heartbeat['jails']>[number]
/** Texts of attackers. An address among them is left out: it would be read as somebody's. */
const otherIdsOf = ({ other_ids: told }: ToldJail, most: number): ListedJail['other_ids'] =>
  told && told.count > 0
    ? {
        count: told.count,
        ids: told.ids
          .filter(id => parseRange(id.trim()) === null)
          .slice(0, most)
          .map(id => line(id, bounds.otherIds.length)),
      }
    : undefined
export const listedJails = (told: NonNullable<Heartbeat['jails']>): ListedJail[] => {
  let room: number = bounds.otherIds.perHost
  return told.map(jail => {
    const other_ids = otherIdsOf(jail, room)
    room -= other_ids?.ids.length ?? 0
    return {
      name: tameLine(jail.name, 256),
      enabled: jail.enabled,
      current_bans: jail.current_bans ?? 0,
      total_banned: jail.total_banned ?? null,
      current_failed: jail.current_failed ?? null,
      total_failed: jail.total_failed ?? null,
      other_ids,
    }
  })
}

/** 1 where the host has a shield; undefined where the heartbeat does not say. */
const shieldOf = ({ capabilities }: Heartbeat): number | undefined =>
  capabilities?.shield ? Number(capabilities.shield.supported) : undefined
export const metricsOf = (told: Heartbeat['metrics']): Metrics | null =>
  told
    ? {
        cpu_percent: told.cpu_percent ?? null,
        memory_percent: told.memory_percent ?? null,
        disk_percent: told.disk_percent ?? null,
        uptime: told.uptime === undefined || told.uptime === null ? null : Math.floor(told.uptime),
      }
    : null

/** `template` left out means that the agent says nothing about it. */
export const detailsOf = (told: JailsReport['jails'][number], template: string | null) => ({
  filter: word(told.filter, 256),
  logpath: word(told.logpath, 4096),
  maxretry: told.maxretry ?? null,
  bantime: told.bantime ?? null,
  findtime: told.findtime ?? null,
  template: told.template === undefined ? template : word(told.template, 64),
})
