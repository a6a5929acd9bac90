import type { EvenTime } from '../clock.ts'
import { EngineDown } from '../engine/engine.ts'
import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { beat, untilBeat } from '../schedule.ts'
import { createSerial } from '../serial.ts'
import { cleanText, errorText } from '../text.ts'
import { judge, reportable } from './level.ts'
import type { Check, ProtectionLevel, ProtectionReport } from './model.ts'
import { createTracker } from './tracker.ts'
import type { HoldScope, Patience } from './tracker.ts'

/** A check should take at most a twentieth of the time: on a host with very large sets it looks less often. */
const shareOfTime = 20
const maxChecks = 50
const maxDetail = 500
const maxSubject = 200
/** While looks find nothing new, the report is made again after this time, milliseconds: its words may depend on the time. */
const concludeEvery = 30_000

export interface Watch {
  start(): void
  stop(): void
  /** Problems are expected for a while, and wait. */
  hold(scope: HoldScope): void
  /** fail2ban was started again, or a jail was reloaded. */
  forget(): void
  /** Null before the first look at everything. */
  report(): ProtectionReport | null
}

/** Looks at everything that protection depends on, each check at its own interval, and keeps the level. */
export const createWatch = (needs: {
  checks: readonly Check[]
  patience: Patience
  /** The report has changed. `isNews`: a problem began or ended, and not only its words changed. */
  onChange: (report: ProtectionReport, isNews: boolean) => void
  time: EvenTime
  log: Log
}): Watch => {
  const { checks, log } = needs
  const { now } = needs.time
  const timeOf = (at: number): string => new Date(Math.round(needs.time.onClock(at))).toISOString()
  const tracker = createTracker({ now, patience: needs.patience })
  const timers = new Map<Check, NodeJS.Timeout>()
  const inTurn = createSerial()
  const trouble = createOnce(log.debug)
  let isStopped = false
  let isSettled = false
  let level: ProtectionLevel = 'unknown'
  let levelSince = now()
  let lastLogged = ''
  let toldStates = ''
  let concluded = { revision: -1, at: -Infinity }

  const report = (): ProtectionReport | null => {
    if (checks.length > 0 && tracker.entries().length === 0) return null
    const entries = reportable(tracker.entries())
    const count = (...states: string[]): number => entries.filter(({ state }) => states.includes(state)).length
    return {
      level,
      since: timeOf(levelSince),
      summary: shorten(isSettled ? judge(entries).summary : 'The agent is still looking at this server', maxDetail),
      checks: entries
        .filter(({ state }) => state !== 'ok')
        .slice(0, maxChecks)
        .map(({ id, subject, state, since, detail }) => ({
          id,
          subject: subject === null ? null : shorten(subject, maxSubject),
          state: state === 'ok' ? 'unknown' : state,
          since: timeOf(since),
          detail: shorten(detail, maxDetail),
        })),
      counted: { ok: count('ok'), not_ok: count('bad', 'warning'), unknown: count('unknown') },
    }
  }

  const conclude = (): void => {
    const revision = tracker.revision()
    if (revision === concluded.revision && performance.now() - concluded.at < concludeEvery) return
    concluded = { revision, at: performance.now() }
    // While fail2ban is down, the checks that need it cannot be done at all.
    isSettled ||=
      tracker.isSettled(checks) || tracker.entries().some(({ id, state }) => id === 'engine' && state === 'bad')
    const next = isSettled ? judge(tracker.entries()).level : 'unknown'
    const isLevelNew = next !== level
    if (isLevelNew) {
      level = next
      levelSince = now()
    }
    const current = report()
    const text = JSON.stringify(current)
    if (current === null || text === lastLogged) return
    lastLogged = text
    const states = `${level} ${JSON.stringify(current.checks.map(({ id, subject, state }) => [id, subject, state]).sort())}`
    const isNews = isSettled && states !== toldStates
    toldStates = states
    if (isLevelNew) log[level === 'protected' ? 'info' : 'warn'](`this server is ${level}: ${current.summary}`)
    needs.onChange(current, isNews)
  }

  const look = async (check: Check): Promise<void> => {
    const startedAt = performance.now()
    try {
      const findings = await check.look()
      if (findings !== null) tracker.note(check, findings)
    } catch (error) {
      if (!(error instanceof EngineDown)) {
        tracker.fail(check, errorText(error))
        trouble.tell(`the check "${check.id}" fails: ${errorText(error)}`)
      }
    }
    if (isStopped) return
    conclude()
    plan(check, waitAfter(check, performance.now() - startedAt))
  }

  const waitAfter = (check: Check, duration: number): number => {
    const { longestWait } = needs.patience
    // What is mended is told soon, too.
    const every = tracker.isUrgent(check) ? Math.min(check.every, longestWait) / 3 : check.every
    return Math.max(every, Math.min(duration * shareOfTime, longestWait))
  }

  const plan = (check: Check, wait: number): void => {
    const run = (): Promise<void> => (check.needsEngine ? inTurn(() => look(check)) : look(check))
    timers.set(
      check,
      setTimeout(() => void run(), wait < beat ? wait : untilBeat(wait)),
    )
  }

  return {
    start() {
      for (const check of checks) plan(check, 0)
    },
    stop() {
      isStopped = true
      for (const timer of timers.values()) clearTimeout(timer)
    },
    hold: tracker.hold,
    forget() {
      for (const check of checks) check.forget?.()
    },
    report,
  }
}

const shorten = (text: string, length: number): string => {
  const clean = cleanText(text).replace(/\s+/g, ' ')
  return clean.length <= length ? clean : `${clean.slice(0, length - 1)}…`
}
