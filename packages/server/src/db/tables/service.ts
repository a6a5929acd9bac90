import type { Generated } from 'kysely'
import type { EventName } from '@stockade/contract'
import type { JsonText } from '../../core/json-text.ts'

export interface MetaTable {
  key: string
  value: string
}
export interface SettingsTable {
  key: string
  value: string
  updated_at: number
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
/** Everything that happened, in one stream; no secondary indexes, and a ban is referred to, not copied. */
export interface EventsTable {
  id: Generated<number>
  at: number
  name: EventName
  actor: string | null
  actor_user_id: number | null
  actor_ip: string | null
  server_no: number | null
  ban_id: number | null
  data: JsonText<Readonly<Record<string, unknown>>> | null
}
/** The events that the audit log shows; append-only, like the events. */
export interface AuditTable {
  event_id: number
  at: number
  name: EventName
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
