import { createSteps } from '../clock.ts'
import type { Clocks } from '../clock.ts'
import { EngineRefused } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import { errorText } from '../text.ts'
import type { Log } from '../log.ts'
import type { Ledger } from './ledger.ts'
import { placeKey } from './memory.ts'
import type { Memory, Override } from './memory.ts'

export interface Overrides {
  set(jail: string, ip: string, until: number | null): void
  drop(jail: string | null, ip: string): void
  /** Forgets the durations of bans that this covers, so that they are not renewed. */
  dropCovered(covers: (ip: string) => boolean): void
  /** Renews a ban that fail2ban ended before our duration. Answers whether it did. */
  renew(jail: string, ip: string, expired: boolean): Promise<boolean>
  /** Lifts bans that have reached their end. A failure (fail2ban is down) is retried at the next tick. */
  tick(): Promise<void>
}

/**
 * Durations of bans by command. fail2ban's ban command takes no duration, and changing the jail's bantime for a moment
 * would change every other ban in it. So the agent keeps the end itself: it lifts a ban that fail2ban would keep longer
 * and renews one that fail2ban ends earlier. Wall-clock time makes this survive restarts of either; when somebody sets the clock, the ends
 * move with it.
 */
export const createOverrides = (
  needs: {
    engine: Engine
    ledger: Ledger
    memory: Memory
    save: () => void
    drain: () => Promise<void>
    log: Log
  } & Clocks,
): Overrides => {
  const { memory, engine } = needs
  const steps = createSteps(needs)
  let busy = false

  const forget = (which: (override: Override) => boolean): void => {
    let hasMatch = false
    for (const [place, override] of memory.overrides) {
      if (which(override)) hasMatch = memory.overrides.delete(place) || hasMatch
    }
    if (hasMatch) needs.save()
  }

  const followClock = (): void => {
    const step = steps.take()
    if (step === 0) return
    for (const [place, override] of memory.overrides)
      if (override.until !== null) memory.overrides.set(place, { ...override, until: override.until + step })
    needs.save()
  }

  return {
    set(jail: string, ip: string, until: number | null): void {
      memory.overrides.set(placeKey(jail, ip), { jail, ip, until })
      needs.save()
    },
    drop(jail: string | null, ip: string): void {
      forget(override => override.ip === ip && (jail === null || override.jail === jail))
    },
    dropCovered(covers: (ip: string) => boolean): void {
      forget(({ ip }) => covers(ip))
    },
    async renew(jail: string, ip: string, expired: boolean): Promise<boolean> {
      followClock()
      const place = placeKey(jail, ip)
      const override = memory.overrides.get(place)
      if (!override) return false
      const over = override.until !== null && override.until <= needs.now()
      if (over || !expired) {
        // Somebody on the host lifted the ban before its end, and that decision counts.
        memory.overrides.delete(place)
        needs.save()
        return false
      }
      memory.intents.set(place, { jail, ip, since: needs.now(), commandId: null, duration: null })
      needs.save()
      await engine.ban(jail, ip)
      await needs.drain().catch(() => undefined)
      return true
    },
    async tick(): Promise<void> {
      if (busy) return
      busy = true
      try {
        followClock()
        for (const [place, { jail, ip, until }] of memory.overrides) {
          if (until === null || until > needs.now()) continue
          // An unban deletes rows of fail2ban's table, so they must have been read before.
          await needs.drain().catch(() => undefined)
          await engine.unban(jail, ip).catch((error: unknown) => {
            // A stopped jail bans nobody. If fail2ban is down, the ban returns with it and is lifted then.
            if (!(error instanceof EngineRefused)) throw error
          })
          memory.overrides.delete(place)
          needs.ledger.ended(jail, ip, until)
          needs.save()
        }
      } catch (error) {
        needs.log.debug(`a ban's end waits: ${errorText(error)}`)
      } finally {
        busy = false
      }
    },
  }
}
