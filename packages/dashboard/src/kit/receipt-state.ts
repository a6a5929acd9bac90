/* How far a request to several servers is, without any knowledge of what was asked. */

export interface ReceiptCounts {
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly cancelled: number
  /** Neither ended nor fetched, on servers that are offline: they follow when the servers return. */
  readonly later: number
}
export type ReceiptPhase = 'asked' | 'running' | 'done' | 'rest-later' | 'partly-failed' | 'failed' | 'cancelled'

/** A receipt settles as soon as only offline servers are left. */
export const phaseOf = ({ total, done, failed, cancelled, later }: ReceiptCounts): ReceiptPhase => {
  const ended = done + failed + cancelled
  if (total === 0 || ended + later < total) return ended > 0 ? 'running' : 'asked'
  if (failed > 0) return done > 0 || later > 0 ? 'partly-failed' : 'failed'
  if (later > 0) return 'rest-later'
  return done > 0 ? 'done' : 'cancelled'
}
export const isSettled = (phase: ReceiptPhase): boolean => phase !== 'asked' && phase !== 'running'

export type Segment = 'done' | 'failed' | 'cancelled' | 'later' | 'open'
const kinds = ['done', 'failed', 'cancelled', 'later'] as const

/** One segment a server; of more than `most` servers each segment stands for several, and every kind keeps at least one. */
export const segmentsOf = (counts: ReceiptCounts, most = 60): readonly Segment[] => {
  const { total } = counts
  const open = Math.max(0, total - counts.done - counts.failed - counts.cancelled - counts.later)
  const parts: readonly (readonly [Segment, number])[] = [
    ...kinds.map(kind => [kind, counts[kind]] as const),
    ['open', open],
  ]
  if (total <= most) return parts.flatMap(([kind, count]) => Array.from({ length: count }, () => kind))
  return parts.flatMap(([kind, count]) =>
    Array.from({ length: count === 0 ? 0 : Math.max(1, Math.floor((count / total) * most)) }, () => kind),
  )
}
