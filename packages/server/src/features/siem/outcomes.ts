import { randomInt } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { backoff } from '../../core/backoff.ts'
import { minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Change } from '../../events/events.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { createCanonical } from './canonical.ts'
import type { Outcome } from './line.ts'
import type { Plan } from './plan.ts'
import {
  addCounts,
  addDelivery,
  addSpan,
  countTry,
  dropWaiting,
  putOff,
  readStateToChange,
  saveState,
} from './siem.store.ts'
import type { Waiting } from './siem.store.ts'

/** How often one event may be refused before it is given up, once the target has taken others meanwhile. */
const mostRefusals = 10
/** After this many lone refusals in a row the target is at fault, not the events. */
const mostInARow = 20
/** Rows whose first refusal is kept in memory. */
const mostKnown = 10_000
const waitAfter = backoff({ first: second, most: minute })
/** When a failed batch is tried again; a fifth more or less, so that many servers do not retry at the same moment. */
const retryDelay = (failures: number): number => Math.round(waitAfter(failures) * (randomInt(80, 121) / 100))

/** The work is another process's by now: nothing of it may be kept. */
export class Lost extends Error {}

type Refusal = Outcome & { ok: false }

/** What became of batches: queue, state, counts and deliveries. */
export interface Outcomes {
  /** Keeps it in one transaction, and only as long as this process is the one that sends. @throws Lost */
  keep(work: (sql: Change['sql']) => Promise<void>): Promise<void>
  /** Notes for the share of time that the target was reachable. */
  noteSpan(up: boolean): Promise<void>
  failed(outcome: Omit<Refusal, 'ok' | 'about'>, ids: readonly number[], events: number): Promise<void>
  taken(
    plan: Plan,
    outcome: Outcome & { ok: true },
    events: number,
    work: (sql: Change['sql'], now: number) => Promise<void>,
  ): Promise<void>
  /** Takes events that can't be sent out of the queue; a replay of their time sends them again. */
  giveUp(rows: readonly Waiting[]): Promise<void>
  refused(row: Waiting, outcome: Refusal): Promise<void>
  /** What a refused batch of this many events points to: the target, its only event, or one of several. `row` of a lone event that waits. */
  causeOf(outcome: Refusal, events: number, row?: Waiting): 'target' | 'event' | 'one of them'
  /** Another target is set: what the last one took proves nothing. */
  forget(): void
}

export const createOutcomes = (needs: {
  db: Database
  clock: Clock
  canonical: Pick<ReturnType<typeof createCanonical>, 'idOf'>
  /** Whether this process is the one that sends; in a transaction it stays so until its end. */
  leads: Jobs['leads']
  log: Pick<FastifyBaseLogger, 'warn'>
}): Outcomes => {
  const { db, clock, canonical, log } = needs
  let looked = 0
  /** Lone refusals since something last went through. */
  let inARow = 0
  /** Batches that the target took, and how many they were when a row was first refused. */
  let batchesTaken = 0
  const takenBefore = new Map<number, number>()

  const keep = async (work: (sql: Change['sql']) => Promise<void>): Promise<void> => {
    await db.write.transaction().execute(async sql => {
      if (!(await needs.leads(sql))) throw new Lost()
      await work(sql)
    })
  }
  const noteSpan = async (up: boolean) => {
    const now = clock()
    if (now >= looked && now - looked < 5 * second) return
    looked = now
    await addSpan(db.write, up ? 1 : 0, now)
  }
  const failed = async (outcome: Omit<Refusal, 'ok' | 'about'>, ids: readonly number[], events: number) => {
    const now = clock()
    await keep(async sql => {
      await countTry(sql, ids)
      // The settings may have changed since this attempt began, which resets the count. Rows are locked in the same order as there.
      const state = await readStateToChange(sql, db.engine)
      const retry_at = now + Math.max(outcome.retryAfter ?? 0, retryDelay(state.attempts))
      if (state.attempts === 0) log.warn({ retry_at }, `the SIEM target fails: ${outcome.words}`)
      await saveState(sql, {
        connected: 0,
        attempts: state.attempts + 1,
        retry_at,
        last_error: outcome.words,
        failing_since: state.failing_since ?? now,
      })
      await addDelivery(sql, {
        at: now,
        events,
        bytes: outcome.bytes,
        ok: 0,
        status: outcome.status,
        error: outcome.words,
        next_try: retry_at,
      })
    })
    looked = 0
    await noteSpan(false)
  }
  const recordDelivered = async (
    plan: Plan,
    outcome: Outcome & { ok: true },
    events: number,
    work: (sql: Change['sql'], now: number) => Promise<void>,
  ) => {
    const now = clock()
    inARow = 0
    batchesTaken++
    await keep(async sql => {
      await work(sql, now)
      await saveState(sql, {
        connected: 1,
        attempts: 0,
        retry_at: 0,
        last_error: null,
        failing_since: null,
        last_sent_at: now,
        stream_open: plan.target.way === 'stream' ? 1 : 0,
      })
      const { bytes, status } = outcome
      await addDelivery(sql, { at: now, events, bytes, ok: 1, status, error: null, next_try: null })
    })
  }
  const giveUp = async (rows: readonly Waiting[]) => {
    if (rows.length === 0) return
    await keep(async sql => {
      const gone = await dropWaiting(
        sql,
        rows.map(({ id }) => id),
      )
      await addCounts(
        sql,
        gone.map(({ type, counted }) => ({ type, failed: 1 - counted })),
        clock(),
      )
    })
  }
  const noteRefusal = (id: number): void => {
    const [oldest] = takenBefore.keys()
    if (takenBefore.size >= mostKnown && oldest !== undefined) takenBefore.delete(oldest)
    takenBefore.set(id, batchesTaken)
  }
  const refused = async (row: Waiting, { words, status, bytes }: Refusal) => {
    const now = clock()
    const before = takenBefore.get(row.id)
    if (before === undefined) noteRefusal(row.id)
    // Whoever refuses one event takes others. A target that took nothing since may refuse whatever it is sent.
    const isProven = before !== undefined && batchesTaken > before
    const over = isProven && row.refusals + 1 >= mostRefusals
    const next_try = over ? null : now + retryDelay(row.refusals)
    const error = `event ${canonical.idOf({ id: row.event_id, at: row.at })} is refused: ${words}`
    if (over) {
      log.warn(`given up after ${row.refusals + 1} tries: ${error}`)
      takenBefore.delete(row.id)
      await giveUp([row])
    } else await keep(sql => putOff(sql, row.id, next_try ?? now))
    const isDown = before !== undefined && !isProven
    await keep(async sql => {
      await addDelivery(sql, { at: now, events: 1, bytes, ok: 0, status, error, next_try })
      const state = await readStateToChange(sql, db.engine)
      if (isDown && state.attempts === 0) log.warn(`the SIEM target takes nothing: ${error}`)
      await saveState(sql, {
        last_error: error,
        ...(isDown ? { connected: 0, attempts: state.attempts + 1, failing_since: state.failing_since ?? now } : {}),
      })
    })
  }
  const causeOf: Outcomes['causeOf'] = ({ about }, events, row) => {
    if (about === 'target') return 'target'
    if (events > 1) return 'one of them'
    // Tried again by itself, it says nothing new, and must not keep the target from what comes after it.
    if (row && takenBefore.has(row.id)) return 'event'
    if (inARow >= mostInARow) return 'target'
    inARow++
    return 'event'
  }
  const forget = () => {
    inARow = 0
    takenBefore.clear()
  }
  return { keep, noteSpan, failed, taken: recordDelivered, giveUp, refused, causeOf, forget }
}
