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

/** Servers that an address is banned on until the same minute. */
export interface BanEnd {
  readonly servers: readonly string[]
  /** Epoch milliseconds; Infinity for a ban without an end. */
  readonly end: number
}
const minute = 60_000
/** When each server lets an address in again: after the last of its bans there. Ends of the same minute are one, the earliest stands first. */
export const banEnds = (active: readonly Pick<Line, 'server_id' | 'server' | 'expires_at'>[]): readonly BanEnd[] => {
  const lastEnds = new Map<string, { readonly server: string; readonly end: number }>()
  for (const { server_id: id, server, expires_at: at } of active) {
    const end = Math.max(lastEnds.get(id)?.end ?? 0, at === null ? Infinity : Date.parse(at))
    lastEnds.set(id, { server, end })
  }
  const groups = new Map<number, { servers: string[]; end: number }>()
  for (const { server, end } of lastEnds.values()) {
    const key = Math.floor(end / minute)
    const group = groups.get(key)
    groups.set(key, { servers: [...(group?.servers ?? []), server], end: Math.max(group?.end ?? 0, end) })
  }
  return [...groups.values()].sort((a, b) => a.end - b.end)
}
