import { times } from '@stockade/contract/limits.ts'
import { second } from '../../core/clock.ts'

const isoTime = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/

/** When an entry is to lift itself, in epoch milliseconds; null for never. Or why the text says no such time. */
export const endOf = (
  text: string | null | undefined,
  now: number,
): { readonly at: number | null } | { readonly error: string } => {
  if (text === null || text === undefined) return { at: null }
  const at = text.length <= 64 && isoTime.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) return { error: 'must be an ISO 8601 time with an offset or Z, such as 2026-11-20T09:30:00Z' }
  if (at <= now) return { error: 'is past' }
  if (at > now + times.whitelistMaximum * second) return { error: 'is more than ten years ahead' }
  return { at }
}
