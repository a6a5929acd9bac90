import { covers, parseRange } from '../../core/ip.ts'
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

const ranges = (...texts: string[]) => texts.flatMap(text => parseRange(text) ?? [])
/** Blocks that are not public (RFC 6890 and its like); they count for nothing. */
const reserved4 = ranges(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
)
const reserved6 = ranges('2001:db8::/32', '3fff::/20')
const [globalUnicast] = ranges('2000::/3')
const prefixOf = (range: IpRange) => range.prefix ?? range.bytes.length * 8
const addresses4 = (range: IpRange) => 2 ** (32 - prefixOf(range))
const public4 = 2 ** 32 - reserved4.reduce((sum, range) => sum + addresses4(range), 0)

/** The share of its family that one range is. */
const shareOf = (range: IpRange): number => {
  if (range.bytes.length === 4) {
    if (reserved4.some(block => covers(block, range))) return 0
    const inside = reserved4.filter(block => covers(range, block)).reduce((sum, block) => sum + addresses4(block), 0)
    return (addresses4(range) - inside) / public4
  }
  if (!globalUnicast || !covers(globalUnicast, range) || reserved6.some(block => covers(block, range))) return 0
  return 2 ** (prefixOf(globalUnicast) - prefixOf(range))
}

export interface Coverage {
  readonly ipv4: number
  readonly ipv6: number
}
/** Shares of public IPv4 and IPv6 that some ranges cover together; what lies within another one counts once. */
export const coverageOf = (list: readonly IpRange[]): Coverage => {
  const sorted = [...list].sort(
    (a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes) || prefixOf(a) - prefixOf(b),
  )
  const shares = { ipv4: 0, ipv6: 0 }
  let outer: IpRange | null = null
  for (const range of sorted) {
    // Two CIDRs are apart, or one lies within the other.
    if (outer && covers(outer, range)) continue
    outer = range
    shares[range.bytes.length === 4 ? 'ipv4' : 'ipv6'] += shareOf(range)
  }
  return shares
}

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
      { extra: { coverage: { family, percent: figure, limit_percent: percent(largestShare) } } },
    )
  if (actor.kind !== 'user' || actor.role !== 'Admin')
    throw forbidden('Only an administrator who is signed in can confirm a whitelist that covers so much.')
  requireProof(actor)
  if (confirmed !== figure)
    throw invalid('confirm_share', `confirm_share is ${confirmed}; the whitelist would cover ${figure} % of ${name}.`)
}
/** Whether one entry is so wide that it takes a fresh proof of identity. */
export const isWide = (range: IpRange): boolean =>
  range.prefix !== null && range.prefix < (range.bytes.length === 4 ? 24 : 48)
