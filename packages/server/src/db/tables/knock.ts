import type { Generated } from 'kysely'
import type { JsonText } from '../../core/json-text.ts'

export interface KnockSequencesTable {
  id: Generated<number>
  name: string
  /** Lower case, unique among those that are not deleted. */
  name_key: string
  protected_port: number
  /** JSON array, a secret; empty once deleted. */
  knock_ports: JsonText<readonly number[]>
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
