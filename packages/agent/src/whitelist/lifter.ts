import type { Ledger } from '../bans/ledger.ts'
import type { Overrides } from '../bans/overrides.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { errorText } from '../text.ts'

/** A firewall action may still run when its ban is known; a ban that is lifted before that would stay in the firewall. */
const actionTime = 700
/** After this time the actions of a ban have certainly run. */
const settledAfter = 5000

/** Lifts bans of addresses that the whitelist covers. */
export interface Lifter {
  /** Lifts every covered ban, also that of a range with a covered address in it. */
  liftCovered(): Promise<void>
  /** Lifts a ban once its firewall actions have run. */
  liftSoon(jail: string, ip: string): void
  /** Lifts a ban whose firewall actions have run. */
  liftNow(jail: string, ip: string): Promise<void>
  stop(): void
}

export const createLifter = (needs: {
  engine: Pick<Engine, 'banned' | 'unbanAll'>
  ledger: Pick<Ledger, 'active' | 'ended'>
  overrides: Pick<Overrides, 'drop' | 'dropCovered'>
  drain: () => Promise<void>
  covers: (ip: string) => boolean
  now: () => number
  log: Log
}): Lifter => {
  const { engine, ledger, overrides, covers, now, log } = needs
  /** Bans that are lifted soon, by jail and address. */
  const timers = new Map<string, NodeJS.Timeout>()

  const lift = async (jail: string, ips: readonly string[]): Promise<void> => {
    if (ips.length === 0) return
    // An unban deletes rows of fail2ban's table, so they must have been read before.
    await needs.drain().catch(() => undefined)
    await engine.unbanAll(jail, ips)
    for (const ip of ips) {
      overrides.drop(jail, ip)
      ledger.ended(jail, ip, now())
    }
    log.info(`lifted ${ips.length === 1 ? `the ban of ${ips[0] ?? ''}` : `${ips.length} bans`} in ${jail}: whitelisted`)
  }

  const liftNow = async (jail: string, ip: string): Promise<void> => {
    const key = `${jail}|${ip}`
    clearTimeout(timers.get(key))
    timers.delete(key)
    await lift(jail, [ip]).catch((error: unknown) => log.debug(`a ban is not lifted yet: ${errorText(error)}`))
  }

  const liftSoon = (jail: string, ip: string): void => {
    const key = `${jail}|${ip}`
    if (!timers.has(key))
      timers.set(
        key,
        setTimeout(() => void liftNow(jail, ip), actionTime),
      )
  }

  const isSettled = (jail: string, ip: string): boolean => {
    const since = ledger.active(jail, ip)?.time ?? null
    return since !== null && since * 1000 < now() - settledAfter
  }

  return {
    async liftCovered() {
      overrides.dropCovered(covers)
      for (const [jail, ips] of await engine.banned()) {
        const covered = [...ips].filter(covers)
        const settled = covered.filter(ip => isSettled(jail, ip))
        await lift(jail, settled)
        for (const ip of covered) if (!settled.includes(ip)) liftSoon(jail, ip)
      }
    },
    liftSoon,
    liftNow,
    stop() {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
