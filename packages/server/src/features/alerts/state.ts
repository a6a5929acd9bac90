import { minute, second } from '../../core/clock.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import type { Finding } from './kinds.ts'
import type { StateRow } from './alerts.store.ts'

/* How one alert goes on from one look to the next: pure, so that a test can play through days. */

/** So many beginnings within this time are flapping. */
const flapping = { onsets: 5, within: 10 * minute } as const
/** A condition must be away for so long before its alert is over, so that a short gap is no recovery. */
const calmFor = 45 * second
/** How long an event is shown as firing. */
const eventFor = 10 * minute

export type AlertState = Omit<StateRow, 'id'>

export interface Terms {
  readonly rule: string
  readonly kind: AlertState['kind']
  readonly severity: AlertState['severity']
  readonly for: number
  readonly isEvent: boolean
}

const onsetsOf = (state: AlertState | undefined, now: number): number[] =>
  (state === undefined ? [] : parseJson(state.onsets)).filter(at => at > now - flapping.within && at <= now)

const begun = (
  { rule, kind, severity }: Terms,
  finding: Finding,
  onsets: readonly number[],
  now: number,
): AlertState => ({
  rule,
  subject: finding.subject,
  server_no: finding.serverNo,
  kind,
  severity,
  state: 'pending',
  title: finding.title,
  detail: finding.detail,
  since: finding.at ?? now,
  absent_since: null,
  fired_at: null,
  resolved_at: null,
  onsets: jsonText(onsets),
  flapping: 0,
  told_at: null,
  told_key: null,
  told_channels: null,
  recovered_on: jsonText([]),
  acked_by: null,
  acked_at: null,
  ack_note: null,
})

const fired = (state: AlertState, terms: Terms, now: number, mayFire: boolean): AlertState => {
  const onsets = parseJson(state.onsets)
  const isFlapping = onsets.length >= flapping.onsets
  if (isFlapping && state.flapping === 0)
    // Told once more, as flapping, unless it was not told yet.
    return { ...state, state: 'firing', flapping: 1, fired_at: state.fired_at ?? now, told_at: null }
  if (state.state === 'firing') return state
  // What happened is no effect of a clock that was set, and nothing finds it a second time.
  return (mayFire || terms.isEvent) && now - state.since >= terms.for
    ? { ...state, state: 'firing', fired_at: now }
    : { ...state, state: 'pending' }
}

const present = (state: AlertState, finding: Finding, terms: Terms, now: number, mayFire: boolean): AlertState => {
  const onsets = onsetsOf(state, now)
  const { title, detail } = finding
  if (state.absent_since === null && state.state !== 'calm')
    return fired({ ...state, title, detail, severity: terms.severity, onsets: jsonText(onsets) }, terms, now, mayFire)
  // It came back. The grace of a pending one begins again.
  const since = state.state === 'firing' ? state.since : now
  const again = { ...state, title, detail, since, absent_since: null, onsets: jsonText([...onsets, now]) }
  return fired({ ...again, state: state.state === 'firing' ? 'firing' : 'pending' }, terms, now, mayFire)
}

/** The state without its condition; null where nothing is left to keep. */
const absent = (state: AlertState, terms: Terms, now: number): AlertState | null => {
  const since = state.absent_since ?? now
  if (state.state === 'firing') {
    const wait = terms.isEvent ? eventFor : state.flapping === 1 ? flapping.within : calmFor
    if (now - since < wait) return { ...state, absent_since: since }
    return { ...state, state: 'resolved', absent_since: null, resolved_at: now, flapping: 0 }
  }
  if (onsetsOf(state, now).length === 0) return null
  return { ...state, state: 'calm', absent_since: since }
}

/**
 * The next state of an alert; null where it is to be forgotten.
 * @param mayFire false for a while after the clock jumped: what seems to hold since long ago may be an effect of the jump
 */
export const advance = (
  state: AlertState | undefined,
  finding: Finding | undefined,
  terms: Terms,
  now: number,
  mayFire = true,
): AlertState | null => {
  if (!finding) return state === undefined ? null : state.state === 'resolved' ? state : absent(state, terms, now)
  if (state === undefined || state.state === 'resolved') {
    // An event that another process saw already.
    if (state && finding.at !== undefined && finding.at <= state.since) return state
    return fired(begun(terms, finding, [...onsetsOf(state, now), now], now), terms, now, mayFire)
  }
  if (finding.at !== undefined && state.state === 'firing') {
    if (finding.at <= state.since) return state
    return { ...state, title: finding.title, detail: finding.detail, absent_since: null }
  }
  return present(state, finding, terms, now, mayFire)
}

/** After the clock jumped, or a long rest: what was pending waits for its whole grace again. */
export const restarted = (state: AlertState, now: number): AlertState => ({
  ...state,
  since: state.state === 'pending' ? now : Math.min(state.since, now),
  absent_since: state.absent_since === null ? null : now,
  onsets: jsonText([]),
})
