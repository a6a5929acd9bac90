import type { ColumnTypes } from './column-types.ts'

/** Servers, what each of them last said, and upgrades of their agents. */
export const servers = ({ key, smallKey, big, bytes, clustered }: ColumnTypes): string[] => [
  `create table servers (
    no ${smallKey}, id text not null unique, hostname text not null, ip_address text, description text not null,
    status text not null, os text, engine_version text, agent_version text, agent_id text, agent_key_id ${big},
    agent_replacing integer not null default 0,
    install_token_hash text, install_token_expires_at ${big}, install_token_used_at ${big},
    install_token_used_from text, first_heartbeat_at ${big}, first_ban_at ${big},
    created_at ${big} not null, updated_at ${big} not null, deleted_at ${big},
    key_rotated_at ${big}, quarantined_at ${big}, quarantined_by text, quarantine_reason text, policy text, sealed text,
    protection_level text, protection_since ${big}, reported_hostname text, machine text, clone text, self_test text,
    self_test_asked_at ${big}, shield_supported integer not null default 0, upgrades text, tags text not null default '[]')`,
  `create unique index servers_token on servers (install_token_hash)`,
  `create index servers_quarantined on servers (no) where quarantined_at is not null`,
  `create table heartbeats (server_no integer primary key, last_heartbeat ${big} not null, metrics text, jails text not null,
    boot text not null default '', report ${big} not null default 0, revision ${big} not null default 0, protection text)`,
  `create table host_states (
    server_no integer primary key, nonce integer not null default 0, version text, whitelist_version text,
    entry_count ${big}, error text, acked_at ${big}, confirmed_at ${big},
    knock_revision ${big} not null default 0)`,
  `create table server_quotas (server_no integer not null, day integer not null, reports ${big} not null default 0,
    bytes ${big} not null default 0, told integer not null default 0, primary key (server_no, day))`,
  `create table metrics_hours (server_no integer not null, hour ${big} not null, steps ${bytes} not null,
    primary key (server_no, hour)) ${clustered}`,
  `create index metrics_hours_hour on metrics_hours (hour)`,
  `create table server_tags (tag text not null, server_no integer not null, primary key (tag, server_no))`,
  `create table agent_rollouts (
    id ${key}, kind text not null, version text not null, manifest text, program text, state text not null,
    reason text, wave integer not null, wave_starts text not null, accepted_failures integer not null,
    accepted_silent integer not null, created_by text not null, created_at ${big} not null, ended_at ${big})`,
  `create index agent_rollouts_open on agent_rollouts (state) where ended_at is null`,
  `create table agent_rollout_hosts (
    rollout_id ${big} not null, server_no integer not null, wave integer not null, state text not null,
    from_release text, wanted text not null, jails text not null, command_id text, answered_at ${big}, problem text,
    primary key (rollout_id, server_no))`,
  `create index agent_rollout_hosts_state on agent_rollout_hosts (rollout_id, state)`,
]
