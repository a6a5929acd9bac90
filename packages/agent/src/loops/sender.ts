import type { Log } from '../log.ts'
import { subject } from '../outbox.ts'
import type { Entry, Outbox } from '../outbox.ts'
import type { Rejected } from '../rejected.ts'
import { pause } from '../schedule.ts'
import { errorText } from '../text.ts'
import { ServerError } from '../transport.ts'
import type { AdoptedBan, BanReport, KnockReport, RowResult, UnbanReport, Wire } from '../wire.ts'
import { createLoop } from './loop.ts'
import type { Loop, LoopNeeds } from './loop.ts'

const maxEntries = 1000
const maxBatchBytes = 4 * 1024 * 1024
/** At most this many batches in this time: the first ones go at once, then one a second. */
const batchBurst = 10
const burstWindow = 10_000
const day = 24 * 3_600_000
const maxUnanswered = 5

/** Sends the outbox to the server, oldest first. Whatever the server answers, no event is lost and none blocks the rest. */
export const createSender = (
  needs: LoopNeeds & {
    outbox: Outbox
    rejected: Rejected
    wire: Wire
    clockOffset: () => number | null
    /** The server has accepted these knocks. */
    onKnocks?: (eventIds: readonly string[]) => void
    now: () => number
    log: Log
  },
): Loop => {
  let limit = maxEntries
  /** How often in a row the server did not answer all rows of the oldest batch. */
  let unanswered = 0

  /** Answers whether there was anything to send. */
  // oxlint-disable-next-line complexity -- what a server may answer to a batch is one table of cases
  const send = async (): Promise<boolean> => {
    const whole = needs.outbox.next(limit, maxBatchBytes)
    if (!whole) return false
    const together = sendable(whole.entries)
    const batch = together === whole.entries.length ? whole : needs.outbox.next(together, maxBatchBytes)
    if (!batch) return false
    try {
      const answers = new Map((await report(batch.entries)).map(row => [row.id, row]))
      const open = batch.entries.filter(entry => !answers.has(idOf(entry)))
      if (open.length > 0) {
        unanswered += 1
        if (unanswered <= maxUnanswered)
          throw new ServerError(`left ${open.length} of ${batch.entries.length} events without an answer`)
        // The other rows were answered each time; these would block them forever.
        if (open.length < batch.entries.length)
          for (const entry of open) needs.rejected.add(entry, 'the server never answered this event')
        else throw new ServerError('answers reports without deciding about any event')
      }
      for (const entry of batch.entries) {
        const error = answers.get(idOf(entry))?.error ?? null
        if (error !== null) {
          needs.log.warn(`the server refused an event for good: ${error}`)
          needs.rejected.add(entry, error)
        }
      }
    } catch (error) {
      if (!isTheirFault(error)) throw error
      if (batch.entries.length > 1) {
        limit = Math.max(1, Math.floor(batch.entries.length / 2))
        return true
      }
      for (const entry of batch.entries) needs.rejected.add(entry, errorText(error))
      needs.log.warn(`an event is set aside: the server ${errorText(error)}`)
    }
    unanswered = 0
    batch.done()
    const knocks = batch.entries.flatMap(entry => (entry.kind === 'knock' ? [entry.knock.event_id] : []))
    if (knocks.length > 0) needs.onKnocks?.(knocks)
    limit = Math.min(maxEntries, limit * 2)
    return true
  }

  /**
   * Bans, adopted bans and knocks have an endpoint each. If one fails, the others get their rows again and know them by
   * their ids. An adopted ban goes before its end.
   */
  const report = async (entries: readonly Entry[]): Promise<RowResult[]> => {
    const knocks = knocksOf(entries)
    const adopted = adoptedOf(entries)
    const rows: RowResult[] = []
    if (adopted.length > 0) rows.push(...(await unlessUnknown(adopted, 'adopted bans', needs.wire.adopt)))
    if (knocks.length + adopted.length < entries.length)
      rows.push(...(await needs.wire.report(bansOf(entries), unbansOf(entries))))
    if (knocks.length > 0) rows.push(...(await unlessUnknown(knocks, 'port knocking', needs.wire.knocks)))
    return rows
  }

  /** An older server without this endpoint must not block the bans. */
  const unlessUnknown = async <T extends { readonly event_id: string }>(
    events: readonly T[],
    what: string,
    send: (events: readonly T[]) => Promise<RowResult[]>,
  ): Promise<RowResult[]> => {
    try {
      return await send(events)
    } catch (error) {
      if (!(error instanceof ServerError && error.status === 404 && error.spoken)) throw error
      return events.map(({ event_id }) => ({ id: event_id, error: `the server knows nothing of ${what}` }))
    }
  }

  const iso = (at: number, offset: number | null): string =>
    new Date(at + (offset ?? needs.clockOffset() ?? 0)).toISOString()

  const bansOf = (entries: readonly Entry[]): BanReport[] =>
    entries.flatMap(entry => (entry.kind === 'ban' ? [{ ...entry.ban, banned_at: iso(entry.at, entry.offset) }] : []))

  const unbansOf = (entries: readonly Entry[]): UnbanReport[] =>
    entries.flatMap(entry =>
      entry.kind === 'unban' ? [{ ...entry.unban, unbanned_at: iso(entry.at, entry.offset) }] : [],
    )

  const adoptedOf = (entries: readonly Entry[]): AdoptedBan[] =>
    entries.flatMap(entry =>
      entry.kind === 'adopt' ? [{ ...entry.adopt, banned_at: iso(entry.at, entry.offset) }] : [],
    )

  const knocksOf = (entries: readonly Entry[]): KnockReport[] =>
    entries.flatMap(entry =>
      entry.kind === 'knock' ? [{ ...entry.knock, timestamp: iso(entry.at, entry.offset) }] : [],
    )

  let prunedAt = 0
  const sentAt: number[] = []

  return createLoop({
    ...needs,
    speaker: 'other',
    async turn() {
      if (needs.now() - prunedAt > day) {
        needs.rejected.prune()
        prunedAt = needs.now()
      }
      if (!(await send())) return 15_000
      needs.link.good('other')
      await pause(paceAfter(sentAt, needs.now()), needs.signal)
      return 0
    },
  })
}

/**
 * How many entries may go in one request. A request separates bans from unbans, so a ban that follows the end of an
 * earlier ban of the same address waits for the next request: otherwise that end could be taken for its own.
 */
export const sendable = (entries: readonly Entry[]): number => {
  const ended = new Set<string>()
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === 'knock') continue
    const { jail, ip } = entry.kind === 'ban' ? entry.ban : entry.kind === 'unban' ? entry.unban : entry.adopt
    if (entry.kind === 'unban') ended.add(`${jail}|${ip}`)
    else if (ended.has(`${jail}|${ip}`)) return index
  }
  return entries.length
}

/** How long to wait after a batch, to stay within the rate limit of a host. */
const paceAfter = (sentAt: number[], now: number): number => {
  sentAt.push(now)
  while (sentAt.length > 0 && now - (sentAt[0] ?? 0) > burstWindow) sentAt.shift()
  return sentAt.length < batchBurst ? 100 : burstWindow / batchBurst
}

const idOf = (entry: Entry): string => subject(entry).event_id

/** Whether the server itself rejected the content. Everything else, even a 400 of a proxy, may succeed later. */
const isTheirFault = (error: unknown): boolean => {
  if (!(error instanceof ServerError)) return false
  return error.status === 413 || (error.spoken && (error.status === 400 || error.status === 422))
}
