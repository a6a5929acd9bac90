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

/**
 * For work that nobody sees as one loop, such as the statements of a database that answers at once: call it before each piece,
 * and wait as long as it answers a promise. It does where this turn of the event loop has lasted for some milliseconds since its
 * first piece.
 */
export const createTurnPause = (): (() => Promise<void> | undefined) => {
  let since: number | null = null
  const begin = () => {
    since = performance.now()
    setImmediate(() => (since = null))
  }
  return () => {
    if (since !== null) return performance.now() - since > most ? turn() : undefined
    begin()
    return undefined
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

/** Items that are sorted at once: a few milliseconds. */
const run = 4096
/** Sorts many items as `sort` does, and yields to the event loop between parts. */
export const sortInSlices = async <T>(items: readonly T[], compare: (a: T, b: T) => number): Promise<readonly T[]> => {
  const runs: T[][] = []
  for (let from = 0; from < items.length; from += run) runs.push(items.slice(from, from + run))
  await inSlices(runs, part => void part.sort(compare))
  let left: readonly (readonly T[])[] = runs
  while (left.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < left.length; at += 2)
      merged.push(await mergeInSlices(left[at] ?? [], left[at + 1] ?? [], compare))
    left = merged
  }
  return left[0] ?? []
}
/** Of equal items those of the first list come first. */
const mergeInSlices = async <T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
): Promise<T[]> => {
  const merged: T[] = []
  let at = 0
  await inSlices(one, item => {
    for (let next = other[at]; at < other.length && next !== undefined && compare(next, item) < 0; next = other[++at])
      merged.push(next)
    merged.push(item)
  })
  return merged.concat(other.slice(at))
}
