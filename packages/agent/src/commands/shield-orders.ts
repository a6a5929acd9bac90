import { ownJail } from '../engine/own-files.ts'
import { loginSources } from '../shield/sessions.ts'
import { whyNotShield } from '../shield/refusals.ts'
import type { Shield } from '../shield/shield.ts'
import type { FleetBans } from '../shield/fleet-bans.ts'
import type { Guard } from './guard.ts'
import { Refused } from './refused.ts'

/** Bans by command without a jail, in the kernel instead of fail2ban's jail `stockade`. */
export interface ShieldOrders {
  /** Whether such bans go to the shield on this host. */
  isUsed(): boolean
  /** The output of the command. @throws Refused */
  ban(ip: string, duration: number, commandId: string, isForced: boolean, isCut: boolean): Promise<string>
  /** Answers whether the shield held a ban of exactly this address or range. */
  lift(ip: string): Promise<boolean>
  /** What still covers the address, a wider ban or a fleet ban; or an empty text. */
  stillCovered(ip: string): string
}

export const createShieldOrders = (needs: {
  shield: Shield
  fleet: Pick<FleetBans, 'covering'>
  guard: Guard
  now: () => number
}): ShieldOrders => {
  const { shield } = needs
  return {
    isUsed: () => shield.report().supported,
    async ban(ip, duration, commandId, isForced, isCut) {
      const danger = (await needs.guard.whyNotBan(ip)) ?? whyNotShield(ip, loginSources(), isForced)
      if (danger !== null) throw new Refused(`${danger}; nothing was done`)
      const wasBanned = await shield.ban({ entry: ip, duration, commandId, isCut })
      const end = duration < 0 ? 'for good' : `until ${new Date(needs.now() + duration * 1000).toISOString()}`
      return wasBanned ? `${ip} was banned before; it stays so ${end}` : `${ip} is banned in ${ownJail} ${end}`
    },
    lift: shield.lift,
    stillCovered(ip) {
      const wider = shield.coveredBy(ip)
      const [ban] = needs.fleet.covering(ip)
      const ofFleet = ban === undefined ? '' : `; the fleet ban ${ban.id} of ${ban.entry} still holds it`
      return `${wider === null ? '' : `; it lies in ${wider}, which is banned`}${ofFleet}`
    },
  }
}
