import { protectionBounds } from '@stockade/contract'
import type {
  MarkName,
  MarkState,
  Protection,
  ProtectionCheckId,
  ProtectionLevel,
  ProtectionMarks,
  ProtectionProblem,
  ProtectionReport,
} from '@stockade/contract'
import { entriesOf } from '@stockade/contract/records.ts'
import { iso } from '../../core/clock.ts'
import { tameLine } from '../../core/text.ts'
import type { ReportedProtection } from '../../db/tables/stored.ts'

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

/** The group that shows each check. Checks of newer agents belong to the engine. */
const markOfCheck: Readonly<Record<ProtectionCheckId, MarkName>> = {
  engine: 'engine',
  database: 'engine',
  clock: 'engine',
  agent: 'engine',
  config: 'engine',
  jail: 'jails',
  ignore: 'jails',
  log: 'logs',
  journal: 'logs',
  filter: 'logs',
  enforced: 'firewall',
  shield: 'firewall',
  keep: 'firewall',
  published: 'containers',
}
const marksById: ReadonlyMap<string, MarkName> = new Map(entriesOf(markOfCheck))
const markOf = (id: string): MarkName => marksById.get(id) ?? 'engine'

/** Six marks from the checks of the last report. */
const marksOf = (protection: ReportedProtection | null, whitelist: MarkState): ProtectionMarks => {
  const calm: MarkState = protection ? 'passed' : 'none'
  const marks: Record<MarkName, MarkState> = {
    engine: calm,
    jails: calm,
    logs: calm,
    firewall: calm,
    containers: calm,
    whitelist,
  }
  for (const { id, state } of protection?.checks ?? []) {
    const name = markOf(id)
    if (state === 'bad') marks[name] = 'failed'
    else if (marks[name] === 'passed') marks[name] = 'doubtful'
  }
  return marks
}
/** The worst check that was not fine; hosts report them in this order. */
export const problemOf = ({ protection }: Pick<Known, 'protection'>): ProtectionProblem | null => {
  const checks = protection?.checks ?? []
  const worst = checks.find(({ state }) => state === 'bad') ?? checks[0]
  if (!worst) return null
  const { id: check, subject, state, since, detail } = worst
  return { check, subject, state, since: iso(since), detail }
}
/** Since when the level holds: for a silent host since its last report. */
export const sinceOf = (server: Known): string | null => {
  const { protection } = server
  return protection && iso(isKnownNow(server) ? protection.since : protection.reportedAt)
}

/** The protection of a server as lists show it; `whitelist` is the mark of its whitelist. */
export const protectionHead = (server: Known, whitelist: MarkState) => {
  const { row, protection } = server
  const isNow = isKnownNow(server)
  const silence =
    row.status === 'online'
      ? 'The agent has not judged the server since it started.'
      : 'The server is silent. Bans that its kernel holds go on to their ends.'
  return {
    level: levelOf(server),
    since: sinceOf(server),
    summary: protection && (isNow ? protection.summary : silence),
    reported_level: protection && protection.level,
    reported_at: protection && iso(protection.reportedAt),
    problem: problemOf(server),
    marks: marksOf(protection, whitelist),
  }
}

/** The protection of a server with the checks that were not fine at the last report. */
export const protectionView = (server: Known, whitelist: MarkState): Protection => ({
  ...protectionHead(server, whitelist),
  checks: (server.protection?.checks ?? []).map(check => ({ ...check, since: iso(check.since) })),
  counted: server.protection?.counted ?? null,
})
