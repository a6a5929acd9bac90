import { day } from '../../../core/clock.ts'
import { inSlices } from '../../../core/slices.ts'
import { lease, leaseRenewedBefore, leaseSlice, sliceOf } from './decisions.ts'

/** What a bouncer is told. */
export interface Told {
  /** Everything that the feed holds; null where `added` is all that is new. */
  readonly isFull: boolean
  readonly added: readonly string[]
  readonly removed: readonly string[]
}
interface Change {
  readonly seq: number
  readonly entry: string
  readonly at: number
}
/** Additions that are kept; a bouncer that stands before them gets everything. */
const mostAdded = 50_000
/** Removals that are kept, for a day at most: so long, and not longer, a bouncer that was not told holds an entry. */
const mostRemoved = 200_000
/** The first slice after the end of a lease in which no bouncer holds it any more. */
const after = 1

/**
 * The changes of one feed, in order, once for all bouncers: each of them is a number, where it stands. A stock of lines, not of copies: 500 bouncers cost
 * 500 numbers.
 */
export const createChanges = () => {
  let seq = 0
  const heldEntries = new Set<string>()
  const added: Change[] = []
  let removed: Change[] = []
  let forgotten = 0
  let toldUntil: number | null = null

  const remove = (entry: string, at: number) => {
    heldEntries.delete(entry)
    removed.push({ seq: ++seq, entry, at })
  }
  /** Tells again what is due by the clock: shortly before a lease ends, and after its end, for bouncers that do not extend one. */
  const renew = async (now: number) => {
    const from = toldUntil === null || toldUntil > now ? now : Math.max(toldUntil, now - lease)
    toldUntil = now
    const perDay = lease / leaseSlice
    const due = new Set<number>()
    for (const shift of [leaseRenewedBefore, -after * leaseSlice]) {
      const last = Math.floor((now + shift) / leaseSlice)
      for (let slice = Math.floor((from + shift) / leaseSlice) + 1; slice <= last; slice++) due.add(slice % perDay)
    }
    // Each reading looks at all entries: that costs less than to keep them by slice.
    if (due.size > 0)
      await inSlices(heldEntries, entry => {
        if (due.has(sliceOf(entry))) added.push({ seq: ++seq, entry, at: now })
      })
  }
  const forget = (now: number) => {
    if (added.length > mostAdded) {
      const dropped = added.splice(0, added.length - mostAdded)
      forgotten = Math.max(forgotten, dropped.at(-1)?.seq ?? 0)
    }
    const firstKept = removed.findIndex(({ at }) => now - at < day)
    removed = firstKept < 0 ? [] : removed.slice(Math.max(firstKept, removed.length - mostRemoved))
  }
  const since = (changes: readonly Change[], cursor: number): string[] => {
    let [low, high] = [0, changes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((changes[middle]?.seq ?? 0) <= cursor) low = middle + 1
      else high = middle
    }
    return [...new Set(changes.slice(low).map(({ entry }) => entry))]
  }
  return {
    held: heldEntries as ReadonlySet<string>,
    get seq() {
      return seq
    },
    /** Takes over what the feed holds now; one call at a time. */
    async take(next: ReadonlySet<string>, now: number): Promise<void> {
      const isFirst = seq === 0
      await inSlices(heldEntries, entry => {
        if (!next.has(entry)) remove(entry, now)
      })
      await inSlices(next, entry => {
        if (heldEntries.has(entry)) return
        heldEntries.add(entry)
        // Whoever stands before the first reading gets everything.
        if (isFirst) seq = forgotten = 1
        else added.push({ seq: ++seq, entry, at: now })
      })
    },
    /** Notes that something was removed before this process began. */
    recall(entries: Iterable<string>, at: number): void {
      for (const entry of entries) if (!heldEntries.has(entry)) removed.push({ seq: ++seq, entry, at })
    },
    /** Renews leases and forgets what is old. */
    async advance(now: number): Promise<void> {
      await renew(now)
      forget(now)
    },
    removals: (): readonly { readonly entry: string; readonly at: number }[] =>
      removed.filter(({ entry }) => !heldEntries.has(entry)),
    /** Whether a bouncer that stands at `cursor` is told everything. */
    isBehind: (cursor: number | null): boolean => cursor === null || cursor < forgotten,
    /** What a bouncer that stands at `cursor` is told; null: a bouncer that nobody knows. */
    since(cursor: number | null): Told {
      const isFull = this.isBehind(cursor)
      const from = cursor ?? 0
      return {
        isFull,
        added: isFull ? [] : since(added, from).filter(entry => heldEntries.has(entry)),
        removed: since(removed, isFull ? 0 : from).filter(entry => !heldEntries.has(entry)),
      }
    },
  }
}
export type Changes = ReturnType<typeof createChanges>
