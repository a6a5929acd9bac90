import type { FastifyBaseLogger } from 'fastify'
import { authorOf } from '../../core/author.ts'
import { Problem, conflict, forbidden, notFound } from '../../core/problem.ts'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { backoff } from '../../core/backoff.ts'
import { day, hour, iso, minute, second } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { StoreAccess } from '../../events/events.ts'
import { createReader } from '../../events/reader.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { bansById } from '../bans/bans.store.ts'
import type { BanRow } from '../bans/bans.store.ts'
import { isSpecial } from '../ipinfo/special.ts'
import type { Registry } from '../servers/registry.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { ProviderFailure, createAbuseIpdb } from './abuseipdb.ts'
import type { Reputation } from './abuseipdb.ts'
import { categoriesOf, commentOf } from './report-text.ts'
import {
  addReports,
  dropPause,
  dueReports,
  endReport,
  forgetReports,
  keepPause,
  knownAddresses,
  lastReportOf,
  noteSent,
  reportsByServer,
  putOff,
  readPause,
  sentSince,
} from './reputation.store.ts'
import type { Pause, ReportRow } from './reputation.store.ts'

export interface ReputationService {
  /** What the service knows of an address: asked at most once an hour, for 2 s at most; null when off or not to be had. */
  check(ip: IpRange): Promise<Reputation | null>
  /** Reports a ban at once. @throws Problem 409 when off, not reportable or over budget, 502 when the service failed */
  report(actor: Principal, banId: number): Promise<{ message: string; reputation_score: number | null }>
  /** `pause`: why nothing is sent, and until when; null while reports go out. */
  status(): Promise<{ reportsToday: number; lastReport: number | null; pause: Pause | null }>
  /** Ends a pause: what it was for has changed. */
  resume(): Promise<void>
  /** Takes over what the events bring: queues the bans that are to be reported. */
  collect(): Promise<void>
  /** Sends what is due, as far as the day's budget goes. */
  send(): Promise<void>
  sweep(): Promise<void>
}

/** An address is not reported again within this time, whichever host it attacked. */
const quiet = 15 * minute
/** Older bans are history, not a report. */
const oldest = 3 * day
const mostTries = 12
const remembered = 10_000

/** When a failed report is tried again. */
const retryDelay = backoff({ first: 30 * second, most: 64 * minute })

export const createReputation = (
  needs: StoreAccess & {
    settings: Pick<SettingsService, 'get'>
    secrets: Pick<Secrets, 'open'>
    outgoing: Outgoing
    registry: Pick<Registry, 'all' | 'byNo'>
    /** Whether the whitelist covers an address. */
    isListed: (ip: IpRange) => boolean | Promise<boolean>
    url: string
    log: Pick<FastifyBaseLogger, 'warn' | 'info'>
  },
): ReputationService => {
  const { db, clock, events, settings, secrets, registry, log } = needs
  const provider = createAbuseIpdb(needs.outgoing, needs.url)
  const reader = createReader(db, 'reputation')
  const cache = new Map<string, { at: number; found: Reputation }>()
  /** Null: not looked at since the start. */
  let wasOn: boolean | null = null

  /** The key, where reporting is on and has one. */
  const keyOf = (): string | null => {
    const sealed = settings.get('reputation.api_key')
    return settings.get('reputation.enabled') && sealed !== null ? secrets.open(sealed, 'reputation.api_key') : null
  }
  const today = () => Math.floor(clock() / day) * day
  const budgetLeft = async () => settings.get('reputation.rate_limit') - (await sentSince(db.read, today())).n
  const ownNames = () =>
    registry.all().flatMap(({ row }) => [row.hostname, ...(row.ip_address ? [row.ip_address] : [])])

  const deliver = async (key: string, ban: BanRow): Promise<number> => {
    const ip = ipText(ban.ip, null)
    const score = await provider.report(key, {
      ip,
      categories: categoriesOf(ban.jail),
      comment: commentOf({ jail: ban.jail, ip, logLines: ban.log_lines }, ownNames()),
      at: ban.banned_at,
    })
    await events.change(change => noteSent(change.sql, ban, score, clock()))
    return score
  }
  const isQuarantined = (serverNo: number) => (registry.byNo(serverNo)?.row.quarantined_at ?? null) !== null
  /** One host does not use up the day of all: it has a fifth, at least ten, and more where there are few hosts. */
  const shareOfHost = () => {
    const budget = settings.get('reputation.rate_limit')
    return Math.max(10, Math.ceil(budget * Math.max(0.2, 1 / Math.max(1, registry.all().length))))
  }
  const isReportable = (ban: BanRow) => ban.prefix === null && !isSpecial(ban.ip)

  /** Every report would meet the same refusal. It is stored, because another process may be asked why nothing is sent. */
  const pause = async (until: number, reason: string) => {
    log.warn({ reason, until: iso(until) }, 'reputation reports pause')
    await keepPause(db.write, { until, reason })
  }
  const pauseNow = async () => {
    const storedPause = await readPause(db.read)
    return storedPause && storedPause.until > clock() ? storedPause : null
  }

  /** Answers whether the next report may be sent. */
  const sendOne = async (key: string, row: ReportRow): Promise<boolean> => {
    const now = clock()
    const end = async (state: 'skipped' | 'failed', words: string) => {
      await endReport(db.write, row.ban_id, state, now, words)
      return true
    }
    const [ban] = await bansById(db.read, [row.ban_id])
    const last = await lastReportOf(db.read, row.ip)
    if (ban && isQuarantined(ban.server_no)) return end('skipped', 'server in quarantine')
    if (!ban || ban.banned_at < now - oldest) return end('skipped', 'too old')
    if (last && last.reported_at > now - quiet) return end('skipped', 'reported before')
    try {
      await deliver(key, ban)
      return true
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      if (error.kind === 'again') return end('skipped', 'reported before')
      if (error.kind === 'content') return end('failed', error.message)
      if (error.kind !== 'failure') {
        await pause(now + (error.retryAfter ?? 15 * 60) * second, error.message)
        return false
      }
      const wait = error.retryAfter === null ? retryDelay(row.attempts) : error.retryAfter * second
      if (row.attempts + 1 >= mostTries) return end('failed', error.message)
      await putOff(db.write, row.ban_id, now + wait, error.message)
      await pause(now + Math.min(wait, 30 * second), error.message)
      return false
    }
  }

  return {
    async check(ip) {
      const key = keyOf()
      if (key === null || isSpecial(ip.bytes)) return null
      const now = clock()
      const before = cache.get(ip.text)
      if (before && before.at > now - hour) return before.found
      try {
        const verdict = await provider.check(key, ip.text)
        if (cache.size >= remembered) for (const text of [...cache.keys()].slice(0, remembered / 10)) cache.delete(text)
        cache.delete(ip.text)
        cache.set(ip.text, { at: now, found: verdict })
        return verdict
      } catch (error) {
        if (error instanceof ProviderFailure) return null
        throw error
      }
    },
    async report(actor, banId) {
      const [ban] = await bansById(db.read, [banId])
      if (!ban) throw notFound(`There is no ban ${banId}.`)
      if (!sees(actor, ban.server_no)) throw forbidden('You have no access to the server of this ban.')
      const key = keyOf()
      if (key === null)
        throw conflict('Reporting is off. Switch it on and enter a key in the settings of the reputation database.')
      if (!isReportable(ban))
        throw conflict(`${ipText(ban.ip, ban.prefix)} is no single public address; it can't be reported.`)
      const last = await lastReportOf(db.read, ban.ip)
      if (last && last.reported_at > clock() - quiet)
        return { message: 'This address was reported within the last 15 minutes.', reputation_score: last.score }
      if ((await budgetLeft()) <= 0)
        throw conflict("Today's reports are used up. Raise the limit in the settings, or try again tomorrow (UTC).")
      try {
        const reputation_score = await deliver(key, ban)
        const ip = ipText(ban.ip, null)
        await events.change(change =>
          change.record({
            name: 'ban.reputation',
            author: authorOf(actor),
            serverNo: ban.server_no,
            banId,
            data: { ip, reputation_score },
          }),
        )
        return { message: `${ip} was reported.`, reputation_score }
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error
        if (error.kind === 'again')
          return {
            message: 'This address was reported within the last 15 minutes.',
            reputation_score: last?.score ?? null,
          }
        throw new Problem(502, 'Bad Gateway', `The reputation database did not take the report: ${error.message}.`)
      }
    },
    async status() {
      const { n, last } = await sentSince(db.read, today())
      return { reportsToday: n, lastReport: last, pause: await pauseNow() }
    },
    resume: () => dropPause(db.write),
    async collect() {
      if (keyOf() === null) {
        wasOn = false
        return
      }
      // What happened while reporting was off is never reported.
      if (wasOn === false) await events.change(change => reader.skip(change))
      wasOn = true
      for (;;) {
        const { events: found, position, more } = await reader.read(500)
        if (found.length === 0) return
        const ids = found.flatMap(({ name, banId }) => (name === 'ban.report' && banId !== null ? [banId] : []))
        const now = clock()
        const bans = (await bansById(db.read, ids)).filter(
          ban => isReportable(ban) && ban.banned_by === null && ban.banned_at >= now - oldest,
        )
        const reportedAddresses = new Set<string>(
          await knownAddresses(
            db.read,
            bans.map(ban => ban.ip),
            now - quiet,
          ),
        )
        const rows: { ban_id: number; ip: Uint8Array }[] = []
        const share = shareOfHost()
        const used = bans.length > 0 ? await reportsByServer(db.read, today()) : new Map<number, number>()
        for (const ban of bans.sort((a, b) => a.id - b.id)) {
          const text = Buffer.from(ban.ip).toString('hex')
          const mine = used.get(ban.server_no) ?? 0
          if (reportedAddresses.has(text) || isQuarantined(ban.server_no) || mine >= share) continue
          if (await needs.isListed({ bytes: ban.ip, prefix: null, text: ipText(ban.ip, null) })) continue
          reportedAddresses.add(text)
          used.set(ban.server_no, mine + 1)
          rows.push({ ban_id: ban.id, ip: ban.ip })
        }
        await events.change(async change => {
          await addReports(change.sql, rows, now)
          await reader.keep(change, position)
        })
        if (!more) return
      }
    },
    async send() {
      const key = keyOf()
      if (key === null || (await pauseNow())) return
      const left = await budgetLeft()
      if (left <= 0) return
      for (const row of await dueReports(db.read, clock(), Math.min(left, 50))) {
        if (!(await sendOne(key, row))) return
      }
    },
    sweep: () => forgetReports(db.write, clock() - 7 * day),
  }
}
