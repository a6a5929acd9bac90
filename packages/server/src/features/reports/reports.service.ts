import type { QueryOf, Report, reports as contract } from '@stockade/contract'
import type { Principal, ServerScope } from '../../core/actor.ts'
import { isTimeZone } from '../../core/checks.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { invalid } from '../../core/problem.ts'
import { wallOf } from '../../core/wall.ts'
import type { Database } from '../../db/database.ts'
import { coverOf } from '../alerts/covering.ts'
import type { Registry, Server } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { countedServers } from '../servers/servers.store.ts'
import type { Targeting, Targets } from '../servers/targets.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { countedAttacks, summedAttacks } from './attacks.ts'
import type { Counted, Window } from './attacks.ts'
import { attentionOf } from './attention.ts'
import {
  alertsInPeriod,
  auditInPeriod,
  failedCommands,
  fleetBansInPeriod,
  listsInPeriod,
  rulesInPeriod,
} from './figures.store.ts'
import { addDays, isDate, periodBefore, periodOf, spanOf, stepsOf } from './periods.ts'
import type { Period, Span } from './periods.ts'

/** What a report is about, and what its reader may see. */
export interface Subject {
  readonly period: Period
  /** A date of the period; null for the last complete one. */
  readonly at: string | null
  readonly timezone: string
  readonly servers: readonly Server[]
  /** `all` where it is about each server. */
  readonly scope: ServerScope
  /** Whether the reader may read the audit log. */
  readonly withChanges: boolean
  /** Whether the reader sees what is of the whole fleet. */
  readonly withWork: boolean
}
export interface ReportsService {
  /** @throws Problem 400 for a date or time zone that does not exist, 403 or 404 for a server */
  read(actor: Principal, query: QueryOf<typeof contract.getReport>): Promise<Report>
  /** Waits until all is counted. What takes too long to count is left out, and `counting` is true. */
  make(period: Period, timezone: string, targets: Targets): Promise<Report>
}

/** A request waits this long (milliseconds) for what has to be counted. */
const patience = 100
const mostAttention = 50
const mostAlerts = 20
/** Counts that are kept for the next request, and for how long: twenty times what they took, within bounds. */
const mostKept = 100
const [shortest, longest] = [5000, 600_000]
const retryAfter = 60_000

/** Actions that are no change: looks, sign-ins, and what Stockade notes by itself. */
const notChanges = /^(auth|session|audit|ban|server\.protection|server\.enroll_refused|user\.password_)/

export const createReports = (needs: {
  readonly db: Database
  readonly clock: Clock
  readonly version: string
  readonly registry: Pick<Registry, 'all' | 'byNo'>
  readonly servers: Pick<ServersService, 'named'>
  readonly targeting: Pick<Targeting, 'serversOf'>
  readonly settings: Pick<SettingsService, 'get'>
}): ReportsService => {
  const { db, clock } = needs
  const counts = new Map<string, { until: number; readonly found: Promise<Counted> }>()

  /** Several requests at once wait for one count. */
  const countOnce = (window: Window): Promise<Counted> => {
    const { servers, span, before } = window
    const who = servers === 'all' ? 'all' : [...servers].sort((a, b) => a - b).join()
    const key = `${span.from} ${span.to} ${before.from} ${who}`
    const cached = counts.get(key)
    if (cached && cached.until > performance.now()) return cached.found
    const began = performance.now()
    const newEntry = { until: Infinity, found: countedAttacks(db, window) }
    counts.delete(key)
    counts.set(key, newEntry)
    for (const oldest of counts.keys()) {
      if (counts.size <= mostKept) break
      counts.delete(oldest)
    }
    newEntry.found.then(
      () => {
        const now = performance.now()
        newEntry.until = now + Math.min(longest, Math.max(shortest, 20 * (now - began)))
      },
      () => {
        // A page that waits asks every two seconds; a count that takes too long must not run each time.
        newEntry.until = performance.now() + retryAfter
      },
    )
    return newEntry.found
  }

  const workOf = async (span: Span): Promise<Report['work']> => {
    const byRule = new Map<number, { name: string; banned: number; refused: number }>()
    for (const { id, name, outcome, n } of await rulesInPeriod(db.read, span)) {
      const line = byRule.get(id) ?? { name, banned: 0, refused: 0 }
      byRule.set(id, { ...line, ...(outcome === 'banned' ? { banned: n } : { refused: line.refused + n }) })
    }
    return {
      rules: [...byRule.values()].sort((a, b) => b.banned - a.banned),
      fleet_bans: await fleetBansInPeriod(db.read, span, clock()),
      lists: await listsInPeriod(db.read, span),
    }
  }
  const changesOf = async (span: Span): Promise<Report['changes']> => {
    const entries = await auditInPeriod(db.read, span)
    return entries
      .filter(({ name }) => !notChanges.test(name))
      .sort((a, b) => b.n - a.n || (a.name < b.name ? -1 : 1))
      .map(({ name, n }) => ({ action: name, count: n }))
  }
  const alertsOf = async (span: Span, { scope }: Subject) => {
    const rows = await alertsInPeriod(db.read, span)
    const visibleRows = rows.filter(
      row =>
        (scope === 'all' || (row.server_no !== null && scope.has(row.server_no))) && coverOf(row, rows) === undefined,
    )
    return {
      alerts: visibleRows.slice(0, mostAlerts).map(({ title, severity, state, fired_at }) => ({
        ...{ title, severity, firing: state === 'firing' },
        fired_at: iso(fired_at ?? span.from),
      })),
      alerts_total: visibleRows.length,
    }
  }

  const build = async (subject: Subject, waits: (found: Promise<Counted>) => Promise<Counted | null>) => {
    const { period, timezone } = subject
    const now = clock()
    const today = wallOf(now, timezone).date
    const dates = subject.at === null ? periodBefore(period, periodOf(period, today)) : periodOf(period, subject.at)
    const span = spanOf(dates, timezone)
    const window: Window = {
      servers: await countedServers(db.read, subject.scope),
      span,
      before: spanOf(periodBefore(period, dates), timezone),
      steps: stepsOf(period, dates, timezone),
    }
    const counted = await waits(countOnce(window))
    const attacks = await summedAttacks(needs, window)
    const failed = await failedCommands(db.read, span)
    const attention = attentionOf(subject.servers, { failed, version: needs.version })
    const report: Report = {
      period,
      first_day: dates.first,
      last_day: addDays(dates.end, -1),
      timezone,
      from: iso(span.from),
      to: iso(span.to),
      complete: span.to <= now,
      counting: counted === null,
      generated_at: iso(now),
      servers: subject.servers.length,
      attacks: {
        ...attacks,
        ...(counted ?? { attackers: null, attackers_before: null, networks: null, addresses: null }),
      },
      changes: subject.withChanges ? await changesOf(span) : null,
      attention: attention.slice(0, mostAttention),
      attention_total: attention.length,
      work: subject.withWork ? await workOf(span) : null,
      ...(await alertsOf(span, subject)),
    }
    return report
  }

  const checked = ({ at, timezone }: QueryOf<typeof contract.getReport>) => {
    if (at !== undefined && !isDate(at)) throw invalid('at', 'at must be a date of the calendar, such as 2026-11-01.')
    if (timezone !== undefined && !isTimeZone(timezone))
      throw invalid('timezone', 'timezone must be an IANA time zone, such as Europe/Vienna.')
    return { at: at ?? null, timezone: timezone ?? needs.settings.get('service.timezone') }
  }
  const soon = (found: Promise<Counted>): Promise<Counted | null> => {
    const { promise, resolve } = Promise.withResolvers<null>()
    const timer = setTimeout(() => resolve(null), patience)
    // A count that fails is tried with the next request; this one goes out without it.
    return Promise.race([found.catch(() => null), promise]).finally(() => clearTimeout(timer))
  }

  return {
    async read(actor, query) {
      const { period = 'week', tag, server_id } = query
      const namedServer = server_id === undefined ? null : needs.servers.named(actor, 'server_id', server_id)
      const isSeen = ({ row }: Server) => actor.servers === 'all' || actor.servers.has(row.no)
      const ofTag = needs.targeting.serversOf(tag === undefined ? 'all' : { nos: new Set(), tags: new Set([tag]) })
      const servers = ofTag.filter(
        server => isSeen(server) && (namedServer === null || server.row.no === namedServer.no),
      )
      const isAll = actor.servers === 'all' && namedServer === null && tag === undefined
      const hasScope = actor.kind === 'user' || actor.scopes === null || actor.scopes.has('audit')
      const readsAudit = actor.permission === 'admin' && hasScope
      return build(
        {
          ...checked(query),
          ...{ period, servers },
          scope: isAll ? 'all' : new Set(servers.map(({ row }) => row.no)),
          withChanges: isAll && readsAudit,
          withWork: isAll,
        },
        soon,
      )
    },
    make(period, timezone, targets) {
      const servers = needs.targeting.serversOf(targets)
      const isAll = targets === 'all'
      return build(
        {
          ...{ period, timezone, servers, at: null },
          scope: isAll ? 'all' : new Set(servers.map(({ row }) => row.no)),
          withChanges: isAll,
          withWork: isAll,
        },
        found => found.catch(() => null),
      )
    },
  }
}
