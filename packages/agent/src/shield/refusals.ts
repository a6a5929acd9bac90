import { isCidr, isOwnGround, overlaps } from '../ip.ts'

/** Prefix lengths: the widest range that a command may ban. */
const widest = { 4: 16, 6: 32 }
/** A wider range stays only after a request to the server has proved that the host can still reach it. */
const widestWithoutTrial = { 4: 24, 6: 48 }

/** Bans by command on one host. With 100,000 of them the agent ran out of its heap of 64 MB. */
const maxBans = 50_000

/** @throws Error with a sentence, if the host holds as many bans as it may */
export const refuseMore = (held: number): void => {
  if (held >= maxBans)
    throw new Error(
      `this host holds ${held} bans by command, which is the most: a blocklist holds more, with less memory`,
    )
}

const neverBanned = ['224.0.0.0/3', 'ff00::/8']

const lengthOf = (entry: string): number => (isCidr(entry) ? Number(entry.slice(entry.indexOf('/') + 1)) : 128)
const familyOf = (entry: string): 4 | 6 => (entry.includes(':') ? 6 : 4)

/**
 * Why the shield does not take a ban; null if it does. The server has the same rules, and the agent does not rely on it.
 * `force` accepts only what hurts nobody but the person who orders it.
 */
export const whyNotShield = (entry: string, loginSources: readonly string[], isForced: boolean): string | null => {
  if (isOwnGround(entry)) return `${entry} is loopback or link-local`
  if (neverBanned.some(range => overlaps(range, entry))) return `${entry} holds multicast or reserved addresses`
  const least = widest[familyOf(entry)]
  if (isCidr(entry) && lengthOf(entry) < least) return `the range ${entry} is too wide: /${least} at most`
  const source = loginSources.find(address => overlaps(entry, address))
  if (source !== undefined && !isForced)
    return `somebody is logged in on this host from ${source}; "force" bans it all the same`
  return null
}

export const needsTrial = (entry: string): boolean =>
  isCidr(entry) && lengthOf(entry) < widestWithoutTrial[familyOf(entry)]
