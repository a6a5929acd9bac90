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
  /** No address that this covers is banned again when fail2ban's own ban of it ends. */
  dropCovered(covers: (ip: string) => boolean): void
  /** Whether a ban that fail2ban no longer has was made again, since by our duration it goes on. */
  renew(jail: string, ip: string, expired: boolean): Promise<boolean>
  /** Lifts what has reached its end. What fails (fail2ban is down) is tried again at the next tick. */
  tick(): Promise<void>
}

/**
 * Durations of bans by command. fail2ban's own command knows none, and setting the jail's bantime for a moment would
 * move the end of every other ban in it, so the agent keeps the end: it lifts a ban that fail2ban would keep longer, and
 * makes one again that fail2ban ended earlier. By wall time, so that it holds over restarts of either.
 */
export const createOverrides = (needs: {
  engine: Engine
  ledger: Ledger
  memory: Memory
  save: () => void
  drain: () => Promise<void>
  now: () => number
  log: Log
}): Overrides => {
  const { memory, engine } = needs
  let busy = false

  const forget = (which: (override: Override) => boolean): void => {
    let found = false
    for (const [place, override] of memory.overrides) {
      if (which(override)) found = memory.overrides.delete(place) || found
    }
    if (found) needs.save()
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
      const place = placeKey(jail, ip)
      const override = memory.overrides.get(place)
      if (!override) return false
      const over = override.until !== null && override.until <= needs.now()
      if (over || !expired) {
        // Not expired means that somebody on the host lifted it: that is an order too.
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
        for (const [place, { jail, ip, until }] of memory.overrides) {
          if (until === null || until > needs.now()) continue
          // Unbanning deletes rows of the table: what is in it must have been taken over before.
          await needs.drain().catch(() => undefined)
          await engine.unban(jail, ip).catch((error: unknown) => {
            // A jail that does not run bans nobody; when fail2ban is down, its ban comes back with it.
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
