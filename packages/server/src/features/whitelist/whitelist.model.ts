import type { QueryOf, ReplyOf, whitelist as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import type { Rendered } from './mirror.ts'

export type Entry = ReplyOf<typeof contract.getWhitelistEntry>
type Format = 'plain' | 'json' | 'csv'
type Export = Extract<ReplyOf<typeof contract.exportWhitelist>, object>
/** An order to lift whatever an address is banned by, in every jail of a server. */
export interface Lift {
  readonly serverNo: number
  readonly ip: string
}

export interface WhitelistService {
  list(actor: Principal, query: QueryOf<typeof contract.listWhitelist>): Promise<ReplyOf<typeof contract.listWhitelist>>
  read(id: number): Promise<Entry>
  /** @throws Problem 400 when it is too wide or its end is no future time, 409 when it is there already. */
  add(
    actor: Principal,
    input: { ip: string; description?: string; expires_at?: string | null; confirm_share?: number },
  ): Promise<ReplyOf<typeof contract.addToWhitelist>>
  /** @throws Problem 400 that names the index of the first bad entry; then nothing is added. */
  addMany(
    actor: Principal,
    entries: readonly { ip: string; description?: string; expires_at?: string | null }[],
    confirmShare?: number,
  ): Promise<ReplyOf<typeof contract.addManyToWhitelist>>
  /** `expires_at` null: for ever. */
  change(
    actor: Principal,
    id: number,
    input: { description?: string; expires_at?: string | null },
  ): Promise<ReplyOf<typeof contract.describeWhitelistEntry>>
  /** Returns what it was. */
  remove(actor: Principal, id: number): Promise<string>
  /** Those that are gone already are passed over; returns how many there were. */
  removeMany(actor: Principal, ids: readonly number[]): Promise<number>
  check(ip: string): Promise<ReplyOf<typeof contract.checkWhitelist>>
  import(
    actor: Principal,
    input: { format?: Format; content: string; description_prefix?: string; confirm_share?: number },
  ): Promise<ReplyOf<typeof contract.importWhitelist>>
  exportText(format: 'plain' | 'csv'): Promise<string>
  exportJson(): Promise<Export>
  render(): Promise<Rendered>
  /** Takes the entries away whose time is over. */
  expire(): Promise<void>
}
