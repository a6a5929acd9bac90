import type { Ledger } from '../bans/ledger.ts'
import type { Overrides } from '../bans/overrides.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { errorText } from '../text.ts'

/** A firewall action may still run when its ban is known; a ban that is lifted before that would stay in the firewall. */
const actionTime = 700
/** After this time the actions of a ban have certainly run. */
const settledAfter = 5000
/** So long after its start fail2ban restores bans, which are old while their actions run. Milliseconds. */
const restoreTime = 60_000

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
  engine: Pick<Engine, 'banned' | 'connectedFor' | 'unbanAll'>
  ledger: Pick<Ledger, 'active' | 'ended'>
  overrides: Pick<Overrides, 'drop' | 'dropCovered'>
  drain: () => Promise<void>
  covers: (ip: string) => boolean
  now: () => number
  log: Log
}): Lifter => {
  const { engine, ledger, overrides, covers, now, log } = needs
  /** Bans that are lifted soon, by jail and address, or all of a jail that a list covers. */
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

  const liftOnce = async (key: string, jail: string, ips: readonly string[]): Promise<void> => {
    clearTimeout(timers.get(key))
    timers.delete(key)
    await lift(jail, ips).catch((error: unknown) => log.debug(`a ban is not lifted yet: ${errorText(error)}`))
  }
  const liftNow = (jail: string, ip: string): Promise<void> => liftOnce(`${jail}|${ip}`, jail, [ip])

  /** In place of those of an earlier look: what is still banned of them is among these. */
  const liftAllSoon = (jail: string, ips: readonly string[]): void => {
    const key = `all of ${jail}`
    if (ips.length === 0) return
    clearTimeout(timers.get(key))
    timers.set(
      key,
      setTimeout(() => void liftOnce(key, jail, ips), actionTime),
    )
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
    if ((engine.connectedFor() ?? 0) < restoreTime) return false
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
        const settledIps = new Set(settled)
        liftAllSoon(
          jail,
          covered.filter(ip => !settledIps.has(ip)),
        )
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
