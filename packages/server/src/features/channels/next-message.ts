import { minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseJson, parseJsonOrNull } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Message, Notice, RecentlyTold } from '../../db/tables/message.ts'
import { digestOf, isBurst } from './message.ts'
import type { Burst, Site } from './message.ts'
import { firstOf, overflowOf, waitingOn } from './queue.store.ts'
import type { DeliveryState, QueueName, Waiting } from './queue.store.ts'

/* What a channel is sent next: one message, or many notices of a burst as one. */

/** More messages than this within this time are sent as one digest. */
const burst = { most: 5, within: 10 * minute } as const
const listedInDigest = 25

export interface NextMessage {
  readonly waiting: Waiting
  readonly message: Message
  /** The row, or the last one of many. */
  readonly id: number
  readonly createdAt: number
  /** Null for a single message; else how many notices of the digest were only counted. */
  readonly counted: number | null
  /** Those who have not got it yet; null for all of the channel. */
  readonly recipients: readonly string[] | null
}

/** Those of one event; the others are never sent together. */
const isNotice = (message: Message): message is Notice => 'row' in message

const recentOf = (state: DeliveryState, category: Burst, now: number): RecentlyTold => {
  const recent = parseJson(state.recent)[category] ?? { singles: [], digest: 0 }
  const since = now - burst.within
  return { singles: recent.singles.filter(at => at > since), digest: recent.digest > since ? recent.digest : 0 }
}
/** What was sent lately, once a message was sent. */
export const recentAfter = (state: DeliveryState, { waiting, counted }: NextMessage, now: number) => {
  const { category } = waiting
  const recent = { ...parseJson(state.recent) }
  if (!isBurst(category)) return recent
  const before = recentOf(state, category, now)
  recent[category] = counted === null ? { ...before, singles: [...before.singles, now] } : { ...before, digest: now }
  return recent
}
/** One by one while they are few. Many are sent together, and not before the time of the burst is over. */
const wayOf = (state: DeliveryState, waiting: Waiting, counted: number, now: number): 'single' | 'digest' | 'wait' => {
  if (!isBurst(waiting.category)) return 'single'
  const { singles, digest } = recentOf(state, waiting.category, now)
  const n = waiting.n + counted
  if (digest === 0 && singles.length + n <= burst.most) return 'single'
  if (digest === 0 && n > burst.most) return 'digest'
  if (now - waiting.oldest < burst.within) return 'wait'
  return n === 1 ? 'single' : 'digest'
}

export const createNextMessage =
  ({ db, clock, site }: { db: Pick<Database, 'read'>; clock: Clock; site: () => Site }) =>
  /** The oldest of what is due on a queue; null where nothing is, or where a burst has to wait. */
  async (queue: QueueName, state: DeliveryState): Promise<NextMessage | null> => {
    const now = clock()
    for (const waiting of (await waitingOn(db.read, queue, now)).sort((a, b) => a.first - b.first)) {
      const { category } = waiting
      const overflow = isBurst(category) ? await overflowOf(db.read, queue, category) : 0
      const way = wayOf(state, waiting, overflow, now)
      if (way === 'wait') continue
      const rows = await firstOf(db.read, queue, category, way === 'single' ? 1 : listedInDigest, now)
      const [first] = rows
      if (!first) continue
      const messages = rows.map(row => parseJson(row.content))
      const [single] = messages
      if (!single) continue
      const head = { waiting, createdAt: Number(first.created_at) }
      if (way === 'single' || !isBurst(category))
        return { ...head, message: single, id: first.id, counted: null, recipients: parseJsonOrNull(first.recipients) }
      const message = digestOf(category, messages.filter(isNotice), waiting.n + overflow, site())
      // Rows added since the count belong to the next digest; ids rise, because one process at a time queues.
      return { ...head, message, id: waiting.last, counted: overflow, recipients: null }
    }
    return null
  }
