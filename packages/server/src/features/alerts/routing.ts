import type { AlertSeverity } from '@stockade/contract'
import { targetsOf } from '../servers/targets.ts'
import type { Targeting, Targets } from '../servers/targets.ts'
import { isWithin } from './rules.ts'
import type { StoredRoute } from '../../db/tables/stored.ts'

export interface Silence {
  readonly rule: string | null
  readonly targets: Targets
}
interface Subject {
  readonly rule: string
  readonly severity: AlertSeverity
  readonly server_no: number | null
}
type Concerns = Pick<Targeting, 'concerns'>

const covers = (targets: Targets, serverNo: number | null, { concerns }: Concerns): boolean =>
  targets === 'all' || (serverNo !== null && concerns(targets, serverNo))

/** Every route that fits adds its channels. */
export const channelsFor = (
  routes: readonly StoredRoute[],
  { rule, severity, server_no }: Subject,
  hour: number,
  targeting: Concerns,
): string[] => {
  const fitting = routes.filter(
    route =>
      (route.severities.length === 0 || route.severities.includes(severity)) &&
      (route.rules.length === 0 || route.rules.includes(rule)) &&
      (route.hours === null || isWithin(route.hours, hour)) &&
      covers(targetsOf(route.target), server_no, targeting),
  )
  return [...new Set(fitting.flatMap(({ channels }) => channels))].sort()
}

export const isSilenced = (
  silences: readonly Silence[],
  { rule, server_no }: Pick<Subject, 'rule' | 'server_no'>,
  targeting: Concerns,
): boolean =>
  silences.some(
    silence => (silence.rule === null || silence.rule === rule) && covers(silence.targets, server_no, targeting),
  )
