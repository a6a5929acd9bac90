import type { BodyOf, ReplyOf, bans as contract } from '@stockade/contract'
import type { AgentActor } from '../../core/actor.ts'
import { minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { activeByServer, endRows, eventsOf, knownEvents } from './bans.store.ts'
import type { ActiveRow } from './bans.store.ts'

/** A ban that began so shortly before a comparison may have been reported after the host looked. */
const margin = minute
/** Bans that end in one transaction. */
const portion = 500
/** After a start all hosts compare within half a minute, and share a look at what is active. */
const lookKept = 20 * second

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
  const { db, clock, events } = needs
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
      count += await events.change(change => endRows(change, rows.slice(start, start + portion), () => clock()))
    return count
  }

  return {
    async compare(agent, { as_of, event_ids }) {
      needs.servers.refuseQuarantined(agent.serverNo, 403)
      await needs.drain()
      const held = new Set(event_ids.map(id => id.toLowerCase()))
      const known = await knownEvents(db.read, agent.serverNo, [...held])
      const before = Math.min(Date.parse(as_of), clock()) - margin
      const active = (await activeOf(agent.serverNo)).filter(({ banned_at }) => banned_at < before)
      const eventOf = await eventsOf(
        db.read,
        active.map(({ ban_id }) => ban_id),
      )
      const ended = await end(active.filter(({ ban_id }) => !held.has(eventOf.get(ban_id) ?? '')))
      return { unknown: [...held].filter(id => !known.has(id)), ended }
    },
  }
}
