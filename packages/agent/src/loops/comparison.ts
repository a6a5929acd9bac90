import { activeEventId } from '../bans/ledger.ts'
import type { Ledger } from '../bans/ledger.ts'
import type { ActiveBan } from '../bans/remembered-bans.ts'
import { steadyNow } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import type { Outbox } from '../outbox.ts'
import { eventLoopTurn } from '../serial.ts'
import { ServerError } from '../transport.ts'
import type { Wire } from '../wire.ts'
import { createLoop } from './loop.ts'
import type { Loop, LoopNeeds } from './loop.ts'

/** A server that comes back meets all of its hosts at once: each waits a random part of this first, in milliseconds. */
const spread = 30_000
const every = 6 * 3_600_000
/** The bans of before are adopted, and what fail2ban restores is there, so long after it answered. */
const engineSettles = 60_000
const lookAgain = 5000
/** What the server takes. */
const maxBans = 50_000
const portion = 2000

/**
 * Compares the bans in force with those that the server lists, after each outage of the server and a few times a day: a server that was
 * restored from a backup learns of what happened since.
 */
export const createComparison = (
  needs: LoopNeeds & {
    wire: Pick<Wire, 'compare'>
    serverId: string
    ledger: Pick<Ledger, 'allActive' | 'tellAgain'>
    outbox: Pick<Outbox, 'next'>
    engine: Pick<Engine, 'connectedFor'>
    clockOffset: () => number | null
    now: () => number
    random?: () => number
    log: Log
  },
): Loop => {
  const { ledger, engine, log } = needs
  const random = needs.random ?? Math.random
  let dueAt = steadyNow() + random() * spread
  needs.link.onBack(() => {
    dueAt = Math.min(dueAt, steadyNow() + random() * spread)
  })

  const isReady = (): boolean =>
    (engine.connectedFor() ?? 0) >= engineSettles && needs.clockOffset() !== null && needs.outbox.next(1, 1) === null

  const compare = async (): Promise<void> => {
    const bans = ledger.allActive()
    if (bans.length > maxBans) return log.debug(`${bans.length} bans are too many to compare with the server`)
    const asOf = new Date(needs.now() + (needs.clockOffset() ?? 0)).toISOString()
    const byId = new Map<string, ActiveBan>()
    for (const [index, ban] of bans.entries()) {
      if (index % portion === portion - 1) await eventLoopTurn()
      byId.set(activeEventId(needs.serverId, ban), ban)
    }
    const lost = (await needs.wire.compare(asOf, [...byId.keys()])).flatMap(id => byId.get(id) ?? [])
    if (lost.length === 0) return
    log.info(`the server does not know ${lost.length} bans that are in force: they are sent again`)
    ledger.tellAgain(lost)
  }

  return createLoop({
    ...needs,
    speaker: 'other',
    async turn() {
      const wait = dueAt - steadyNow()
      if (wait > 0) return wait
      if (!isReady()) return lookAgain
      try {
        await compare()
      } catch (error) {
        // A server from before this comparison.
        if (!(error instanceof ServerError && error.status === 404)) throw error
      }
      dueAt = steadyNow() + every
      return every
    },
  })
}
