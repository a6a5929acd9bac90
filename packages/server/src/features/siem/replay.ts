import { siem as contract } from '@stockade/contract'
import type { ReplyOf, SiemType } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import { iso, minute, second } from '../../core/clock.ts'
import { uuid7 } from '../../core/ids.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { notFound } from '../../core/problem.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import { namesOf } from './canonical.ts'
import type { createCanonical } from './canonical.ts'
import type { SiemEvent } from './event.ts'
import { countPast, eventEnds, eventFrom, keptFor, pastIds } from './siem.store.ts'
import { addReplay, findReplay, runningReplays, saveReplay, unfinishedSince } from './replay.store.ts'
import type { Replay } from './replay.store.ts'
import type { ReplayMark } from '../../db/tables/stored.ts'

export interface ReplayBatch {
  readonly job: Replay
  readonly events: readonly SiemEvent[]
  /** Events of the range that are not there any more, such as those of bans that went. */
  readonly missing: number
  /** Where the job is after this batch. */
  readonly nextId: number
  readonly ended: boolean
}
export interface Replays {
  start(
    author: Author,
    input: { from: number; to: number; types: readonly SiemType[] },
  ): Promise<ReplyOf<typeof contract.startReplay>>
  /** @throws Problem 404 */
  read(id: string): Promise<ReplyOf<typeof contract.getReplay>>
  /** What the oldest job that runs has to send next; null where none runs. */
  next(most: number): Promise<ReplayBatch | null>
  done(sql: Change['sql'], batch: ReplayBatch, refused: number): Promise<void>
  /** A stream broke: goes back to where the jobs were at that moment. */
  rewind(sql: Change['sql'], since: number): Promise<void>
}

/** Ids that one look goes through: a few milliseconds. */
const window = 20_000
/** Clocks of hosts that write the stream, and their steps, stay within this of its order. */
const disorder = 60 * minute

export const createReplays = (
  needs: StoreAccess & {
    canonical: ReturnType<typeof createCanonical>
  },
): Replays => {
  const { db, clock, events, canonical } = needs

  /** The first id whose event is of that time or later; ids follow time but for small disorder. */
  const firstAt = async (time: number, ends: { first: number; last: number }): Promise<number> => {
    let [low, high] = [ends.first, ends.last + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const middleEvent = await eventFrom(db.read, middle)
      if (!middleEvent || middleEvent.at >= time) high = middle
      else low = middleEvent.id + 1
    }
    return low
  }
  const pastOf = (job: Pick<Replay, 'from_at' | 'to_at' | 'types'>, after: number, until: number) => ({
    after,
    until,
    from: job.from_at,
    to: job.to_at,
    names: namesOf(parseJson(job.types)),
  })
  const marksOf = (job: Replay): readonly ReplayMark[] => parseJson(job.marks)

  return {
    async start(author, { from, to, types }) {
      admit(contract.startReplay.leaves, { all: (await runningReplays(db.read)).length })
      const now = clock()
      const ends = await eventEnds(db.read)
      const after = (await firstAt(from - disorder, ends)) - 1
      const last = Math.min(ends.last, (await firstAt(to + disorder, ends)) - 1)
      const range = { from_at: from, to_at: to, types: jsonText(types) }
      let total = 0
      for (let at = after; at < last; at += window) {
        total += await countPast(db.read, pastOf(range, at, Math.min(at + window, last)))
        // Others are served in between.
        await new Promise(resolve => setImmediate(resolve))
      }
      const id = uuid7(now)
      await events.change(async change => {
        await addReplay(change.sql, {
          id,
          ...range,
          next_id: after,
          last_id: last,
          status: total === 0 ? 'completed' : 'running',
          total,
          started_at: now,
          ended_at: total === 0 ? now : null,
        })
        const data = { job_id: id, from: iso(from), to: iso(to), event_types: types, events: total }
        await change.record({ name: 'siem.replay', author, data })
      })
      const message =
        total === 0 ? 'There is nothing to send again in that time.' : `${total} events are being sent again.`
      return { message, events_to_replay: total, job_id: id }
    },
    async read(id) {
      const job = await findReplay(db.read, id)
      if (!job) throw notFound(`There is no replay ${id}.`)
      const done = job.sent + job.failed
      const share = job.total === 0 ? 1 : Math.min(1, done / job.total)
      return {
        job_id: job.id,
        status: job.status,
        total_events: job.total,
        events_sent: job.sent,
        events_failed: job.failed,
        progress_percent: job.status === 'completed' ? 100 : Math.min(99, Math.floor(share * 100)),
        started_at: iso(job.started_at),
      }
    },
    async next(most) {
      const [job] = await runningReplays(db.read)
      if (!job) return null
      let at = job.next_id
      while (at < job.last_id) {
        const until = Math.min(at + window, job.last_id)
        const ids = await pastIds(db.read, pastOf(job, at, until), most)
        if (ids.length > 0) {
          const siemEvents = await canonical.load(db.read, ids)
          const there = ids.flatMap(id => siemEvents.get(id) ?? [])
          const nextId = ids.length < most ? until : (ids.at(-1) ?? until)
          return { job, events: there, missing: ids.length - there.length, nextId, ended: nextId >= job.last_id }
        }
        at = until
        await new Promise(resolve => setImmediate(resolve))
      }
      return { job, events: [], missing: 0, nextId: job.last_id, ended: true }
    },
    async done(sql, { job, events: sent, missing, nextId, ended }, refused) {
      const now = clock()
      const marks = marksOf(job).filter(({ at }) => at >= now - keptFor)
      const newest = marks.at(-1)
      const mark = { at: now, id: job.next_id, sent: job.sent, failed: job.failed }
      await saveReplay(sql, job.id, {
        next_id: nextId,
        sent: job.sent + sent.length - refused,
        failed: job.failed + missing + refused,
        marks: jsonText(newest && now - newest.at < second ? marks : [...marks, mark]),
        ...(ended ? { status: 'completed', ended_at: now } : {}),
      })
    },
    async rewind(sql, since) {
      for (const job of await unfinishedSince(sql, since)) {
        // The time of a mark is when its batch was sent.
        const back = marksOf(job).find(({ at }) => at >= since - second)
        if (!back) continue
        const { id, sent, failed } = back
        const [status, ended_at, kept] = ['running', null, jsonText<readonly ReplayMark[]>([])] as const
        await saveReplay(sql, job.id, { next_id: id, sent, failed, status, ended_at, marks: kept })
      }
    },
  }
}
