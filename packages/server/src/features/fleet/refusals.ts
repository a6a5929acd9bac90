import { familyOf, isWider, widest } from '@stockade/contract/reach.ts'
import type { Principal } from '../../core/actor.ts'
import { sees } from '../../core/actor.ts'
import { covers, parseIp, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { conflict, forceRequired, invalid } from '../../core/problem.ts'
import type { Protection } from '../reach/protected.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'

/**
 * Reads what is to be banned everywhere. The agents have the same rules and do not rely on this one.
 * @throws Problem 400 for what is too wide, 409 for what must not be banned
 */
export const createEntryGuard =
  (needs: {
    mirror: Pick<Mirror, 'covers' | 'touches'>
    registry: Pick<Registry, 'all'>
    protection: Pick<Protection, 'now'>
  }) =>
  async (actor: Principal, text: string, isForced: boolean): Promise<IpRange> => {
    const range = parseRange(text)
    if (!range) throw invalid('entry', 'entry must be an IPv4 or IPv6 address or a CIDR.')
    const refuse = (what: string) => conflict(`${range.text} ${what}`)
    const refuseUnforced = (what: string) => forceRequired('entry', `${range.text} ${what}`)
    const { hits } = await needs.protection.now()
    if (hits(range, 'unbannable'))
      throw refuse(
        'holds loopback, link-local, multicast or reserved addresses, or a network that stands for IPv4, which are never banned.',
      )
    if (isWider(range, widest.banned))
      throw invalid('entry', `entry is a range wider than /${widest.banned[familyOf(range)]}; that is refused.`)
    const listed = needs.mirror.touches(range)
    if (listed) {
      const how = needs.mirror.covers(range) ? 'is covered by the whitelist entry' : 'holds the whitelist entry'
      throw refuse(`${how} ${listed.text}. Take that entry off the whitelist first.`)
    }
    if (hits(range, 'own')) throw refuse('holds an address of the Stockade server, which is never banned on the fleet.')
    if (hits(range, 'managed')) {
      const server = needs.registry
        .all()
        .find(({ row: { no, ip_address } }) => sees(actor, no) && ip_address !== null && isIn(range, ip_address))
      // The name is only for a caller who sees the server.
      throw refuse(
        `holds the address of ${server ? `the managed server ${server.row.hostname}` : 'a managed server'}, which is never banned on the fleet.`,
      )
    }
    if (isIn(range, actor.ip) && !isForced) throw refuseUnforced('holds the address that you come from.')
    // Where others work is only for a caller who sees everything.
    if (actor.servers === 'all' && !isForced && hits(range, 'people'))
      throw refuseUnforced('holds an address from which people signed in or use API keys.')
    return range
  }

const isIn = (range: IpRange, address: string): boolean => {
  const ip = parseIp(address)
  return ip !== null && covers(range, ip)
}
