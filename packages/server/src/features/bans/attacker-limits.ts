import { hour } from '../../core/clock.ts'

/* Apart from the store: the thread that holds the columns loads this and nothing of the storage. */

/** Hours that an attacker is shown with, and matching bans whose log lines tell the reason. */
export const shownHours = 24
export const mostReasons = 20

/** Which of the shown hours a ban belongs to, oldest first; -1 where it is older. A host's clock may be a little ahead. */
export const hourIndex = (at: number, now: number): number =>
  Math.max(-1, shownHours - 1 - Math.max(0, Math.floor((now - at) / hour)))
