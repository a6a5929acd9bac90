import type { Generated } from 'kysely'
import type { SiemType } from '@stockade/contract'
import type { JsonText } from '../../core/json-text.ts'
import type { ReplayMark } from './stored.ts'

/** What waits to be forwarded, in the order of the stream; what an event says is read when it is sent. */
export interface SiemQueueTable {
  id: Generated<number>
  event_id: number
  type: SiemType
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
  type: SiemType | 'test'
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
  types: JsonText<readonly SiemType[]>
  /** Events after this id are still to be sent, up to `last_id`. */
  next_id: number
  last_id: number
  status: 'running' | 'completed' | 'failed'
  total: number
  sent: Generated<number>
  failed: Generated<number>
  /** JSON: where it was in the last minute, to go back to when a stream breaks. */
  marks: Generated<JsonText<readonly ReplayMark[]>>
  started_at: number
  ended_at: number | null
}
