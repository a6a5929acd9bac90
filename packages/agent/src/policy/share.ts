import { publicShareOf } from '@stockade/contract/reach.ts'
import { networkOf, spansOfNetworks } from '@stockade/contract/spans.ts'
import type { Network } from '@stockade/contract/spans.ts'

/** One after the other: the objects of a long list would fill the agent's memory. */
const networksOf = (entries: Iterable<string>): Iterable<Network> => ({
  *[Symbol.iterator]() {
    for (const entry of entries) yield networkOf(entry)
  },
})

/** The share of the public addresses, of IPv4 or of IPv6, that canonical entries cover together; the larger of both. */
export const publicShare = (entries: Iterable<string>): number => {
  const { ipv4, ipv6 } = publicShareOf(spansOfNetworks(networksOf(entries)))
  return Math.max(ipv4, ipv6)
}

export const percent = (share: number): string => `${(share * 100).toPrecision(3)} %`
