import type { Clocks } from '../clock.ts'
import { errorText } from '../text.ts'
import type { Log } from '../log.ts'
import type { BannedPlaces, Engine } from '../engine/engine.ts'
import { createSerial, eventLoopTurn } from '../serial.ts'
import { endOf } from './ledger.ts'
import type { Ledger } from './ledger.ts'
import { placeKey } from './memory.ts'
import type { ActiveBan } from './remembered-bans.ts'

const graceTime = 10_000
/** Twice what fail2ban needs to restore a ban, in milliseconds: it restores 50 a second. */
const restoreTime = 40
/** Its jails start one after another. */
const leastRestoreTime = 50_000
/** A ban has ended that was missing at two looks at least so far apart, in milliseconds. */
const confirmedAfter = 2000
/** fail2ban lifts a ban within a few seconds after its end, in milliseconds. */
const overdue = 10_000
/** When to look after all bans of a jail were lifted at once, in milliseconds. */
const looksAfterFlush = [1000, 3500]
/** Bans that are compared between two turns of the event loop. */
const portion = 5000

export interface Snapshot {
  run(): Promise<void>
  /** fail2ban is restarting or reloading: ignore its list for a while. */
  unsettled(): void
  /** All bans of a jail were lifted at once, which announces none of them; or the jail is about to stop. */
  flushed(): void
}

/**
 * Compares fail2ban's current bans with the reported ones and finds ends that nothing announced. After a start fail2ban
 * restores its bans (50 a second), so its list is short although nothing ended. Therefore nothing is concluded in the
 * first 10 s, then only from a list that no longer grows until all can be restored, and always from two looks in a row.
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
  /** Since when the list lacks a ban. */
  let missing = new Map<string, number>()
  let before = 0
  let quietUntil = -Infinity
  const inTurn = createSerial()
  let flushLooks: NodeJS.Timeout[] = []

  const isRestoring = (up: number, count: number): boolean =>
    Math.min(up - graceTime, needs.steadyNow() - quietUntil) < Math.max(leastRestoreTime, count * restoreTime)

  // oxlint-disable-next-line complexity -- a ban is judged by one chain of questions, each of which may end it
  const look = async (): Promise<void> => {
    const up = engine.connectedFor()
    if (up === null || up < graceTime || needs.steadyNow() < quietUntil) {
      missing = new Map()
      return
    }
    await needs.drain().catch(() => undefined)
    const activeBans = ledger.allActive()
    const banned = await engine.banned()
    const size = [...banned.values()].reduce((sum, ips) => sum + ips.size, 0)
    const isGrowing = size > before && isRestoring(up, activeBans.length)
    before = size
    const lookedAt = needs.steadyNow()
    const nowMissing = new Map<string, number>()
    const outlived: ActiveBan[] = []
    for (const [index, ban] of activeBans.entries()) {
      if (index % portion === portion - 1) await eventLoopTurn()
      const end = endOf(ban)
      if (needs.isShielded?.(ban.jail, ban.ip) === true) continue
      if (banned.get(ban.jail)?.has(ban.ip)) {
        if (end !== null && end + overdue <= needs.now()) outlived.push(ban)
        continue
      }
      const place = placeKey(ban.jail, ban.ip)
      const expired = end !== null && end <= needs.now()
      const since = missing.get(place) ?? lookedAt
      nowMissing.set(place, since)
      if (!expired && (isGrowing || lookedAt - since < confirmedAfter)) continue
      if (ledger.active(ban.jail, ban.ip)?.time !== ban.time) continue
      if (await needs.renew(ban.jail, ban.ip, expired)) continue
      if (!expired && !banned.has(ban.jail)) ledger.paused(ban, needs.now())
      else ledger.ended(ban.jail, ban.ip, expired ? end : needs.now())
    }
    missing = nowMissing
    // What fail2ban still holds is in force, whatever it said of the end before.
    if (outlived.length > 0) ledger.tellRenewed(outlived)
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

  const run = (): Promise<void> =>
    inTurn(look).catch((error: unknown) => needs.log.debug(`no snapshot: ${errorText(error)}`))

  return {
    run,
    unsettled(): void {
      quietUntil = needs.steadyNow() + graceTime
      missing = new Map()
    },
    flushed(): void {
      for (const timer of flushLooks) clearTimeout(timer)
      flushLooks = looksAfterFlush.map(wait => setTimeout(() => void run(), wait).unref())
    },
  }
}
