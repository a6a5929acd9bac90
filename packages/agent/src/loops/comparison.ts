import { bounds } from '@stockade/contract/limits.ts'
import { sliceOf } from '@stockade/contract/slices.ts'
import { activeEventId } from '../bans/ban-entries.ts'
import type { Ledger } from '../bans/ledger.ts'
import type { ActiveBan } from '../bans/remembered-bans.ts'
import { steadyNow } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import { canonicalIp } from '../ip.ts'
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
/** A host with more bans than the server takes at once compares them in slices of about `sliceSize`. */
const sliceSize = 25_000
/** Between two slices, in milliseconds. */
const sliceEvery = 3000
const portion = 2000

interface Part {
  readonly slice: number
  readonly of: number
}

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
  /** The slices of the comparison that runs: the next one, and whether one before it is still open. */
  let pass: { readonly of: number; slice: number; isOpen: boolean } | null = null
  /** Bans that the server listed as ended at the last comparison, by event id, for each slice. */
  let listedAsEnded: { readonly of: number; readonly ids: Map<number, ReadonlySet<string>> } = { of: 1, ids: new Map() }
  needs.link.onBack(() => {
    isBackAgain = true
    dueAt = Math.min(dueAt, steadyNow() + random() * spread)
  })

  const isReady = (): boolean =>
    (engine.connectedFor() ?? 0) >= engineSettles && needs.clockOffset() !== null && needs.outbox.next(1, 1) === null

  const bansIn = async (active: readonly ActiveBan[], { slice, of }: Part): Promise<Map<string, ActiveBan>> => {
    const byId = new Map<string, ActiveBan>()
    for (const [index, ban] of active.entries()) {
      if (index % portion === portion - 1) await eventLoopTurn()
      if (of === 1 || sliceOf(canonicalIp(ban.ip) ?? ban.ip, of) === slice)
        byId.set(activeEventId(needs.serverId, ban), ban)
    }
    return byId
  }

  /** Answers whether another comparison of the slice is to follow. */
  const compare = async (active: readonly ActiveBan[], part: Part): Promise<boolean> => {
    const asOf = new Date(needs.now() + (needs.clockOffset() ?? 0)).toISOString()
    const byId = await bansIn(active, part)
    if (byId.size > bounds.activeBansPerHost) {
      log.warn(`${byId.size} bans are too many to compare with the server`)
      return false
    }
    const bans = [...byId].map(([event_id, { jail, ip }]) => ({ event_id, jail: cleanText(jail), ip }))
    const { unknown, pending, ...answer } = await needs.wire.compare(asOf, bans, part)
    const lost = unknown.flatMap(id => byId.get(id) ?? [])
    if (lost.length > 0) {
      log.info(`the server does not know ${lost.length} bans that are in force: they are sent again`)
      ledger.tellAgain(lost)
    }
    if (listedAsEnded.of !== part.of) listedAsEnded = { of: part.of, ids: new Map() }
    const before = listedAsEnded.ids.get(part.slice)
    const renewed = answer.listedAsEnded.filter(id => before?.has(id)).flatMap(id => byId.get(id) ?? [])
    listedAsEnded.ids.set(part.slice, new Set(answer.listedAsEnded))
    if (renewed.length > 0) {
      log.info(`the server lists ${renewed.length} bans as ended that are in force: they are sent as new ones`)
      ledger.tellRenewed(renewed)
    }
    return pending > 0 || answer.listedAsEnded.length > 0
  }

  const refused = (of: number, error: unknown): boolean => {
    // A server from before this comparison answers 404, one from before slices 400.
    if (!(error instanceof ServerError) || (error.status !== 404 && (of === 1 || error.status !== 400))) throw error
    if (of > 1) log.warn(`the server does not compare so many bans: ${error.message}`)
    return false
  }

  /** Compares the next slice. Answers whether the comparison is over, and another one is to follow. */
  const step = async (): Promise<{ isOver: boolean; isOpen: boolean }> => {
    const active = ledger.allActive()
    pass ??= { of: slicesOf(active.length), slice: 0, isOpen: false }
    const { of, slice } = pass
    try {
      if (await compare(active, { slice, of }).catch((error: unknown) => refused(of, error))) pass.isOpen = true
      pass.slice += 1
    } catch (error) {
      // The next comparison starts from the first slice, unless the server only asks for more time between slices.
      if (!(error instanceof ServerError && error.status === 429)) pass = null
      throw error
    }
    const { isOpen } = pass
    const isOver = slice + 1 >= of
    if (isOver) pass = null
    return { isOver, isOpen }
  }

  return createLoop({
    ...needs,
    speaker: 'other',
    async turn() {
      const wait = dueAt - steadyNow()
      if (wait > 0) return wait
      if (!isReady()) return lookAgain
      if (pass === null) isBackAgain = false
      const { isOver, isOpen } = await step()
      if (!isOver) {
        dueAt = steadyNow() + sliceEvery
        return sliceEvery
      }
      looks = isOpen && looks < mostLooks ? looks + 1 : 0
      dueAt = steadyNow() + (isBackAgain ? random() * spread : looks > 0 ? secondLook : every)
      return dueAt - steadyNow()
    },
  })
}

const slicesOf = (count: number): number =>
  count <= bounds.activeBansPerHost ? 1 : Math.min(bounds.banSlices, Math.ceil(count / sliceSize))
