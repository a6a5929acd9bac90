/** How long a piece of work may keep the event loop, in milliseconds. */
const most = 8

const turn = () => new Promise(resolve => setImmediate(resolve))

/** Does something for each of many, and lets other work in between every few milliseconds. */
export const inSlices = async <T>(items: Iterable<T>, work: (item: T, index: number) => void): Promise<void> => {
  let since = performance.now()
  let index = 0
  for (const item of items) {
    work(item, index++)
    // The time is asked for now and then only: asking costs as much as the work itself.
    if (index % 64 === 0 && performance.now() - since > most) {
      await turn()
      since = performance.now()
    }
  }
  // Whoever reads page after page from a storage that answers at once would never let go otherwise.
  await turn()
}
