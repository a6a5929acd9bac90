import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { createCanonical } from './canonical.ts'
import type { SiemEvent } from './event.ts'
import { datagramBytes, formatted, streamBytes } from './formats/formats.ts'
import type { Teller } from './formats/formats.ts'
import type { Line, Target } from './line.ts'
import type { Outcomes } from './outcomes.ts'
import type { Plan } from './plan.ts'
import type { Replays } from './replay.ts'
import { addCounts, dropWaiting, markWritten, nextWaiting } from './siem.store.ts'
import type { Waiting } from './siem.store.ts'

/** Bytes of one batch, as far as events are not larger themselves: what collectors take by default. */
const batchBytes = 1024 * 1024
const bytesFor = (target: Target) => (target.way === 'udp' ? datagramBytes : streamBytes)

/** What one run sent. */
export interface Tally {
  sent: number
  refused: number
}
type Progress = 'sent' | 'idle' | 'stop'
export interface Batches {
  /** One batch of what waits, if one is due: full, or its first event has waited long enough. */
  sendNext(plan: Plan, to: Line, flushing: boolean, tally: Tally): Promise<Progress>
  /** One batch of a replay, while nothing else is due. */
  replayNext(plan: Plan, to: Line): Promise<Progress>
}

export const createBatches = (needs: {
  db: Database
  clock: Clock
  canonical: ReturnType<typeof createCanonical>
  teller: () => Teller
  replays: Pick<Replays, 'next' | 'done'>
  outcomes: Outcomes
  isClosing: () => boolean
}): Batches => {
  const { db, clock, canonical, replays } = needs
  const { keep, failed, taken, giveUp, refused, causeOf } = needs.outcomes
  const write = (plan: Plan, event: SiemEvent) =>
    formatted(plan.target.format, event, needs.teller(), bytesFor(plan.target))
  /** As many as fit into one batch, at least one. */
  const fitting = (rows: readonly Waiting[], messages: ReadonlyMap<number, string>): Waiting[] => {
    let bytes = 0
    const fit: Waiting[] = []
    for (const row of rows) {
      bytes += Buffer.byteLength(messages.get(row.event_id) ?? '')
      if (fit.length > 0 && bytes > batchBytes) break
      fit.push(row)
    }
    return fit
  }
  /** A batch of what waits. Answers whether the target is fit for more, and how many it took. */
  const sendRows = async (
    plan: Plan,
    to: Line,
    rows: readonly Waiting[],
    messages: ReadonlyMap<number, string>,
    tally: Tally,
  ): Promise<boolean> => {
    const ids = rows.map(({ id }) => id)
    const outcome = await to.send(rows.flatMap(row => messages.get(row.event_id) ?? []))
    if (outcome.ok) {
      await taken(plan, outcome, rows.length, async (sql, now) => {
        const done = plan.target.way === 'stream' ? await markWritten(sql, rows, now) : await dropWaiting(sql, ids)
        const again = done.filter(({ retry_count }) => retry_count > 0)
        await addCounts(
          sql,
          [
            ...done.map(({ type, counted }) => ({ type, sent: 1 - counted })),
            ...again.map(({ type, counted }) => ({ type, retried: 1 - counted })),
          ],
          now,
        )
      })
      tally.sent += rows.length
      return true
    }
    const [first] = rows
    const cause = causeOf(outcome, rows.length, first)
    if (cause === 'target') {
      await failed(outcome, ids, rows.length)
      return false
    }
    if (cause === 'event' && first) {
      await refused(first, outcome)
      tally.refused++
      return true
    }
    const half = Math.ceil(rows.length / 2)
    for (const part of [rows.slice(0, half), rows.slice(half)])
      if (needs.isClosing() || !(await sendRows(plan, to, part, messages, tally))) return false
    return true
  }
  const sendNext = async (plan: Plan, to: Line, flushing: boolean, tally: Tally): Promise<Progress> => {
    const now = clock()
    const rows = await nextWaiting(db.read, now, plan.batchSize)
    const [first] = rows
    if (!first) return 'idle'
    const due = flushing || rows.length >= plan.batchSize || first.queued_at + plan.flushInterval <= now
    // A second try has waited already.
    if (!due && first.retry_count === 0) return 'idle'
    const events = await canonical.load(
      db.read,
      rows.map(({ event_id }) => event_id),
    )
    // Retention was faster.
    await giveUp(rows.filter(({ event_id }) => !events.has(event_id)))
    const there = rows.filter(({ event_id }) => events.has(event_id))
    if (there.length === 0) return 'sent'
    const messages = new Map([...events].map(([id, event]) => [id, write(plan, event)]))
    return (await sendRows(plan, to, fitting(there, messages), messages, tally)) ? 'sent' : 'stop'
  }
  const split = (plan: Plan, events: readonly SiemEvent[]): SiemEvent[][] => {
    const parts: SiemEvent[][] = []
    let bytes = Infinity
    for (const event of events) {
      const size = Buffer.byteLength(write(plan, event))
      if (bytes + size > batchBytes) {
        parts.push([])
        bytes = 0
      }
      bytes += size
      parts.at(-1)?.push(event)
    }
    return parts
  }
  const replayNext = async (plan: Plan, to: Line): Promise<Progress> => {
    const batch = await replays.next(plan.batchSize)
    if (!batch) return 'idle'
    const send = async (events: readonly SiemEvent[]): Promise<{ failed: SiemEvent[] } | null> => {
      if (events.length === 0) return { failed: [] }
      const outcome = await to.send(events.map(event => write(plan, event)))
      if (outcome.ok) {
        await taken(plan, outcome, events.length, (sql, now) =>
          addCounts(
            sql,
            events.map(({ type }) => ({ type, sent: 1 })),
            now,
          ),
        )
        return { failed: [] }
      }
      const cause = causeOf(outcome, events.length)
      if (cause === 'target') {
        await failed(outcome, [], events.length)
        return null
      }
      if (cause === 'event') return { failed: [...events] }
      const half = Math.ceil(events.length / 2)
      const left = await send(events.slice(0, half))
      const right = left && (await send(events.slice(half)))
      return left && right && { failed: [...left.failed, ...right.failed] }
    }
    let refused = 0
    for (const part of split(plan, batch.events)) {
      const done = await send(part)
      if (!done) return 'stop'
      refused += done.failed.length
      await keep(sql =>
        addCounts(
          sql,
          done.failed.map(({ type }) => ({ type, failed: 1 })),
          clock(),
        ),
      )
    }
    await keep(sql => replays.done(sql, batch, refused))
    return 'sent'
  }
  return { sendNext, replayNext }
}
