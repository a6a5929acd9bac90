import { publicShareOf } from '@stockade/contract/reach.ts'
import { networkOf, spansOfNetworks } from '@stockade/contract/spans.ts'
import type { Limits } from '../policy/format.ts'
import { percent } from '../policy/share.ts'
import type { Family } from './entry.ts'

/** How many entries of one prefix length. */
export interface Sized {
  readonly family: Family
  readonly length: number
  readonly count: number
  /** One of them, for a sentence. */
  readonly sample: () => string
}

/** What is counted of some entries beside their number. */
interface Counted {
  /** False for entries that drop nobody, so that they reach nothing. */
  readonly drops?: boolean
  /** The share of IPv4 that everything taken covers together with these, where the sum, which counts overlaps twice, is too much. */
  readonly exactIpv4?: () => number
}

/** The shares of one IPv4 address and of one IPv6 network of length 64. */
const shareOfOne = publicShareOf(spansOfNetworks(['8.8.8.8', '2600::/64'].map(networkOf)))
const shareOf = ({ family, length, count }: Sized): number =>
  family === 4 ? count * 2 ** (32 - length) * shareOfOne.ipv4 : count * 2 ** Math.max(0, 64 - length) * shareOfOne.ipv6

/**
 * Counts what the server wants this host to ban by desired state against what the host's owner allows.
 *
 * @param key of these limits in policy.json
 */
export const createBudget = (limits: Limits, key: 'fleet_bans' | 'lists') => {
  const widest = { 4: limits.widestIpv4, 6: limits.widestIpv6 }
  let entries = 0
  let shares: Readonly<Record<Family, number>> = { 4: 0, 6: 0 }
  const allows = (what: string, line: string): string =>
    `policy.json on this host allows ${what}; its owner would change "${key}.${line}"`

  const whyTooWide = (sizes: readonly Sized[]): string | null => {
    const wide = sizes.find(({ family, length }) => length < widest[family])
    if (!wide) return null
    const { family, sample } = wide
    return `${sample()} is wider than /${widest[family]}, and ${allows('no wider range', `widest_ipv${family}`)}`
  }

  return {
    /** Why these are too much beside what was taken before; null: they are taken. */
    take(sizes: readonly Sized[], { drops = true, exactIpv4 }: Counted = {}): string | null {
      const tooWide = whyTooWide(sizes)
      if (tooWide !== null) return tooWide
      const count = entries + sizes.reduce((sum, size) => sum + size.count, 0)
      if (count > limits.maxEntries)
        return `with it this host would hold ${count} entries, and ${allows(String(limits.maxEntries), 'max_entries')}`
      const sum = { ...shares }
      for (const size of drops ? sizes : []) sum[size.family] += shareOf(size)
      if (sum[4] > limits.maxShare && exactIpv4) sum[4] = exactIpv4()
      for (const family of [4, 6] as const)
        if (sum[family] > limits.maxShare)
          return `with it ${percent(sum[family])} of the public IPv${family} addresses would be banned together, and ${allows(percent(limits.maxShare), 'max_share')}`
      entries = count
      shares = sum
      return null
    },
  }
}

export const allowsNone = (key: 'fleet_bans' | 'lists'): string =>
  `policy.json on this host allows none; its owner would change "${key}"`
