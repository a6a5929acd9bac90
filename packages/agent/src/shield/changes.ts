import type { Disk } from './disk.ts'
import type { ShieldBan } from './store.ts'
import type { ShieldTable } from './table.ts'
import type { WantedBans } from './wanted.ts'

/** A ban, or the entry of a ban to lift. */
export type Change = ShieldBan | string

/** The disk first, then the kernel, then the proof. @throws Error, with everything as it was before */
export const createChanges = (needs: {
  bans: Map<string, ShieldBan>
  disk: Disk
  table: ShieldTable
  wanted: WantedBans
  isOn: () => boolean
  onBanned: (bans: readonly ShieldBan[]) => void
}): ((changes: readonly Change[]) => Promise<void>) => {
  const { bans, disk, table, wanted, isOn, onBanned } = needs
  return async changes => {
    const entries = changes.map(change => (typeof change === 'string' ? change : change.entry))
    const before = entries.map(entry => [entry, bans.get(entry)] as const)
    const added = changes.filter(change => typeof change !== 'string')
    try {
      for (const change of changes) {
        if (typeof change === 'string') bans.delete(change)
        else bans.set(change.entry, change)
      }
      disk.save()
      if (!isOn()) return
      await table.change(
        entries.flatMap(wanted.now),
        entries.filter(entry => wanted.now(entry).length === 0),
      )
      for (const { entry } of added)
        if ((await table.find(entry)) === null)
          throw new Error(`the kernel took the ban of ${entry}, but does not hold it`)
      onBanned(added.filter(({ isOnTrial }) => !isOnTrial))
    } catch (error) {
      for (const [entry, ban] of before) {
        if (ban === undefined) bans.delete(entry)
        else bans.set(entry, ban)
      }
      disk.save()
      throw error
    }
  }
}
