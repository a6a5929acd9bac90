import { familyOf, isWider, neverBanned, widest } from '@stockade/contract/reach.ts'
import type { Principal } from '../../core/actor.ts'
import { sees } from '../../core/actor.ts'
import { covers, parseIp, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { conflict, invalid } from '../../core/problem.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'

const neverBannedRanges = neverBanned.flatMap(text => parseRange(text) ?? [])
const overlap = (a: IpRange, b: IpRange): boolean => covers(a, b) || covers(b, a)

/**
 * Reads what is to be banned everywhere. The agents have the same rules and do not rely on this one.
 * @throws Problem 400 for what is too wide, 409 for what must not be banned
 */
export const createEntryGuard =
  (needs: { mirror: Pick<Mirror, 'covers' | 'touches'>; registry: Pick<Registry, 'all'> }) =>
  (actor: Principal, text: string, isForced: boolean): IpRange => {
    const range = parseRange(text)
    if (!range) throw invalid('entry', 'entry must be an IPv4 or IPv6 address or a CIDR.')
    const refuse = (what: string) => conflict(`${range.text} ${what}`)
    if (neverBannedRanges.some(never => overlap(never, range)))
      throw refuse('holds loopback, link-local, multicast or reserved addresses, which are never banned.')
    if (isWider(range, widest.banned))
      throw invalid('entry', `entry is a range wider than /${widest.banned[familyOf(range)]}; that is refused.`)
    const listed = needs.mirror.touches(range)
    if (listed) {
      const how = needs.mirror.covers(range) ? 'is covered by the whitelist entry' : 'holds the whitelist entry'
      throw refuse(`${how} ${listed.text}. Take that entry off the whitelist first.`)
    }
    const touches = (address: string | null): boolean => {
      const other = address === null ? null : parseIp(address)
      return other !== null && covers(range, other)
    }
    const server = needs.registry.all().find(({ row }) => touches(row.ip_address))
    // The name is only for a caller who sees the server.
    if (server)
      throw refuse(
        `holds the address of ${sees(actor, server.row.no) ? `the managed server ${server.row.hostname}` : 'a managed server'}, which is never banned on the fleet.`,
      )
    if (touches(actor.ip) && !isForced)
      throw refuse('holds the address that you come from. Send "force": true to ban it all the same.')
    return range
  }
