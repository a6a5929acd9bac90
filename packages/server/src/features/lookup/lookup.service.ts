import type { QueryOf, ReplyOf, bans as contract } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseIp } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { countBans, pageOfBans } from '../bans/bans.store.ts'
import { stateOf } from '../bans/ban-reading.ts'
import type { BanReasons } from '../bans/ban-reasons.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { ReputationService } from '../reputation/reputation.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { Reverse } from './reverse.ts'

type Found = ReplyOf<typeof contract.lookUp>

export interface LookupService {
  /** Everything known of one address: place, whitelist, bans on the servers that the caller sees, reputation. */
  of(actor: Principal, ip: string, query: QueryOf<typeof contract.lookUp>): Promise<Found>
  /** Whether these addresses are whitelisted, and where they are banned now, in their order. */
  standing(actor: Principal, ips: readonly string[]): Promise<Standing[]>
}
export interface Standing {
  readonly whitelisted: boolean
  readonly active_bans: { id: number; jail: string; server: string; server_id: string }[]
}

const mostHistory = 100
const mostStanding = 20

export const createLookup = (needs: {
  db: Database
  clock: Clock
  ipinfo: Pick<IpInfo, 'locate' | 'ready' | 'credits'>
  reputation: Pick<ReputationService, 'check'>
  registry: Pick<Registry, 'all'>
  reverse: Reverse
  reasons: Pick<BanReasons, 'ofRows'>
  fleetBans: Pick<FleetBans, 'covering'>
  blocklists: Pick<Blocklists, 'covering'>
  /** The most specific entry of the whitelist that covers an address. */
  entryFor: (ip: IpRange) => Promise<{ id: number; ip: string; description: string } | null>
}): LookupService => {
  const { db, clock, ipinfo, reputation, registry } = needs
  return {
    standing: (actor, ips) =>
      Promise.all(
        ips.map(async text => {
          const ip = parseIp(text)
          if (!ip) return { whitelisted: false, active_bans: [] }
          const rows = await pageOfBans(
            db.read,
            db.engine,
            { servers: actor.servers, ip, active: true },
            clock(),
            0,
            mostStanding,
          )
          return {
            whitelisted: (await needs.entryFor(ip)) !== null,
            active_bans: rows.map(({ id, jail, hostname, server_id }) => ({ id, jail, server: hostname, server_id })),
          }
        }),
      ),
    async of(actor, text, { reverse = false }) {
      const ip = parseIp(text)
      if (!ip) throw invalid('ip', 'ip must be one IPv4 or IPv6 address.')
      await ipinfo.ready
      const now = clock()
      const filter = { servers: actor.servers, ip }
      const reputationCheck = reputation.check(ip)
      const name = reverse ? needs.reverse(ip.text) : null
      const rows = await pageOfBans(db.read, db.engine, filter, now, 0, mostHistory)
      const total = await countBans(db.read, db.engine, filter, now)
      const active = await pageOfBans(db.read, db.engine, { ...filter, active: true }, now, 0, mostHistory)
      const entry = await needs.entryFor(ip)
      const place = ipinfo.locate(ip)
      // Both are canonical: reading the addresses of 18,000 servers takes 3 ms, or 70 ms where they are of IPv6.
      const server = registry.all().find(({ row }) => row.ip_address === ip.text && sees(actor, row.no))
      const reasonById = await needs.reasons.ofRows([...rows, ...active])
      const line = (row: (typeof rows)[number]) => ({
        id: row.id,
        server: row.hostname,
        server_id: row.server_id,
        jail: row.jail,
        banned_at: iso(row.banned_at),
        ...stateOf(row, now),
        dropped_packets: row.dropped_packets,
        reason: reasonById.get(row.id) ?? null,
      })
      return {
        ip: ip.text,
        ...place,
        asn: place.asn === null ? null : `AS${place.asn}`,
        is_whitelisted: entry !== null,
        matched_whitelist: entry,
        ban_history: rows.map(line),
        active_bans: active.map(line),
        total_bans: total,
        fleet_bans: await needs.fleetBans.covering(actor, ip),
        blocklists: await needs.blocklists.covering(actor, ip),
        reputation: await reputationCheck,
        is_you: parseIp(actor.ip)?.text === ip.text,
        is_server: server === undefined ? null : { id: server.row.id, hostname: server.row.hostname },
        reverse_name: await name,
        geo_credit: ipinfo.credits,
      }
    },
  }
}
