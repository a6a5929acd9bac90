import { minute } from '../core/clock.ts'
import type { StockadeEvent } from '../events/events.ts'
import type { Feature, Follow } from '../features/feature.ts'
import type { Job } from '../jobs/jobs.ts'

const isAbout = ({ on }: Follow, { name }: StockadeEvent): boolean =>
  on.some(wanted => (wanted.endsWith('.*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted))

/** Keeps the features' state in memory up to date with what other processes change. */
export const createFollowing = (features: readonly Feature[], log: (error: unknown) => void) => {
  const follows = features.flatMap(({ follow }) => follow ?? [])
  let taking: Promise<unknown> = Promise.resolve()
  const reread: Job = {
    name: 'reread',
    every: minute,
    everywhere: true,
    run: () => Promise.all(follows.map(follow => follow.reload([]))).then(() => {}),
  }
  return {
    /** Lets each feature read what these events changed. */
    take(events: readonly StockadeEvent[]) {
      const work = follows.map(async follow => {
        const relevant = events.filter(event => isAbout(follow, event))
        if (relevant.length > 0) await follow.reload(relevant)
      })
      taking = Promise.all([taking, ...work.map(part => part.catch(log))])
    },
    /** Resolves when everything that was passed to `take` has been read. */
    taken: () => taking,
    reread,
  }
}
