import type { QueryOf, ReplyOf, attackers as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { iso, isoOrNull, minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { descriptionsOf } from '../whitelist/whitelist.store.ts'
import { groupBySql } from './attackers.store.ts'
import type { AttackerFacts, AttackersAsked, AttackerPage } from './attackers.store.ts'
import type { BanFilterReader } from './ban-filters.ts'
import type { BanReasons } from './ban-reasons.ts'
import { commandsOfAddresses } from './ban-reasons.store.ts'
import type { BanColumns } from './columns/columns.ts'
import { bansById, keyOfIp } from './bans.store.ts'
import type { BanRow } from './bans.store.ts'
import { mergeReasons } from './reasons/reason.ts'
import { columnTreeOf } from './search-columns.ts'
import type { SearchContext } from './search.store.ts'
import { jailNames } from './stats.store.ts'

type Query = QueryOf<typeof contract.listAttackers>
type Reply = ReplyOf<typeof contract.listAttackers>

export interface AttackersService {
  /** Bans grouped by address. */
  list(actor: Principal, query: Query): Promise<Reply>
}

/** Jails that an attacker is listed with. */
const mostJails = 5
/** Rows from the start of the list up to which pages come from columns. Deeper ones are rare enough for SQL. */
const deepest = 250_000
const noTotals = { attackers: 0, bans: 0, active_addresses: 0 }

export const createAttackers = (needs: {
  db: Database
  clock: Clock
  filters: BanFilterReader
  reasons: BanReasons
  mirror: Pick<Mirror, 'covers'>
  columns: BanColumns
}): AttackersService => {
  const { db, clock, filters, reasons, mirror, columns } = needs
  const groupByColumns = async (asked: AttackersAsked, context: SearchContext): Promise<AttackerPage | null> => {
    if (asked.offset + asked.limit > deepest) return null
    const search = asked.filter.tree ?? null
    const tree = search && (await columnTreeOf(db.read, search, context))
    return search && tree === null ? null : columns.group(asked, tree, context.now)
  }
  const group = async (query: Query, asked: AttackersAsked, context: SearchContext): Promise<AttackerPage> => {
    return (await groupByColumns(asked, context)) ?? groupBySql(scanFor(db, 'attackers', query))(asked, context)
  }
  /** Who lifted the last ban of an address, by the commands that went to the listed servers. */
  const liftersOf = async (actor: Principal, ended: readonly BanRow[]): Promise<ReadonlyMap<string, string>> => {
    const texts = ended.map(({ ip, prefix }) => ipText(ip, prefix))
    const commands = await commandsOfAddresses(db.read, db.engine, 'unban-ip', texts)
    const nameById = new Map<string, string>()
    for (const row of ended) {
      const text = ipText(row.ip, row.prefix)
      const at = row.unbanned_at ?? 0
      const lifter = commands.find(
        ({ ip, server_no, created_at }) => ip === text && server_no === row.server_no && created_at <= at + minute,
      )
      if (lifter && lifter.created_at >= row.banned_at && lifter.initiated_by !== 'system')
        nameById.set(keyOfIp(row.ip), lifter.initiated_by)
    }
    return nameById
  }

  const viewsOf = async (actor: Principal, rows: readonly AttackerFacts[]): Promise<contract.Attacker[]> => {
    const latest = new Map(
      (
        await bansById(
          db.read,
          rows.flatMap(({ latest: [id] }) => id ?? []),
        )
      ).map(row => [keyOfIp(row.ip), row]),
    )
    const jails = await jailNames(db.read, new Set(rows.flatMap(row => row.jails.map(({ jailId }) => jailId))))
    const reasonById = await reasons.ofIds(rows.flatMap(row => row.latest))
    const entries = rows.map(({ ip }) =>
      mirror.covers({ bytes: ip, prefix: latest.get(keyOfIp(ip))?.prefix ?? null, text: '' }),
    )
    const descriptions = await descriptionsOf(
      db.read,
      entries.flatMap(entry => entry?.id ?? []),
    )
    const stateAt = (index: number): contract.Attacker['state'] => {
      const row = rows[index]
      if (row && row.now.activeBans > 0) return 'banned'
      return entries[index] ? 'whitelisted' : row?.now.lifted ? 'unbanned' : 'expired'
    }
    const lifters = await liftersOf(
      actor,
      rows.flatMap(({ ip }, index) => (stateAt(index) === 'unbanned' ? (latest.get(keyOfIp(ip)) ?? []) : [])),
    )
    return rows.map((row, index) => {
      const ban = latest.get(keyOfIp(row.ip))
      const entry = entries[index]
      return {
        ip: ipText(row.ip, ban?.prefix ?? null),
        country: ban?.country ?? null,
        country_name: ban?.country ? countryName(ban.country) : null,
        asn: ban?.asn ? `AS${ban.asn}` : null,
        network: ban?.asn_org ?? null,
        bans: row.bans,
        servers: row.servers,
        jails: row.jails.slice(0, mostJails).map(({ jailId }) => jails.get(jailId) ?? ''),
        jail_count: row.jails.length,
        first_banned_at: iso(row.first),
        last_banned_at: iso(row.last),
        active_bans: row.now.activeBans,
        active_servers: row.now.activeServers,
        expires_at: isoOrNull(row.now.expires),
        permanent: row.now.permanent,
        state: stateAt(index),
        whitelist_description: entry ? (descriptions.get(entry.id) ?? '') : null,
        unbanned_by: lifters.get(keyOfIp(row.ip)) ?? null,
        hours: [...row.now.hours],
        reason: mergeReasons(row.latest.map(id => reasonById.get(id) ?? null)),
      }
    })
  }

  return {
    async list(actor, query) {
      const { page = 1, limit = 50, sort = 'last', order = 'desc' } = query
      const context = filters.contextAt(clock())
      const filter = await filters.read(actor, query, context)
      if (!filter) return { attackers: [], total: 0, page, limit, totals: noTotals }
      const question = { filter, sort, descending: order === 'desc', offset: (page - 1) * limit, limit }
      const { rows, attackers, bans, activeAddresses } = await group(query, question, context)
      return {
        attackers: await viewsOf(actor, rows),
        total: attackers,
        page,
        limit,
        totals: { attackers, bans, active_addresses: activeAddresses },
      }
    },
  }
}
