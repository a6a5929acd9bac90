import { protectionBounds } from '@stockade/contract'
import type { Protection, ProtectionLevel, ProtectionReport } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import { tameLine } from '../../core/text.ts'

/** What a host last reported of its protection. Times are epoch milliseconds. */
export interface ReportedProtection {
  readonly level: ProtectionLevel
  readonly since: number
  readonly summary: string
  readonly checks: readonly (Omit<Protection['checks'][number], 'since'> & { readonly since: number })[]
  readonly counted: NonNullable<Protection['counted']>
  /** Time of the heartbeat that carried it. */
  readonly reportedAt: number
}
/** The part of a server that counts here. */
interface Known {
  readonly protection: ReportedProtection | null
  readonly lastHeartbeat: number | null
  readonly row: { readonly status: 'pending' | 'online' | 'offline' }
}

const isKnownNow = ({ row, protection, lastHeartbeat }: Known): boolean =>
  row.status === 'online' && protection !== null && protection.reportedAt === lastHeartbeat

/**
 * Takes in a report of a host, which is not trusted: plain text within bounds, and no time in the future. A level that the
 * server did not hear of before can hold at most since the report before.
 */
export const readProtection = (
  report: ProtectionReport,
  known: ReportedProtection | null,
  now: number,
): Omit<ReportedProtection, 'reportedAt'> => {
  const line = (text: string, most: number) => tameLine(text, most * 4)
  const past = (at: string) => Math.min(Date.parse(at), now)
  const { ok, not_ok, unknown } = report.counted
  return {
    level: report.level,
    since: known?.level === report.level ? known.since : Math.max(past(report.since), known?.reportedAt ?? 0),
    summary: line(report.summary, protectionBounds.summary),
    checks: report.checks.map(({ id, subject, state, since, detail }) => ({
      id: line(id, 40),
      subject: subject ? line(subject, protectionBounds.subject) : null,
      state,
      since: past(since),
      detail: line(detail, protectionBounds.detail),
    })),
    counted: { ok, not_ok, unknown },
  }
}

/** The level now: `unknown` unless the server is online and its last heartbeat carried one. */
export const levelOf = (server: Known): ProtectionLevel =>
  isKnownNow(server) ? (server.protection?.level ?? 'unknown') : 'unknown'

/** The protection of a server as lists show it. */
export const protectionHead = (server: Known) => {
  const { row, protection } = server
  const isNow = isKnownNow(server)
  const silence =
    row.status === 'online'
      ? 'The agent has not judged the host since it started.'
      : 'The server is silent. Bans that its kernel holds go on to their ends.'
  return {
    level: levelOf(server),
    since: protection && iso(isNow ? protection.since : protection.reportedAt),
    summary: protection && (isNow ? protection.summary : silence),
    reported_level: protection && protection.level,
    reported_at: protection && iso(protection.reportedAt),
  }
}

/** The protection of a server with the checks that were not fine at the last report. */
export const protectionView = (server: Known): Protection => ({
  ...protectionHead(server),
  checks: (server.protection?.checks ?? []).map(check => ({ ...check, since: iso(check.since) })),
  counted: server.protection?.counted ?? null,
})
