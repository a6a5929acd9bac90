import type { Places } from './places.ts'
import type { Seen } from './seen.ts'

/** A reported ban that has not ended. */
export interface ActiveBan {
  readonly jail: string
  readonly ip: string
  readonly time: number
  readonly bantime: number
  /** How often it was reported before: a ban returns when its jail is disabled and enabled again. */
  readonly round: number
}

/** The bans that the agent remembers. */
export interface RememberedBans {
  readonly seen: Seen
  readonly active: Places<ActiveBan>
  readonly paused: Places<ActiveBan>
}
