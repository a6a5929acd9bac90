import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, ReplyOf, agents } from '@stockade/contract'
import type { AgentActor } from '../../core/actor.ts'
import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { createGroup } from '../../core/group.ts'
import { uuid7 } from '../../core/ids.ts'
import { parseIp } from '../../core/ip.ts'
import { tame } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import { untilItPasses } from '../../db/passing.ts'
import { countOpenings, findOpening, isOpenFor, putOpening } from './openings.store.ts'
import type { Quotas } from '../bans/quotas.ts'
import {
  blockedAmong,
  countBlocked,
  failuresOf,
  holdSequences,
  insertKnocks,
  placesAmong,
  putBlocked,
  setFailures,
} from './reports.store.ts'
import type { NewKnock, ReportedSequence } from './reports.store.ts'

type Event = BodyOf<typeof agents.reportKnocks>['events'][number]
type Answer = ReplyOf<typeof agents.reportKnocks>['results'][number]

export interface Reports {
  /**
   * Takes in what happened on a host, each event once however often it is sent; resolves when it is on disk. What is no good
   * is said item by item, so that it does not hold up the rest.
   */
  report(agent: AgentActor, events: readonly Event[]): Promise<Answer[]>
}

/** How many addresses a host is let in, or kept out, by what the server knows: its state must stay of a size. */
const mostListed = bounds.openingsPerHost
const full = (what: string) =>
  `The server lists ${mostListed} ${what} of this server already; this one is in the history only.`

type Checked = { readonly knock: NewKnock } | { readonly error: string }
type Transaction = Parameters<typeof putOpening>[0]

/** What an event takes in storage beside its reason, about. */
const bytesOfKnock = 400

export const createReports = (needs: { db: Database; clock: Clock; quotas: Pick<Quotas, 'take'> }): Reports => {
  const { db, clock, quotas } = needs

  const check = (serverNo: number, event: Event, now: number): Checked => {
    const ip = parseIp(event.ip)
    if (!ip) return { error: 'ip is not an address.' }
    const at = Date.parse(event.timestamp)
    if (Number.isNaN(at)) return { error: 'timestamp is not a time that exists.' }
    if (!Number.isSafeInteger(event.sequence_id)) return { error: `There is no sequence ${event.sequence_id}.` }
    return {
      knock: {
        event_id: event.event_id.toLowerCase(),
        server_no: serverNo,
        sequence_id: event.sequence_id,
        ip: ip.text,
        status: event.status,
        reason: event.reason ? tame(event.reason, bounds.reason * 4) : null,
        // A host's clock may be ahead.
        at: Math.min(at, now),
      },
    }
  }
  /** What an event means beyond its line in the history; an error where there is no room for it. */
  const effects = (sql: Transaction, now: number) => {
    const counts = { open: new Map<number, number>(), blocked: new Map<number, number>() }
    const hasRoom = async (
      kept: Map<number, number>,
      count: typeof countOpenings,
      serverNo: number,
    ): Promise<boolean> => {
      const n = kept.get(serverNo) ?? (await count(sql, serverNo, now))
      kept.set(serverNo, n)
      return n < mostListed
    }
    const addTo = (kept: Map<number, number>, serverNo: number) => kept.set(serverNo, (kept.get(serverNo) ?? 0) + 1)
    return {
      async success(knock: NewKnock, { timeout }: ReportedSequence): Promise<string | null> {
        const { event_id, server_no, sequence_id, ip, at } = knock
        const expires_at = at + timeout * second
        if (expires_at <= now) return null
        const place = { server_no, sequence_id, ip, now }
        const isNew = !(await isOpenFor(sql, place))
        if (isNew && !(await hasRoom(counts.open, countOpenings, server_no))) return full('openings')
        // Ids are a host's own choice: it can't take another host's.
        const id = (await findOpening(sql, event_id)) ? uuid7(now) : event_id
        const more = { id, opened_at: at, expires_at, revision: 0, confirmed_at: now }
        if ((await putOpening(sql, { ...place, ...more }, false)) && isNew) addTo(counts.open, server_no)
        return null
      },
      async blocked(knock: NewKnock, { block_duration }: ReportedSequence): Promise<string | null> {
        const { server_no, sequence_id, ip, at } = knock
        const expires_at = at + block_duration * second
        if (expires_at <= now) return null
        if (!(await hasRoom(counts.blocked, countBlocked, server_no)))
          return (await blockedAmong(sql, [knock], now)).some(row => row.sequence_id === sequence_id)
            ? null
            : full('blocked addresses')
        const failed_attempts = await failuresOf(sql, knock)
        const row = { server_no, sequence_id, ip, failed_attempts, blocked_at: at, expires_at }
        if (await putBlocked(sql, row)) addTo(counts.blocked, server_no)
        return null
      },
    }
  }
  /** The reports of many hosts in one transaction; an attacked host reports many failures at once. */
  const write = (knocks: readonly NewKnock[]): Promise<(string | null)[]> =>
    untilItPasses(() =>
      db.write.transaction().execute(async sql => {
        const now = clock()
        const ids = [...new Set(knocks.map(({ sequence_id }) => sequence_id))]
        const sequences = new Map((await holdSequences(sql, db.engine, ids)).map(row => [row.id, row]))
        const serverNos = [...new Set(knocks.map(({ server_no }) => server_no))]
        const places = new Set(
          (await placesAmong(sql, ids, serverNos)).map(place => `${place.server_no} ${place.sequence_id}`),
        )
        const knownKnocks = knocks.filter(({ sequence_id }) => sequences.has(sequence_id))
        const newKnocks = await insertKnocks(sql, db.engine, knownKnocks)
        const fresh = new Set(newKnocks.map(({ server_no, event_id }) => `${server_no} ${event_id}`))
        const { success, blocked } = effects(sql, now)
        const failed = new Map<string, NewKnock>()
        const errors: (string | null)[] = []
        for (const knock of knocks) {
          const sequence = sequences.get(knock.sequence_id)
          // Twice in one request counts once; where the sequence no longer is on the host, its history is all there is to keep.
          const isNew = fresh.delete(`${knock.server_no} ${knock.event_id}`)
          const isThere = places.has(`${knock.server_no} ${knock.sequence_id}`)
          if (!sequence) errors.push(`There is no sequence ${knock.sequence_id}.`)
          else if (!isNew || !isThere) errors.push(null)
          else if (knock.status === 'success') errors.push(await success(knock, sequence))
          else if (knock.status === 'blocked') errors.push(await blocked(knock, sequence))
          else {
            failed.set(`${knock.server_no} ${knock.sequence_id} ${knock.ip}`, knock)
            errors.push(null)
          }
        }
        // A failure may be reported after the block that it caused.
        for (const address of await blockedAmong(sql, [...failed.values()], now))
          if (failed.has(`${address.server_no} ${address.sequence_id} ${address.ip}`))
            await setFailures(sql, address, await failuresOf(sql, address))
        return errors
      }),
    )
  const group = createGroup(write, { batch: 1000, waiting: 100_000 })

  return {
    async report(agent, events) {
      const bytes = events.reduce((sum, { reason }) => sum + bytesOfKnock + (reason?.length ?? 0), 0)
      quotas.take(agent.serverNo, { reports: events.length, bytes })
      const now = clock()
      const checked = events.map(event => check(agent.serverNo, event, now))
      const errors = await group.add(checked.flatMap(found => ('knock' in found ? [found.knock] : [])))
      let takenCount = 0
      return events.map(({ event_id }, index) => {
        const checkedKnock = checked[index]
        const error = checkedKnock && 'error' in checkedKnock ? checkedKnock.error : (errors[takenCount++] ?? null)
        return { event_id, ok: error === null, error }
      })
    },
  }
}
