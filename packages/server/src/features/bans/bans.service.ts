import { bounds, times } from '@stockade/contract'
import type { QueryOf, ReplyOf, bans as contract } from '@stockade/contract'
import { system, authorOf } from '../../core/author.ts'
import { sees } from '../../core/actor.ts'
import type { AgentActor, Principal } from '../../core/actor.ts'
import { day, iso, isoOrNull, minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { uuid7Bytes, uuidBytes, uuidText } from '../../core/ids.ts'
import { ipText, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { timeOf } from '../../core/page.ts'
import { forbidden, invalid, notFound } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import type { Change, Events, StockadeEvent } from '../../events/events.ts'
import { detailsOf } from '../../core/validation.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import { checkParams } from '../commands/params.ts'
import type { Params } from '../commands/params.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { appendBans } from './append.ts'
import { exportAs } from './export.ts'
import type { BanFilterReader } from './ban-filters.ts'
import type { BanReasons } from './ban-reasons.ts'
import { bansById, countBans, endActive, keyOfIp, occurrencesOf, pageOfBans } from './bans.store.ts'
import type { BanRow } from './bans.store.ts'
import { countSearch, pageOfSearch } from './search.store.ts'
import type { BanSearch, Before, SearchContext } from './search.store.ts'
import { createGroup } from '../../core/group.ts'
import type { Quotas } from './quotas.ts'
import { checkBanReport, checkUnbanReport } from './reports.ts'
import { expiryOf } from './ban-input.ts'
import type { Append, Appended, BanEnd, NewBan } from './ban-input.ts'

export interface BansService {
  list(actor: Principal, query: QueryOf<typeof contract.listBans>): Promise<ReplyOf<typeof contract.listBans>>
  /** The text of an export, piece by piece. @throws Problem as the list does, before the first piece. */
  export(actor: Principal, query: QueryOf<typeof contract.exportBans>): Promise<AsyncGenerator<string>>
  read(actor: Principal, id: number): Promise<ReplyOf<typeof contract.getBan>>
  /** As they are sent to live feeds. */
  viewsOf(ids: readonly number[]): Promise<(contract.Ban & { serverNo: number })[]>
  /** A ban that an agent reports; resolves when it is on disk. */
  report(agent: AgentActor, report: contract.BanReport): Promise<ReplyOf<typeof contract.reportBan>>
  reportMany(
    agent: AgentActor,
    batch: { bans?: readonly unknown[]; unbans?: readonly unknown[] },
  ): Promise<ReplyOf<typeof contract.reportBans>>
  /** Stores bans that the host held before its enrolment, without notifications. */
  adopt(agent: AgentActor, page: { bans: readonly unknown[] }): Promise<ReplyOf<typeof contract.adoptBans>>
  ban(actor: Principal, serverId: string, input: Params): Promise<ReplyOf<typeof contract.createBan>>
  lift(
    actor: Principal,
    serverId: string,
    ip: string,
    jail: string | undefined,
  ): Promise<ReplyOf<typeof contract.removeBan>>
  /** A host has lifted the bans of an address. */
  lifted(change: Change, serverNo: number, ip: string, jail: string | null): Promise<void>
  /** Ends the bans whose time is up. */
  expire(): Promise<void>
  /** Brings the sums up to date, so that readers need not look at the bans since. Nothing to do on PostgreSQL. */
  sumUp(): Promise<void>
  /** Resolves when every accepted report is written. */
  drain(): Promise<void>
  /** A snapshot of a ban, so that later messages about it read the same. */
  viewAt(row: BanRow, at: number): Omit<contract.Ban, 'reason'>
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
/** PostgreSQL's classes 22 and 23, SQLite's too big, constraint and mismatch. */
const isOfContent = (error: unknown): boolean => {
  const code = (error as { code?: unknown }).code
  return typeof code === 'number' ? [18, 19, 20].includes(code & 0xff) : /^2[23]/.test(String(code))
}

const longBefore = 365 * day
/** What a ban takes in storage beside its log lines: rows, indexes, sums and its event, about. */
const bytesOfBan = 500
const shareOf = (items: readonly Append[]) => {
  let [reports, bytes] = [0, 0]
  for (const item of items)
    if (item.kind === 'ban') {
      reports++
      bytes += bytesOfBan + item.logLines.length
    }
  return { reports, bytes }
}
const isAdopted = (item: Append): boolean => item.kind === 'ban' && item.isAdopted === true
const refuseItem = (errors: typeof checkBanReport.errors): never => {
  const details = detailsOf(errors)
  throw invalid(details[0]?.path ?? '', details.map(detail => detail.message).join('; '))
}
interface Batch {
  readonly items: readonly Append[]
  /** Takes an item in, or notes why it is refused. */
  add(raw: unknown, read: () => Append | Promise<Append>): Promise<void>
  answers(results: readonly Appended[]): ReplyOf<typeof contract.reportBans>['results']
}
/** Items of one request, each judged on its own. */
const createBatch = (): Batch => {
  const items: Append[] = []
  const judged: { event_id: string | null; error: string | null; item: number | null }[] = []
  return {
    items,
    async add(raw, read) {
      const given = (raw as { event_id?: unknown } | null)?.event_id
      const event_id = typeof given === 'string' ? given.slice(0, 64) : null
      try {
        const item = await read()
        judged.push({ event_id, error: null, item: items.push(item) - 1 })
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'Problem') throw error
        judged.push({ event_id, error: error.message, item: null })
      }
    },
    answers: results =>
      judged.map(({ event_id, error, item }) => ({
        event_id,
        id: item === null ? null : (results[item]?.id ?? null),
        error,
      })),
  }
}
/** So many bans of an export are in memory at once. */
const exportPiece = 500
/** So many ids more than a page holds: where there are no more, the number that match is known without counting. */
const beyondPage = 1000

export const createBans = (needs: {
  db: Database
  clock: Clock
  events: Events
  registry: Pick<Registry, 'byNo'>
  servers: Pick<ServersService, 'get' | 'named' | 'refuseQuarantined'>
  quotas: Quotas
  filters: BanFilterReader
  reasons: Pick<BanReasons, 'ofRows'>
  /** So many bytes of a ban's log lines are kept. */
  logLines: number
  commands: Pick<CommandsService, 'queue' | 'initiatorOf'>
  ipinfo: Pick<IpInfo, 'locate' | 'ready'>
  /** Whether the whitelist covers an address or a range. */
  isListed: (ip: IpRange) => boolean
  guardBan: (actor: Principal, params: Params) => void
  /** The first ban of a server was written. */
  onFirstBan: (serverNo: number, at: number) => Promise<void>
  onReported: (count: number) => void
}): BansService => {
  const { db, clock, events, registry, servers, commands, ipinfo, quotas, filters, reasons } = needs

  const viewOf = (row: BanRow, now: number): Omit<contract.Ban, 'reason'> => ({
    ...plainView(row, now),
    whitelisted: needs.isListed({ bytes: row.ip, prefix: row.prefix, text: '' }),
  })
  const isListed = ({ ip, prefix }: NewBan) => needs.isListed({ bytes: ip, prefix, text: '' })
  /** A host banned what the whitelist covers: it did happen, so it is kept, and it is undone. */
  const undo = ({ serverNo, ip, prefix }: NewBan) =>
    commands.queue(system, serverNo, 'unban-ip', { jail: '*', ip: ipText(ip, prefix) })
  let unsummed = true
  const group = createGroup<Append, Appended>(
    async items => {
      const now = clock()
      const results = await db.run(appendBans, { items, now })
      unsummed = true
      const told = results.flatMap((result, index): StockadeEvent[] => {
        const item = items[index]
        if (!result.changed || result.id === null || !item || isAdopted(item)) return []
        const name = item.kind === 'ban' ? ('ban.report' as const) : ('ban.end' as const)
        return [
          { id: result.eventId ?? 0, at: now, name, author: null, serverNo: item.serverNo, banId: result.id, data: {} },
        ]
      })
      if (told.length > 0) events.tell(told)
      return results
    },
    { batch: 1000, waiting: 50_000 },
    isOfContent,
  )
  /** No host knows of bans from long before its enrolment. */
  const earliest = (serverNo: number) => Math.max(0, (registry.byNo(serverNo)?.row.created_at ?? 0) - longBefore)
  /** Checks and completes a report; what is written is decided here, before the batch. */
  const complete = (agent: AgentActor, report: contract.BanReport, by: string | null): NewBan => {
    const now = clock()
    const ip = parseRange(report.ip)
    if (!ip) throw invalid('ip', 'ip must be an IPv4 or IPv6 address or a CIDR.')
    const told = report.banned_at === undefined ? now : timeOf('banned_at', report.banned_at)
    const duration = report.ban_duration ?? null
    if (duration === null || duration < 0) quotas.admitEndless(agent.serverNo)
    const place = ipinfo.locate(ip)
    return {
      kind: 'ban',
      serverNo: agent.serverNo,
      jail: report.jail,
      country: place.country,
      ip: ip.bytes,
      prefix: ip.prefix,
      // A host's clock may be ahead; a ban of the future is taken as one of now.
      bannedAt: told > now + 5 * minute ? now : Math.max(earliest(agent.serverNo), told),
      duration,
      asn: place.asn,
      asnOrg: place.asn_org,
      // It stands in an index; no city has a name that long.
      city: place.city?.slice(0, 200) ?? null,
      latitude: place.latitude,
      longitude: place.longitude,
      logLines: tame(report.log_lines ?? '', needs.logLines),
      bannedBy: by,
      eventId: report.event_id === undefined ? uuid7Bytes(now) : uuidBytes(report.event_id),
    }
  }
  let placesKnown = false
  void ipinfo.ready.then(() => (placesKnown = true))
  /** The same, waiting only where it must: nearly every report is complete at once, and waits cost more than the rest. */
  const accept = (agent: AgentActor, report: contract.BanReport): NewBan | Promise<NewBan> => {
    const { command_id } = report
    if (placesKnown && command_id === undefined && quotas.knowsJail(agent.serverNo, report.jail))
      return complete(agent, report, null)
    // Places are never looked up again: in the first second of the process a report waits for the data.
    return ipinfo.ready.then(async () => {
      await quotas.admitJail(agent.serverNo, report.jail)
      const by = command_id === undefined ? null : await commands.initiatorOf(agent.serverNo, command_id)
      return complete(agent, report, by)
    })
  }
  const banOf = (agent: AgentActor, raw: unknown): NewBan | Promise<NewBan> =>
    checkBanReport(raw) ? accept(agent, raw) : refuseItem(checkBanReport.errors)
  const endOf = (agent: AgentActor, raw: unknown): BanEnd => {
    if (!checkUnbanReport(raw)) return refuseItem(checkUnbanReport.errors)
    const ip = parseRange(raw.ip)
    if (!ip) throw invalid('ip', 'ip must be an IPv4 or IPv6 address or a CIDR.')
    const now = clock()
    const at = raw.unbanned_at === undefined ? now : Math.min(now, timeOf('unbanned_at', raw.unbanned_at))
    return { kind: 'end', serverNo: agent.serverNo, jail: raw.jail, ip: ip.bytes, prefix: ip.prefix, at }
  }
  /** What new bans bring about. Nothing, for most of them: then there is nothing to wait for. */
  const follow = (serverNo: number, bans: readonly NewBan[]): Promise<void> | undefined => {
    needs.onReported(bans.length)
    const isFirst = registry.byNo(serverNo)?.row.first_ban_at === null
    const listed = bans.filter(isListed)
    if (!isFirst && listed.length === 0) return undefined
    return (async () => {
      if (isFirst) await needs.onFirstBan(serverNo, clock())
      for (const ban of listed) await undo(ban)
    })()
  }
  /** Writes what one host reported, within what it may report. */
  const write = async (serverNo: number, items: readonly Append[]): Promise<Appended[]> => {
    const share = shareOf(items)
    quotas.take(serverNo, share)
    try {
      const results = await group.add(items)
      const repeated = items.filter((_, index) => !results[index]?.changed)
      if (repeated.length > 0) quotas.giveBack(serverNo, shareOf(repeated))
      return results
    } catch (error) {
      quotas.giveBack(serverNo, share)
      throw error
    }
  }
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
      const rows = await pageOfBans(db.read, db.engine, filter, now, offset, limit)
      return { rows, total: await countBans(db.read, db.engine, filter, now) }
    }
    const asked = plain ? limit : limit + beyondPage
    const ids = await pageOfSearch(scan, filter, context, sort, offset, asked)
    const isAll = !plain && ids.length < asked && (ids.length > 0 || offset === 0)
    const total = isAll
      ? offset + ids.length
      : await (plain ? countBans(db.read, db.engine, filter, now) : countSearch(scan, filter, context))
    return { rows: await rowsOf(ids.slice(0, limit)), total }
  }
  const listed = async (actor: Principal, rows: readonly BanRow[], now: number): Promise<contract.ListedBan[]> => {
    const times = await occurrencesOf(
      db.read,
      actor.servers,
      rows.map(row => row.ip),
    )
    const reasonById = await reasons.ofRows(rows)
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
    async report(agent, report) {
      servers.refuseQuarantined(agent.serverNo, 403)
      const accepted = accept(agent, report)
      const ban = accepted instanceof Promise ? await accepted : accepted
      const [result] = await write(agent.serverNo, [ban])
      const server = registry.byNo(agent.serverNo)
      if (!result || result.id === null || !server) throw notFound('This server was removed.')
      if (result.changed) {
        const following = follow(agent.serverNo, [ban])
        if (following) await following
      } else {
        const [first] = await bansById(db.read, [result.id])
        if (first) return { ...viewOf(first, clock()), server_id: server.row.id }
      }
      return {
        id: result.id,
        ip: ipText(ban.ip, ban.prefix),
        jail: ban.jail,
        server_id: server.row.id,
        country: ban.country,
        banned_at: iso(result.bannedAt),
        reported_to_reputation_db: false,
      }
    },
    async reportMany(agent, { bans = [], unbans = [] }) {
      servers.refuseQuarantined(agent.serverNo, 403)
      if (bans.length + unbans.length > bounds.batch)
        throw invalid('bans', `bans and unbans together may be at most ${bounds.batch}.`)
      const batch = createBatch()
      for (const raw of bans) await batch.add(raw, () => banOf(agent, raw))
      for (const raw of unbans) await batch.add(raw, () => endOf(agent, raw))
      const results = await write(agent.serverNo, batch.items)
      const fresh = batch.items.flatMap((item, index) => (item.kind === 'ban' && results[index]?.changed ? [item] : []))
      if (fresh.length > 0) await follow(agent.serverNo, fresh)
      return { results: batch.answers(results) }
    },
    async adopt(agent, { bans }) {
      servers.refuseQuarantined(agent.serverNo, 403)
      const batch = createBatch()
      for (const raw of bans)
        await batch.add(raw, async () => {
          const ban = await banOf(agent, raw)
          if (!checkBanReport(raw) || raw.event_id === undefined) throw invalid('event_id', 'event_id is missing.')
          return { ...ban, isAdopted: true }
        })
      const results = await write(agent.serverNo, batch.items)
      for (const [index, item] of batch.items.entries())
        if (item.kind === 'ban' && results[index]?.changed && isListed(item)) await undo(item)
      return { results: batch.answers(results) }
    },
    async ban(actor, serverId, input) {
      const params = checkParams('ban-ip', { jail: 'stockade', ...input })
      const { row: server } = servers.get(actor, serverId)
      needs.guardBan(actor, params)
      const whole = params.jail === 'stockade' ? { duration: times.defaultBan, ...params } : params
      const queued = await commands.queue(authorOf(actor), server.no, 'ban-ip', whole, 'ban.create')
      return { message: `The ban of ${String(params.ip)} is queued for ${server.hostname}.`, command_id: queued.id }
    },
    async lift(actor, serverId, ip, jail) {
      const params = checkParams('unban-ip', { ip, jail: jail ?? '*' })
      const { row: server } = servers.get(actor, serverId)
      const queued = await commands.queue(authorOf(actor), server.no, 'unban-ip', params, 'ban.remove')
      return {
        message: `Lifting the ban of ${String(params.ip)} is queued for ${server.hostname}.`,
        command_id: queued.id,
      }
    },
    async lifted(change, serverNo, ip, jail) {
      const range = parseRange(ip)
      if (range) await endActive(change, { serverNo, ip: range, jail }, clock())
    },
    async expire() {
      for (;;) {
        const now = clock()
        const ended = await events.change(change => endActive(change, { expiredBy: now, most: 200 }, now))
        if (ended.length < 200) return
      }
    },
    async sumUp() {
      // On PostgreSQL others may have reported too.
      if (!unsummed && db.engine === 'sqlite') return
      unsummed = false
      await db.run(appendBans, { items: [], now: clock() })
    },
    drain: () => group.drain(),
    viewAt(row, at) {
      const ended = row.unbanned_at !== null && row.unbanned_at <= at
      return viewOf({ ...row, unbanned_at: ended ? row.unbanned_at : null }, at)
    },
  }
}
