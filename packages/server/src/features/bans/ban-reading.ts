import { isWider, widest } from '@stockade/contract/reach.ts'
import type { QueryOf, ReplyOf, bans as contract } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { uuidText } from '../../core/ids.ts'
import { ipText } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { forbidden, notFound } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import type { Before } from '../../db/search.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import type { BanFilterReader } from './ban-filters.ts'
import { expiryOf } from './ban-input.ts'
import type { BanReasons } from './ban-reasons.ts'
import { bansById, countBans, keyOfIp, occurrencesOf, pageOfBans } from './bans.store.ts'
import type { BanRow } from './bans.store.ts'
import { exportAs } from './export.ts'
import { countSearch, pageOfSearch } from './search.store.ts'
import type { BanSearch, SearchContext } from './search.store.ts'

/** What callers read of bans: of the servers that they see. */
export interface BanReading {
  list(actor: Principal, query: QueryOf<typeof contract.listBans>): Promise<ReplyOf<typeof contract.listBans>>
  /** The text of an export, piece by piece. @throws Problem as the list does, before the first piece. */
  export(actor: Principal, query: QueryOf<typeof contract.exportBans>): Promise<AsyncGenerator<string>>
  read(actor: Principal, id: number): Promise<ReplyOf<typeof contract.getBan>>
  /** As they are sent to live feeds. */
  viewsOf(ids: readonly number[]): Promise<(contract.Ban & { serverNo: number })[]>
  /** A snapshot of a ban, so that later messages about it read the same. */
  viewAt(row: BanRow, at: number): Omit<contract.Ban, 'reason'>
  /** A ban as a reply shows it. */
  viewOf(row: BanRow, now: number): Omit<contract.Ban, 'reason'>
}

/** Whether a ban holds at this moment, and when it ends or ended. */
export const stateOf = (row: Pick<BanRow, 'banned_at' | 'ban_duration' | 'unbanned_at'>, now: number) => {
  const expires = expiryOf({ bannedAt: row.banned_at, duration: row.ban_duration })
  const over = expires !== null && expires <= now
  return {
    expires_at: isoOrNull(expires),
    unbanned_at: isoOrNull(row.unbanned_at ?? (over ? expires : null)),
    active: row.unbanned_at === null && !over,
  }
}
const plainView = (row: BanRow, now: number): Omit<contract.Ban, 'whitelisted' | 'reason'> => {
  return {
    id: row.id,
    ip: ipText(row.ip, row.prefix),
    wide: isWider({ bytes: row.ip, prefix: row.prefix }, widest.counted),
    jail: row.jail,
    server: { id: row.server_id, hostname: row.hostname },
    country: row.country,
    country_name: row.country === null ? null : countryName(row.country),
    city: row.city,
    latitude: row.latitude,
    longitude: row.longitude,
    asn: row.asn === null ? null : `AS${row.asn}`,
    asn_org: row.asn_org,
    log_lines: row.log_lines,
    banned_at: iso(row.banned_at),
    ban_duration: row.ban_duration,
    reported_to_reputation_db: row.reported === 1,
    ...stateOf(row, now),
    banned_by: row.banned_by ?? 'engine',
    event_id: uuidText(row.event_id),
    origin: row.origin,
    dropped_packets: row.dropped_packets,
    dropped_at: isoOrNull(row.dropped_at),
  }
}
/** So many bans of an export are in memory at once. */
const exportPiece = 500
/** So many ids more than a page holds: where there are no more, the number that match is known without counting. */
const beyondPage = 1000

export const createBanReading = (needs: {
  db: Database
  clock: Clock
  filters: BanFilterReader
  reasons: Pick<BanReasons, 'ofRows'>
  /** Whether the whitelist covers an address or a range. */
  isListed: (ip: IpRange) => boolean
}): BanReading => {
  const { db, clock, filters, reasons } = needs
  const viewOf = (row: BanRow, now: number): Omit<contract.Ban, 'reason'> => ({
    ...plainView(row, now),
    whitelisted: needs.isListed({ bytes: row.ip, prefix: row.prefix, text: '' }),
  })
  const isPlain = (filter: BanSearch) => filter.tree === undefined && filter.asn === undefined
  /** In the order of the ids; what retention took meanwhile is left out. */
  const rowsOf = async (ids: readonly number[]): Promise<BanRow[]> => {
    const rows = new Map((await bansById(db.read, ids)).map(row => [row.id, row]))
    return ids.flatMap(id => rows.get(id) ?? [])
  }
  const pageOf = async (
    scan: Database['scan'],
    filter: BanSearch,
    context: SearchContext,
    sort: contract.BanSort,
    offset: number,
    limit: number,
  ): Promise<{ rows: BanRow[]; total: number }> => {
    const { now } = context
    const plain = isPlain(filter)
    if (plain && sort === '-banned_at') {
      const [rows, total] = await Promise.all([
        pageOfBans(db.read, db.engine, filter, now, offset, limit),
        countBans(db.read, db.engine, filter, now),
      ])
      return { rows, total }
    }
    const rowLimit = plain ? limit : limit + beyondPage
    const ids = await pageOfSearch(scan, filter, context, sort, offset, rowLimit)
    const isAll = !plain && ids.length < rowLimit && (ids.length > 0 || offset === 0)
    const total = isAll
      ? offset + ids.length
      : await (plain ? countBans(db.read, db.engine, filter, now) : countSearch(scan, filter, context))
    return { rows: await rowsOf(ids.slice(0, limit)), total }
  }
  const listed = async (actor: Principal, rows: readonly BanRow[], now: number): Promise<contract.ListedBan[]> => {
    const ips = rows.map(row => row.ip)
    const [times, reasonById] = await Promise.all([
      occurrencesOf(db.read, db.engine, actor.servers, ips),
      reasons.ofRows(rows),
    ])
    return rows.map(row => ({
      ...viewOf(row, now),
      occurrences: times.get(keyOfIp(row.ip)) ?? 1,
      reputation_score: row.reputation_score,
      reason: reasonById.get(row.id) ?? null,
    }))
  }
  async function* piecesOf(scan: Database['scan'], actor: Principal, filter: BanSearch, context: SearchContext) {
    // What comes meanwhile is newer than what was read already: it has no place here.
    let before: Before | undefined
    for (;;) {
      const ids = await pageOfSearch(scan, filter, context, '-banned_at', 0, exportPiece, before)
      const rows = await rowsOf(ids)
      const last = rows.at(-1)
      if (!last) return
      yield await listed(actor, rows, context.now)
      if (ids.length < exportPiece) return
      before = { at: last.banned_at, id: last.id }
    }
  }
  async function* none(): AsyncGenerator<contract.ListedBan[]> {}
  const outside = forbidden('You have no access to the server of this ban.')

  return {
    viewOf,
    async list(actor, query) {
      const { page = 1, limit = 50, sort = '-banned_at' } = query
      const context = filters.contextAt(clock())
      const filter = await filters.read(actor, query, context)
      if (!filter) return { bans: [], total: 0, page, limit }
      const scan = scanFor(db, 'bans', query)
      const { rows, total } = await pageOf(scan, filter, context, sort, (page - 1) * limit, limit)
      return { bans: await listed(actor, rows, context.now), total, page, limit }
    },
    async export(actor, { format = 'json', ...query }) {
      const context = filters.contextAt(clock())
      const filter = await filters.read(actor, query, context)
      const pieces = filter ? piecesOf(scanFor(db, 'bans', query), actor, filter, context) : none()
      return exportAs(format, pieces, context.now)
    },
    async read(actor, id) {
      const [row] = await bansById(db.read, [id])
      if (!row) throw notFound(`There is no ban ${id}.`)
      if (!sees(actor, row.server_no)) throw outside
      const reason = (await reasons.ofRows([row])).get(row.id) ?? null
      return { ...viewOf(row, clock()), reputation_score: row.reputation_score, reason }
    },
    async viewsOf(ids) {
      const now = clock()
      const rows = await bansById(db.read, ids)
      const reasonById = await reasons.ofRows(rows)
      return rows.map(row => ({ ...viewOf(row, now), reason: reasonById.get(row.id) ?? null, serverNo: row.server_no }))
    },
    viewAt(row, at) {
      const ended = row.unbanned_at !== null && row.unbanned_at <= at
      return viewOf({ ...row, unbanned_at: ended ? row.unbanned_at : null }, at)
    },
  }
}
