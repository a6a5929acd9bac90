import { bounds } from '@stockade/contract/limits.ts'
import type { Author } from '../../core/author.ts'
import { system } from '../../core/author.ts'
import type { Clock } from '../../core/clock.ts'
import type { Change, EventInput } from '../../events/events.ts'
import { targetsOf, textOf, union } from '../servers/targets.ts'
import type { Targets } from '../servers/targets.ts'
import { countStanding, findStanding, insertBan, standingOfSource, updateBan } from './fleet.store.ts'
import type { FleetBanRow } from './fleet.store.ts'
import { raiseVersion } from './raise.ts'

/** A ban that Stockade makes by itself. The caller has judged the entry. */
export interface SourcedBan {
  readonly entry: string
  readonly reason: string
  readonly targets: Targets
  /** Epoch milliseconds; null: permanent. */
  readonly expires_at: number | null
  /** Such as `rule:7`. */
  readonly source: string
  readonly created_by: string
}

/** Fleet bans that belong to another object, such as a rule: they come and go within its changes. */
export interface SourcedBans {
  /** Bans within a change; a standing ban of the same source gets the new end. Answers their ids, null where no more bans fit. */
  banWithin(change: Change, bans: readonly SourcedBan[]): Promise<(number | null)[]>
  /** Lifts the standing bans of a source. Answers how many these were. */
  liftSource(change: Change, source: string, author: Author): Promise<number>
}

export const createSourcedBans = (clock: Clock, eventData: (row: FleetBanRow) => EventInput['data']): SourcedBans => {
  const banOne = async (change: Change, version: number, ban: SourcedBan): Promise<FleetBanRow | null> => {
    const { targets, ...given } = ban
    const target = textOf(targets)
    const now = clock()
    const before = await findStanding(change.sql, { ...given, target })
    if (before) {
      const { reason, expires_at } = given
      return updateBan(change.sql, before.id, { reason, expires_at, version, updated_at: now })
    }
    if ((await countStanding(change.sql)) >= bounds.fleetBans) return null
    return insertBan(change.sql, {
      ...given,
      creator: null,
      target,
      reach: target,
      force: 0,
      version,
      created_at: now,
      updated_at: now,
      ended_at: null,
      ended_by: null,
    })
  }
  return {
    async banWithin(change, bans) {
      const rows: (FleetBanRow | null)[] = []
      if (bans.length === 0) return []
      await raiseVersion(change, clock, async version => {
        for (const ban of bans) rows.push(await banOne(change, version, ban))
        const added = rows.flatMap(row => row ?? [])
        if (added.length === 0) return null
        await change.recordMany(
          added.map(row => ({ name: 'fleet_ban.create' as const, author: system, data: eventData(row) })),
        )
        return added.map(({ target }) => targetsOf(target)).reduce(union)
      })
      return rows.map(row => row?.id ?? null)
    },
    async liftSource(change, source, author) {
      const rows = await standingOfSource(change.sql, source)
      if (rows.length === 0) return 0
      await raiseVersion(change, clock, async version => {
        const now = clock()
        for (const { id } of rows)
          await updateBan(change.sql, id, { ended_at: now, ended_by: 'removed', version, updated_at: now })
        await change.recordMany(rows.map(row => ({ name: 'fleet_ban.delete' as const, author, data: eventData(row) })))
        return rows.map(({ target }) => targetsOf(target)).reduce(union)
      })
      return rows.length
    },
  }
}
