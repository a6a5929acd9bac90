import { laterEnd } from './fleet-store.ts'
import type { ShieldBan } from './store.ts'
import type { Wanted } from './table.ts'
import { trialTime } from './trial.ts'

/** The kernel refuses times of some thousand years. */
export const maxTimeout = 3650 * 86_400_000

/** What the kernel should hold: the shield's own bans, and those of the other origin. */
export interface WantedBans {
  isOver(ban: ShieldBan): boolean
  /** What the kernel should hold of an entry; empty: nothing. */
  now(entry: string): Wanted[]
  all(): Wanted[]
}

export const createWanted = (needs: {
  bans: ReadonlyMap<string, ShieldBan>
  beside: () => ReadonlyMap<string, number | null>
  serverNow: () => number
}): WantedBans => {
  const { bans, beside, serverNow } = needs
  const timeLeft = ({ until, isOnTrial }: Pick<ShieldBan, 'until' | 'isOnTrial'>): number | null => {
    if (isOnTrial) return trialTime
    return until === null ? null : Math.min(maxTimeout, Math.max(1, Math.round(until - serverNow())))
  }
  /** Of two origins that ban an entry the later end counts. */
  const wantedOf = (ban: ShieldBan): Wanted => {
    const other = ban.isOnTrial ? undefined : beside().get(ban.entry)
    return {
      entry: ban.entry,
      timeout: timeLeft(other === undefined ? ban : { ...ban, until: laterEnd(ban.until, other) }),
      isCut: ban.isCut,
    }
  }
  const wantedBeside = (entry: string): Wanted[] => {
    const until = beside().get(entry)
    return until === undefined || (until !== null && until <= serverNow())
      ? []
      : [{ entry, timeout: timeLeft({ until, isOnTrial: false }) }]
  }
  /** What the kernel should hold of an entry; empty: nothing. */
  const wantedNow = (entry: string): Wanted[] => {
    const ban = bans.get(entry)
    return ban === undefined || isOver(ban) ? wantedBeside(entry) : [wantedOf(ban)]
  }
  const isOver = ({ until }: ShieldBan): boolean => until !== null && until <= serverNow()

  return { isOver, now: wantedNow, all: () => [...new Set([...bans.keys(), ...beside().keys()])].flatMap(wantedNow) }
}
