import { isWider, neverBanned, translatedNetworks, widest } from '@stockade/contract/reach.ts'
import { networkOf, spansOfNetworks, touches } from '@stockade/contract/spans.ts'
import { isCidr, isOwnGround, overlaps } from '../ip.ts'

/** Bans by command on one host. With 100,000 of them the agent ran out of its heap of 64 MB. */
const maxBans = 50_000

/** @throws Error with a sentence, if the host holds as many bans as it may */
export const refuseMore = (held: number): void => {
  if (held >= maxBans)
    throw new Error(
      `this host holds ${held} bans by command, which is the most: a blocklist holds more, with less memory`,
    )
}

const reserved = spansOfNetworks(neverBanned.map(networkOf))
const translated = spansOfNetworks(translatedNetworks.map(networkOf))

/** Why neither a ban nor an entry of a list may be this, however narrow; null if it may. */
const whyNotGround = (entry: string): string | null => {
  if (isOwnGround(entry)) return `${entry} is loopback or link-local`
  const network = networkOf(entry)
  if (touches(reserved, network)) return `${entry} holds multicast or reserved addresses`
  return isCidr(entry) && touches(translated, network)
    ? `${entry} stands for a range of IPv4 addresses: ban the range itself`
    : null
}

/** Why an entry is banned by nobody, whatever the order says; null if it may be. The server has the same rules, and the agent does not rely on it. */
export const whyNotBan = (entry: string): string | null =>
  whyNotGround(entry) ??
  (isWider(networkOf(entry), widest.banned)
    ? `the range ${entry} is too wide: /${widest.banned[entry.includes(':') ? 6 : 4]} at most`
    : null)

/** Why the shield does not take a ban; null if it does. `force` accepts only what hurts nobody but the person who orders it. */
export const whyNotShield = (entry: string, loginSources: readonly string[], isForced: boolean): string | null => {
  const reason = whyNotBan(entry)
  if (reason !== null) return reason
  const source = loginSources.find(address => overlaps(entry, address))
  if (source !== undefined && !isForced)
    return `somebody is logged in on this host from ${source}; "force" bans it all the same`
  return null
}

/** A wider range stays only after a request to the server has proved that the host can still reach it. */
export const needsTrial = (entry: string): boolean => isWider(networkOf(entry), widest.unproved)
