import type { ServerRow } from '../../api/queries.ts'
import { healthOf } from '../fleet/health.ts'

const groupNames = ['attention', 'waiting', 'protected'] as const
/** Servers that need attention stand on top. */
export type GroupName = (typeof groupNames)[number]

type Grouped = Pick<ServerRow, 'id' | 'status'> & { readonly protection: Pick<ServerRow['protection'], 'level'> }

const groupByHealth = {
  unprotected: 'attention',
  degraded: 'attention',
  offline: 'attention',
  unknown: 'waiting',
  pending: 'waiting',
  protected: 'protected',
} as const
export const groupOf = ({ status, protection }: Grouped): GroupName =>
  groupByHealth[healthOf({ status, protection: protection.level })]

/** The group that each server was put in, by its id. */
export type Places = ReadonlyMap<string, GroupName>

/** Servers that are new to the list go where they belong; the others keep their place until the list is sorted again. */
export const placesOf = (rows: readonly Grouped[], before: Places = new Map()): Places =>
  new Map(rows.map(row => [row.id, before.get(row.id) ?? groupOf(row)]))

/** How many stand in a group that is no longer theirs. */
export const strayed = (rows: readonly Grouped[], places: Places): number =>
  rows.filter(row => (places.get(row.id) ?? groupOf(row)) !== groupOf(row)).length

/** The rows in the order of the groups that they were put in. */
export const inGroups = <Row extends Grouped>(rows: readonly Row[], places: Places): readonly Row[] =>
  groupNames.flatMap(name => rows.filter(row => (places.get(row.id) ?? groupOf(row)) === name))

export const isGroupName = (name: string): name is GroupName => groupNames.some(group => group === name)

const numbers = (version: string) => (/^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? []).slice(1).map(Number)
/** Whether an agent is older than the server, which brings the newest one; unknown versions are not. */
export const isOlder = (agent: string | null, newest: string): boolean => {
  const [mine, theirs] = [numbers(agent ?? ''), numbers(newest)]
  if (mine.length === 0 || theirs.length === 0) return false
  const at = mine.findIndex((part, index) => part !== theirs[index])
  return at !== -1 && (mine[at] ?? 0) < (theirs[at] ?? 0)
}
