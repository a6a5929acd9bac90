import { attackOf } from '../../kit/charts/lane-scale.ts'
import type { LookUp } from '../fleet/queries.ts'

export type Line = LookUp['ban_history'][number]

export interface Attack {
  /** Its bans, the first one first. */
  readonly bans: readonly Line[]
  readonly from: number
  readonly to: number
  /** Servers beside the one of the first ban. */
  readonly furtherServers: number
  /** Attempts in the log lines of its further bans. */
  readonly furtherAttempts: number
  /** Bans before it. */
  readonly before: number
}

/** The latest attack of an address, of its bans, newest first. Null where it has none. */
export const latestAttack = (history: readonly Line[], total: number): Attack | null => {
  const span = attackOf(history.map(({ banned_at }) => Date.parse(banned_at)))
  if (!span) return null
  const bans = history.filter(({ banned_at }) => Date.parse(banned_at) >= span.from).toReversed()
  const [first, ...further] = bans
  const servers = new Set(further.map(({ server_id }) => server_id))
  servers.delete(first?.server_id ?? '')
  return {
    bans,
    ...span,
    furtherServers: servers.size,
    furtherAttempts: further.reduce((sum, { reason }) => sum + (reason?.attempts ?? 0), 0),
    before: Math.max(0, total - bans.length),
  }
}

export interface Until {
  /** Servers that it is banned on now. */
  readonly servers: number
  /** The latest end; Infinity for one without end, null where an end is not known. */
  readonly end: number | null
}
export const bannedUntil = (active: readonly Pick<Line, 'server_id' | 'expires_at'>[], permanent: boolean): Until => ({
  servers: new Set(active.map(({ server_id }) => server_id)).size,
  end: active.some(({ expires_at }) => expires_at === null)
    ? permanent
      ? Infinity
      : null
    : Math.max(...active.map(({ expires_at }) => Date.parse(expires_at ?? ''))),
})
