/* What is known of the connection to the server, as a pure function of what happened to it. */

export type Phase =
  /** Before the first answer. */
  | 'starting'
  /** Messages arrive. */
  | 'live'
  /** Connected again: what was missed is being fetched. */
  | 'catching-up'
  /** The server answers, the live feed does not get through: asked at intervals. */
  | 'polling'
  /** Nothing answers. */
  | 'offline'

export interface LiveState {
  readonly phase: Phase
  /** Since when, in milliseconds. */
  readonly since: number
  /** Whether the feed was open before: then something may have been missed. */
  readonly before: boolean
}

/** `resumed`: opened, and nothing that came since the data was read is missed. */
export type Happening = 'opened' | 'resumed' | 'caught up' | 'fell behind' | 'closed' | 'answered' | 'no answer'

export const starting = (at: number): LiveState => ({ phase: 'starting', since: at, before: false })

export const next = (state: LiveState, what: Happening, at: number): LiveState => {
  const to = (phase: Phase, before = state.before): LiveState =>
    phase === state.phase && before === state.before ? state : { phase, since: at, before }
  switch (what) {
    case 'opened':
      return to('catching-up', true)
    case 'resumed':
      return to('live', true)
    case 'caught up':
      return state.phase === 'catching-up' ? to('live') : state
    case 'fell behind':
      return state.phase === 'live' ? to('catching-up') : state
    case 'closed':
      // One lost connection is not an outage yet: the next request tells.
      return state.phase === 'live' || state.phase === 'catching-up' ? to('polling') : state
    case 'answered':
      return state.phase === 'offline' || state.phase === 'starting' ? to('polling') : state
    case 'no answer':
      return to('offline')
  }
}

/** Until the next try to connect: doubled each time up to half a minute, jittered so that browsers don't come all at once. */
export const backOff = (attempt: number, random: number): number =>
  Math.min(30_000, 1000 * 2 ** attempt) * (0.5 + random / 2)
