import type { BodyOf, ReplyOf, bans as contract } from '@stockade/contract'
import type { AgentActor } from '../../core/actor.ts'
import { minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseRange } from '../../core/ip.ts'
import { tooManyRequests } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { activeByServer, endRows, eventsOf, jailIds, knownEvents, placeOf } from './bans.store.ts'
import type { ActiveRow } from './bans.store.ts'

/** A ban that began so shortly before a comparison may have been reported after the host looked. */
const margin = minute
/** Bans that end in one transaction. */
const portion = 500
/** Between two comparisons of a host, at least. */
const interval = 10 * second
/** What was missing at one comparison counts for so long. */
const missedFor = 10 * minute
/** After a start all hosts compare within half a minute, and share a look at what is active. */
const lookKept = 5 * second

export interface BanComparison {
  /** Ends what the host does not hold any more, and names what it holds and is not listed. @throws Problem 403 in quarantine */
  compare(agent: AgentActor, body: BodyOf<typeof contract.compareBans>): Promise<ReplyOf<typeof contract.compareBans>>
}

/** Both directions: after a restore of a backup, hosts tell what the backup does not know. */
export const createBanComparison = (needs: {
  db: Database
  clock: Clock
  events: Pick<Events, 'change'>
  servers: Pick<ServersService, 'refuseQuarantined'>
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
  const missed = new Map<number, { readonly at: number; readonly banIds: ReadonlySet<number> }>()
  const admit = (serverNo: number): ReadonlySet<number> => {
    const last = missed.get(serverNo)
    if (last && clock() - last.at < interval)
      throw tooManyRequests(Math.ceil(interval / second), 'A host compares its bans once in ten seconds.')
    for (const [no, { at }] of missed) if (clock() - at > missedFor) missed.delete(no)
    return missed.get(serverNo)?.banIds ?? new Set()
  }
  /** Bans whose reporter gave them no id are no business of the agent. */
  const isOfAgent = (eventId: string | undefined): boolean => eventId !== undefined && eventId[14] !== '7'

  return {
    async compare(agent, { as_of, bans }) {
      const { serverNo } = agent
      needs.servers.refuseQuarantined(serverNo, 403)
      const before = admit(serverNo)
      await needs.drain()
      const jails = await jailIds(db.read, [...new Set(bans.map(({ jail }) => jail))])
      const placeOfBan = ({ jail, ip }: { jail: string; ip: string }): string => {
        const range = parseRange(ip)
        return range === null ? '' : placeOf(jails.get(jail) ?? -1, range.bytes, range.prefix)
      }
      const held = new Set(bans.map(placeOfBan))
      const active = await activeOf(serverNo)
      const listed = new Set(active.map(({ place }) => place))
      const until = Math.min(Date.parse(as_of), clock()) - margin
      const gone = active.filter(({ place, banned_at }) => banned_at < until && !held.has(place))
      const events = await eventsOf(
        db.read,
        gone.map(({ ban_id }) => ban_id),
      )
      const missing = gone.filter(({ ban_id }) => isOfAgent(events.get(ban_id)))
      missed.set(serverNo, { at: clock(), banIds: new Set(missing.map(({ ban_id }) => ban_id)) })
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
