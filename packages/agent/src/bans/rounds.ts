import type { ActiveBan } from './remembered-bans.ts'
import type { Seen } from './seen.ts'
import type { BanKey } from './table.ts'

type Occurrence = Pick<ActiveBan, 'jail' | 'ip' | 'time' | 'round'>

/**
 * fail2ban counts in seconds: a ban that returns within its first second has the time of the one that ended, and would get its event id.
 * So each return of a ban has another round. The rounds that ended are remembered with the bans that were reported.
 */
export interface Rounds {
  /** The ban is over before its time, so that it can return with the same one. */
  ended(ban: Occurrence): void
  /** The first round that has not ended. */
  next(ban: Omit<Occurrence, 'round'>): number
}

export const createRounds = (seen: Seen): Rounds => ({
  ended: ban => seen.add(keyOf(ban)),
  next({ jail, ip, time }) {
    let round = 0
    while (seen.has(keyOf({ jail, ip, time, round }))) round += 1
    return round
  },
})

/** No jail has a name with a line break. */
const keyOf = (ban: Occurrence): BanKey => [`${ban.jail}\nended`, ban.ip, stampOf(ban)]

/** Distinguishes the event ids of a returned ban from its first ones, and is the same after a crash. */
export const stampOf = (ban: Pick<Occurrence, 'time' | 'round'>): number =>
  ban.round === 0 ? ban.time : ban.time + ban.round / 1000
