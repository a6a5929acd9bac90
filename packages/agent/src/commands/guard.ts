import { isCidr } from '../ip.ts'
import type { Floor } from '../policy/floor.ts'

/** Whether an order to ban an address would hurt this host itself. */
export interface Guard {
  /** The reason that nothing overrides, or null. */
  whyNotBan(ip: string): Promise<string | null>
}

/** Beside what would cut the host off: what the whitelist covers, since such a ban would be undone at once. */
export const createGuard = (needs: {
  floor: Floor & { lookUpServer(): Promise<void> }
  whitelisted: (ip: string) => boolean
}): Guard => ({
  async whyNotBan(ip) {
    if (needs.whitelisted(ip)) return `${ip} is whitelisted${isCidr(ip) ? ', or holds a whitelisted address' : ''}`
    await needs.floor.lookUpServer()
    return needs.floor.whyNeverBan(ip)
  },
})
