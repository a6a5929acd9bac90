/**
 * Guards what is kept in memory against reads that overtake each other: what a read found is taken over only when no
 * later one has been taken over meanwhile. Without it a slow read would bring back what a quicker one saw removed.
 */
export const createLatest = (): {
  <T>(read: () => Promise<T>, take: (found: T) => void): Promise<void>
  /** Rises with every read that was taken over. */
  taken(): number
} => {
  let begun = 0
  let lastApplied = 0
  const latest = async <T>(read: () => Promise<T>, take: (found: T) => void): Promise<void> => {
    const mine = ++begun
    const value = await read()
    if (mine < lastApplied) return
    lastApplied = mine
    take(value)
  }
  return Object.assign(latest, { taken: () => lastApplied })
}
