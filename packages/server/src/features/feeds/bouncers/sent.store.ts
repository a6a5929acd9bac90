import { gunzip, gzip } from 'node:zlib'
import { promisify } from 'node:util'
import { day, minute } from '../../../core/clock.ts'
import { parseJson } from '../../../core/json-text.ts'
import type { Database } from '../../../db/database.ts'
import type { Changes } from './changes.ts'

type Removal = readonly [entry: string, at: number]
export interface SentFeeds {
  /** What bouncers were sent before this process began and what ended since then, or shortly before then. */
  before(feedId: number, now: number): Promise<{ readonly entry: string; readonly at: number }[]>
  /** Notes what they are sent; at most once a minute unless it is the last time. */
  save(feedId: number, changes: Changes, now: number, how?: { readonly isLast: boolean }): Promise<void>
}

const [pack, unpack] = [promisify(gzip), promisify(gunzip)]

/** What bouncers hold, as far as a process knows: a new one tells them what ended while none ran. */
export const createSentFeeds = ({ db }: { readonly db: Pick<Database, 'read' | 'write'> }): SentFeeds => {
  const saved = new Map<number, { readonly seq: number; readonly at: number }>()
  return {
    async before(feedId, now) {
      const row = await db.read.selectFrom('feeds_sent').selectAll().where('feed_id', '=', feedId).executeTakeFirst()
      if (!row || now - row.saved_at >= day) return []
      const text = (await unpack(Buffer.from(row.content, 'base64'))).toString()
      const { held, removed } = parseJson<{ held: string[]; removed: Removal[] }>(text as never)
      const ended = removed.filter(([, at]) => now - at < day).map(([entry, at]) => ({ entry, at }))
      return [...ended, ...held.map(entry => ({ entry, at: now }))]
    },
    async save(feedId, changes, now, { isLast } = { isLast: false }) {
      const last = saved.get(feedId)
      if (last && (last.seq === changes.seq || (!isLast && Math.abs(now - last.at) < minute))) return
      saved.set(feedId, { seq: changes.seq, at: now })
      const removed = changes.removals().map(({ entry, at }): Removal => [entry, at])
      const packed = await pack(JSON.stringify({ held: [...changes.held], removed }), { level: 1 })
      const content = packed.toString('base64')
      await db.write
        .insertInto('feeds_sent')
        .values({ feed_id: feedId, content, saved_at: now })
        .onConflict(on => on.column('feed_id').doUpdateSet({ content, saved_at: now }))
        .execute()
    },
  }
}
