import { randomInt } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { backoff } from '../../core/backoff.ts'
import { minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Change } from '../../events/events.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { createCanonical } from './canonical.ts'
import type { SiemEvent } from './event.ts'
import { datagramBytes, formatted, streamBytes } from './formats/formats.ts'
import type { Teller } from './formats/formats.ts'
import type { Replays } from './replay.ts'
import {
  addCounts,
  addDelivery,
  addSpan,
  countTry,
  countWaiting,
  dropWaiting,
  forgetWritten,
  keptFor,
  markWritten,
  nextWaiting,
  putOff,
  readState,
  readStateToChange,
  saveState,
  writtenAgain,
} from './siem.store.ts'
import type { State, Waiting } from './siem.store.ts'
import { Unreached } from './line.ts'
import type { Line, Outcome, Target } from './line.ts'
import { createLine } from './transport.ts'

/** What is to be done at the moment. */
export interface Plan {
  readonly target: Target
  readonly batchSize: number
  /** Milliseconds. */
  readonly flushInterval: number
}
export interface Sender {
  /** Sends what is due; to be called often. Concurrent calls share one run. */
  run(): Promise<void>
  /** Ends the connection where another process does the work by now. */
  yield(): Promise<void>
  /** Lets what is under way end, but not for long, and ends the connection in order. */
  close(): Promise<void>
}

/** A single event is refused so often before it is given up. */
const mostRefusals = 10
/** When so many in a row are refused one by one, it is not the events. */
const mostInARow = 20
/** Bytes of one batch, as far as events are not larger themselves: what collectors take by default. */
const batchBytes = 1024 * 1024

const waitAfter = backoff({ first: second, most: minute })
/** When a failed batch is tried again; a fifth more or less, so that many servers do not retry at the same moment. */
const retryDelay = (failures: number): number => Math.round(waitAfter(failures) * (randomInt(80, 121) / 100))

const bytesFor = (target: Target) => (target.way === 'udp' ? datagramBytes : streamBytes)

export const createSender = (needs: {
  db: Database
  clock: Clock
  outgoing: Pick<Outgoing, 'reach'>
  canonical: ReturnType<typeof createCanonical>
  teller: () => Teller
  /** Null while nothing is to be sent: it is off, or without a licence. */
  plan: () => Plan | null
  /** Takes over what the stream brings. */
  collect: () => Promise<void>
  replays: Replays
  /** Whether this process is the one that sends; in a transaction it stays so until its end. */
  leads: Jobs['leads']
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
}): Sender => {
  const { db, clock, canonical, replays, log } = needs
  let line: Line | null = null
  let lineKey = ''
  let closing = false
  let running: Promise<void> | null = null
  let looked = 0
  let swept = 0
  /** Lone refusals since something last went through. */
  let inARow = 0

  /** What became of a batch, kept in one transaction, and only as long as this process is the one that sends. */
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
  const leave = async () => {
    const gone = line
    if (!gone) return
    line = null
    const clean = await gone.end()
    if (clean && (await needs.leads())) await saveState(db.write, { stream_open: 0, connected: 0 })
  }
  /** The connection, opened if there is none; after a broken stream, the events written last are queued again. */
  const connected = async (plan: Plan, state: State): Promise<Line> => {
    const now = (line ??= createLine(plan.target, needs))
    if (now.isOpen()) return now
    const broken = now.brokenAt() ?? (state.stream_open === 1 ? state.last_sent_at : null)
    await now.open()
    await keep(async sql => {
      if (plan.target.way === 'stream' && broken !== null) {
        const since = broken - keptFor
        const rows = await writtenAgain(sql, since)
        await addCounts(
          sql,
          rows.map(({ type }) => ({ type, retried: 1 })),
          clock(),
        )
        await replays.rewind(sql, since)
      }
      // After a refusal only a batch that is taken shows that all is well again.
      const well = state.attempts === 0 || (await countWaiting(sql)) === 0
      await saveState(sql, {
        ...(well ? { connected: 1, attempts: 0, last_error: null, failing_since: null } : {}),
        stream_open: plan.target.way === 'stream' ? 1 : 0,
      })
    })
    return now
  }
  const failed = async (
    outcome: { words: string; status: number | null; retryAfter: number | null; bytes: number },
    ids: readonly number[],
    events: number,
  ) => {
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
  const taken = async (
    plan: Plan,
    outcome: Outcome & { ok: true },
    events: number,
    work: (sql: Change['sql'], now: number) => Promise<void>,
  ) => {
    const now = clock()
    inARow = 0
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
  /** Takes an event that can't be sent out of the queue; a replay of its time sends it again. */
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
    if (outcome.about === 'target' || (rows.length === 1 && inARow >= mostInARow)) {
      await failed(outcome, ids, rows.length)
      return false
    }
    const [first] = rows
    if (rows.length === 1 && first) {
      inARow++
      await refused(first, outcome)
      tally.refused++
      return true
    }
    const half = Math.ceil(rows.length / 2)
    for (const part of [rows.slice(0, half), rows.slice(half)])
      if (closing || !(await sendRows(plan, to, part, messages, tally))) return false
    return true
  }
  const refused = async (row: Waiting, { words, status, bytes }: Outcome & { ok: false }) => {
    const now = clock()
    const over = row.refusals + 1 >= mostRefusals
    const next_try = over ? null : now + retryDelay(row.refusals)
    const error = `event ${canonical.idOf({ id: row.event_id, at: row.at })} is refused: ${words}`
    if (over) {
      log.warn(`given up after ${mostRefusals} tries: ${error}`)
      await giveUp([row])
    } else await keep(sql => putOff(sql, row.id, next_try ?? now))
    await keep(async sql => {
      await addDelivery(sql, { at: now, events: 1, bytes, ok: 0, status, error, next_try })
      await saveState(sql, { last_error: error })
    })
  }
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
  interface Tally {
    sent: number
    refused: number
  }
  /** One batch of what waits, if one is due: full, or its first event has waited long enough. */
  const sendNext = async (plan: Plan, to: Line, flushing: boolean, tally: Tally): Promise<'sent' | 'idle' | 'stop'> => {
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
  /** One batch of a replay, while nothing else is due. */
  const replayNext = async (plan: Plan, to: Line): Promise<'sent' | 'idle' | 'stop'> => {
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
      if (outcome.about === 'target' || (events.length === 1 && inARow >= mostInARow)) {
        await failed(outcome, [], events.length)
        return null
      }
      if (events.length === 1) {
        inARow++
        return { failed: [...events] }
      }
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
  const answerFlush = async (state: State, sent: number) => {
    await keep(async sql => {
      const left = await countWaiting(sql)
      await saveState(sql, { flush_done: state.flush_asked, flush_sent: sent, flush_failed: left })
    })
  }
  const work = async () => {
    const plan = needs.plan()
    if (plan === null || !(await needs.leads())) return leave()
    const key = JSON.stringify(plan.target)
    if (line && key !== lineKey) await leave()
    lineKey = key
    const state = await readState(db.read)
    const flushing = state.flush_asked > state.flush_done
    if (clock() < state.retry_at && !flushing) return noteSpan(false)
    const tally: Tally = { sent: 0, refused: 0 }
    if (flushing) await needs.collect()
    try {
      const to = await connected(plan, state)
      for (;;) {
        if (closing || JSON.stringify(needs.plan()?.target) !== key) break
        const live = await sendNext(plan, to, flushing, tally)
        if (live === 'stop') break
        if (live === 'sent') continue
        if (flushing) break
        const started = performance.now()
        if ((await replayNext(plan, to)) !== 'sent') break
        // Half of the time is for whatever else the target has to do.
        await new Promise(resolve => setTimeout(resolve, Math.min(200, performance.now() - started)))
      }
      const now = clock()
      if (plan.target.way === 'stream' && to.isOpen() && Math.abs(now - swept) > 5 * second) {
        swept = now
        await keep(sql => forgetWritten(sql, now - keptFor))
      }
      const { attempts, connected: well } = await readState(db.read)
      await noteSpan(well === 1 && attempts === 0 && to.isOpen())
    } catch (error) {
      if (!(error instanceof Unreached)) throw error
      const words = `${error.step}: ${error.message}`
      const waiting = (await nextWaiting(db.read, clock(), plan.batchSize)).map(({ id }) => id)
      await failed({ words, status: null, retryAfter: null, bytes: 0 }, waiting, waiting.length)
    }
    if (flushing && !closing) await answerFlush(state, tally.sent)
  }
  const closed = Promise.withResolvers<void>()
  return {
    run() {
      if (closing) return running ?? Promise.resolve()
      const whole = () =>
        work().catch(async (error: unknown) => {
          if (!(error instanceof Lost)) throw error
          await leave()
        })
      running ??= Promise.race([whole(), closed.promise]).finally(() => (running = null))
      return running
    },
    async yield() {
      if (line && !(await needs.leads())) await leave()
    },
    async close() {
      closing = true
      // A receiver that takes longer gets the batch again.
      await Promise.race([running?.catch(() => {}), new Promise(resolve => setTimeout(resolve, second).unref())])
      if (line && !running) await leave().catch(() => {})
      line?.destroy()
      closed.resolve()
    },
  }
}
/** The work is another process's by now: nothing of it may be kept. */
class Lost extends Error {}
