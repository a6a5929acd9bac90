import { isCidr } from '../ip.ts'
import type { Floor } from '../policy/floor.ts'
import { whyNotBan } from '../shield/refusals.ts'

/** Refuses bans that would hurt this host itself. */
export interface Guard {
  /** The reason that nothing overrides, or null. */
  whyNotBan(ip: string): Promise<string | null>
}

/** Refuses what would cut the host off, what nobody may ban, and what the whitelist covers: such a ban would be lifted at once. */
export const createGuard = (needs: {
  floor: Floor & { lookUpServer(): Promise<void> }
  whitelisted: (ip: string) => boolean
}): Guard => ({
  async whyNotBan(ip) {
    if (needs.whitelisted(ip)) return `${ip} is whitelisted${isCidr(ip) ? ', or holds a whitelisted address' : ''}`
    await needs.floor.lookUpServer()
    return needs.floor.whyNeverBan(ip) ?? whyNotBan(ip)
  },
})
