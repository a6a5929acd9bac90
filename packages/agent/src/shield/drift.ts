/** Less than this is the noise of network and timers. */
const tolerance = 2000

export interface Drift {
  /** The ends in the kernel are set by the clocks of now. */
  settle(): void
  /** True at the second look in a row that finds the clocks apart: the server's time may follow a clock a little later. */
  hasJumped(): boolean
}

/**
 * Compares the server's time with the clock that the kernel's timers follow. They part when somebody sets the clock,
 * when the agent first learns the server's time, and when the host was suspended.
 */
export const createDrift = (clocks: { serverNow: () => number; steadyNow: () => number }): Drift => {
  const difference = (): number => clocks.serverNow() - clocks.steadyNow()
  let settledAt = difference()
  let wasApart = false

  return {
    settle() {
      settledAt = difference()
      wasApart = false
    },
    hasJumped() {
      const isApart = Math.abs(difference() - settledAt) > tolerance
      const hasJumped = isApart && wasApart
      wasApart = isApart
      return hasJumped
    },
  }
}
