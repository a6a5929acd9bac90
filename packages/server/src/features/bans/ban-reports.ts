import { bounds } from '@stockade/contract'
import type { ReplyOf, bans as contract } from '@stockade/contract'
import { whyNotReported } from '@stockade/contract/reach.ts'
import { recordOf } from '@stockade/contract/untrusted.ts'
import type { AgentActor } from '../../core/actor.ts'
import { day, iso, minute } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { createGroup } from '../../core/group.ts'
import { uuid7Bytes, uuidBytes } from '../../core/ids.ts'
import { ipText, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { timeOf } from '../../core/page.ts'
import { invalid, notFound } from '../../core/problem.ts'
import { createPause } from '../../core/slices.ts'
import { jailText, tame } from '../../core/text.ts'
import { detailsOf } from '../../core/validation.ts'
import type { Database } from '../../db/database.ts'
import type { Events, StockadeEvent } from '../../events/events.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { Registry } from '../servers/registry.ts'
import { appendBans } from './append.ts'
import type { Append, Appended, BanEnd, NewBan } from './ban-input.ts'
import type { BanReading } from './ban-reading.ts'
import { bansById } from './bans.store.ts'
import type { Quotas } from './quotas.ts'
import { checkBanReport, checkUnbanReport } from './reports.ts'

/** What agents report of bans. */
export interface BanReports {
  /** A ban that an agent reports; resolves when it is on disk. */
  report(agent: AgentActor, report: contract.BanReport): Promise<ReplyOf<typeof contract.reportBan>>
  reportMany(
    agent: AgentActor,
    batch: { bans?: readonly unknown[]; unbans?: readonly unknown[] },
  ): Promise<ReplyOf<typeof contract.reportBans>>
  /** Stores bans that the host held before its enrolment, without notifications. */
  adopt(agent: AgentActor, page: { bans: readonly unknown[] }): Promise<ReplyOf<typeof contract.adoptBans>>
  /** Brings the sums up to date, so that readers need not look at the bans since. Nothing to do on PostgreSQL. */
  sumUp(): Promise<void>
  /** Resolves when every accepted report is written. */
  drain(): Promise<void>
}

/** PostgreSQL's classes 22 and 23, SQLite's too big, constraint and mismatch. */
const isOfContent = (error: unknown): boolean => {
  const code = recordOf(error).code
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
  // Items of 64 KiB each are cleaned here.
  const pause = createPause()
  const items: Append[] = []
  const judged: { event_id: string | null; error: string | null; item: number | null }[] = []
  return {
    items,
    async add(raw, read) {
      const eventId = recordOf(raw).event_id
      const event_id = typeof eventId === 'string' ? eventId.slice(0, 64) : null
      try {
        const item = await read()
        judged.push({ event_id, error: null, item: items.push(item) - 1 })
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'Problem') throw error
        judged.push({ event_id, error: error.message, item: null })
      }
      await pause()
    },
    answers: results =>
      judged.map(({ event_id, error, item }) => ({
        event_id,
        id: item === null ? null : (results[item]?.id ?? null),
        error,
      })),
  }
}
export interface BanReportNeeds {
  db: Database
  clock: Clock
  events: Events
  registry: Pick<Registry, 'byNo'>
  quotas: Quotas
  /** So many bytes of a ban's log lines are kept. */
  logLines: number
  commands: Pick<CommandsService, 'liftListed' | 'initiatorOf'>
  ipinfo: Pick<IpInfo, 'locate' | 'ready'>
  /** Whether the whitelist covers an address or a range. */
  isListed: (ip: IpRange) => boolean
  /** The first ban of a server was written. */
  onFirstBan: (serverNo: number, at: number) => Promise<void>
  onReported: (count: number) => void
}

/** Checks reports and completes them with what the server knows: places, times, who ordered them. */
const createIntake = ({ registry, quotas, commands, ipinfo, logLines }: BanReportNeeds) => {
  /** No host knows of bans from long before its enrolment. */
  const earliest = (serverNo: number) => Math.max(0, (registry.byNo(serverNo)?.row.created_at ?? 0) - longBefore)
  /** Checks and completes a report; what is written is decided here, before the batch. */
  const complete = (agent: AgentActor, report: contract.BanReport, by: string | null, now: number): NewBan => {
    const ip = parseRange(report.ip)
    if (!ip) throw invalid('ip', 'ip must be an IPv4 or IPv6 address or a CIDR.')
    const why = whyNotReported(ip)
    if (why !== null) throw invalid('ip', `ip ${why}.`)
    const bannedAt = report.banned_at === undefined ? now : timeOf('banned_at', report.banned_at)
    const duration = report.ban_duration ?? null
    if (duration === null || duration < 0) quotas.admitEndless(agent.serverNo)
    const place = ipinfo.locate(ip)
    return {
      kind: 'ban',
      serverNo: agent.serverNo,
      jail: jailText(report.jail),
      country: place.country,
      ip: ip.bytes,
      prefix: ip.prefix,
      // A host's clock may be ahead; a ban of the future is taken as one of now.
      bannedAt: bannedAt > now + 5 * minute ? now : Math.max(earliest(agent.serverNo), bannedAt),
      duration,
      asn: place.asn,
      asnOrg: place.asn_org,
      // An index holds it; no city has a name that long.
      city: place.city?.slice(0, 200) ?? null,
      latitude: place.latitude,
      longitude: place.longitude,
      logLines: tame(report.log_lines ?? '', logLines),
      bannedBy: by,
      eventId: report.event_id === undefined ? uuid7Bytes(now) : uuidBytes(report.event_id),
    }
  }
  let placesKnown = false
  void ipinfo.ready.then(() => (placesKnown = true))
  /** The same, waiting only where it must: nearly every report is complete at once, and waits cost more than the rest. */
  const accept = (agent: AgentActor, report: contract.BanReport, now: number): NewBan | Promise<NewBan> => {
    const { command_id } = report
    if (placesKnown && command_id === undefined && quotas.knowsJail(agent.serverNo, jailText(report.jail)))
      return complete(agent, report, null, now)
    // Places are never looked up again: in the first second of the process a report waits for the data.
    return ipinfo.ready.then(async () => {
      await quotas.admitJail(agent.serverNo, jailText(report.jail))
      const by = command_id === undefined ? null : await commands.initiatorOf(agent.serverNo, command_id)
      return complete(agent, report, by, now)
    })
  }
  const banOf = (agent: AgentActor, raw: unknown, now: number): NewBan | Promise<NewBan> =>
    checkBanReport(raw) ? accept(agent, raw, now) : refuseItem(checkBanReport.errors)
  const endOf = (agent: AgentActor, raw: unknown, now: number): BanEnd => {
    if (!checkUnbanReport(raw)) return refuseItem(checkUnbanReport.errors)
    const ip = parseRange(raw.ip)
    if (!ip) throw invalid('ip', 'ip must be an IPv4 or IPv6 address or a CIDR.')
    const at = raw.unbanned_at === undefined ? now : Math.min(now, timeOf('unbanned_at', raw.unbanned_at))
    return { kind: 'end', serverNo: agent.serverNo, jail: jailText(raw.jail), ip: ip.bytes, prefix: ip.prefix, at }
  }
  return { accept, banOf, endOf }
}

export const createBanReports = (needs: BanReportNeeds & { reading: Pick<BanReading, 'viewOf'> }): BanReports => {
  const { db, clock, events, registry, commands, quotas } = needs
  const { accept, banOf, endOf } = createIntake(needs)
  const isListed = ({ ip, prefix }: NewBan) => needs.isListed({ bytes: ip, prefix, text: '' })
  /** A host banned what the whitelist covers: it did happen, so it is kept, and it is undone. */
  const undo = (serverNo: number, bans: readonly NewBan[]) =>
    commands.liftListed(
      serverNo,
      bans.map(({ ip, prefix }) => ipText(ip, prefix)),
    )
  let unsummed = true
  const group = createGroup<Append, Appended>(
    async items => {
      const now = clock()
      const results = await db.run(appendBans, { items, now })
      unsummed = true
      const banEvents = results.flatMap((result, index): StockadeEvent[] => {
        const item = items[index]
        if (!result.changed || result.id === null || !item || isAdopted(item)) return []
        const name = item.kind === 'ban' ? ('ban.report' as const) : ('ban.end' as const)
        return [
          { id: result.eventId ?? 0, at: now, name, author: null, serverNo: item.serverNo, banId: result.id, data: {} },
        ]
      })
      if (banEvents.length > 0) events.tell(banEvents)
      return results
    },
    { batch: 1000, waiting: 50_000 },
    isOfContent,
  )
  /** What new bans bring about. Nothing, for most of them: then there is nothing to wait for. */
  const follow = (serverNo: number, bans: readonly NewBan[]): Promise<void> | undefined => {
    needs.onReported(bans.length)
    const isFirst = registry.byNo(serverNo)?.row.first_ban_at === null
    const listed = bans.filter(isListed)
    if (!isFirst && listed.length === 0) return undefined
    return (async () => {
      if (isFirst) await needs.onFirstBan(serverNo, clock())
      if (listed.length > 0) await undo(serverNo, listed)
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

  return {
    async report(agent, report) {
      const accepted = accept(agent, report, clock())
      const ban = accepted instanceof Promise ? await accepted : accepted
      const [result] = await write(agent.serverNo, [ban])
      const server = registry.byNo(agent.serverNo)
      if (!result || result.id === null || !server) throw notFound('This server was removed.')
      if (result.changed) {
        const following = follow(agent.serverNo, [ban])
        if (following) await following
      } else {
        const [first] = await bansById(db.read, [result.id])
        if (first) return { ...needs.reading.viewOf(first, clock()), server_id: server.row.id }
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
      if (bans.length + unbans.length > bounds.batch)
        throw invalid('bans', `bans and unbans together may be at most ${bounds.batch}.`)
      const batch = createBatch()
      // Reports without a time of their own are of when the request came, all of them.
      const now = clock()
      for (const raw of bans) await batch.add(raw, () => banOf(agent, raw, now))
      for (const raw of unbans) await batch.add(raw, () => endOf(agent, raw, now))
      const results = await write(agent.serverNo, batch.items)
      const fresh = batch.items.flatMap((item, index) => (item.kind === 'ban' && results[index]?.changed ? [item] : []))
      if (fresh.length > 0) await follow(agent.serverNo, fresh)
      return { results: batch.answers(results) }
    },
    async adopt(agent, { bans }) {
      const batch = createBatch()
      const now = clock()
      for (const raw of bans)
        await batch.add(raw, async () => {
          const ban = await banOf(agent, raw, now)
          if (!checkBanReport(raw) || raw.event_id === undefined) throw invalid('event_id', 'event_id is missing.')
          return { ...ban, isAdopted: true }
        })
      const results = await write(agent.serverNo, batch.items)
      const fresh = batch.items.flatMap((item, index) => (item.kind === 'ban' && results[index]?.changed ? [item] : []))
      const listed = fresh.filter(isListed)
      if (listed.length > 0) await undo(agent.serverNo, listed)
      return { results: batch.answers(results) }
    },
    async sumUp() {
      // On PostgreSQL others may have reported too.
      if (!unsummed && db.engine === 'sqlite') return
      unsummed = false
      await db.run(appendBans, { items: [], now: clock() })
    },
    drain: () => group.drain(),
  }
}
