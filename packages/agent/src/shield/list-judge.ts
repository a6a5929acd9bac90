import { publicShareOf } from '@stockade/contract/reach.ts'
import { SpanCollector } from '@stockade/contract/spans.ts'
import type { BlocklistLimits } from '../policy/format.ts'
import { errorText } from '../text.ts'
import { allowsNone, createBudget } from './budget.ts'
import type { Sized } from './budget.ts'
import { rangeOf } from './list-ranges.ts'
import { countOf, keyBytes } from './listed.ts'
import type { ListedSet } from './listed.ts'
import type { HeldList } from './list-store.ts'

/** Judges lists one after the other, each beside those that were taken before. */
export interface ListJudge {
  /**
   * Why this host does not take a list; null: it takes it.
   *
   * @param isHeld the host holds exactly this already: that stays while the policy cannot be read
   */
  take(list: HeldList, isHeld: boolean): string | null
}

export const createListJudge = (readLimits: () => BlocklistLimits | null): ListJudge => {
  const limits = limitsOf(readLimits)
  if (typeof limits === 'string') return { take: (_, isHeld) => (isHeld ? null : limits) }
  if (limits === null) return { take: () => allowsNone('lists') }
  const budget = createBudget(limits, 'lists')
  const takenLists: HeldList[] = []
  return {
    take(list) {
      const sizes = list.sets.map((set): Sized => ({
        family: set.family,
        length: set.length,
        count: countOf(set),
        sample: () => rangeOf(set, set.keys.subarray(0, keyBytes(set.family))),
      }))
      const reason = budget.take(sizes, {
        drops: list.mode === 'enforce',
        exactIpv4: () => ipv4ShareOf([...takenLists, list]),
      })
      if (reason === null) takenLists.push(list)
      return reason
    },
  }
}

/** The limits, or why they cannot be read. */
const limitsOf = (read: () => BlocklistLimits | null): BlocklistLimits | string | null => {
  try {
    return read()
  } catch (error) {
    return errorText(error)
  }
}

/** Of IPv4 only: the big integers of 200,000 ranges of IPv6 would fill the agent's memory, and such lists hardly overlap. */
const ipv4ShareOf = (lists: readonly HeldList[]): number => {
  const collector = new SpanCollector()
  for (const { mode, sets } of lists) if (mode === 'enforce') for (const set of sets) collect(collector, set)
  return publicShareOf(collector.spans()).ipv4
}
const collect = (collector: SpanCollector, { family, length, keys }: ListedSet): void => {
  if (family === 6) return
  for (let at = 0; at < keys.length; at += 4) collector.add({ bytes: keys.subarray(at, at + 4), prefix: length })
}
