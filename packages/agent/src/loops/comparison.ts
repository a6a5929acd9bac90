import { activeEventId } from '../bans/ledger.ts'
import type { Ledger } from '../bans/ledger.ts'
import type { ActiveBan } from '../bans/remembered-bans.ts'
import { steadyNow } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import type { Outbox } from '../outbox.ts'
import { eventLoopTurn } from '../serial.ts'
import { cleanText } from '../text.ts'
import { ServerError } from '../transport.ts'
import type { Wire } from '../wire.ts'
import { createLoop } from './loop.ts'
import type { Loop, LoopNeeds } from './loop.ts'

/** A server that comes back meets all of its hosts at once: each waits a random part of this first, in milliseconds. */
const spread = 30_000
const every = 6 * 3_600_000
/** Where host and server differ, a second comparison decides: a report may have been on its way at the first. */
const secondLook = 15_000
const mostLooks = 5
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
    ledger: Pick<Ledger, 'allActive' | 'tellAgain' | 'tellRenewed'>
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
  let looks = 0
  let isBackAgain = false
  /** Bans that the server listed as ended at the last comparison, by event id. */
  let listedAsEnded: ReadonlySet<string> = new Set()
  needs.link.onBack(() => {
    isBackAgain = true
    dueAt = Math.min(dueAt, steadyNow() + random() * spread)
  })

  const isReady = (): boolean =>
    (engine.connectedFor() ?? 0) >= engineSettles && needs.clockOffset() !== null && needs.outbox.next(1, 1) === null

  /** Answers whether another comparison is to follow. */
  const compare = async (): Promise<boolean> => {
    const active = ledger.allActive()
    if (active.length > maxBans) {
      log.warn(`${active.length} bans are too many to compare with the server`)
      return false
    }
    const asOf = new Date(needs.now() + (needs.clockOffset() ?? 0)).toISOString()
    const byId = new Map<string, ActiveBan>()
    for (const [index, ban] of active.entries()) {
      if (index % portion === portion - 1) await eventLoopTurn()
      byId.set(activeEventId(needs.serverId, ban), ban)
    }
    const bans = [...byId].map(([event_id, { jail, ip }]) => ({ event_id, jail: cleanText(jail), ip }))
    const { unknown, pending, ...answer } = await needs.wire.compare(asOf, bans)
    const lost = unknown.flatMap(id => byId.get(id) ?? [])
    if (lost.length > 0) {
      log.info(`the server does not know ${lost.length} bans that are in force: they are sent again`)
      ledger.tellAgain(lost)
    }
    const renewed = answer.listedAsEnded.filter(id => listedAsEnded.has(id)).flatMap(id => byId.get(id) ?? [])
    listedAsEnded = new Set(answer.listedAsEnded)
    if (renewed.length > 0) {
      log.info(`the server lists ${renewed.length} bans as ended that are in force: they are sent as new ones`)
      ledger.tellRenewed(renewed)
    }
    return pending > 0 || listedAsEnded.size > 0
  }

  return createLoop({
    ...needs,
    speaker: 'other',
    async turn() {
      const wait = dueAt - steadyNow()
      if (wait > 0) return wait
      if (!isReady()) return lookAgain
      isBackAgain = false
      // A server from before this comparison answers 404.
      const isOpen = await compare().catch((error: unknown) => {
        if (error instanceof ServerError && error.status === 404) return false
        throw error
      })
      looks = isOpen && looks < mostLooks ? looks + 1 : 0
      dueAt = steadyNow() + (isBackAgain ? random() * spread : looks > 0 ? secondLook : every)
      return dueAt - steadyNow()
    },
  })
}
