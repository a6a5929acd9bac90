import { steadyNow as usualNow } from '../clock.ts'
import type { BanLengths } from '../engine/banned.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { eventLoopTurn } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Ledger } from './ledger.ts'

/** After reading a list, the agent pauses for this multiple of the time it took, and at least for this many milliseconds for each ban. */
const share = 300
const pausePerBan = 3
/** Bans that are compared between two turns of the event loop. */
const portion = 2000

/**
 * Follows the ends of bans, which fail2ban moves without a word to its actions and its table: where the ban time of a jail is changed, and where
 * a banned address is banned again. Only its list says so.
 */
export const createLengths = (needs: {
  engine: Pick<Engine, 'connectedFor' | 'lengths' | 'bantime'>
  ledger: Pick<Ledger, 'allActive' | 'lasts'>
  /** Reports the rows that are new in the table. */
  drain: () => Promise<void>
  log: Log
  steadyNow?: () => number
}) => {
  const { engine, ledger } = needs
  const steadyNow = needs.steadyNow ?? usualNow
  interface Look {
    readonly lengths: BanLengths
    readonly bantime: number
    /** A long list is not read again before. */
    readonly dueAt: number
  }
  const lookByJail = new Map<string, Look>()

  const follow = async (jail: string): Promise<void> => {
    const before = lookByJail.get(jail)
    const bantime = await engine.bantime(jail)
    if (before && before.bantime === bantime && steadyNow() < before.dueAt) return
    const askedAt = steadyNow()
    const lengths = await engine.lengths(jail)
    const pause = Math.max((steadyNow() - askedAt) * share, lengths.size * pausePerBan)
    lookByJail.set(jail, { lengths, bantime, dueAt: steadyNow() + pause })
    if (lengths === before?.lengths) return
    // An address may have been unbanned and banned again in the meantime: that is a new ban.
    await needs.drain()
    let index = 0
    for (const [ip, length] of lengths) {
      ledger.lasts(jail, ip, length)
      if (++index % portion === 0) await eventLoopTurn()
    }
  }

  return {
    async run(): Promise<void> {
      if (engine.connectedFor() === null) return
      const jails = new Set(ledger.allActive().map(({ jail }) => jail))
      for (const jail of lookByJail.keys()) if (!jails.has(jail)) lookByJail.delete(jail)
      for (const jail of jails)
        await follow(jail).catch((error: unknown) =>
          needs.log.debug(`the ends of bans of jail ${jail} cannot be read: ${errorText(error)}`),
        )
    },
  }
}
