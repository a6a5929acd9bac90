/** Milliseconds a slice may hold the event loop. */
const most = 8

const turn = () => new Promise(resolve => setImmediate(resolve))

/** Processes many items and yields to the event loop every few milliseconds. */
export const inSlices = async <T>(items: Iterable<T>, work: (item: T, index: number) => void): Promise<void> => {
  let since = performance.now()
  let index = 0
  for (const item of items) {
    work(item, index++)
    // Reading the clock costs as much as the work itself, so it is read now and then.
    if (index % 64 === 0 && performance.now() - since > most) {
      await turn()
      since = performance.now()
    }
  }
  // A caller that reads page after page from storage that answers at once would otherwise never yield.
  await turn()
}
