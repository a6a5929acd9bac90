import * as fs from 'node:fs'
import { uptime } from 'node:os'
import { readOr } from '@stockade/contract/untrusted.ts'

/** Two clocks of a host, in milliseconds: one that people and NTP set, and one that nobody sets. */
export interface Clocks {
  readonly now: () => number
  readonly steadyNow: () => number
}

/** A shorter sleep is the noise of two clocks that are read one after the other. */
const leastSleep = 2000
/** A sleep sets the host's clock ahead of Node's own by more than this, in milliseconds; so does somebody who sets it. */
const leastApart = 1000
/** The time since the boot is read again after this time, whatever the host's clock says. Milliseconds. */
const betweenLooks = 60_000

/**
 * A clock that nobody sets. It goes on while the host is suspended, which Node's own does not. The time since the boot comes from a file of
 * the kernel, and the agent asks for the time several times a second, so the file is read only when there may have been a sleep.
 */
export const createSteadyClock = (
  sources: { awake: () => number; booted: () => number; wall: () => number } = {
    awake: () => performance.now(),
    booted: () => uptime() * 1000,
    wall: Date.now,
  },
): (() => number) => {
  const { awake, booted, wall } = sources
  let lookedAt = awake()
  let wallApart = wall() - lookedAt
  const first = booted() - lookedAt
  let slept = 0
  return () => {
    const at = awake()
    const wallNow = wall() - at
    if (at - lookedAt >= betweenLooks || Math.abs(wallNow - wallApart) > leastApart) {
      lookedAt = at
      wallApart = wallNow
      const apart = booted() - at - first
      if (Math.abs(apart - slept) > leastSleep) slept = apart
    }
    return at + slept
  }
}

export const steadyNow = createSteadyClock()

/** Changes with each start of the host; "" where the kernel does not say. */
export const bootOfHost = (): string =>
  readOr('', () => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())

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
