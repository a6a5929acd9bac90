import { bounds } from '@stockade/contract/limits.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import { parseRange, widestListed } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { tame } from '../../core/text.ts'
import type { Entry } from './whitelist.model.ts'
import type { EntryRow } from './whitelist.store.ts'

export const wordOf = (range: IpRange) => (range.prefix === null ? 'address' : 'range')

export interface NewEntry {
  readonly ip: string
  readonly description: string
  readonly expires_at: number | null
  readonly range: IpRange
}

export const viewOf = (row: EntryRow): Entry => ({
  id: row.id,
  ip: row.ip,
  description: row.description,
  created_by: row.created_by,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  expires_at: isoOrNull(row.expires_at),
})
/** Why a text can't be an entry, or what it is. */
export const rangeOf = (text: string): { range: IpRange } | { error: string } => {
  const range = text.length <= 64 ? parseRange(text) : null
  if (!range) return { error: 'must be an IPv4 or IPv6 address or a CIDR (no port, no zone, no leading zeros)' }
  const widest = widestListed(range)
  if (range.prefix !== null && range.prefix < widest)
    return { error: `is a range wider than /${widest}; that is refused` }
  return { range }
}
export const describeBound = bounds.description
export const worded = (text: string) => tame(text, describeBound * 4)
