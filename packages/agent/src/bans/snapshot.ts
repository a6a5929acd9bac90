import type { Clocks } from '../clock.ts'
import { errorText } from '../text.ts'
import type { Log } from '../log.ts'
import type { BannedPlaces, Engine } from '../engine/engine.ts'
import { eventLoopTurn } from '../serial.ts'
import { endOf } from './ledger.ts'
import type { Ledger } from './ledger.ts'
import { placeKey } from './memory.ts'

const graceTime = 10_000
/** Bans that are compared between two turns of the event loop. */
const portion = 5000

export interface Snapshot {
  run(): Promise<void>
  /** fail2ban is restarting or reloading: ignore its list for a while. */
  unsettled(): void
}

/**
 * Compares fail2ban's current bans with the reported ones and finds ends that nothing announced. After a start fail2ban
 * restores its bans (50 a second), so its list is short although nothing ended. Therefore nothing is concluded in the
 * first 10 s, and then only from two snapshots in a row whose list no longer grows.
 */
export const createSnapshot = (
  needs: {
    engine: Engine
    ledger: Ledger
    drain: () => Promise<void>
    hasTable: () => boolean
    renew: (jail: string, ip: string, expired: boolean) => Promise<boolean>
    /** Whether the shield holds the ban, so that fail2ban does not list it. */
    isShielded?: (jail: string, ip: string) => boolean
    log: Log
  } & Clocks,
): Snapshot => {
  const { engine, ledger } = needs
  let missing = new Set<string>()
  let before = 0
  let quietUntil = -Infinity

  const look = async (): Promise<void> => {
    const up = engine.connectedFor()
    if (up === null || up < graceTime || needs.steadyNow() < quietUntil) {
      missing = new Set()
      return
    }
    await needs.drain().catch(() => undefined)
    const known = ledger.allActive()
    const banned = await engine.banned()
    const size = [...banned.values()].reduce((sum, ips) => sum + ips.size, 0)
    const growing = size > before
    before = size
    const nowMissing = new Set<string>()
    for (const [index, ban] of known.entries()) {
      if (index % portion === portion - 1) await eventLoopTurn()
      if (banned.get(ban.jail)?.has(ban.ip) || needs.isShielded?.(ban.jail, ban.ip) === true) continue
      const place = placeKey(ban.jail, ban.ip)
      const end = endOf(ban)
      const expired = end !== null && end <= needs.now()
      nowMissing.add(place)
      if (!expired && (growing || !missing.has(place))) continue
      if (ledger.active(ban.jail, ban.ip)?.time !== ban.time) continue
      if (await needs.renew(ban.jail, ban.ip, expired)) continue
      if (!expired && !banned.has(ban.jail)) ledger.paused(ban, needs.now())
      else ledger.ended(ban.jail, ban.ip, expired ? end : needs.now())
    }
    missing = nowMissing
    comeBack(banned)
    if (!needs.hasTable()) adopt(banned)
  }

  /** A jail that was enabled again restores its bans from the table. */
  const comeBack = (banned: BannedPlaces): void => {
    for (const ban of ledger.allPaused()) {
      const end = endOf(ban)
      if (ledger.active(ban.jail, ban.ip) !== null || (end !== null && end <= needs.now())) ledger.forgetPaused(ban)
      else if (banned.get(ban.jail)?.has(ban.ip)) ledger.resumed(ban, needs.now())
    }
  }

  /** Without a table, a ban that the action missed is only found here, with the current time as its time. */
  const adopt = (banned: BannedPlaces): void => {
    const time = Math.round(needs.now() / 1000)
    for (const [jail, ips] of banned) {
      const fresh = [...ips].filter(ip => !ledger.isSettled(jail, ip))
      ledger.bans(fresh.map(ip => ({ jail, ip, time, bantime: -1, failures: 0, logLines: '' })))
    }
  }

  return {
    async run(): Promise<void> {
      try {
        await look()
      } catch (error) {
        needs.log.debug(`no snapshot: ${errorText(error)}`)
      }
    },
    unsettled(): void {
      quietUntil = needs.steadyNow() + graceTime
      missing = new Set()
    },
  }
}
