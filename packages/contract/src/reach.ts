import { networkOf, spansOfNetworks, subtract, touches } from './spans.ts'
import type { Network, Spans } from './spans.ts'

/*
 * How much of the Internet a set of addresses reaches, and what no set may reach. Everything that blocks addresses asks here: lists, feeds, fleet bans,
 * sharing rules, reported bans and the agent. Plain values, so that the agent's bundle can use them too.
 */

type Lengths = Readonly<Record<4 | 6, number>>

/** The shortest prefixes that a network may have, by what it is for. */
export const widest = {
  /** A ban that a host reports: a wider one is refused. */
  reported: { 4: 8, 6: 16 },
  /** A reported ban that counts elsewhere, in feeds, rules and reputation reports: a wider one is kept and marked. */
  counted: { 4: 24, 6: 48 },
  /** A ban by command, a fleet ban, and an entry of a feed: no engine bans more at once, so a wider one is a slip of the finger. */
  banned: { 4: 16, 6: 32 },
  /** What lasts without a further proof: a wider ban needs one by the person, and a trial on the host. */
  unproved: { 4: 24, 6: 48 },
  /** An entry of a blocklist, where its settings allow wider ones than those of a ban. */
  listed: { 4: 8, 6: 19 },
} as const satisfies Readonly<Record<string, Lengths>>

export const familyOf = ({ bytes }: Pick<Network, 'bytes'>): 4 | 6 => (bytes.length === 4 ? 4 : 6)
/** Whether a network is wider than what is allowed. */
export const isWider = (network: Network, than: Lengths): boolean =>
  network.prefix !== null && network.prefix < than[familyOf(network)]

/** Loopback, unspecified, link-local, multicast and reserved addresses: nobody bans these. */
export const neverBanned = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/3',
  '::/127',
  'fe80::/10',
  'ff00::/8',
] as const
/** Unspecified, loopback and multicast addresses: no engine bans these, so a host that reports one is mistaken, or not honest. */
const neverReported = ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/4', '::/127', 'ff00::/8'] as const
/** Somebody else on each network, so that they are never shared. */
export const privateNetworks = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'] as const
/**
 * IPv6 that stands for IPv4: compatible addresses (RFC 4291), IPv4-translated (RFC 7915), and the prefixes of NAT64 (RFC 6052 and RFC 8215). Behind
 * a translator, a network of these can be all of IPv4, whatever its prefix length. IPv4-mapped addresses are left out, because the parsers convert them to
 * IPv4.
 */
export const translatedNetworks = ['::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'] as const
/** Other addresses that are not public: protocol assignments, documentation, benchmarks. */
const otherSpecial = ['192.0.0.0/24', '192.0.2.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'] as const
const documentation6 = ['2001:db8::/32', '3fff::/20'] as const

const spansOfTexts = (texts: readonly string[]): Spans => spansOfNetworks(texts.map(networkOf))
const unreported = spansOfTexts(neverReported)
/** Why a ban that a host reports is refused; null where it is kept. Wide ones that are kept count nowhere else (`widest.counted`). */
export const whyNotReported = (network: Network): string | null => {
  if (isWider(network, widest.reported))
    return `is a range wider than /${widest.reported[familyOf(network)]}, which no server bans`
  return touches(unreported, network)
    ? 'holds loopback, multicast or unspecified addresses, which no server bans'
    : null
}
/** Somebody else's in each network, nobody's, or IPv6 that leads to an IPv4 address which is not the one that is written (6to4, Teredo). */
const unlisted = spansOfTexts([
  ...neverBanned,
  ...privateNetworks,
  ...translatedNetworks,
  '192.0.0.0/24',
  '2002::/16',
  '2001::/32',
  // All that is not given out to the Internet: everything outside of 2000::/3.
  '::/3',
  '4000::/2',
  '8000::/1',
])
/**
 * Why a DNS name must not whitelist this address; null where it may. Documentation addresses pass: nobody has one, so that it lets nobody in.
 */
export const whyNotListedByName = (network: Network): string | null => {
  if (network.prefix !== null) return 'is a range'
  return touches(unlisted, network) ? 'is no public address' : null
}
const notPublic = spansOfTexts([
  ...[...neverBanned, ...privateNetworks, ...otherSpecial].filter(text => !text.includes(':')),
  ...documentation6,
  // All that is not given out to the Internet: everything outside of 2000::/3.
  '::/3',
  '4000::/2',
  '8000::/1',
])

/** What a set of addresses covers. */
export interface Reach {
  /** IPv4 addresses. */
  readonly ipv4: number
  /** Networks of IPv6 of length 64, of which an eyeball has one or more. A part of one counts as one. */
  readonly ipv6: number
  /** Prefix length of the widest network that is wholly in the set; null for a family of which it holds nothing. */
  readonly widest: { readonly ipv4: number | null; readonly ipv6: number | null }
}

export const reachOf = ({ v4, v6 }: Spans): Reach => {
  let ipv4 = 0
  let widest4: number | null = null
  for (let place = 0; place < v4.length; place += 2) {
    const [first, last] = [v4[place] ?? 0, v4[place + 1] ?? 0]
    ipv4 += last - first + 1
    widest4 = Math.min(widest4 ?? 32, 32 - widestWithin(BigInt(first), BigInt(last)))
  }
  let ipv6 = 0n
  let widest6: number | null = null
  for (const [first, last] of v6) {
    ipv6 += (last >> 64n) - (first >> 64n) + 1n
    widest6 = Math.min(widest6 ?? 128, 128 - widestWithin(first, last))
  }
  return { ipv4, ipv6: Number(ipv6), widest: { ipv4: widest4, ipv6: widest6 } }
}
/** The exponent of the largest aligned block between two addresses. */
const widestWithin = (first: bigint, last: bigint): number => {
  const fits = (exponent: bigint): boolean => {
    const size = 1n << exponent
    return ((first + size - 1n) / size) * size + size - 1n <= last
  }
  let exponent = BigInt((last - first + 1n).toString(2).length - 1)
  while (exponent > 0n && !fits(exponent)) exponent--
  return Number(exponent)
}

const everything = spansOfTexts(['0.0.0.0/0', '::/0'])
const publicReach = reachOf(subtract(everything, notPublic).spans)
type ByFamily = Pick<Reach, 'ipv4' | 'ipv6'>
/** Converts numbers of public addresses to shares of all public addresses of their family, 0 to 1. */
export const publicSharesOf = ({ ipv4, ipv6 }: ByFamily): ByFamily => ({
  ipv4: ipv4 / publicReach.ipv4,
  ipv6: ipv6 / publicReach.ipv6,
})
/** The shares, 0 to 1, of the public addresses of both families that a set covers. */
export const publicShareOf = (spans: Spans): ByFamily => publicSharesOf(reachOf(subtract(spans, notPublic).spans))

/** Growth up to this size is ignored: a /20 of IPv4, and a /48 of IPv6. */
const fewAddresses: ByFamily = { ipv4: 4096, ipv6: 65_536 }
/** The shares, 0 to 1, of what a set covers now that it did not cover before. */
export const growthOf = (before: Spans, now: Spans): ByFamily => {
  const all = reachOf(now)
  const added = reachOf(subtract(now, before).spans)
  const share = (family: keyof ByFamily) => (added[family] <= fewAddresses[family] ? 0 : added[family] / all[family])
  return { ipv4: share('ipv4'), ipv6: share('ipv6') }
}
