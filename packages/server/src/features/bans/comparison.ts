import type { BodyOf, QueryOf, ReplyOf, bans as contract } from '@stockade/contract'
import type { AgentActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { badRequest } from '../../core/problem.ts'
import { inSlices } from '../../core/slices.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import { createActiveLooks } from './active-looks.ts'
import type { ActiveRow } from './active-looks.ts'
import { eventsOf, knownEvents } from './ban-events.store.ts'
import { addressOf, endRows, jailIds } from './bans.store.ts'
import { createPace, heldBansOf, isIn } from './held-bans.ts'

/** A ban that began so shortly before a comparison may have been reported after the host looked. */
const margin = minute
/** Bans that end in one transaction. */
const portion = 500

export interface BanComparison {
  /** Ends what the host does not hold any more, and names what it holds and is not listed. @throws Problem 403 in quarantine */
  compare(
    agent: AgentActor,
    body: BodyOf<typeof contract.compareBans>,
    query: QueryOf<typeof contract.compareBans>,
  ): Promise<ReplyOf<typeof contract.compareBans>>
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
  const activeOf = createActiveLooks(db)
  const pace = createPace(clock)
  const end = async (rows: readonly ActiveRow[]): Promise<number> => {
    let count = 0
    for (let start = 0; start < rows.length; start += portion)
      count += await needs.events.change(change => endRows(change, rows.slice(start, start + portion), () => clock()))
    return count
  }
  /** Bans whose reporter gave them no id are no business of the agent. */
  const isOfAgent = (eventId: string | undefined): boolean => eventId !== undefined && eventId[14] !== '7'

  return {
    async compare(agent, { as_of, bans }, query) {
      const { serverNo } = agent
      const part = { slice: query.slice ?? 0, of: query.of ?? 1 }
      if (part.slice >= part.of) throw badRequest('slice must be below of.')
      pace.admit(serverNo, part, bans.length)
      const heldBans = await heldBansOf(part, bans)
      const slices = pace.begin(serverNo, part)
      const before = slices.get(part.slice)?.banIds ?? new Set()
      slices.set(part.slice, { at: clock(), banIds: before })
      await needs.drain()
      const jails = await jailIds(db.read, [...new Set(heldBans.map(({ jail }) => jail))])
      const eventIdsByPlace = new Map<string, string>()
      await inSlices(heldBans, ({ jail, address, eventId }) =>
        eventIdsByPlace.set(`${jails.get(jail) ?? `? ${jail}`} ${address}`, eventId),
      )
      const until = Math.min(Date.parse(as_of), clock()) - margin
      const gone: ActiveRow[] = []
      await inSlices(await activeOf(serverNo), row => {
        if (!isIn(part, addressOf(row.place))) return
        // What is listed needs no look at its event.
        if (!eventIdsByPlace.delete(row.place) && row.banned_at < until) gone.push(row)
      })
      const events = await eventsOf(
        db.read,
        gone.map(({ ban_id }) => ban_id),
      )
      const missing = gone.filter(({ ban_id }) => isOfAgent(events.get(ban_id)))
      slices.set(part.slice, { at: clock(), banIds: new Set(missing.map(({ ban_id }) => ban_id)) })
      const over = missing.filter(({ ban_id }) => before.has(ban_id))
      const ids = [...eventIdsByPlace.values()]
      const knownIds = await knownEvents(db.read, serverNo, ids)
      const isEnded = (id: string): boolean => {
        const endedAt = knownIds.get(id)
        return typeof endedAt === 'number' && endedAt < until
      }
      return {
        unknown: ids.filter(id => !knownIds.has(id)),
        listed_as_ended: ids.filter(isEnded),
        ended: await end(over),
        pending: missing.length - over.length,
      }
    },
  }
}
