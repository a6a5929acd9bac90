import { recordOf } from '@stockade/contract/untrusted.ts'
import { parsed } from '../lib/stored.ts'

/* Which of a browser's tabs leads: a lease that all of them see. As a pure function of what is kept and of the time. */

export interface Lease {
  /** The tab that leads. */
  readonly tab: string
  /** When it said so last, in milliseconds. */
  readonly at: number
}
/** A tab that has not renewed it for so long is gone, or asleep; in milliseconds. */
const leaseLasts = 4000
export const renewEvery = 1000

/** What another tab, or another version of this page, has kept. */
export const readLease = (kept: string | null): Lease | null => {
  const { tab, at } = recordOf(parsed(kept ?? 'null'))
  return typeof tab === 'string' && typeof at === 'number' ? { tab, at } : null
}

/** What a tab does about it. The clock may have been set back: a lease of the future is worth nothing either. */
export const turnOf = (
  lease: Lease | null,
  tab: string,
  now: number,
  visible: boolean,
): 'renew' | 'claim' | 'follow' => {
  if (lease?.tab === tab) return 'renew'
  const isHeld = lease !== null && now - lease.at < leaseLasts && lease.at - now < leaseLasts
  // A hidden tab needs no news; it would only pass the lease to other hidden tabs.
  return isHeld || !visible ? 'follow' : 'claim'
}
