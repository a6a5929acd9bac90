import type { ColumnType, Generated } from 'kysely'
import type { ProtectionLevel, RolloutHostState, RolloutState, RuleOutcome, RuleState } from '@stockade/contract'

/*
 * Every table on one page. Times are integer epoch milliseconds, booleans 0 or 1, JSON is text: the subset that SQLite
 * and PostgreSQL share. `server_no`, `jail_id` and `country_id` are small integers because they stand in every index.
 */

export interface MetaTable {
  key: string
  value: string
}
export interface SettingsTable {
  key: string
  value: string
  updated_at: number
}
export interface UsersTable {
  id: Generated<number>
  username: string
  /** Lower case, unique: names that differ by case only would be taken for one another. */
  username_key: string
  email: string
  email_key: string
  password_hash: string | null
  role: 'Admin' | 'Operator' | 'Viewer'
  server_access: 'all' | 'specific'
  /** Tags whose servers a user with `specific` access sees, as JSON; null for none. */
  access_tags: string | null
  mfa_enabled: number
  mfa_secret: string | null
  /** Prepared by enabling, in force once confirmed. */
  mfa_pending_secret: string | null
  /** The last time step whose code was taken: a code works once. */
  mfa_last_step: Generated<number>
  /** 1: needs a second factor, whatever the settings say. */
  mfa_required: Generated<number>
  /** Of the code that lets an invited user choose a password, once. */
  invite_hash: string | null
  invite_expires_at: number | null
  oauth_provider: string | null
  oauth_subject: string | null
  /** What of the allow-lists let this person in at the last sign-in: a login, a domain, or `org:` and a name. */
  oauth_admitted_as: Generated<string | null>
  /** How many passkeys the user has. */
  passkeys: Generated<number>
  last_login: number | null
  created_at: number
  updated_at: number
}
/** What the dashboard keeps for a user, as JSON. */
export interface UserPreferencesTable {
  user_id: number
  preferences: string
  updated_at: number
}
export interface UserServersTable {
  user_id: number
  server_no: number
}
export interface MfaBackupCodesTable {
  user_id: number
  hash: string
  /** 1 until the factor that they belong to is confirmed. */
  pending: number
}
/** Sign-ins that wait for a second factor. */
export interface MfaTokensTable {
  hash: string
  user_id: number
  created_at: number
  tries: number
}
export interface PasskeysTable {
  id: Generated<number>
  user_id: number
  /** As the authenticator named it, base64url. */
  credential_id: string
  /** COSE, base64url. */
  public_key: string
  /** The same key as SubjectPublicKeyInfo in DER, base64url. */
  spki: string
  counter: number
  /** JSON array. */
  transports: string
  name: string
  backed_up: number
  created_at: number
  last_used: number | null
}
/** What passkeys were asked and have not answered yet. */
export interface PasskeyChallengesTable {
  hash: string
  purpose: string
  user_id: number | null
  created_at: number
}
/** Wrong passwords and codes, by the name typed or the user's id. */
export interface FailedAttemptsTable {
  id: Generated<number>
  kind: string
  subject: string
  ip: string
  /** The IPv4 address or the IPv6 /64; the /24 or the /48 around it. */
  net: string
  wide: string
  at: number
}
/** Networks from which a user has signed in. */
export interface KnownNetworksTable {
  user_id: number
  net: string
  seen_at: number
}
/** Sign-ins at a provider that are under way; each is used once. */
export interface OauthStatesTable {
  hash: string
  provider: string
  verifier: string
  browser_hash: string
  nonce: string
  created_at: number
}
export interface SessionsTable {
  id: string
  user_id: number
  refresh_hash: string
  /** SHA-256 of the secret that access tokens of this session carry. */
  access_hash: Generated<string>
  cookie_hash: string
  /** How it began: a provider's sign-in stands for a second factor, a password alone does not. */
  method: 'password' | 'mfa' | 'passkey' | 'provider_a' | 'provider_b'
  ip_address: string
  user_agent: string
  created_at: number
  last_activity: number
  /** When somebody last proved in this session who it is. */
  proved_at: number
}
export interface ApiKeysTable {
  id: Generated<number>
  name: string
  hash: string
  prefix: string
  permissions: 'read' | 'write' | 'admin'
  /** `agent`: given by enrolment; `server`: given by POST /servers; `user`: made by a person. */
  kind: 'agent' | 'server' | 'user'
  /** Owner of the key; null for the keys of hosts. */
  user_id: number | null
  server_no: number | null
  expires_at: number | null
  last_used: number | null
  last_used_from: string | null
  /** JSON lists; null for no limit. */
  scopes: string | null
  source_networks: string | null
  /** Tags whose servers the key reaches, as JSON; null for no limit by tags. */
  access_tags: string | null
  created_at: number
}
export interface ServersTable {
  no: Generated<number>
  id: string
  hostname: string
  /** What the host calls itself; null before the first heartbeat. */
  reported_hostname: string | null
  ip_address: string | null
  description: string
  /** JSON list in alphabetical order. */
  tags: Generated<string>
  status: 'pending' | 'online' | 'offline'
  os: string | null
  engine_version: string | null
  agent_version: string | null
  /** The identity that the host's agent made; another one with the same key is a cloned machine. */
  agent_id: string | null
  /** Digest of the host's machine id, from its agent; null before an agent that says it. */
  machine: string | null
  /** Set while two hosts report for this server, as JSON: since when, and which start of the agent is refused. */
  clone: string | null
  /** The last self-test since the enrolment, as JSON (`LastSelfTest`); null before the first one. */
  self_test: string | null
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
  policy: string | null
  /** What the host says that it takes only with an operator's signature, as JSON; null for nothing. */
  sealed: string | null
  /** What the host says of its agent's releases, as JSON; null before an agent that says it. */
  upgrades: string | null
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
  wave_starts: string
  /** Failures of this wave, and upgraded servers that are silent, at the last resumption: they do not pause it again. */
  accepted_failures: number
  accepted_silent: number
  created_by: string
  created_at: number
  ended_at: number | null
}
/** A sharing rule. What it asks for is JSON of `Conditions` in features/rules/conditions.ts. */
export interface RulesTable {
  id: Generated<number>
  name: string
  conditions: string
  /** JSON: canonical addresses and ranges. */
  exclude: string
  per_hour: number
  standing: number
  state: RuleState
  reason: string | null
  /** JSON: what the last simulation of these conditions said. */
  simulation: string | null
  simulated_at: number | null
  armed_by: string | null
  armed_at: number | null
  created_by: string
  created_at: number
  updated_at: number
}
export interface RuleMatchesTable {
  id: Generated<number>
  rule_id: number
  /** Time of the ban that completed the condition. */
  at: number
  entry: string
  ban_id: number
  times: number
  until: number | null
  outcome: RuleOutcome
  cause: string | null
  fleet_ban_id: number | null
  /** JSON: numbers of servers, ids of bans. */
  evidence: string
}
export interface FeedsTable {
  id: Generated<number>
  name: string
  token_hash: string
  /** JSON: what it holds. */
  contents: string
  created_by: string
  created_at: number
  updated_at: number
  used_at: number | null
  used_from: string | null
  /** Names what it held when it was last read; null: never read. */
  digest: string | null
  /** Since when it holds that; 0: never read. */
  changed_at: Generated<number>
}
export interface ReportSchedulesTable {
  id: Generated<number>
  name: string
  period: 'day' | 'week' | 'month'
  hour: number
  weekday: number
  day: number
  /** Null: that of the settings. */
  timezone: string | null
  target: string
  /** JSON: e-mail addresses. */
  recipients: string
  /** JSON: ids of channels. */
  channels: string
  enabled: number
  /** The date at which the last report was due that needs no queueing any more. */
  last_due: string
  last_at: number | null
  last_error: string | null
  created_by: string
  created_at: number
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
  jails: string
  command_id: string | null
  /** When the new agent answered. */
  answered_at: number | null
  problem: string | null
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
/** Liveness, apart from `servers` because it is written all the time. */
export interface HeartbeatsTable {
  server_no: number
  last_heartbeat: number
  metrics: string | null
  /** JSON array of jails in detail, as the host last said. */
  jails: string
  /** Which start of the agent sent the report, and the report's number since then. Empty and a time if the agent sends neither. */
  boot: string
  report: number
  /** Counts the changes of the jails' details. */
  revision: number
  /** What the host last reported of its protection, as JSON; null before the first report. */
  protection: string | null
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
export interface JailsTable {
  id: Generated<number>
  name: string
}
export interface CountriesTable {
  id: Generated<number>
  code: string
}
export interface NetworksTable {
  asn: number
  org: string | null
}
/** 4 or 16 bytes. */
export type Bytes = ColumnType<Uint8Array, Uint8Array, Uint8Array>
export interface BansTable {
  id: Generated<number>
  server_no: number
  jail_id: number
  /** 0 where unknown. */
  country_id: number
  ip: Bytes
  /** Length of the prefix of a range; null for one address. */
  prefix: number | null
  banned_at: number
  /** Seconds; -1 permanent; null when the end is unknown. */
  ban_duration: number | null
  unbanned_at: number | null
  asn: number | null
  city: string | null
  latitude: number | null
  longitude: number | null
  log_lines: string
  /** The operator behind a manual ban; null for the engine. */
  banned_by: string | null
  event_id: Bytes
  reported: Generated<number>
  reputation_score: number | null
  /** `adopted`: the host held it before it was enrolled. Null: a report. */
  origin: 'adopted' | null
  /** Packets that the shield of the host dropped; null: none reported. */
  dropped_packets: number | null
  /** The host's own count at its last report. It starts at 0 again when the host loads its bans again. */
  dropped_seen: number | null
  dropped_at: number | null
}
/** What is banned now, narrow, so that "active" needs no index on the big table. */
export interface ActiveBansTable {
  ban_id: number
  server_no: number
  jail_id: number
  country_id: number
  ip: Bytes
  prefix: number | null
  banned_at: number
  /** Null: no end, or an unknown one. */
  expires_at: number | null
}
/**
 * Exact counts of bans by server, jail and country. This and the ones below are views: the sums of the bans up to
 * `rolled_up`, and one row for each ban since; so always sum `n`, and group where it matters.
 */
export interface BanCubeTable {
  server_no: number
  jail_id: number
  country_id: number
  n: number
}
/** The same of all servers together: few rows, also of a large fleet. */
export interface BanFleetTable {
  jail_id: number
  country_id: number
  n: number
}
/** Roll-ups: `bucket` is the start of an hour or a UTC day in epoch milliseconds. */
export interface BanHoursJailTable {
  bucket: number
  jail_id: number
  n: number
}
export interface BanHoursCountryTable {
  bucket: number
  country_id: number
  n: number
}
export interface BanHoursServerTable {
  server_no: number
  bucket: number
  n: number
}
export interface BanDaysJailTable {
  bucket: number
  server_no: number
  jail_id: number
  n: number
}
export interface BanDaysCountryTable {
  bucket: number
  server_no: number
  country_id: number
  n: number
}
/** The last ban that the sums hold. */
export interface RolledUpTable {
  ban_id: number
}
/** How many addresses were last banned in each hour, of the bans up to `rolled_up`. */
export interface RolledIpHoursTable {
  bucket: number
  n: number
}
export interface CommandsTable {
  id: string
  server_no: number
  type: string
  params: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'timeout'
  success: number | null
  output: string | null
  exit_code: number | null
  initiated_by: string
  retry_of: string | null
  batch_id: string | null
  /** What a deployment carries, in `template_snapshots`. */
  template_hash: string | null
  /** An operator's signature, as JSON. */
  seal: string | null
  cancelled: Generated<number>
  deliveries: Generated<number>
  delivered_at: number | null
  created_at: number
  /** Not handed out after this. */
  expires_at: number
  started_at: number | null
  completed_at: number | null
}
export interface WhitelistTable {
  id: Generated<number>
  /** Canonical; unique. */
  ip: string
  description: string
  created_by: string
  created_at: number
  updated_at: number
  /** When the entry lifts itself; null for never. */
  expires_at: number | null
}
/** One row: which state of the whitelist is the present one. Whoever changes the list holds it until the commit. */
export interface WhitelistStateTable {
  id: number
  /** Counts up, with a random part: a restored backup never gives a version again that meant another list. */
  version: string
  seq: number
  entries: number
  changed_at: number
}
/** A ban of the whole fleet or of some servers. Rows that ended stay for 90 days. */
export interface FleetBansTable {
  id: Generated<number>
  /** A canonical address or range. */
  entry: string
  reason: string
  /** `all`, or the numbers of servers in order, as JSON. */
  target: string
  /** Every server that the ban was ever meant for: `all`, or numbers as JSON. */
  reach: string
  source: string
  force: number
  expires_at: number | null
  /** The version of the set that the last change made. */
  version: number
  created_by: string
  created_at: number
  updated_at: number
  ended_at: number | null
  ended_by: 'expired' | 'removed' | null
}
/** One row: the last version of fleet bans. A change locks it until the commit. */
export interface FleetStateTable {
  id: number
  /** Epoch milliseconds: a restored backup never gives a version again that meant another set. */
  version: number
  /** The last version that concerns all servers. */
  all_version: number
}
/** Which version of the fleet bans each host should hold, and what it last said. */
/** A row for each tag of a server that is not deleted. */
export interface ServerTagsTable {
  tag: string
  server_no: number
}
/** Tags of servers as fleet bans know them: since which version a server has one, or, with `held` 0, has it no more. */
export interface FleetTagsTable {
  server_no: number
  tag: string
  held: number
  version: number
}
export interface FleetHostsTable {
  server_no: number
  /** The last version that concerns this server by name. */
  wanted: number
  /** The version that the host's kernel is proved to hold; null for none. */
  version: number | null
  acked_at: number | null
  held: number | null
  /** What the host refused: rows of id and reason, as JSON. */
  refused: string | null
  /** Why the last acknowledgement proved nothing. */
  problem: string | null
  /** Why the host can hold no fleet bans. */
  not_covered: string | null
  /** Why fail2ban holds them instead of the kernel. */
  fallback: string | null
}
/** A blocklist: what is asked of it, and what its version in force is. */
export interface BlocklistsTable {
  id: Generated<number>
  name: string
  /** As JSON. */
  source: string
  format: string
  csv_column: number | null
  every_seconds: number
  /** `all`, or the numbers of servers in order, as JSON. */
  target: string
  mode: string
  max_entries: number
  max_addresses: number
  max_change: number
  /** Epoch milliseconds of the version in force; rises with each content. 0 before the first. */
  version: number
  entries: number
  addresses: number
  /** SHA-256 of the entries, a line each. */
  digest: string
  /** Counts as JSON. */
  left_out: string
  /** What was cut out of the version in force: versions of the whitelist and of own and managed addresses. */
  cuts: string
  etag: string | null
  last_modified: string | null
  fetched_at: number | null
  checked_at: number | null
  next_at: number
  failures: number
  last_error: string | null
  stale: number
  created_by: string
  created_at: number
  updated_at: number
}
/** The content of the version in force, gzipped lines: as it was published, merged, and without what is cut out. */
export interface BlocklistContentsTable {
  list_id: number
  raw: Bytes
  entries: Bytes
}
/** One row: rises with each change of lists that other processes must hear of. A change locks it until the commit. */
export interface BlocklistStateTable {
  id: number
  version: number
}
/** What a host said last of a list that it was given. */
export interface BlocklistHostsTable {
  server_no: number
  list_id: number
  /** The version that the host's kernel is proved to hold; null for none. */
  version: number | null
  mode: string | null
  held: number | null
  error: string | null
  /** The host's own count. */
  packets: number
  acked_at: number | null
}
/** Why a host can hold no lists; without a row, nothing is known. */
export interface BlocklistCoverageTable {
  server_no: number
  not_covered: string | null
}
export interface BlocklistHitsTable {
  list_id: number
  /** Hours since 1970. */
  hour: number
  packets: number
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
/** Templates of the operators' own; the built-in ones are in the code, with ids below 1001. */
export interface TemplatesTable {
  id: Generated<number>
  name: string
  display_name: string
  description: string
  category: string
  /** JSON object; what is absent is as `jail_config` says. */
  settings: string
  jail_config: string
  filter_config: string
  /** JSON array of paths below the engine's folder of configuration. */
  required_files: string
  created_at: number
  updated_at: number
}
/** Templates as they were when a deployment was queued, each content once. */
export interface TemplateSnapshotsTable {
  /** SHA-256 of the content, hex. */
  hash: string
  template_id: number
  name: string
  /** JSON, as an agent gets it. */
  content: string
  created_at: number
}
/** Everything that happened, in one stream; no secondary indexes, and a ban is referred to, not copied. */
export interface EventsTable {
  id: Generated<number>
  at: number
  name: string
  actor: string | null
  actor_user_id: number | null
  actor_ip: string | null
  server_no: number | null
  ban_id: number | null
  data: string | null
}
/** Which events stand in the audit log; append-only, as the events are. */
export interface AuditTable {
  event_id: number
  at: number
  name: string
  user_id: number | null
}
/** An entry's place in the chain of hashes. */
export interface AuditChainTable {
  seq: number
  event_id: number
  at: number
  hash: string
}
export interface AuditCheckpointsTable {
  number: number
  /** `daily`: how long the chain was; `cut`: where it begins, since older entries are not kept. */
  kind: 'daily' | 'cut'
  seq: number
  hash: string
  at: number
  /** SHA-256 of the signature of the checkpoint before. */
  before: string
  public_key: string
  signature: string
}
/** The process that runs the jobs; `fence` rises with each change of the holder. */
export interface LeasesTable {
  name: string
  holder: string
  fence: number
  until: number
}

/** How far a durable reader of the events has come. */
export interface CursorsTable {
  name: string
  xid: string
  event_id: number
}
/** A ban that is to be reported to the reputation database, or was. */
export interface ReputationReportsTable {
  ban_id: number
  ip: Bytes
  /** `skipped`: the address was reported shortly before. */
  state: 'waiting' | 'sent' | 'skipped' | 'failed'
  attempts: Generated<number>
  due_at: number
  created_at: number
  ended_at: number | null
  error: string | null
}
/** When an address was last reported, and the score that came back. */
export interface ReputationAddressesTable {
  ip: Bytes
  reported_at: number
  score: number | null
}

/** What waits to be told; `content` is a message as JSON. */
export interface NotificationsTable {
  id: Generated<number>
  channel: string
  category: string
  content: string
  /** JSON array: the ones that have not got it yet; null for all that are configured. */
  recipients: string | null
  due_at: number
  created_at: number
}
/** Number of messages beyond the limit. */
export interface NotificationOverflowTable {
  channel: string
  category: string
  n: number
}
/** How a channel fares; `recent` says what was told lately (JSON), so that bursts are seen. */
export interface NotificationChannelsTable {
  channel: string
  last_sent: number | null
  last_error: string | null
  failing_since: number | null
  attempts: Generated<number>
  retry_at: Generated<number>
  recent: Generated<string>
  /** What happened before this is not told: the channel was off. */
  since: Generated<number>
}
/** A channel of alerts. `fields` is JSON of plain values by field, `secrets` a sealed JSON of the others. */
export interface ChannelsTable {
  id: Generated<number>
  name: string
  /** Lower case, unique. */
  name_key: string
  preset: string
  enabled: number
  fields: string
  secrets: string
  created_at: number
  updated_at: number
}
/** The last attempts to deliver to a channel. */
export interface ChannelDeliveriesTable {
  id: Generated<number>
  channel_id: number
  at: number
  outcome: 'sent' | 'retry' | 'dropped'
  title: string
  attempt: number
  ms: number
  detail: string
}
/** A rule of one's own, or what was changed of a built-in one. `target` as in `servers/targets.ts`. */
export interface AlertRulesTable {
  id: Generated<number>
  /** Kind of the built-in rule; null for one's own. */
  builtin: string | null
  name: string
  kind: string
  severity: 'info' | 'warning' | 'critical'
  target: string
  for_seconds: number
  enabled: number
  recovery: number
  /** JSON of the quiet hours; null for none. */
  quiet_hours: string | null
  /** JSON of what it compares. */
  conditions: string
  created_at: number
  updated_at: number
}
/** One condition of one rule, from its first sign until a week after its end. */
export interface AlertStatesTable {
  id: Generated<number>
  rule: string
  subject: string
  server_no: number | null
  kind: string
  severity: 'info' | 'warning' | 'critical'
  /** `calm`: pending before, and not now; it is kept to see whether it comes and goes. */
  state: 'calm' | 'pending' | 'firing' | 'resolved'
  title: string
  detail: string
  since: number
  /** Since when the condition does not hold, while the alert is not over yet. */
  absent_since: number | null
  fired_at: number | null
  resolved_at: number | null
  /** JSON list of when it began, within the last minutes. */
  onsets: string
  flapping: Generated<number>
  told_at: number | null
  /** Identifies the message about it, also for services that join an alert and its end. */
  told_key: string | null
  /** JSON list of channels that it was told on. */
  told_channels: string | null
  /** JSON list of channels on which its end was told. */
  recovered_on: Generated<string>
  acked_by: string | null
  acked_at: number | null
  ack_note: string | null
}
/** JSON of one route; `position` is its place. */
export interface AlertRoutesTable {
  position: number
  content: string
}
export interface AlertSilencesTable {
  id: Generated<number>
  rule: string | null
  target: string
  reason: string
  ends_at: number
  created_by: string
  created_at: number
}
/** Local dates whose summary was queued, or left out (`skipped`) because it was switched on too late for it. */
export interface DailySummariesTable {
  date: string
  skipped: number
  at: number
}
export interface KnockSequencesTable {
  id: Generated<number>
  name: string
  /** Lower case, unique among those that are not deleted. */
  name_key: string
  protected_port: number
  /** JSON array, a secret; empty once deleted. */
  knock_ports: string
  protocol: 'tcp' | 'udp'
  /** Seconds, as are the next one and `block_duration`. */
  timeout: number
  knock_timeout: number
  max_attempts: number
  block_duration: number
  created_at: number
  updated_at: number
  /** The row stays, since history refers to it. */
  deleted_at: number | null
}
/** Where a sequence is to be in force, and what the host said became of it. */
export interface KnockSequenceServersTable {
  sequence_id: number
  server_no: number
  /** The host's `knock_revision` when the sequence last changed for it. */
  revision: number
  /** The revision that the host last spoke of. */
  acked_revision: number | null
  state: 'enforced' | 'unsupported' | 'failed' | null
  error: string | null
}
/** For whom a port is open; one an address. What was closed stays for a day, so that a late report does not open it again. */
export interface KnockOpeningsTable {
  server_no: number
  sequence_id: number
  ip: string
  id: string
  opened_at: number
  expires_at: number
  /** The state of the host that first names it. */
  revision: number
  /** When the host said that it is open. */
  confirmed_at: number | null
  closed_at: number | null
  /** Until then its live connections are cut. */
  cut_until: number | null
}
export interface KnockBlockedTable {
  server_no: number
  sequence_id: number
  ip: string
  failed_attempts: number
  blocked_at: number
  expires_at: number
  unblocked_at: number | null
}
/** What hosts reported, each event once. */
export interface KnockHistoryTable {
  id: Generated<number>
  event_id: string
  server_no: number
  sequence_id: number
  ip: string
  status: 'success' | 'failed' | 'blocked'
  reason: string | null
  at: number
}

/** What waits to be forwarded, in the order of the stream; what an event says is read when it is sent. */
export interface SiemQueueTable {
  id: Generated<number>
  event_id: number
  type: string
  /** When it happened. */
  at: number
  queued_at: number
  due_at: Generated<number>
  retry_count: Generated<number>
  /** How often the target refused it, and nothing else with it. */
  refusals: Generated<number>
  /** Written to a stream; kept for a while, since a dead receiver swallows what was written. */
  sent_at: number | null
  /** It counts as sent, even if it is sent again. */
  counted: Generated<number>
}
/** One row at most. */
export interface SiemStateTable {
  id: number
  /** What happened before is not forwarded: it was off. */
  since: Generated<number>
  off_at: number | null
  /** What happened until `off_at` is still to be queued. */
  draining: Generated<number>
  connected: Generated<number>
  /** A stream was in use and has not ended in order. */
  stream_open: Generated<number>
  last_sent_at: number | null
  last_error: string | null
  failing_since: number | null
  attempts: Generated<number>
  retry_at: Generated<number>
  flush_asked: Generated<number>
  flush_done: Generated<number>
  flush_sent: Generated<number>
  flush_failed: Generated<number>
}
export interface SiemDeliveriesTable {
  id: Generated<number>
  at: number
  events: number
  bytes: number
  ok: number
  status: number | null
  error: string | null
  next_try: number | null
}
/** Sums by the hour; `hour` is its first millisecond. */
export interface SiemCountsTable {
  hour: number
  type: string
  sent: number
  failed: number
  retried: number
}
/** When the target was reachable, and when not; times without a span were not measured. */
export interface SiemSpansTable {
  id: Generated<number>
  from_at: number
  to_at: number
  up: number
}
export interface SiemReplaysTable {
  id: string
  from_at: number
  to_at: number
  /** JSON array. */
  types: string
  /** Events after this id are still to be sent, up to `last_id`. */
  next_id: number
  last_id: number
  status: 'running' | 'completed' | 'failed'
  total: number
  sent: Generated<number>
  failed: Generated<number>
  /** JSON: where it was in the last minute, to go back to when a stream breaks. */
  marks: Generated<string>
  started_at: number
  ended_at: number | null
}

export interface Schema {
  meta: MetaTable
  settings: SettingsTable
  users: UsersTable
  user_preferences: UserPreferencesTable
  user_servers: UserServersTable
  mfa_backup_codes: MfaBackupCodesTable
  mfa_tokens: MfaTokensTable
  passkeys: PasskeysTable
  passkey_challenges: PasskeyChallengesTable
  failed_attempts: FailedAttemptsTable
  known_networks: KnownNetworksTable
  oauth_states: OauthStatesTable
  sessions: SessionsTable
  api_keys: ApiKeysTable
  servers: ServersTable
  heartbeats: HeartbeatsTable
  metrics_hours: MetricsHoursTable
  server_totals: ServerTotalsTable
  server_quotas: ServerQuotasTable
  jails: JailsTable
  countries: CountriesTable
  networks: NetworksTable
  bans: BansTable
  active_bans: ActiveBansTable
  ban_cube: BanCubeTable
  ban_fleet: BanFleetTable
  ban_hours_jail: BanHoursJailTable
  ban_hours_country: BanHoursCountryTable
  ban_hours_server: BanHoursServerTable
  ban_days_jail: BanDaysJailTable
  ban_days_country: BanDaysCountryTable
  rolled_up: RolledUpTable
  rolled_ip_hours: RolledIpHoursTable
  commands: CommandsTable
  templates: TemplatesTable
  template_snapshots: TemplateSnapshotsTable
  whitelist: WhitelistTable
  whitelist_state: WhitelistStateTable
  host_states: HostStatesTable
  agent_addresses: AgentAddressesTable
  agent_moves: AgentMovesTable
  rules: RulesTable
  rule_matches: RuleMatchesTable
  feeds: FeedsTable
  report_schedules: ReportSchedulesTable
  agent_rollouts: AgentRolloutsTable
  agent_rollout_hosts: AgentRolloutHostsTable
  fleet_bans: FleetBansTable
  fleet_state: FleetStateTable
  fleet_hosts: FleetHostsTable
  fleet_tags: FleetTagsTable
  server_tags: ServerTagsTable
  blocklists: BlocklistsTable
  blocklist_contents: BlocklistContentsTable
  blocklist_state: BlocklistStateTable
  blocklist_hosts: BlocklistHostsTable
  blocklist_coverage: BlocklistCoverageTable
  blocklist_hits: BlocklistHitsTable
  events: EventsTable
  audit: AuditTable
  audit_chain: AuditChainTable
  audit_checkpoints: AuditCheckpointsTable
  cursors: CursorsTable
  reputation_reports: ReputationReportsTable
  reputation_addresses: ReputationAddressesTable
  leases: LeasesTable
  notifications: NotificationsTable
  notification_overflow: NotificationOverflowTable
  notification_channels: NotificationChannelsTable
  daily_summaries: DailySummariesTable
  alert_rules: AlertRulesTable
  alert_states: AlertStatesTable
  alert_routes: AlertRoutesTable
  alert_silences: AlertSilencesTable
  channels: ChannelsTable
  channel_deliveries: ChannelDeliveriesTable
  knock_sequences: KnockSequencesTable
  knock_sequence_servers: KnockSequenceServersTable
  knock_openings: KnockOpeningsTable
  knock_blocked: KnockBlockedTable
  knock_history: KnockHistoryTable
  siem_queue: SiemQueueTable
  siem_state: SiemStateTable
  siem_deliveries: SiemDeliveriesTable
  siem_counts: SiemCountsTable
  siem_spans: SiemSpansTable
  siem_replays: SiemReplaysTable
}
