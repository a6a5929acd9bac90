/**
 * Gathers changes that come while another batch runs. `work` gets all that wait and throws to reject them; a batch that
 * fails is tried again in halves, so that one bad change does not hold up the others.
 */
export const createBatches = <T>(
  inTurn: (work: () => Promise<void>) => Promise<void>,
  work: (changes: readonly T[]) => Promise<void>,
): ((change: T) => Promise<void>) => {
  interface Waiting {
    readonly change: T
    readonly settle: (error?: unknown) => void
  }
  let waiting: Waiting[] = []

  const attempt = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      await work(batch.map(({ change }) => change))
      for (const { settle } of batch) settle()
    } catch (error) {
      if (batch.length === 1) return batch[0]?.settle(error)
      const middle = batch.length >> 1
      await attempt(batch.slice(0, middle))
      await attempt(batch.slice(middle))
    }
  }

  return change =>
    new Promise((resolve, reject) => {
      waiting.push({ change, settle: error => (error === undefined ? resolve() : reject(error)) })
      if (waiting.length > 1) return
      void inTurn(async () => {
        const batch = waiting
        waiting = []
        await attempt(batch)
      })
    })
}
