import { uptime } from 'node:os'

/** Two clocks of a host, in milliseconds: one that people and NTP set, and one that nobody sets. */
export interface Clocks {
  readonly now: () => number
  readonly steadyNow: () => number
}

/** A shorter sleep is the noise of two clocks that are read one after the other. */
const leastSleep = 2000
/**
 * Milliseconds in which the time since the boot is not read again: it comes from a file of the kernel, and a check of protection asks for the
 * time dozens of times in one turn.
 */
const betweenLooks = 10

/** A clock that nobody sets. It goes on while the host is suspended, which Node's own does not. */
export const createSteadyClock = (
  sources: { awake: () => number; booted: () => number } = {
    awake: () => performance.now(),
    booted: () => uptime() * 1000,
  },
): (() => number) => {
  const { awake, booted } = sources
  let lookedAt = awake()
  const first = booted() - lookedAt
  let slept = 0
  return () => {
    const at = awake()
    if (at - lookedAt >= betweenLooks) {
      lookedAt = at
      const apart = booted() - at - first
      if (Math.abs(apart - slept) > leastSleep) slept = apart
    }
    return at + slept
  }
}

export const steadyNow = createSteadyClock()

/** Less than this is no step: NTP moves a clock slowly, and the steady one with it. */
const leastStep = 500

export interface Steps {
  /** By how much the clock was set since the last `take`, in milliseconds. */
  since(): number
  /** Returns the same, and starts counting again. */
  take(): number
}

/** Notices that somebody set the host's clock. */
export const createSteps = ({ now, steadyNow }: Clocks): Steps => {
  let settledAt = now() - steadyNow()
  const since = (): number => {
    const step = Math.round(now() - steadyNow() - settledAt)
    return Math.abs(step) < leastStep ? 0 : step
  }
  return {
    since,
    take() {
      const step = since()
      if (step !== 0) settledAt += step
      return step
    },
  }
}

export interface EvenTime {
  /** The host's time as if nobody set its clock since the start: for delays, which must not depend on it. */
  now(): number
  /** A time of `now` as the host's clock tells it. */
  onClock(at: number): number
}

export const createEvenTime = (clocks: Clocks): EvenTime => {
  const startedAt = clocks.now() - clocks.steadyNow()
  const steps = createSteps(clocks)
  let moved = 0
  return {
    now: () => startedAt + clocks.steadyNow(),
    onClock: at => at + (moved += steps.take()),
  }
}
