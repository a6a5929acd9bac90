import { fleetBans } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { admit, creatorOf } from '../../core/leaving.ts'
import { conflict, notFound } from '../../core/problem.ts'
import type { Change, EventInput } from '../../events/events.ts'
import { targetsOf, textOf, union } from '../servers/targets.ts'
import type { Targets } from '../servers/targets.ts'
import { countStanding, countStandingOf, findBan, findStanding, insertBan, updateBan } from './fleet.store.ts'
import type { FleetBanRow } from './fleet.store.ts'

export type RowChange = Partial<Pick<FleetBanRow, 'reason' | 'expires_at' | 'target' | 'force'>>

const manual = 'manual'

/** How a person's fleet ban is written and changed, inside the change that raises the version. */
export const createFleetChanges = (needs: {
  clock: Clock
  hasEnded: (row: FleetBanRow) => boolean
  /** The fields of a ban in events. */
  eventData: (row: FleetBanRow) => EventInput['data']
}) => {
  const { clock, hasEnded, eventData } = needs

  const insertOrChange = async (
    change: Change,
    version: number,
    actor: Principal,
    given: Pick<FleetBanRow, 'entry' | 'reason' | 'target' | 'force' | 'expires_at' | 'created_by'>,
  ): Promise<{ readonly row: FleetBanRow; readonly before: FleetBanRow | null }> => {
    const now = clock()
    const before = await findStanding(change.sql, { ...given, source: manual })
    if (before) {
      const { reason, force, expires_at } = given
      const row = await updateBan(change.sql, before.id, {
        reason: reason === '' ? before.reason : reason,
        force,
        expires_at,
        version,
        updated_at: now,
      })
      return { row, before }
    }
    const creator = creatorOf(actor)
    const own = await countStandingOf(change.sql, creator)
    admit(fleetBans.createFleetBan.leaves, { all: await countStanding(change.sql), own }, actor)
    const row = await insertBan(change.sql, {
      ...given,
      creator,
      reach: given.target,
      source: manual,
      version,
      created_at: now,
      updated_at: now,
      ended_at: null,
      ended_by: null,
    })
    return { row, before: null }
  }

  const changeRow = async (
    change: Change,
    version: number,
    { actor, before, set }: { actor: Principal; before: FleetBanRow; set: RowChange },
  ): Promise<Targets | null> => {
    const { id } = before
    const row = await findBan(change.sql, id)
    if (!row) throw notFound(`There is no fleet ban ${id}.`)
    if (hasEnded(row)) throw conflict(`The fleet ban ${id} of ${row.entry} has ended.`)
    if (row.target !== before.target) throw conflict('Somebody else changed this fleet ban. Read it again.')
    const other = await findStanding(change.sql, { ...row, target: set.target ?? row.target })
    if (other && other.id !== id)
      throw conflict(`The fleet ban ${other.id} bans ${row.entry} on these servers already.`)
    // Hosts are not told the reason.
    const isForHosts = set.target !== undefined || set.expires_at !== undefined || set.force !== undefined
    const reach = union(targetsOf(row.reach), targetsOf(set.target ?? row.target))
    const after = await updateBan(change.sql, id, {
      ...set,
      ...(isForHosts ? { reach: textOf(reach), version } : {}),
      updated_at: clock(),
    })
    await change.record({
      name: 'fleet_ban.update',
      author: authorOf(actor),
      data: { ...eventData(after), old_expires_at: isoOrNull(row.expires_at), old_reason: row.reason },
    })
    return isForHosts ? union(targetsOf(row.target), targetsOf(after.target)) : null
  }

  return { insertOrChange, changeRow }
}
