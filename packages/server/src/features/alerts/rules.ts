import type { AlertKind, AlertSeverity } from '@stockade/contract'
import { conditionKinds } from '@stockade/contract'
import { second } from '../../core/clock.ts'
import { parseJson } from '../../core/json-text.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targets } from '../servers/targets.ts'
import type { RuleRow } from './alerts.store.ts'
import { kindDefaults } from './kinds.ts'
import type { BanConditions, QuietHours } from '../../db/tables/stored.ts'

export interface Rule {
  /** The kind of a built-in one; a number as text. */
  readonly id: string
  /** Null for a built-in one that nobody changed. */
  readonly row: RuleRow | null
  readonly isBuiltin: boolean
  readonly name: string
  readonly kind: AlertKind
  readonly severity: AlertSeverity
  readonly targets: Targets
  readonly for: number
  readonly isOn: boolean
  readonly recovery: boolean
  readonly quiet: QuietHours | null
  readonly conditions: BanConditions & { readonly after_id?: number }
}

const fromRow = (row: RuleRow): Rule => ({
  id: row.builtin ?? String(row.id),
  row,
  isBuiltin: row.builtin !== null,
  name: row.name,
  kind: row.kind,
  severity: row.severity,
  targets: targetsOf(row.target),
  for: row.for_seconds * second,
  isOn: row.enabled === 1,
  recovery: row.recovery === 1,
  quiet: row.quiet_hours === null ? null : parseJson(row.quiet_hours),
  conditions: parseJson(row.conditions),
})

/** The built-in rules, as they are or were changed, then one's own. */
export const rulesOf = (rows: readonly RuleRow[]): Rule[] => {
  const changed = new Map(rows.map(row => [row.builtin, row]))
  const builtin = conditionKinds.map((kind): Rule => {
    const row = changed.get(kind)
    const { name, severity, for: grace, isEvent } = kindDefaults[kind]
    if (row) return { ...fromRow(row), name }
    return {
      id: kind,
      row: null,
      isBuiltin: true,
      name,
      kind,
      severity,
      targets: 'all',
      for: grace * second,
      isOn: true,
      recovery: isEvent !== true,
      quiet: null,
      conditions: {},
    }
  })
  return [...builtin, ...rows.filter(({ builtin: name }) => name === null).map(fromRow)]
}

/** Whether an hour lies in a span; one that ends before it begins goes over midnight. */
export const isWithin = ({ from, to }: QuietHours, hour: number): boolean =>
  from <= to ? hour >= from && hour < to : hour >= from || hour < to
