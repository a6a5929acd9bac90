import type { AlertSeverity, Protection, ProtectionLevel } from '@stockade/contract'

/* Shapes that are kept as JSON in columns. */

export interface Metrics {
  readonly cpu_percent: number | null
  readonly memory_percent: number | null
  readonly disk_percent: number | null
  readonly uptime: number | null
}
/** A jail as its host describes it. */
export interface Jail {
  readonly name: string
  readonly enabled: boolean
  /** Addresses. */
  readonly current_bans: number
  /** Banned ids that are no address; absent for none. */
  readonly other_ids?: { readonly count: number; readonly ids: readonly string[] } | undefined
  /** fail2ban's own counts since it started; absent or null from an agent that does not report them. */
  readonly total_banned?: number | null
  readonly current_failed?: number | null
  readonly total_failed?: number | null
  readonly filter: string | null
  readonly logpath: string | null
  readonly maxretry: number | null
  readonly bantime: number | null
  readonly findtime: number | null
  /** The template that the agent keeps on the host for this jail. */
  readonly template: string | null
}
/** What a host last reported of its protection. Times are epoch milliseconds. */
export interface ReportedProtection {
  readonly level: ProtectionLevel
  readonly since: number
  readonly summary: string
  readonly checks: readonly (Omit<Protection['checks'][number], 'since'> & { readonly since: number })[]
  readonly counted: NonNullable<Protection['counted']>
  /** Time of the heartbeat that carried it. */
  readonly reportedAt: number
}
/** What a host says about upgrades of its agent; null for agents that say nothing. */
export interface HostUpgrades {
  readonly able: boolean
  readonly reason: string | null
  readonly release: string | null
  readonly previous: string | null
}
/** What decides a match and what follows from it, as it is stored. Lengths are seconds. */
export interface SharingConditions {
  readonly min_servers: number
  readonly min_bans: number
  readonly within: number
  readonly jails: readonly string[] | null
  readonly countries: readonly string[] | null
  readonly asns: readonly number[] | null
  /** Texts of `servers/targets.ts`. */
  readonly from: string
  readonly target: string
  /** -1: permanent. */
  readonly duration: number
  readonly factor: number
  readonly max_duration: number | null
}
export interface QuietHours {
  readonly from: number
  readonly to: number
}
/** What own rules compare. */
export interface BanConditions {
  readonly threshold?: number
  readonly window_hours?: number
  readonly factor?: number
  readonly minimum?: number
  readonly jail?: string
  readonly country?: string
  readonly asn?: number
}
/** As it is stored. */
export interface StoredRoute {
  readonly severities: readonly AlertSeverity[]
  readonly rules: readonly string[]
  readonly hours: QuietHours | null
  readonly channels: readonly string[]
  /** As in servers/targets.ts. */
  readonly target: string
}
/** Two hosts report in turns: since when, which start of the agent is refused, and the address of the last report then. */
export interface CloneMark {
  readonly since: string
  readonly boot: string
  readonly ip: string | null
}
/** What completed the condition of a sharing rule: numbers of servers, ids of bans. */
export interface MatchEvidence {
  readonly servers: readonly number[]
  readonly bans: readonly number[]
}
/** Where a replay was, so that it can go back. */
export interface ReplayMark {
  readonly at: number
  readonly id: number
  readonly sent: number
  readonly failed: number
}
