import type { Generated } from 'kysely'
import type { AlertKind, PresetId } from '@stockade/contract'
import type { JsonText } from '../../core/json-text.ts'
import type { Bytes } from './column.ts'
import type { Category, Message, RecentlyTold } from './message.ts'
import type { BanConditions, QuietHours, StoredRoute } from './stored.ts'

export interface ReportSchedulesTable {
  id: Generated<number>
  /** 1: the daily summary of chat and e-mail, whose hour and channels are in their settings. */
  builtin: Generated<number>
  name: string
  period: 'day' | 'week' | 'month'
  hour: number
  weekday: number
  day: number
  /** Null: that of the settings. */
  timezone: string | null
  target: string
  /** JSON: e-mail addresses. */
  recipients: JsonText<readonly string[]>
  /** JSON: ids of channels. */
  channels: JsonText<readonly string[]>
  enabled: number
  /** The date at which the last report was due that needs no queueing any more. */
  last_due: string
  last_at: number | null
  last_error: string | null
  created_by: string
  created_at: number
}
/** Of the chat or the e-mail of the settings, or of another channel by its number. */
type QueueName = 'chat' | 'email' | `channel:${number}`
/** What waits to be told; `content` is a message as JSON. */
export interface NotificationsTable {
  id: Generated<number>
  channel: QueueName
  category: Category
  content: JsonText<Message>
  /** JSON array: the ones that have not got it yet; null for all that are configured. */
  recipients: JsonText<readonly string[]> | null
  due_at: number
  created_at: number
}
/** Number of messages beyond the limit. */
export interface NotificationOverflowTable {
  channel: string
  category: Category
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
  recent: Generated<JsonText<Readonly<Partial<Record<Category, RecentlyTold>>>>>
  /** What happened before this is not told: the channel was off. */
  since: Generated<number>
}
/** A channel of alerts. `fields` is JSON of plain values by field, `secrets` a sealed JSON of the others. */
export interface ChannelsTable {
  id: Generated<number>
  name: string
  /** Lower case, unique. */
  name_key: string
  preset: PresetId
  enabled: number
  fields: JsonText<Readonly<Record<string, string>>>
  secrets: string
  created_at: number
  updated_at: number
}
/** The last attempts to deliver to a channel. */
export interface ChannelDeliveriesTable {
  id: Generated<number>
  /** Name of its queue. */
  channel: QueueName
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
  kind: AlertKind
  severity: 'info' | 'warning' | 'critical'
  target: string
  for_seconds: number
  enabled: number
  recovery: number
  /** JSON of the quiet hours; null for none. */
  quiet_hours: JsonText<QuietHours> | null
  /** JSON of what it compares. */
  conditions: JsonText<BanConditions & { readonly after_id?: number }>
  created_at: number
  updated_at: number
}
/** One condition of one rule, from its first sign until a week after its end. */
export interface AlertStatesTable {
  id: Generated<number>
  rule: string
  subject: string
  server_no: number | null
  kind: AlertKind
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
  onsets: JsonText<readonly number[]>
  flapping: Generated<number>
  told_at: number | null
  /** Identifies the message about it, also for services that join an alert and its end. */
  told_key: string | null
  /** JSON list of channels that it was told on. */
  told_channels: JsonText<readonly string[]> | null
  /** JSON list of channels on which its end was told. */
  recovered_on: Generated<JsonText<readonly string[]>>
  acked_by: string | null
  acked_at: number | null
  ack_note: string | null
}
/** JSON of one route; `position` is its place. */
export interface AlertRoutesTable {
  position: number
  content: JsonText<StoredRoute>
}
export interface AlertSilencesTable {
  id: Generated<number>
  rule: string | null
  target: string
  reason: string
  ends_at: number
  created_by: string
  /** Who counts as its maker, see `core/leaving.ts`; null: nobody. */
  creator: string | null
  created_at: number
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
