import { matchesValue, queryHolds, rangeOfQuery, times } from '@stockade/contract'
import type { MarkState, QueryOf, QueryTerm, QueryValue, ReplyOf, servers as contract } from '@stockade/contract'
import { atLeast, sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { day, hour, hourOf, iso, isoOrNull, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { covers, parseIp, parseRange } from '../../core/ip.ts'
import { parseJsonOrNull } from '../../core/json-text.ts'
import { forbidden, invalid, notFound } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { readSearch } from '../../db/search.ts'
import type { KeysService } from '../keys/keys.service.ts'
import { levelOf, problemOf, protectionHead, protectionView, sinceOf } from './protection.ts'
import { quarantineOf } from './quarantine.ts'
import type { Registry, Server } from './registry.ts'
import { bansByHour, bansByJail, bansSince, cloneOf, selfTestOf, totalsOf, whitelistMarksOf } from './servers.store.ts'
import type { ServerRow } from './servers.store.ts'
import { tagsOf } from './tags.store.ts'

/** What callers read of servers: of those that they see. */
export interface ServerReading {
  list(actor: Principal, query: QueryOf<typeof contract.listServers>): Promise<ReplyOf<typeof contract.listServers>>
  summary(actor: Principal): ReplyOf<typeof contract.summariseServers>
  read(actor: Principal, id: string): Promise<ReplyOf<typeof contract.getServer>>
  jails(actor: Principal, id: string): Promise<ReplyOf<typeof contract.listJails>>
  /** What each visible server says of its jail of that name, if it has one. */
  jailsOfName(actor: Principal, name: string): ReplyOf<typeof contract.listJailsOfName>
  /** The server in a path: 404 when there is none, 403 outside the caller's access. */
  get(actor: Principal, id: string): Server
  /** The server named in a body or query: 400 that names the field, 403 outside the caller's access. */
  named(actor: Principal, field: string, id: string): { no: number; id: string; hostname: string }
}

type ListQuery = QueryOf<typeof contract.listServers>

/** Whether a server is one that a term of a search asks for. */
const isFoundBy = ({ field, values }: QueryTerm, server: Server): boolean => {
  const { row, jails } = server
  const address = row.ip_address === null ? null : parseIp(row.ip_address)
  const isAt = ({ text }: QueryValue) => {
    const range = parseRange(rangeOfQuery(text) ?? '')
    return range !== null && address !== null && covers(range, address)
  }
  return values.some(value => {
    const whole = (text: string | null) => text !== null && matchesValue(value, text, true)
    const part = (text: string | null) => text !== null && matchesValue(value, text, false)
    switch (field) {
      case 'name':
        return whole(row.hostname)
      case 'ip':
        return isAt(value)
      case 'status':
        return row.status === value.text.toLowerCase()
      case 'protection':
        return levelOf(server) === value.text.toLowerCase()
      case 'description':
        return part(row.description)
      case 'os':
        return part(row.os)
      case 'engine':
        return whole(row.engine_version)
      case 'agent':
        return whole(row.agent_version)
      case 'jail':
        return jails.some(({ name }) => whole(name))
      case 'tag':
        return tagsOf(row).some(whole)
      default:
        return [row.hostname, row.ip_address, row.description].some(part) || isAt(value)
    }
  })
}

/** Whether a server is one that a list asks for. */
const filterOf = ({ status = 'all', protection, tag, search, q }: ListQuery): ((server: Server) => boolean) => {
  const searchTree = readSearch(q, 'servers')
  const searchText = search?.toLowerCase()
  // A search for an address finds it however it is written.
  const address = search ? parseIp(search)?.text : undefined
  const isNamed = ({ hostname, ip_address }: ServerRow) =>
    searchText === undefined ||
    hostname.toLowerCase().includes(searchText) ||
    (ip_address?.includes(searchText) ?? false) ||
    (address !== undefined && ip_address === address)
  return server =>
    queryHolds(searchTree, term => isFoundBy(term, server)) &&
    (status === 'all' || server.row.status === status) &&
    (protection === undefined || levelOf(server) === protection) &&
    (tag === undefined || tagsOf(server.row).includes(tag)) &&
    isNamed(server.row)
}

/** Bans of 24 UTC hours, oldest first. */
const dayOfHours = (hours: ReadonlyMap<number, number> | undefined, from: number): number[] =>
  Array.from({ length: 24 }, (_, index) => hours?.get(from + index * hour) ?? 0)

const conflictOf = (text: ServerRow['clone']) => {
  const clone = cloneOf(text)
  return clone && { since: clone.since, ip: clone.ip }
}

/** How far the installation of the agent came. `lastScript`: when somebody last downloaded the installer. */
const installView = (row: ServerRow, lastScript: number | null) => ({
  token_expires_at: isoOrNull(row.install_token_expires_at),
  token_used_at: isoOrNull(row.install_token_used_at),
  token_used_from: row.install_token_used_from,
  script_fetched_at:
    lastScript !== null &&
    row.install_token_expires_at !== null &&
    lastScript > row.install_token_expires_at - times.installToken * second
      ? iso(lastScript)
      : null,
  first_heartbeat_at: isoOrNull(row.first_heartbeat_at),
  first_ban_at: isoOrNull(row.first_ban_at),
})
const view = (server: Server, totals: ReadonlyMap<number, number>, whitelist: ReadonlyMap<number, MarkState>) => ({
  id: server.row.id,
  hostname: server.row.hostname,
  reported_hostname: server.row.reported_hostname,
  ip_address: server.row.ip_address,
  description: server.row.description,
  tags: [...tagsOf(server.row)],
  status: server.row.status,
  protection: protectionHead(server, whitelist.get(server.row.no) ?? 'none'),
  os: server.row.os,
  engine_version: server.row.engine_version,
  agent_version: server.row.agent_version,
  total_bans: totals.get(server.row.no) ?? 0,
  active_jails: server.jails.filter(jail => jail.enabled).length,
  current_bans: server.jails.reduce((sum, jail) => sum + jail.current_bans, 0),
  metrics: server.metrics,
  policy: parseJsonOrNull(server.row.policy),
  sealed: parseJsonOrNull(server.row.sealed),
  last_heartbeat: isoOrNull(server.lastHeartbeat),
  quarantined: quarantineOf(server.row),
  last_self_test: selfTestOf(server.row.self_test),
  clone: conflictOf(server.row.clone),
  created_at: iso(server.row.created_at),
  updated_at: iso(server.row.updated_at),
})

const otherIdsView = ({ other_ids: other }: Server['jails'][number]) =>
  other ? { count: other.count, ids: [...other.ids] } : null

export const createServerReading = (needs: {
  db: Database
  clock: Clock
  registry: Registry
  keys: Pick<KeysService, 'listOfServer'>
  /** When somebody last downloaded the installer; null for never. */
  lastScript: () => number | null
}): ServerReading => {
  const { db, clock, registry, keys } = needs
  const get = (actor: Principal, id: string): Server => {
    const server = registry.byId(id)
    if (!server) throw notFound(`There is no server ${id}.`)
    if (!sees(actor, server.row.no)) throw forbidden('You have no access to this server.')
    return server
  }
  const visible = (actor: Principal) => registry.all().filter(server => sees(actor, server.row.no))

  return {
    get,
    named(actor, field, id) {
      const server = registry.byId(id)
      if (!server) throw invalid(field, `There is no server ${id}.`)
      if (!sees(actor, server.row.no)) throw forbidden('You have no access to this server.')
      return { no: server.row.no, id: server.row.id, hostname: server.row.hostname }
    },
    async list(actor, query) {
      const { bans_24h = false, page = 1, limit = 20 } = query
      const rows = visible(actor).filter(filterOf(query))
      const pageRows = rows.slice((page - 1) * limit, page * limit)
      const nos = pageRows.map(server => server.row.no)
      const totals = await totalsOf(db.read, nos)
      const whitelist = await whitelistMarksOf(db.read, nos)
      const from = hourOf(clock()) - 23 * hour
      const hours = bans_24h ? await bansByHour(db.read, nos, from) : null
      return {
        servers: pageRows.map(server => ({
          ...view(server, totals, whitelist),
          ...(hours ? { bans_24h: dayOfHours(hours.get(server.row.no), from) } : {}),
        })),
        total: rows.length,
        page,
        limit,
      }
    },
    summary(actor) {
      const counts = { online: 0, offline: 0, pending: 0 }
      const protection = { protected: 0, degraded: 0, unprotected: 0, unknown: 0 }
      const servers = visible(actor).map(server => {
        const { id, hostname, status } = server.row
        const level = levelOf(server)
        counts[status]++
        protection[level]++
        return {
          ...{ id, hostname, status, tags: [...tagsOf(server.row)], protection: level },
          ...{ since: sinceOf(server), problem: problemOf(server) },
        }
      })
      return { servers, counts, protection }
    },
    async read(actor, id) {
      const server = get(actor, id)
      const { row } = server
      const totals = await totalsOf(db.read, [row.no])
      const whitelist = await whitelistMarksOf(db.read, [row.no])
      const today = Math.floor(clock() / day) * day
      return {
        ...view(server, totals, whitelist),
        protection: protectionView(server, whitelist.get(row.no) ?? 'none'),
        bans_today: await bansSince(db.read, row.no, today),
        keys: atLeast(actor.permission, 'admin') ? await keys.listOfServer(row.no) : null,
        key_rotated_at: isoOrNull(row.key_rotated_at),
        jails: server.jails.map(({ name, enabled, current_bans }) => ({ name, enabled, current_bans })),
        install: installView(row, needs.lastScript()),
      }
    },
    async jails(actor, id) {
      const server = get(actor, id)
      const totals = await bansByJail(db.read, server.row.no)
      return {
        jails: server.jails.map(jail => ({
          ...jail,
          other_ids: otherIdsView(jail),
          total_bans: totals.get(jail.name) ?? 0,
        })),
      }
    },
    jailsOfName(actor, wanted) {
      const jails = visible(actor).flatMap(({ row, jails }) =>
        jails
          .filter(({ name }) => name === wanted)
          .map(({ name, enabled, filter, template }) => ({
            server: { id: row.id, hostname: row.hostname },
            name,
            enabled,
            filter,
            template,
          })),
      )
      return { jails }
    },
  }
}
