import { isWider, publicShareOf, widest } from '@stockade/contract/reach.ts'
import { spansOfNetworks } from '@stockade/contract/spans.ts'
import type { IpRange } from '../../core/ip.ts'
import { Problem, forbidden, invalid } from '../../core/problem.ts'
import type { Principal } from '../../core/actor.ts'
import { requireProof } from '../../core/proof.ts'

/*
 * How much of the Internet a whitelist covers. A list of wide ranges disarms every host at once, so that its share of public
 * IPv4, and of global unicast IPv6, has a limit.
 */

/** The largest share, of each family, that needs no confirmation. */
const largestShare = 1 / 64

type Coverage = ReturnType<typeof publicShareOf>
/** Shares of public IPv4 and IPv6 that some ranges cover together; what lies within another one counts once. */
export const coverageOf = (list: readonly IpRange[]): Coverage => publicShareOf(spansOfNetworks(list))

/** A percentage as people type it, with one decimal, never rounded down. */
const percent = (share: number) => Math.ceil(share * 1000 - 1e-9) / 10

/**
 * Refuses a list that covers too much and more than before, 409 with the figures. An administrator who is signed in, and has
 * proved it lately, may go on with the figure typed as `confirm_share`.
 */
export const guardCoverage = (
  actor: Principal,
  before: Coverage,
  after: Coverage,
  confirmed: number | undefined,
): void => {
  const [family, share] = (['ipv4', 'ipv6'] as const)
    .filter(name => after[name] > largestShare && after[name] > before[name])
    .map(name => [name, after[name]] as const)
    .sort(([, a], [, b]) => b - a)[0] ?? [null, 0]
  if (family === null) return
  const figure = percent(share)
  const name = family === 'ipv4' ? 'public IPv4' : 'public IPv6'
  if (confirmed === undefined)
    throw new Problem(
      409,
      'Conflict',
      `The whitelist would cover ${figure} % of ${name}; without confirmation it may cover ${percent(largestShare)} %. Addresses that it covers are never banned, on any server. An administrator who means it sends confirm_share: ${figure}.`,
      {
        reason: 'share-confirmation-required',
        extra: { coverage: { family, percent: figure, limit_percent: percent(largestShare) } },
      },
    )
  if (actor.kind !== 'user' || actor.role !== 'Admin')
    throw forbidden('Only an administrator who is signed in can confirm a whitelist that covers so much.')
  requireProof(actor)
  if (confirmed !== figure)
    throw invalid('confirm_share', `confirm_share is ${confirmed}; the whitelist would cover ${figure} % of ${name}.`)
}
/** Whether one entry is so wide that it takes a fresh proof of identity. */
export const isWide = (range: IpRange): boolean => isWider(range, widest.unproved)
