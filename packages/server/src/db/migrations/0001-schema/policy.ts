import type { ColumnTypes } from './column-types.ts'

/** What servers should hold: the whitelist, fleet bans, blocklists, sharing rules, port knocking. And feeds of it. */
export const policy = (types: ColumnTypes): string[] => [
  ...fleet(types),
  ...blocklists(types),
  ...rules(types),
  ...portKnocking(types),
]

/** The whitelist and fleet bans. */
const fleet = ({ key, big }: ColumnTypes): string[] => [
  `create table whitelist (
    id ${key}, ip text not null unique, description text not null, created_by text not null,
    created_at ${big} not null, updated_at ${big} not null,
    expires_at ${big})`,
  `create index whitelist_expiry on whitelist (expires_at) where expires_at is not null`,
  `create table whitelist_state (
    id integer primary key, version text not null, seq ${big} not null, entries ${big} not null,
    changed_at ${big} not null)`,
  `create table fleet_bans (
    id ${key}, entry text not null, reason text not null, target text not null, reach text not null,
    source text not null, force integer not null, expires_at ${big}, version ${big} not null,
    created_by text not null, created_at ${big} not null, updated_at ${big} not null,
    ended_at ${big}, ended_by text)`,
  `create unique index fleet_bans_place on fleet_bans (entry, source, target) where ended_at is null`,
  `create index fleet_bans_version on fleet_bans (version)`,
  `create index fleet_bans_expiry on fleet_bans (expires_at) where ended_at is null and expires_at is not null`,
  `create index fleet_bans_ended on fleet_bans (ended_at) where ended_at is not null`,
  `create index fleet_bans_created on fleet_bans (created_at)`,
  `create table fleet_state (id integer primary key, version ${big} not null, all_version ${big} not null)`,
  'insert into fleet_state (id, version, all_version) values (1, 0, 0)',
  `create table fleet_hosts (
    server_no integer primary key, wanted ${big} not null, version ${big}, acked_at ${big}, held integer,
    refused text, problem text, not_covered text)`,
  // Which tags of a server fleet bans know, since which of their versions; `held` 0 is a tag that the server lost.
  `create table fleet_tags (
    server_no integer not null, tag text not null, held integer not null, version ${big} not null,
    primary key (server_no, tag))`,
  `create index fleet_tags_version on fleet_tags (version)`,
  `create index fleet_tags_tag on fleet_tags (tag)`,
]

const blocklists = ({ key, big, bytes, real }: ColumnTypes): string[] => [
  `create table blocklists (
    id ${key}, name text not null, source text not null, format text not null, csv_column integer,
    every_seconds integer not null, target text not null, mode text not null, max_entries integer not null,
    max_addresses ${big} not null, max_change ${real} not null, version ${big} not null, entries integer not null,
    addresses ${big} not null, digest text not null, left_out text not null, cuts text not null, etag text,
    last_modified text, fetched_at ${big}, checked_at ${big}, next_at ${big} not null, failures integer not null,
    last_error text, stale integer not null, created_by text not null, created_at ${big} not null,
    updated_at ${big} not null)`,
  `create unique index blocklists_name on blocklists (name)`,
  `create table blocklist_contents (list_id ${big} primary key, raw ${bytes} not null, entries ${bytes} not null)`,
  `create table blocklist_state (id integer primary key, version ${big} not null)`,
  'insert into blocklist_state (id, version) values (1, 0)',
  `create table blocklist_hosts (
    server_no integer not null, list_id ${big} not null, version ${big}, mode text, held integer, error text,
    packets ${big} not null, acked_at ${big}, primary key (server_no, list_id))`,
  `create table blocklist_coverage (server_no integer primary key, not_covered text)`,
  `create table blocklist_hits (
    list_id ${big} not null, hour ${big} not null, packets ${big} not null, primary key (list_id, hour))`,
]

/** Sharing rules, their matches and feeds. */
const rules = ({ key, big }: ColumnTypes): string[] => [
  `create table rules (
    id ${key}, name text not null unique, conditions text not null, exclude text not null, per_hour integer not null,
    standing integer not null, state text not null, reason text, simulation text, simulated_at ${big},
    armed_by text, armed_at ${big}, created_by text not null, created_at ${big} not null, updated_at ${big} not null)`,
  `create table rule_matches (
    id ${key}, rule_id ${big} not null, at ${big} not null, entry text not null, ban_id ${big} not null,
    times integer not null, until ${big}, outcome text not null, cause text, fleet_ban_id ${big}, evidence text not null)`,
  `create unique index rule_matches_ban on rule_matches (rule_id, ban_id)`,
  `create index rule_matches_at on rule_matches (at)`,
  `create table feeds (
    id ${key}, name text not null unique, token_hash text not null unique, contents text not null, created_by text not null,
    created_at ${big} not null, updated_at ${big} not null, used_at ${big}, used_from text)`,
]

const portKnocking = ({ key, big }: ColumnTypes): string[] => [
  `create table knock_sequences (
    id ${key}, name text not null, name_key text not null, protected_port integer not null, knock_ports text not null,
    protocol text not null, timeout integer not null, knock_timeout integer not null, max_attempts integer not null,
    block_duration integer not null, created_at ${big} not null, updated_at ${big} not null, deleted_at ${big})`,
  `create unique index knock_sequences_name on knock_sequences (name_key) where deleted_at is null`,
  `create table knock_sequence_servers (
    sequence_id ${big} not null, server_no integer not null, revision ${big} not null, acked_revision ${big},
    state text, error text, primary key (sequence_id, server_no))`,
  `create index knock_sequence_servers_server on knock_sequence_servers (server_no)`,
  `create table knock_openings (
    server_no integer not null, sequence_id ${big} not null, ip text not null, id text not null,
    opened_at ${big} not null, expires_at ${big} not null, revision ${big} not null, confirmed_at ${big},
    closed_at ${big}, cut_until ${big}, primary key (server_no, sequence_id, ip))`,
  `create unique index knock_openings_id on knock_openings (id)`,
  `create index knock_openings_expiry on knock_openings (expires_at)`,
  `create table knock_blocked (
    server_no integer not null, sequence_id ${big} not null, ip text not null, failed_attempts integer not null,
    blocked_at ${big} not null, expires_at ${big} not null, unblocked_at ${big},
    primary key (server_no, sequence_id, ip))`,
  `create index knock_blocked_expiry on knock_blocked (expires_at)`,
  `create index knock_blocked_ip on knock_blocked (ip)`,
  `create table knock_history (
    id ${key}, event_id text not null, server_no integer not null, sequence_id ${big} not null, ip text not null,
    status text not null, reason text, at ${big} not null)`,
  `create unique index knock_history_event on knock_history (server_no, event_id)`,
  // Statistics read these three alone: of a short time by the first, of a long one in the order that they group by.
  `create index knock_history_at on knock_history (at, server_no, sequence_id, status, ip)`,
  `create index knock_history_place on knock_history (server_no, sequence_id, status, at)`,
  `create index knock_history_ip on knock_history (ip, server_no, sequence_id, status, at)`,
  `create index knock_history_server on knock_history (server_no, at)`,
]
