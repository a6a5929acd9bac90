import type { Check, Entry, Finding, State } from './model.ts'

/** How patient the states are, in milliseconds. */
export interface Patience {
  /** A problem is over after this time without it. */
  readonly okAfter: number
  /** The same for a subject that changes all the time. */
  readonly steadyAfter: number
  /** A check that fails is reported after this time. */
  readonly failedAfter: number
  /** How long a restart of fail2ban, or a command, lets problems wait. */
  readonly hold: number
  /** A problem that lasts longer than this counts in spite of holds. */
  readonly longestHold: number
  /** A check that takes long waits no longer than this, or its own interval, for its next look: a problem is told within a minute. */
  readonly longestWait: number
}

export const defaultPatience: Patience = {
  okAfter: 9000,
  steadyAfter: 600_000,
  failedAfter: 300_000,
  hold: 40_000,
  longestHold: 180_000,
  longestWait: 15_000,
}

const hour = 3_600_000
/** A subject with more problems than this in an hour is unstable. */
const calmProblems = 3
const failureKey = 'failure'

/** A command of the server may take fail2ban away; a start of fail2ban only leaves gaps behind it. */
export type HoldScope = 'everything' | 'engine'

interface Track {
  readonly check: Check
  readonly subject: string | null
  readonly isFailure: boolean
  /** Null before the first state is certain. */
  state: State | null
  since: number
  detail: string
  pending: { readonly state: State; readonly since: number; looks: number; detail: string } | null
  /** When its problems of the last hour began. */
  problems: number[]
}

export interface Tracker {
  note(check: Check, findings: readonly Finding[]): void
  fail(check: Check, reason: string): void
  /** Problems wait for a while: all of them, or those of what depends on fail2ban. */
  hold(scope: HoldScope): void
  entries(): Entry[]
  /** Whether a state of this check is about to change, or is bad, so that the next look should come early. */
  isUrgent(check: Check): boolean
  /** Whether every check has a first state that is certain. */
  isSettled(checks: readonly Check[]): boolean
  /** Another number whenever a look found something else than the one before. */
  revision(): number
}

/** Turns looks into states: a problem counts only when it lasts, and it is over only when it stays away. */
export const createTracker = (needs: { now: () => number; patience: Patience }): Tracker => {
  const { now, patience } = needs
  const tracks = new Map<string, Track>()
  const lookedAt = new Set<Check>()
  let revision = 0
  const heldUntil = { everything: -Infinity, engine: -Infinity }

  const trackOf = (check: Check, subject: string | null, isFailure: boolean): Track => {
    const key = `${check.id}|${isFailure ? failureKey : `of ${subject ?? ''}`}`
    const knownTrack = tracks.get(key)
    if (knownTrack) return knownTrack
    const track: Track = {
      check,
      subject,
      isFailure,
      state: null,
      since: now(),
      detail: '',
      pending: null,
      problems: [],
    }
    tracks.set(key, track)
    revision += 1
    return track
  }

  const see = (check: Check): void => {
    if (lookedAt.has(check)) return
    lookedAt.add(check)
    revision += 1
  }

  const isSteady = (track: Track): boolean => {
    track.problems = track.problems.filter(at => at > now() - hour)
    return track.problems.length <= calmProblems
  }

  const isDue = (track: Track, state: State, since: number, looks: number): boolean => {
    const lasted = now() - since
    if (state === 'ok')
      return track.state === null || lasted >= (isSteady(track) ? patience.okAfter : patience.steadyAfter)
    if (track.isFailure) return lasted >= patience.failedAfter
    const until = track.check.needsEngine ? Math.max(heldUntil.everything, heldUntil.engine) : heldUntil.everything
    const isHeld = now() < until && lasted < patience.longestHold
    return !isHeld && lasted >= track.check.badAfter && looks >= track.check.looks
  }

  const observe = (track: Track, { state, detail }: Omit<Finding, 'subject'>): void => {
    if (state === track.state && detail === track.detail && track.pending === null) return
    revision += 1
    if (state === track.state) {
      track.pending = null
      track.detail = detail
      return
    }
    if (track.pending?.state !== state) track.pending = { state, since: now(), looks: 0, detail }
    track.pending.looks += 1
    track.pending.detail = detail
    if (!isDue(track, state, track.pending.since, track.pending.looks)) return
    if (state !== 'ok') track.problems.push(now())
    Object.assign(track, { state, since: track.pending.since, detail, pending: null })
  }

  return {
    note(check, findings) {
      see(check)
      for (const finding of findings) observe(trackOf(check, finding.subject, false), finding)
      for (const [key, track] of tracks) {
        if (track.check !== check || (!track.isFailure && findings.some(({ subject }) => subject === track.subject)))
          continue
        observe(track, { state: 'ok', detail: '' })
        if (track.state === 'ok' && isSteady(track)) {
          tracks.delete(key)
          revision += 1
        }
      }
    },
    fail(check, reason) {
      see(check)
      observe(trackOf(check, null, true), { state: 'unknown', detail: `the check "${check.id}" fails: ${reason}` })
    },
    hold(scope) {
      heldUntil[scope] = now() + patience.hold
    },
    entries: () =>
      [...tracks.values()].flatMap(track => {
        const { check, subject, state, since, detail, isFailure } = track
        if (state === null) return []
        const note = state === 'ok' || isSteady(track) ? '' : ` (unstable: ${track.problems.length} times in an hour)`
        return [
          {
            id: check.id,
            needsEngine: check.needsEngine,
            subject,
            state,
            since,
            detail: `${detail}${note}`,
            isFailure,
          },
        ]
      }),
    isUrgent: check =>
      [...tracks.values()].some(track => track.check === check && (track.pending !== null || track.state === 'bad')),
    isSettled: checks =>
      checks.every(check => lookedAt.has(check)) && [...tracks.values()].every(({ state }) => state !== null),
    revision: () => revision,
  }
}
