import type { ColumnTypes } from './column-types.ts'

/** What is told to others: the reputation database, notifications, the SIEM, alerts and their channels, reports. */
export const messages = (types: ColumnTypes): string[] => [...outgoing(types), ...siem(types), ...alerts(types)]

const outgoing = ({ key, big, bytes }: ColumnTypes): string[] => [
  `create table reputation_reports (
    ban_id ${big} primary key, ip ${bytes} not null, state text not null, attempts integer not null default 0,
    due_at ${big} not null, created_at ${big} not null, ended_at ${big}, error text)`,
  `create index reputation_reports_due on reputation_reports (state, due_at)`,
  `create index reputation_reports_ended on reputation_reports (ended_at)`,
  `create table reputation_addresses (ip ${bytes} primary key, reported_at ${big} not null, score integer)`,
  `create index reputation_addresses_at on reputation_addresses (reported_at)`,
  `create table notifications (
    id ${key}, channel text not null, category text not null, content text not null, recipients text,
    due_at ${big} not null, created_at ${big} not null)`,
  `create index notifications_waiting on notifications (channel, category, id)`,
  `create table notification_overflow (
    channel text not null, category text not null, n ${big} not null, primary key (channel, category))`,
  `create table notification_channels (
    channel text primary key, last_sent ${big}, last_error text, failing_since ${big},
    attempts integer not null default 0, retry_at ${big} not null default 0, recent text not null default '{}',
    since ${big} not null default 0)`,
  `create table daily_summaries (date text primary key, skipped integer not null, at ${big} not null)`,
]

const siem = ({ key, big }: ColumnTypes): string[] => [
  `create table siem_queue (
    id ${key}, event_id ${big} not null, type text not null, at ${big} not null, queued_at ${big} not null,
    due_at ${big} not null default 0, retry_count integer not null default 0, refusals integer not null default 0,
    sent_at ${big}, counted integer not null default 0)`,
  `create index siem_queue_waiting on siem_queue (id) where sent_at is null`,
  `create index siem_queue_sent on siem_queue (sent_at) where sent_at is not null`,
  `create table siem_state (
    id integer primary key, since ${big} not null default 0, off_at ${big}, draining integer not null default 0,
    connected integer not null default 0, stream_open integer not null default 0, last_sent_at ${big},
    last_error text, failing_since ${big}, attempts integer not null default 0, retry_at ${big} not null default 0,
    flush_asked ${big} not null default 0, flush_done ${big} not null default 0,
    flush_sent ${big} not null default 0, flush_failed ${big} not null default 0)`,
  `create table siem_deliveries (
    id ${key}, at ${big} not null, events integer not null, bytes ${big} not null, ok integer not null,
    status integer, error text, next_try ${big})`,
  `create table siem_counts (
    hour ${big} not null, type text not null, sent ${big} not null, failed ${big} not null, retried ${big} not null,
    primary key (hour, type))`,
  `create table siem_spans (id ${key}, from_at ${big} not null, to_at ${big} not null, up integer not null)`,
  `create table siem_replays (
    id text primary key, from_at ${big} not null, to_at ${big} not null, types text not null,
    next_id ${big} not null, last_id ${big} not null, status text not null, total ${big} not null,
    sent ${big} not null default 0, failed ${big} not null default 0, marks text not null default '[]',
    started_at ${big} not null, ended_at ${big})`,
]

/** Alerts, the channels that carry them, and scheduled reports. */
const alerts = ({ key, big }: ColumnTypes): string[] => [
  `create table channels (
    id ${key}, name text not null, name_key text not null unique, preset text not null, enabled integer not null,
    fields text not null, secrets text not null, created_at ${big} not null, updated_at ${big} not null)`,
  `create table channel_deliveries (
    id ${key}, channel_id ${big} not null, at ${big} not null, outcome text not null, title text not null,
    attempt integer not null, ms ${big} not null, detail text not null)`,
  `create index channel_deliveries_of on channel_deliveries (channel_id, id)`,
  `create table alert_rules (
    id ${key}, builtin text unique, name text not null, kind text not null, severity text not null, target text not null,
    for_seconds integer not null, enabled integer not null, recovery integer not null, quiet_hours text,
    conditions text not null, created_at ${big} not null, updated_at ${big} not null)`,
  `create table alert_states (
    id ${key}, rule text not null, subject text not null, server_no integer, kind text not null, severity text not null,
    state text not null, title text not null, detail text not null, since ${big} not null, absent_since ${big},
    fired_at ${big}, resolved_at ${big}, onsets text not null, flapping integer not null default 0, told_at ${big},
    told_key text, told_channels text, recovered_on text not null default '[]', acked_by text, acked_at ${big},
    ack_note text, unique (rule, subject))`,
  `create table alert_routes (position integer primary key, content text not null)`,
  `create table alert_silences (
    id ${key}, rule text, target text not null, reason text not null, ends_at ${big} not null, created_by text not null,
    created_at ${big} not null)`,
  `create table report_schedules (
    id ${key}, name text not null unique, period text not null, hour integer not null, weekday integer not null,
    day integer not null, timezone text, target text not null, recipients text not null, channels text not null,
    enabled integer not null, last_due text not null, last_at ${big}, last_error text, created_by text not null,
    created_at ${big} not null)`,
]
