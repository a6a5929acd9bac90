import type { FleetBanState, QueryOf, ReplyOf, bans, fleetBans as contract } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { notFound } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { Registry, Server } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targeting, Targets } from '../servers/targets.ts'
import { allHosts, bansOf, countBans, findBan, pageOfBans, placesOf } from './fleet.store.ts'
import type { FleetBanRow, Placed } from './fleet.store.ts'
import type { HostSets } from './host-sets.ts'
import { createProgress } from './progress.ts'
import type { Counts, Progress } from './progress.ts'

type FleetBanLine = ReplyOf<typeof bans.lookUp>['fleet_bans'][number]
type FleetBanServers = ReplyOf<typeof contract.listFleetBanServers>

/** What callers read of fleet bans: of all that they may see, and no server beyond. */
export interface FleetReading {
  list(actor: Principal, query: QueryOf<typeof contract.listFleetBans>): Promise<ReplyOf<typeof contract.listFleetBans>>
  read(actor: Principal, id: number): Promise<contract.FleetBan>
  servers(actor: Principal, id: number, query: QueryOf<typeof contract.listFleetBanServers>): Promise<FleetBanServers>
  /** The standing bans that cover an address, on servers that the caller sees. */
  covering(actor: Principal, ip: IpRange): Promise<FleetBanLine[]>
  /** How far these bans are on all servers, and the servers that ever heard of them. */
  live(ids: readonly number[]): Promise<ReadonlyMap<number, { readonly counts: Counts; readonly reach: Targets }>>
  /** @throws Problem 404 for what the caller does not see */
  visibleRow(actor: Principal, id: number): Promise<FleetBanRow>
  hasEnded(row: Pick<FleetBanRow, 'ended_at' | 'expires_at'>): boolean
}

const nobody: Counts = { applied: 0, in_jail: 0, pending: 0, failed: 0, not_covered: 0 }

export const createReading = (needs: {
  db: Database
  clock: Clock
  registry: Pick<Registry, 'all' | 'byNo'>
  servers: Pick<ServersService, 'named'>
  targeting: Targeting
  sets: Pick<HostSets, 'covering' | 'joinedAt'>
}): FleetReading => {
  const { db, clock, registry, servers, sets, targeting } = needs
  const { concerns, isVisible } = targeting

  const visibleServers = (actor: Pick<Principal, 'servers'>) => registry.all().filter(({ row }) => sees(actor, row.no))
  const progressFor = async (actor: Pick<Principal, 'servers'>): Promise<Progress> =>
    createProgress(visibleServers(actor), await allHosts(db.read), needs)
  const hasEnded = (row: Pick<FleetBanRow, 'ended_at' | 'expires_at'>) =>
    row.ended_at !== null || (row.expires_at !== null && row.expires_at <= clock())

  const viewOf = (actor: Principal, progress: Progress, row: FleetBanRow): contract.FleetBan => {
    const targets = targetsOf(row.target)
    const isOver = hasEnded(row)
    const endedBy = row.ended_by ?? (isOver ? 'expired' : null)
    return {
      id: row.id,
      entry: row.entry,
      reason: row.reason,
      target: targeting.view(actor, targets),
      expires_at: isoOrNull(row.expires_at),
      source: row.source,
      active: !isOver,
      ended_at: isoOrNull(row.ended_at ?? (isOver ? row.expires_at : null)),
      ended_by: endedBy,
      created_by: row.created_by,
      created_at: iso(row.created_at),
      updated_at: iso(row.updated_at),
      state: isOver ? nobody : progress.counts({ id: row.id, version: row.version, targets }),
    }
  }
  const isListed = (
    actor: Principal,
    { id, version, target }: Placed,
    wanted: {
      readonly serverNo: number | null
      readonly state: FleetBanState | undefined
      readonly progress: Progress
    },
  ): boolean => {
    const targets = targetsOf(target)
    const { serverNo, state, progress } = wanted
    if (!isVisible(actor, targets) || (serverNo !== null && !concerns(targets, serverNo))) return false
    return state === undefined || progress.hasState({ id, version, targets }, state)
  }
  const visibleRow = async (actor: Principal, id: number): Promise<FleetBanRow> => {
    const row = await findBan(db.read, id)
    if (!row || !isVisible(actor, targetsOf(row.target))) throw notFound(`There is no fleet ban ${id}.`)
    return row
  }

  /** Of a ban that was lifted, the servers that may still hold it; of one that expired none, because the kernels ended it. */
  const progressOf = (progress: Progress, row: FleetBanRow) => {
    const { id, version } = row
    if (row.ended_by === 'removed') return progress.lifting({ id, version, targets: targetsOf(row.reach) })
    return hasEnded(row) ? [] : progress.servers({ id, version, targets: targetsOf(row.target) })
  }

  return {
    visibleRow,
    hasEnded,
    async list(actor, query) {
      const { active, state, source, server_id, search, sort = '-created_at', page = 1, limit = 50 } = query
      const address = search === undefined ? undefined : parseRange(search)?.text
      const filter = { active: state === undefined ? active : true, source, search, address, now: clock() }
      const server = server_id === undefined ? null : servers.named(actor, 'server_id', server_id)
      const progress = await progressFor(actor)
      const reply = (rows: readonly FleetBanRow[], total: number) => ({
        fleet_bans: rows.map(row => viewOf(actor, progress, row)),
        total,
        page,
        limit,
      })
      if (actor.servers === 'all' && server === null && state === undefined)
        return reply(
          await pageOfBans(db.read, filter, sort, (page - 1) * limit, limit),
          await countBans(db.read, filter),
        )
      const isWanted = (place: Placed) => isListed(actor, place, { serverNo: server?.no ?? null, state, progress })
      const places = active === false && state !== undefined ? [] : await placesOf(db.read, filter, sort)
      const ids = places.filter(isWanted).map(({ id }) => id)
      const onPage = ids.slice((page - 1) * limit, page * limit)
      const rows = new Map(onPage.length === 0 ? [] : (await bansOf(db.read, onPage)).map(row => [row.id, row]))
      return reply(
        onPage.flatMap(id => rows.get(id) ?? []),
        ids.length,
      )
    },
    async read(actor, id) {
      const row = await visibleRow(actor, id)
      return viewOf(actor, await progressFor(actor), row)
    },
    async servers(actor, id, { state, online, page = 1, limit = 50 }) {
      const row = await visibleRow(actor, id)
      const progress = await progressFor(actor)
      const rows = progressOf(progress, row).filter(
        ({ server, progress: one }) =>
          (state === undefined || one.state === state) && (online === undefined || isOnline(server) === online),
      )
      return {
        servers: rows.slice((page - 1) * limit, page * limit).map(({ server, progress: { at, ...found } }) => ({
          server: { id: server.row.id, hostname: server.row.hostname },
          online: isOnline(server),
          ...found,
          at: isoOrNull(at),
        })),
        total: rows.length,
        page,
        limit,
      }
    },
    async covering(actor, ip) {
      const coveringBans = sets.covering(ip).filter(({ targets }) => isVisible(actor, targets))
      if (coveringBans.length === 0) return []
      const rows = await bansOf(
        db.read,
        coveringBans.slice(0, pageOfCovering).map(({ id }) => id),
      )
      const visible = visibleServers(actor)
      return rows.map(row => ({
        id: row.id,
        entry: row.entry,
        reason: row.reason,
        source: row.source,
        servers: visible.filter(server => concerns(targetsOf(row.target), server.row.no)).length,
        created_by: row.created_by,
        created_at: iso(row.created_at),
        expires_at: isoOrNull(row.expires_at),
      }))
    },
    async live(ids) {
      if (ids.length === 0) return new Map()
      const progress = await progressFor({ servers: 'all' })
      const rows = await bansOf(db.read, ids)
      return new Map(
        rows.map(row => {
          const watched = { id: row.id, version: row.version, targets: targetsOf(row.target) }
          return [row.id, { counts: hasEnded(row) ? nobody : progress.counts(watched), reach: targetsOf(row.reach) }]
        }),
      )
    },
  }
}

const isOnline = ({ row }: Server): boolean => row.status === 'online'

/** Bans that a look-up names at most. */
const pageOfCovering = 100
