import type { Generated } from 'kysely'
import type { Blocklist, BlocklistSource, ReplyOf, RuleOutcome, RuleState, feeds, rules } from '@stockade/contract'
import type { JsonText } from '../../core/json-text.ts'
import type { Bytes } from './column.ts'
import type { MatchEvidence, SharingConditions } from './stored.ts'

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
  /** The DNS name that it is an address of; null for an entry that somebody typed. */
  name_id: Generated<number | null>
}
/** A DNS name on the whitelist. Its addresses are rows of `whitelist`, unless somebody typed the same address. */
export interface WhitelistNamesTable {
  id: Generated<number>
  /** ASCII, lower case; unique. */
  name: string
  description: string
  /** JSON: canonical addresses that the name has now. */
  addresses: JsonText<readonly string[]>
  /** Since when it has them; null before the first answer. */
  since: number | null
  checked_at: number | null
  next_at: number
  /** Since when no look-up gave anything that counts; null while they do. */
  failing_since: number | null
  last_error: string | null
  created_by: string
  /** Who counts as its maker, see `core/leaving.ts`; null: nobody. */
  creator: string | null
  created_at: number
}
/** One row: the current version of the whitelist. A change locks it until the commit. */
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
  /** Who counts as its maker, see `core/leaving.ts`; null: nobody. */
  creator: string | null
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
export interface FleetHostsTable {
  server_no: number
  /** The last version that concerns this server by name. */
  wanted: number
  /** The version that the host's kernel is proved to hold; null for none. */
  version: number | null
  acked_at: number | null
  held: number | null
  /** What the host refused: rows of id and reason, as JSON. */
  refused: JsonText<readonly (readonly [id: number, reason: string])[]> | null
  /** Why the last acknowledgement proved nothing. */
  problem: string | null
  /** Why the host can hold no fleet bans. */
  not_covered: string | null
  /** Why fail2ban holds them instead of the kernel. */
  fallback: string | null
}
/** Tags of servers as fleet bans know them: since which version a server has one, or, with `held` 0, has it no more. */
export interface FleetTagsTable {
  server_no: number
  tag: string
  held: number
  version: number
}
/** A blocklist: what is asked of it, and what its version in force is. */
export interface BlocklistsTable {
  id: Generated<number>
  name: string
  /** As JSON. */
  source: JsonText<BlocklistSource>
  format: Blocklist['format']
  csv_column: number | null
  every_seconds: number
  /** `all`, or the numbers of servers in order, as JSON. */
  target: string
  mode: Blocklist['mode']
  max_entries: number
  max_addresses: number
  max_change: number
  /** 1 while nobody gave `max_addresses`: the first version sets it. */
  max_is_default: number
  /** 0 until a version sets it, or somebody does. */
  max_networks: number
  allow_wide: number
  allow_private: number
  /** 1 for a list of somebody with access to some servers only. */
  limited: number
  /** Epoch milliseconds of the version in force; rises with each content. 0 before the first. */
  version: number
  entries: number
  addresses: number
  /** Networks of IPv6 of length 64. */
  networks: number
  /** SHA-256 of the entries, a line each. */
  digest: string
  /** Counts as JSON. */
  left_out: JsonText<Partial<Blocklist['left_out']>>
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
  /** Who counts as its maker, see `core/leaving.ts`; null: nobody. */
  creator: string | null
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
/** A sharing rule. What it asks for is JSON of `Conditions` in features/rules/conditions.ts. */
export interface RulesTable {
  id: Generated<number>
  name: string
  conditions: JsonText<SharingConditions>
  /** JSON: canonical addresses and ranges. */
  exclude: JsonText<readonly string[]>
  per_hour: number
  standing: number
  state: RuleState
  reason: string | null
  /** JSON: what the last simulation of these conditions said. */
  simulation: JsonText<NonNullable<ReplyOf<typeof rules.getRule>['simulation']>> | null
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
  evidence: JsonText<MatchEvidence>
}
/** What bouncers were sent of a feed, for the process that comes next. */
export interface FeedsSentTable {
  feed_id: number
  /** JSON, packed by gzip, in base64. */
  content: string
  saved_at: number
}
export interface FeedsTable {
  id: Generated<number>
  name: string
  token_hash: string
  /** JSON: what it holds. */
  contents: JsonText<Pick<ReplyOf<typeof feeds.changeFeed>, 'q' | 'bans' | 'fleet_bans' | 'family' | 'maximum'>>
  created_by: string
  created_at: number
  updated_at: number
  used_at: number | null
  used_from: string | null
  /** Names what it held when it was last read; null: never read. */
  digest: string | null
  /** Since when it holds that; 0: never read. */
  changed_at: Generated<number>
  /** Entries that it may hold now, and since when: it grows by steps. Null: never read. */
  allowed: number | null
  allowed_at: number | null
  /** When somebody was told last that bans are left out. */
  told_at: number | null
}
