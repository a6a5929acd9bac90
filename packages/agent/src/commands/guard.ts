import { networkInterfaces } from 'node:os'
import { canonicalIp, isCidr, isOwnGround, overlaps } from '../ip.ts'

/** Whether an order to ban an address would hurt this host itself. */
export interface Guard {
  /** The reason why not, or null. */
  whyNotBan(ip: string): string | null
  /** The reason that `force` does not override, or null. */
  whyNeverBan(ip: string): string | null
}

/**
 * Loopback, the host's own addresses and the server's address are never banned by an order without `force`; what the
 * whitelist covers is not banned with it either, since the ban would be undone at once.
 */
export function createGuard(needs: {
  serverAddress: () => string | null
  whitelisted: (ip: string) => boolean
  ownAddresses?: () => readonly string[]
}): Guard {
  const own = needs.ownAddresses ?? interfaceAddresses
  return {
    whyNeverBan: ip =>
      needs.whitelisted(ip) ? `${ip} is whitelisted${isCidr(ip) ? ', or holds a whitelisted address' : ''}` : null,
    whyNotBan(ip) {
      if (isOwnGround(ip)) return `${ip} is loopback or link-local: a ban of it would cut this host off from itself`
      if (own().some(address => overlaps(address, ip))) return `${ip} covers an address of this host`
      const server = canonicalIp(needs.serverAddress() ?? '')
      if (server !== null && overlaps(server, ip))
        return `${ip} covers the address of the Stockade server: this host would be cut off from it`
      return null
    },
  }
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .map(({ address }) => canonicalIp(address.replace(/%.*$/, '')))
    .filter((address): address is string => address !== null)
}
