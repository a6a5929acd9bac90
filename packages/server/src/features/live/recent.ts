import { randomBytes } from 'node:crypto'
import type { StockadeEvent } from '../../events/events.ts'

/** An event with its number in this process. */
export interface Numbered {
  readonly number: number
  readonly event: StockadeEvent
}
/** The last events of the feed, for clients that connect a moment after they have read the data. */
export interface RecentEvents {
  add(event: StockadeEvent): Numbered
  /** The number of the last event. */
  readonly last: () => number
  /** Where the feed stands, as a client gives it back. */
  position(): string
  /** What came after a position; null where that is not known any more, or is one of another process. */
  after(position: string): readonly Numbered[] | null
}
/** Events that a client may have missed; more of them cost more than reading again. */
const mostKept = 500

export const createRecentEvents = (): RecentEvents => {
  const process = randomBytes(8).toString('hex')
  let recentEvents: Numbered[] = []
  let last = 0
  return {
    add(event) {
      const numbered = { number: ++last, event }
      recentEvents.push(numbered)
      if (recentEvents.length > mostKept * 2) recentEvents = recentEvents.slice(-mostKept)
      return numbered
    },
    last: () => last,
    position: () => `${process}-${last}`,
    after(position) {
      const [, name, number] = /^([0-9a-f]+)-(\d{1,15})$/.exec(position) ?? []
      const from = Number(number)
      if (name !== process || from > last || last - from > Math.min(mostKept, recentEvents.length)) return null
      return recentEvents.filter(numbered => numbered.number > from)
    },
  }
}
