import type { Clock } from '../../core/clock.ts'
import type { Change } from '../../events/events.ts'
import type { Targets } from '../servers/targets.ts'
import { holdersOf } from './fleet-tags.store.ts'
import { holdState, raiseWanted, saveState } from './fleet.store.ts'

/** Runs a change with the next version, which the servers that `work` answers should hold; null: nothing changed for them. */
export const raiseVersion = async (
  change: Pick<Change, 'sql'>,
  clock: Clock,
  work: (version: number) => Promise<Targets | null>,
): Promise<void> => {
  const state = await holdState(change.sql)
  const version = Math.max(state.version + 1, clock())
  const targets = await work(version)
  if (targets === null) return
  if (targets !== 'all') {
    const tagged = await holdersOf(change.sql, [...targets.tags])
    await raiseWanted(change.sql, [...new Set([...targets.nos, ...tagged])], version)
  }
  await saveState(change.sql, { version, all_version: targets === 'all' ? version : state.all_version })
}
