/** Milliseconds a slice may hold the event loop. */
const most = 8
/** Reading the clock costs as much as a fast item, so it is read after eight items that together took less than this many milliseconds. */
const fast = { items: 8, took: 0.5 } as const

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

/** For loops that wait for their items: call it after each one, and it yields to the event loop every few milliseconds. */
export const createPause = (): (() => Promise<void> | undefined) => {
  let since = performance.now()
  return () => {
    if (performance.now() - since <= most) return undefined
    return turn().then(() => void (since = performance.now()))
  }
}

/** Processes many items and yields to the event loop every few milliseconds, however long an item takes. */
export const inSlices = async <T>(items: Iterable<T>, work: (item: T, index: number) => void): Promise<void> => {
  let since = performance.now()
  let lookedAt = since
  let untilLook = 1
  let index = 0
  for (const item of items) {
    work(item, index++)
    if (--untilLook > 0) continue
    const now = performance.now()
    untilLook = now - lookedAt < fast.took ? fast.items : 1
    lookedAt = now
    if (now - since <= most) continue
    await turn()
    since = performance.now()
    lookedAt = since
  }
  // A caller that reads page after page from storage that answers at once would otherwise never yield.
  await turn()
}
