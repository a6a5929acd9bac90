import type { Generated } from 'kysely'
import type { ProtectionLevel, ReplyOf, RolloutHostState, RolloutState, commands, servers } from '@stockade/contract'
import type { JsonText } from '../../core/json-text.ts'
import type { Bytes } from './column.ts'
import type { CloneMark, HostUpgrades, Jail, Metrics, ReportedProtection } from './stored.ts'

export interface ServersTable {
  no: Generated<number>
  id: string
  hostname: string
  /** What the host calls itself; null before the first heartbeat. */
  reported_hostname: string | null
  ip_address: string | null
  description: string
  /** JSON list in alphabetical order. */
  tags: Generated<JsonText<readonly string[]>>
  status: 'pending' | 'online' | 'offline'
  os: string | null
  engine_version: string | null
  agent_version: string | null
  /** The identity that the host's agent made; another one with the same key is a cloned machine. */
  agent_id: string | null
  /** Digest of the host's machine id, from its agent; null before an agent that says it. */
  machine: string | null
  /** Set while two hosts report for this server, as JSON: since when, and which start of the agent is refused. */
  clone: JsonText<CloneMark> | null
  /** The last self-test since the enrolment, as JSON (`LastSelfTest`); null before the first one. */
  self_test: JsonText<commands.LastSelfTest> | null
  /** When Stockade last asked for a self-test by itself; null when one is due. */
  self_test_asked_at: number | null
  /** 1: the agent holds bans in the kernel itself, so it can also test them. */
  shield_supported: Generated<number>
  /** The key that enrolment gave; older keys of agents end when this one is first used. */
  agent_key_id: number | null
  /** 1 while keys of earlier agents still wait for the new agent's first heartbeat. */
  agent_replacing: Generated<number>
  /** When the key of the newest agent was first used; null until then. */
  key_rotated_at: number | null
  install_token_hash: string | null
  install_token_expires_at: number | null
  install_token_used_at: number | null
  install_token_used_from: string | null
  /** What the host says of its own policy, as JSON; null before an agent that says it. */
  policy: JsonText<NonNullable<ReplyOf<typeof servers.getServer>['policy']>> | null
  /** What the host says that it takes only with an operator's signature, as JSON; null for nothing. */
  sealed: JsonText<NonNullable<ReplyOf<typeof servers.getServer>['sealed']>> | null
  /** What the host says of its agent's releases, as JSON; null before an agent that says it. */
  upgrades: JsonText<HostUpgrades> | null
  /** The last level of protection of which an event was recorded, and since when it held; null before the first one. */
  protection_level: ProtectionLevel | null
  protection_since: number | null
  first_heartbeat_at: number | null
  first_ban_at: number | null
  /** Since when its reports are refused and its commands withheld; null: they are not. */
  quarantined_at: number | null
  quarantined_by: string | null
  quarantine_reason: string | null
  created_at: number
  updated_at: number
  deleted_at: number | null
}
/** A token that enrols many hosts. */
export interface EnrolmentTokensTable {
  id: Generated<number>
  name: string
  token_hash: string
  /** How many servers it may enrol, and how many it has. */
  servers: number
  used: number
  ends_at: number
  /** JSON list of ranges from which it is taken; null for all. */
  networks: JsonText<readonly string[]> | null
  /** JSON list of the tags that its servers get. */
  tags: JsonText<readonly string[]>
  created_by: string
  /** `user:ID` or `key:ID`: the token enrols while that account or key may add servers. Null for one from before this was kept. */
  creator: string | null
  created_at: number
  revoked_at: number | null
  /** Requests with it that were refused, and those of them that came from outside of its networks. */
  refused: Generated<number>
  strayed: Generated<number>
  /** The last of them. */
  refused_at: Generated<number | null>
  refused_from: Generated<string | null>
}
/** A host that an enrolment token enrolled. */
export interface EnrolmentsTable {
  id: Generated<number>
  token_id: number
  server_no: number
  server_id: string
  hostname: string
  /** Digest of the token and the machine id; null for a host that has none. */
  machine: string | null
  ip: string
  enrolled_at: number
}
/** Liveness, apart from `servers` because it is written all the time. */
export interface HeartbeatsTable {
  server_no: number
  last_heartbeat: number
  metrics: JsonText<Metrics> | null
  /** JSON array of jails in detail, as the host last said. */
  jails: JsonText<readonly Jail[]>
  /** Which start of the agent sent the report, and the report's number since then. Empty and a time if the agent sends neither. */
  boot: string
  report: number
  /** Counts the changes of the jails' details. */
  revision: number
  /** What the host last reported of its protection, as JSON; null before the first report. */
  protection: JsonText<ReportedProtection> | null
}
/** Load of a server in one hour, in steps of five minutes; packed by `servers/metrics-steps.ts`. */
export interface MetricsHoursTable {
  server_no: number
  /** Start of the hour. */
  hour: number
  steps: Bytes
}
export interface ServerTotalsTable {
  server_no: number
  /** Bans ever reported; retention does not shrink it. */
  total_bans: number
}
/** What a server reported on a UTC day. */
export interface ServerQuotasTable {
  server_no: number
  /** Days since 1970. */
  day: number
  reports: Generated<number>
  bytes: Generated<number>
  /** 1 once somebody was told that its quota is used up. */
  told: Generated<number>
}
/** A row for each tag of a server that is not deleted. */
export interface ServerTagsTable {
  tag: string
  server_no: number
}
/** What each host was asked to apply, and what it last said that it holds. */
export interface HostStatesTable {
  server_no: number
  /** Rises with each request to apply everything again. */
  nonce: Generated<number>
  /** Rises with whatever the host must hear of port knocking. */
  knock_revision: Generated<number>
  /** The desired state of the last acknowledgement. */
  version: string | null
  /** The list that the host last confirmed, when, and how many entries it then read back. */
  whitelist_version: string | null
  entry_count: number | null
  confirmed_at: number | null
  /** Why the last acknowledgement was none. */
  error: string | null
  acked_at: number | null
}
/** Orders to all hosts to use another address of the server; the one of the highest revision holds. */
export interface AgentAddressesTable {
  /** The time of the order, so that a restored backup never gives one again that meant something else. */
  revision: number
  /** Null: the order before is withdrawn. */
  url: string | null
  ordered_by: string
}
/** What a host said of the order with that revision. */
export interface AgentMovesTable {
  server_no: number
  revision: number
  state: 'trying' | 'moved' | 'failed'
  reason: string | null
  changed_at: number
}
/** An upgrade of agents in waves, or their return to the release before. */
export interface AgentRolloutsTable {
  id: Generated<number>
  kind: 'upgrade' | 'rollback'
  version: string
  /** SHA-256 in hex of the signed manifest and of the program. */
  manifest: string | null
  program: string | null
  state: RolloutState
  reason: string | null
  wave: number
  /** JSON: when each wave began; null for those that did not. */
  wave_starts: JsonText<readonly (number | null)[]>
  /** Failures of this wave, and upgraded servers that are silent, at the last resumption: they do not pause it again. */
  accepted_failures: number
  accepted_silent: number
  created_by: string
  created_at: number
  ended_at: number | null
}
export interface AgentRolloutHostsTable {
  rollout_id: number
  server_no: number
  wave: number
  state: RolloutHostState
  from_release: string | null
  /** The version to install, or the release to return to. */
  wanted: string
  /** JSON list of the jails that were enabled when it was ordered. */
  jails: JsonText<readonly string[]>
  command_id: string | null
  /** When the new agent answered. */
  answered_at: number | null
  problem: string | null
}
