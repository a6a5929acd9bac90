import type { BodyOf, QueryOf, ReplyOf, bans as contract } from '@stockade/contract'
import { sliceOf } from '@stockade/contract/slices.ts'
import type { AgentActor } from '../../core/actor.ts'
import { minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { ipText, parseRange } from '../../core/ip.ts'
import { badRequest, tooManyRequests } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import { eventsOf, knownEvents } from './ban-events.store.ts'
import { activeByServer, addressOf, endRows, jailIds, placeOf } from './bans.store.ts'
import type { ActiveRow } from './bans.store.ts'

/** A ban that began so shortly before a comparison may have been reported after the host looked. */
const margin = minute
/** Bans that end in one transaction. */
const portion = 500
/** Between two comparisons of the same bans of a host, at least. */
const interval = 10 * second
/** Between two slices of a host, at least. */
const sliceInterval = second
/** What was missing at one comparison counts for so long. */
const missedFor = 10 * minute
/** After a start all hosts compare within half a minute, and share a look at what is active. */
const lookKept = 5 * second

export interface BanComparison {
  /** Ends what the host does not hold any more, and names what it holds and is not listed. @throws Problem 403 in quarantine */
  compare(
    agent: AgentActor,
    body: BodyOf<typeof contract.compareBans>,
    query: QueryOf<typeof contract.compareBans>,
  ): Promise<ReplyOf<typeof contract.compareBans>>
}

interface Slice {
  readonly slice: number
  readonly of: number
}
/** The last comparisons of a host, by slice. */
interface Compared {
  readonly of: number
  at: number
  readonly slices: Map<number, { readonly at: number; readonly banIds: ReadonlySet<number> }>
}

/** Both directions: after a restore of a backup, hosts tell what the backup does not know. */
export const createBanComparison = (needs: {
  db: Database
  clock: Clock
  events: Pick<Events, 'change'>
  /** Resolves when every report that was accepted is written. */
  drain: () => Promise<void>
}): BanComparison => {
  const { db, clock } = needs
  let shared: { readonly at: number; readonly rows: Promise<ReadonlyMap<number, readonly ActiveRow[]>> } | null = null
  /** A ban that ended since the look is not ended again, and one that is newer is in no host's interest. */
  const activeOf = async (serverNo: number): Promise<readonly ActiveRow[]> => {
    if (shared === null || performance.now() - shared.at > lookKept) {
      const look = { at: performance.now(), rows: activeByServer(db.scan) }
      shared = look
      const forget = () => {
        if (shared === look) shared = null
      }
      look.rows.catch(forget)
      setTimeout(forget, lookKept).unref()
    }
    return (await shared.rows).get(serverNo) ?? []
  }
  const end = async (rows: readonly ActiveRow[]): Promise<number> => {
    let count = 0
    for (let start = 0; start < rows.length; start += portion)
      count += await needs.events.change(change => endRows(change, rows.slice(start, start + portion), () => clock()))
    return count
  }

  /** What hosts did not hold at their last comparison, by server. */
  const compared = new Map<number, Compared>()
  const admit = (serverNo: number, { slice, of }: Slice): Compared => {
    for (const [no, { at }] of compared) if (clock() - at > missedFor) compared.delete(no)
    const last = compared.get(serverNo)
    const isNextSlice = last?.of === of && of > 1
    const sameAt = last?.slices.get(slice)?.at ?? -Infinity
    if (last && clock() - last.at < (isNextSlice ? sliceInterval : interval))
      throw tooManyRequests(Math.ceil(interval / second), 'A server compares its bans once in ten seconds.')
    if (isNextSlice && clock() - sameAt < interval)
      throw tooManyRequests(Math.ceil(interval / second), 'A server compares a slice of its bans once in ten seconds.')
    // What other slices lacked says nothing of these.
    const next: Compared = last?.of === of ? last : { of, at: clock(), slices: new Map() }
    next.at = clock()
    compared.set(serverNo, next)
    return next
  }
  /** Bans whose reporter gave them no id are no business of the agent. */
  const isOfAgent = (eventId: string | undefined): boolean => eventId !== undefined && eventId[14] !== '7'

  return {
    async compare(agent, { as_of, bans }, query) {
      const { serverNo } = agent
      const asked = { slice: query.slice ?? 0, of: query.of ?? 1 }
      refuseStrays(asked, bans)
      const { slices } = admit(serverNo, asked)
      const before = slices.get(asked.slice)?.banIds ?? new Set()
      slices.set(asked.slice, { at: clock(), banIds: before })
      await needs.drain()
      const jails = await jailIds(db.read, [...new Set(bans.map(({ jail }) => jail))])
      const placeOfBan = ({ jail, ip }: { jail: string; ip: string }): string => {
        const range = parseRange(ip)
        return range === null ? '' : placeOf(jails.get(jail) ?? -1, range.bytes, range.prefix)
      }
      const held = new Set(bans.map(placeOfBan))
      const active = (await activeOf(serverNo)).filter(({ place }) => isIn(asked, addressOf(place)))
      const listed = new Set(active.map(({ place }) => place))
      const until = Math.min(Date.parse(as_of), clock()) - margin
      const gone = active.filter(({ place, banned_at }) => banned_at < until && !held.has(place))
      const events = await eventsOf(
        db.read,
        gone.map(({ ban_id }) => ban_id),
      )
      const missing = gone.filter(({ ban_id }) => isOfAgent(events.get(ban_id)))
      slices.set(asked.slice, { at: clock(), banIds: new Set(missing.map(({ ban_id }) => ban_id)) })
      const over = missing.filter(({ ban_id }) => before.has(ban_id))
      const ids = bans.flatMap(ban => (listed.has(placeOfBan(ban)) ? [] : [ban.event_id.toLowerCase()]))
      const known = await knownEvents(db.read, serverNo, ids)
      const isEnded = (id: string): boolean => {
        const endedAt = known.get(id)
        return typeof endedAt === 'number' && endedAt < until
      }
      return {
        unknown: ids.filter(id => !known.has(id)),
        listed_as_ended: ids.filter(isEnded),
        ended: await end(over),
        pending: missing.length - over.length,
      }
    },
  }
}

const isIn = ({ slice, of }: Slice, ip: string): boolean => of === 1 || sliceOf(ip, of) === slice

/** A host that cuts in another way than this server would have its bans ended that it did not send. */
const refuseStrays = (asked: Slice, bans: readonly { readonly ip: string }[]): void => {
  if (asked.slice >= asked.of) throw badRequest('slice must be below of.')
  if (asked.of === 1) return
  for (const { ip } of bans) {
    const range = parseRange(ip)
    const isStray = range !== null && !isIn(asked, ipText(range.bytes, range.prefix))
    if (isStray) throw badRequest(`The address ${ip} does not belong to slice ${asked.slice} of ${asked.of}.`)
  }
}
