import type { Ledger } from '../../bans/ledger.ts'
import type { Overrides } from '../../bans/overrides.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Log } from '../../log.ts'
import type { Whitelist } from '../../whitelist/whitelist.ts'
import { ok, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

/** What the agent put right stays in the report for this time. */
const toldFor = 3_600_000

/**
 * Whether a jail bans an address that this host needs. A ban of the Stockade server is lifted at once: nobody could do that
 * from there. Bans of the other addresses are only named, since an administrator may mean them. Also names jails that lost a part of
 * the whitelist.
 */
export const keepCheck = (needs: {
  engine: Pick<Engine, 'jailsThatBan' | 'unban'>
  floor: { addresses(): string[]; servers(): string[]; lookUpServer(): Promise<void> }
  ledger: Pick<Ledger, 'ended'>
  overrides: Pick<Overrides, 'drop'>
  whitelist: Pick<Whitelist, 'restored'>
  drain: () => Promise<void>
  now: () => number
  log: Log
}): Check => {
  const { engine, floor, now, log } = needs
  /** The bans that were lifted: jail and address -> when. */
  const lifted = new Map<string, number>()

  const lift = async (jail: string, ip: string): Promise<void> => {
    // An unban deletes rows of fail2ban's table, so they must have been read before.
    await needs.drain().catch(() => undefined)
    needs.overrides.drop(jail, ip)
    await engine.unban(jail, ip)
    needs.ledger.ended(jail, ip, now())
    lifted.set(`jail ${jail} banned ${ip}`, now())
    log.warn(`jail ${jail} banned ${ip}, the address of the Stockade server: the ban is lifted`)
  }

  return {
    id: 'keep',
    every: 5000,
    badAfter: 0,
    looks: 1,
    needsEngine: true,
    async look() {
      // A resolver that does not answer must not hold up the other checks.
      void floor.lookUpServer()
      const servers = new Set(floor.servers())
      const findings: Finding[] = []
      for (const [ip, jails] of await engine.jailsThatBan([...new Set([...floor.addresses(), ...servers])])) {
        for (const jail of jails) {
          if (servers.has(ip)) await lift(jail, ip)
          else findings.push(warning(ip, `jail ${jail} bans ${ip}, an address that this server needs`))
        }
      }
      for (const [ban, at] of lifted) {
        if (now() - at > toldFor) lifted.delete(ban)
        else findings.push(warning(ban, `${ban}, the address of the Stockade server: the agent lifted the ban`))
      }
      for (const [jail, at] of needs.whitelist.restored())
        if (now() - at <= toldFor)
          findings.push(
            warning(
              `whitelist of ${jail}`,
              `somebody removed entries of the whitelist from jail ${jail}: the agent put them back`,
            ),
          )
      return findings.length === 0 ? [ok(null)] : findings
    },
  }
}
