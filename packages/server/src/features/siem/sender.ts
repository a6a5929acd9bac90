import type { FastifyBaseLogger } from 'fastify'
import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { createCanonical } from './canonical.ts'
import { createBatches } from './batches.ts'
import type { Tally } from './batches.ts'
import type { Teller } from './formats/formats.ts'
import { Lost, createOutcomes } from './outcomes.ts'
import type { Plan } from './plan.ts'
import type { Replays } from './replay.ts'
import {
  addCounts,
  countWaiting,
  forgetWritten,
  keptFor,
  nextWaiting,
  readState,
  saveState,
  writtenAgain,
} from './siem.store.ts'
import type { State } from './siem.store.ts'
import { Unreached } from './line.ts'
import type { Line } from './line.ts'
import { createLine } from './transport.ts'

export interface Sender {
  /** Sends what is due; to be called often. Concurrent calls share one run. */
  run(): Promise<void>
  /** Ends the connection where another process does the work by now. */
  yield(): Promise<void>
  /** Lets what is under way end, but not for long, and ends the connection in order. */
  close(): Promise<void>
}

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
  const { db, clock, replays } = needs
  let line: Line | null = null
  let lineKey = ''
  let closing = false
  let running: Promise<void> | null = null
  let swept = 0
  const outcomes = createOutcomes(needs)
  const { keep, noteSpan, failed } = outcomes
  const { sendNext, replayNext } = createBatches({ ...needs, outcomes, isClosing: () => closing })

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
  const answerFlush = async (state: State, sent: number) => {
    await keep(async sql => {
      const left = await countWaiting(sql)
      await saveState(sql, { flush_done: state.flush_asked, flush_sent: sent, flush_failed: left })
    })
  }
  /** Sends until nothing is due, the target fails, or another target is set. */
  const sendAll = async (plan: Plan, to: Line, flushing: boolean, tally: Tally): Promise<void> => {
    while (!closing && JSON.stringify(needs.plan()?.target) === lineKey) {
      const live = await sendNext(plan, to, flushing, tally)
      if (live === 'sent') continue
      if (live === 'stop' || flushing) return
      const started = performance.now()
      if ((await replayNext(plan, to)) !== 'sent') return
      // Half of the time is for whatever else the target has to do.
      await new Promise(resolve => setTimeout(resolve, Math.min(200, performance.now() - started)))
    }
  }
  /** Forgets what was written to a stream long enough ago. */
  const sweepWritten = async (plan: Plan, to: Line) => {
    const now = clock()
    if (plan.target.way !== 'stream' || !to.isOpen() || Math.abs(now - swept) <= 5 * second) return
    swept = now
    await keep(sql => forgetWritten(sql, now - keptFor))
  }
  const noteUnreached = async (plan: Plan, { step, message }: Unreached) => {
    const waiting = (await nextWaiting(db.read, clock(), plan.batchSize)).map(({ id }) => id)
    await failed({ words: `${step}: ${message}`, status: null, retryAfter: null, bytes: 0 }, waiting, waiting.length)
  }
  const work = async () => {
    const plan = needs.plan()
    if (plan === null || !(await needs.leads())) return leave()
    const key = JSON.stringify(plan.target)
    if (line && key !== lineKey) await leave()
    if (key !== lineKey) outcomes.forget()
    lineKey = key
    const state = await readState(db.read)
    const flushing = state.flush_asked > state.flush_done
    if (clock() < state.retry_at && !flushing) return noteSpan(false)
    const tally: Tally = { sent: 0, refused: 0 }
    if (flushing) await needs.collect()
    try {
      const to = await connected(plan, state)
      await sendAll(plan, to, flushing, tally)
      await sweepWritten(plan, to)
      const { attempts, connected: well } = await readState(db.read)
      await noteSpan(well === 1 && attempts === 0 && to.isOpen())
    } catch (error) {
      if (!(error instanceof Unreached)) throw error
      await noteUnreached(plan, error)
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
