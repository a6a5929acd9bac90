import { neverBanned, privateNetworks } from '@stockade/contract/reach.ts'
import { day } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseIp, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { overlaps, rangesOf } from './conditions.ts'
import { keyOfAddress } from './history.ts'
import { signedInFrom } from './rules.store.ts'

/** Private addresses are somebody else on each network. */
const privateRanges = rangesOf(privateNetworks)
const neverBannedRanges = rangesOf(neverBanned)
/** Addresses of users count for so long after a sign-in. */
const signInCounts = 30 * day

/** Why an entry must not be banned by a rule; null: it may. */
export type EntryRefusal = (entry: string, excluded: readonly IpRange[]) => string | null

/** A look at what is never banned, as it is now. Rules ban single addresses and /64 networks only. */
export const lookAtGuard = async (needs: {
  readonly db: Pick<Database, 'read'>
  readonly clock: Clock
  readonly mirror: Pick<Mirror, 'touches'>
  readonly registry: Pick<Registry, 'all'>
}): Promise<EntryRefusal> => {
  const own = keysOf(needs.registry.all().flatMap(({ row }) => row.ip_address ?? []))
  const people = keysOf(await signedInFrom(needs.db.read, needs.clock() - signInCounts))
  return (entry, excluded) => {
    const range = parseRange(entry)
    if (!range) return 'no address'
    if (neverBannedRanges.some(never => overlaps(never, range))) return 'loopback, link-local, multicast or reserved'
    if (privateRanges.some(wide => overlaps(wide, range))) return 'a private address'
    const listed = needs.mirror.touches(range)
    if (listed) return `whitelisted: ${listed.text}`
    const key = textOf(range)
    if (own.has(key)) return 'the address of a managed server'
    if (people.has(key)) return 'a user signed in from there'
    return excluded.some(other => overlaps(other, range)) ? 'excluded from this rule' : null
  }
}

const textOf = ({ bytes }: IpRange): string => {
  const { high, low } = keyOfAddress(bytes)
  return `${high} ${low}`
}
const keysOf = (addresses: Iterable<string>): ReadonlySet<string> => {
  const keys = new Set<string>()
  for (const address of addresses) {
    const ip = parseIp(address)
    if (ip) keys.add(textOf(ip))
  }
  return keys
}
