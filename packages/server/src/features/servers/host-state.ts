import type { Jail, Metrics, ReportedProtection } from '../../db/tables/stored.ts'

/** The part of a jail that every report of a host carries. */
export type ListedJail = Pick<
  Jail,
  'name' | 'enabled' | 'current_bans' | 'other_ids' | 'total_banned' | 'current_failed' | 'total_failed'
>

/** The host's own clock of reports: one id for each start of the agent, and a counter since then. */
export interface ReportVersion {
  readonly boot: string
  readonly number: number
}
/**
 * What a host last said, with two versions. `boot` and `report` order the list of jails, the metrics and the protection; `revision` counts the
 * changes of the jails' details, which are written at once, under a lock of the row.
 */
export interface HostState {
  readonly boot: string
  readonly report: number
  /** Null until the host reports for the first time. */
  readonly lastHeartbeat: number | null
  readonly metrics: Metrics | null
  readonly jails: readonly Jail[]
  readonly revision: number
  readonly protection: ReportedProtection | null
}
type Versions = Pick<HostState, 'boot' | 'report' | 'lastHeartbeat' | 'revision'>

export const silentHost: HostState = {
  boot: '',
  report: 0,
  lastHeartbeat: null,
  metrics: null,
  jails: [],
  revision: 0,
  protection: null,
}
const noDetails = { filter: null, logpath: null, maxretry: null, bantime: null, findtime: null, template: null }

/** Within one start of the agent the counter decides. Different starts are ordered by the time of receipt. */
const isNewerReport = (one: Versions, other: Versions): boolean => {
  if (other.lastHeartbeat === null) return one.lastHeartbeat !== null
  if (one.boot === other.boot) return one.report > other.report
  return (one.lastHeartbeat ?? 0) > other.lastHeartbeat
}
/** Whether `one` carries anything that `other` has not seen. */
export const isAhead = (one: Versions, other: Versions): boolean =>
  isNewerReport(one, other) || one.revision > other.revision

const withDetailsOf = (jails: readonly Jail[], source: readonly Jail[]): readonly Jail[] => {
  const detailed = new Map(source.map(jail => [jail.name, jail]))
  return jails.map(jail => {
    const { name, enabled, current_bans, total_banned = null, current_failed = null, total_failed = null } = jail
    const counts = { current_bans, total_banned, current_failed, total_failed, other_ids: jail.other_ids }
    return { ...(detailed.get(name) ?? jail), name, enabled, ...counts }
  })
}
/** The higher version wins, separately for reports and details. Returns `known` itself if `other` is not ahead of it. */
export const mergeStates = (known: HostState, other: HostState): HostState => {
  if (!isAhead(other, known)) return known
  if (!isAhead(known, other)) return other
  const [reported, detailed] = isNewerReport(other, known) ? [other, known] : [known, other]
  return { ...reported, jails: withDetailsOf(reported.jails, detailed.jails), revision: detailed.revision }
}

/**
 * The state after a report. An agent that sends no version gets one at receipt, later than every version known here.
 * Returns `known` itself if the report was overtaken by a later one of the same start of the agent.
 */
export const withReport = (
  known: HostState,
  report: {
    readonly version: ReportVersion | undefined
    readonly receivedAt: number
    readonly metrics: Metrics | null
    /** Undefined: the report says nothing about jails. */
    readonly jails: readonly ListedJail[] | undefined
    /** Undefined: the report says nothing about protection. */
    readonly protection?: Omit<ReportedProtection, 'reportedAt'> | undefined
  },
): HostState => {
  const { boot, number } = report.version ?? {
    boot: '',
    number: Math.max(report.receivedAt, known.boot === '' ? known.report + 1 : 0),
  }
  const isSameBoot = boot === known.boot
  if (isSameBoot && known.lastHeartbeat !== null && number <= known.report) return known
  const lastHeartbeat = isSameBoot ? report.receivedAt : Math.max(report.receivedAt, (known.lastHeartbeat ?? 0) + 1)
  const listed = new Map(report.jails?.map(jail => [jail.name, { ...noDetails, ...jail }]))
  return {
    boot,
    report: number,
    lastHeartbeat,
    metrics: report.metrics,
    jails: report.jails ? withDetailsOf([...listed.values()], known.jails) : known.jails,
    revision: known.revision,
    protection: report.protection ? { ...report.protection, reportedAt: lastHeartbeat } : known.protection,
  }
}

const lasting = [
  'name',
  'enabled',
  'template',
  'filter',
  'logpath',
  'maxretry',
  'bantime',
  'findtime',
] as const satisfies readonly (keyof Jail)[]
/** Whether two lists of jails agree in everything but the number of bans, which changes all the time. */
export const areAlike = (before: readonly Jail[], after: readonly Jail[]): boolean =>
  before === after ||
  (before.length === after.length &&
    before.every((jail, index) => {
      const other = after[index]
      return other !== undefined && lasting.every(field => jail[field] === other[field])
    }))

/** The jails of a host after a template was put on it or taken off it. */
export const withTemplate = (
  jails: readonly Jail[],
  { name, isThere }: { readonly name: string; readonly isThere: boolean },
): readonly Jail[] => {
  const knownJail = jails.find(jail => jail.name === name)
  if (!isThere)
    return knownJail ? jails.map(jail => (jail === knownJail ? { ...knownJail, template: null } : jail)) : jails
  const deployed = { ...noDetails, current_bans: 0, ...knownJail, name, enabled: true, template: name }
  return knownJail ? jails.map(jail => (jail === knownJail ? deployed : jail)) : [...jails, deployed]
}
