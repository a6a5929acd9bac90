import { common } from '@stockade/contract'
import type { QueryOf, ReplyOf, bans as contract } from '@stockade/contract'
import type { Principal, ServerScope } from '../../core/actor.ts'
import { iso, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { countedServers } from '../servers/servers.store.ts'
import { countBans } from './bans.store.ts'
import { topAddresses, topNetworks, topServers } from './top.store.ts'

type Top = ReplyOf<typeof contract.topBans>
type Period = keyof typeof common.periods

export interface TopBansService {
  /** The addresses, networks and servers with the most bans: exact for the window that the answer names. */
  of(actor: Principal, query: QueryOf<typeof contract.topBans>): Promise<Top>
}

/** Rows that are kept of each list. */
const most = 100
/** An answer is given again for twenty times what it took to count, within these bounds (milliseconds). */
const shortest = 2000
const longest = 300_000
const mostKept = 200

export const createTopBans = (needs: {
  db: Database
  clock: Clock
  servers: Pick<ServersService, 'named'>
  ipinfo: Pick<IpInfo, 'locate' | 'ready'>
}): TopBansService => {
  const { db, clock, ipinfo } = needs
  const cache = new Map<string, { until: number; found: Promise<Top> }>()

  const count = async (scope: ServerScope, period: Period): Promise<Top> => {
    await ipinfo.ready
    const to = clock()
    const from = to - common.periods[period] * second
    const within = await countBans(db.read, db.engine, { servers: scope, from, to, withRetired: true }, to)
    const all = await countBans(db.read, db.engine, { servers: scope }, to)
    const window = { servers: scope, from, to, wide: within > all / 8 }
    const scan = scanFor(db, 'top bans', { period })
    const addresses = await topAddresses(scan, db.engine, window, most)
    const networks = await topNetworks(scan, db.engine, window, most)
    const hosts = await topServers(scan, window, most)
    return {
      from: iso(from),
      to: iso(to),
      total_bans: await countBans(db.read, db.engine, { servers: scope, from, to }, to),
      top_ips: addresses.map(({ ip: bytes, n }) => {
        const ip = ipText(bytes, null)
        const { country, country_name, asn, asn_org } = ipinfo.locate({ bytes, prefix: null, text: ip })
        return { ip, count: Number(n), country, country_name, asn: asn === null ? null : `AS${asn}`, asn_org }
      }),
      bans_by_asn: networks.map(({ asn, org, n }) => ({
        asn: asn === null ? null : `AS${asn}`,
        asn_org: org,
        count: Number(n),
      })),
      bans_by_server: hosts.map(({ id, hostname, n }) => ({ server: { id, hostname }, count: Number(n) })),
    }
  }
  /** Those who ask while it is counted wait for the same answer. */
  const shared = (scope: ServerScope, period: Period): Promise<Top> => {
    const key = `${period} ${scope === 'all' ? scope : [...scope].sort((a, b) => a - b).join(',')}`
    const cached = cache.get(key)
    if (cached && cached.until > performance.now()) return cached.found
    const began = performance.now()
    const newEntry = { until: Infinity, found: count(scope, period) }
    cache.delete(key)
    cache.set(key, newEntry)
    for (const oldest of cache.keys()) {
      if (cache.size <= mostKept) break
      cache.delete(oldest)
    }
    newEntry.found.then(
      () => {
        const now = performance.now()
        newEntry.until = now + Math.min(longest, Math.max(shortest, 20 * (now - began)))
      },
      () => {
        if (cache.get(key) === newEntry) cache.delete(key)
      },
    )
    return newEntry.found
  }
  return {
    async of(actor, { server_id, period = 'day', limit = 10 }) {
      const scope =
        server_id === undefined
          ? await countedServers(db.read, actor.servers)
          : new Set([needs.servers.named(actor, 'server_id', server_id).no])
      const top = await shared(scope, period)
      return {
        ...top,
        top_ips: top.top_ips.slice(0, limit),
        bans_by_asn: top.bans_by_asn.slice(0, limit),
        bans_by_server: top.bans_by_server.slice(0, limit),
      }
    },
  }
}
