import { unavailable } from './problem.ts'

/**
 * Items that are written together: idle, at once; while a write runs the next batch forms. Those who were answered come
 * back with their next item a moment later: the next write waits for as many as these and those who came meanwhile, at
 * most half as long as the last write took, so that the batches do not fall into halves. It never waits when idle, nor
 * after a quick write, nor when a whole batch is there.
 */
export interface Group<Item, Result> {
  /** Resolves when the item's batch is durable. @throws Problem 503 when too much waits already. */
  add(items: readonly Item[]): Promise<Result[]>
  /** Resolves when nothing waits any more. */
  drain(): Promise<void>
}

/** Timers know no finer than a millisecond: below this a wait costs more than it brings. */
const shortestWait = 0.5

/** Lets the event loop take in what has arrived. */
const turn = () => new Promise(resolve => setImmediate(resolve))

export const createGroup = <Item, Result>(
  write: (items: readonly Item[]) => Promise<Result[]>,
  limits: { readonly batch: number; readonly waiting: number },
  /** Whether a failure is about what was to be written; one of the storage itself fails everybody alike, and at once. */
  isOfContent: (error: unknown) => boolean = () => true,
): Group<Item, Result> => {
  interface Entry {
    readonly items: readonly Item[]
    readonly resolve: (results: Result[]) => void
    readonly reject: (error: unknown) => void
  }
  let queue: Entry[] = []
  let size = 0
  let running: Promise<void> | null = null

  const next = (): Entry[] => {
    const batch: Entry[] = []
    let items = 0
    for (const entry of queue) {
      if (batch.length > 0 && items + entry.items.length > limits.batch) break
      batch.push(entry)
      items += entry.items.length
    }
    queue = queue.slice(batch.length)
    size -= items
    return batch
  }
  const settle = async (batch: readonly Entry[]) => {
    try {
      const results = await write(batch.flatMap(entry => entry.items))
      let start = 0
      for (const entry of batch) {
        entry.resolve(results.slice(start, start + entry.items.length))
        start += entry.items.length
      }
    } catch (error) {
      // One request's rows must not fail its neighbours': each is tried alone, and the one at fault fails alone.
      if (batch.length > 1 && isOfContent(error)) for (const entry of batch) await settle([entry])
      else for (const entry of batch) entry.reject(error)
    }
  }
  /** Called with each arrival while the next batch gathers. */
  let arrived: (() => void) | null = null
  const gathered = (wanted: number, patience: number) =>
    new Promise<void>(resolve => {
      const done = () => {
        clearTimeout(timer)
        arrived = null
        resolve()
      }
      const timer = setTimeout(done, patience)
      arrived = () => {
        if (queue.length >= wanted) done()
      }
    })
  const work = async () => {
    // What arrives in the same turn of the event loop goes into the same transaction.
    await turn()
    while (queue.length > 0) {
      const batch = next()
      const started = performance.now()
      await settle(batch)
      const patience = (performance.now() - started) / 2
      // All who are about: those who were answered just now, and those who came meanwhile.
      const about = Math.min(limits.batch, batch.length + queue.length)
      await turn()
      if (about > 1 && patience >= shortestWait && queue.length < about) await gathered(about, patience)
    }
    running = null
  }
  return {
    add(items) {
      if (items.length === 0) return Promise.resolve([])
      if (size + items.length > limits.waiting)
        return Promise.reject(unavailable('Too many reports wait to be written. Try again in a moment.'))
      return new Promise((resolve, reject) => {
        queue.push({ items, resolve, reject })
        size += items.length
        arrived?.()
        running ??= work()
      })
    },
    async drain() {
      while (running) await running
    },
  }
}
