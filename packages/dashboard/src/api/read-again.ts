/** How often data is read again, in milliseconds. */
export interface Pace {
  readonly pause: number
  /** The longest pause, which a storm of messages reaches. */
  readonly most: number
}
export type ReadAgain = (key: readonly string[], pace: Pace) => void

interface Reads {
  readonly at: number
  readonly pause: number
  /** Reads in this storm. */
  readonly count: number
  readonly isDue: boolean
}

/**
 * Reads at once the first time, then at most once a pause. While messages keep coming the pause doubles: a storm of bans must
 * not become a storm of requests.
 */
export const pacedReads = (read: (key: readonly string[]) => void): ReadAgain => {
  const byKey = new Map<string, Reads>()
  return (key, { pause, most }) => {
    const name = key.join(' ')
    const last = byKey.get(name)
    if (last?.isDue) return
    const now = Date.now()
    // The clock may have been set back.
    const passed = last ? Math.abs(now - last.at) : Infinity
    const count = last && passed <= 2 * last.pause ? last.count + 1 : 0
    const next = { pause: Math.min(most, pause * 2 ** Math.max(0, count - 1)), count }
    const done = () => {
      byKey.set(name, { ...next, at: Date.now(), isDue: false })
      read(key)
    }
    const rest = count === 0 ? 0 : next.pause - passed
    if (rest <= 0) return done()
    byKey.set(name, { ...next, at: now, isDue: true })
    setTimeout(done, rest)
  }
}
