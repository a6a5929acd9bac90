import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { errorText } from '../text.ts'
import type { Drift } from './drift.ts'
import type { Kernel } from './kernel.ts'
import type { ShieldHealth } from './model.ts'
import type { ShieldTable } from './table.ts'

/** Where the kernel does not say whether somebody changed nftables, a look starts several programs. */
const blindLookEvery = 5000

export interface Watch {
  /** Puts everything into the kernel. */
  load(): Promise<void>
  /** Cheap while nobody else changes nftables. Restores a table that somebody deleted or changed. */
  look(): Promise<void>
  /** Finds what no count of transactions shows: lost elements, tracking that was switched on, a clock that jumped. */
  lookSlowly(): Promise<void>
  /** Logs a failure once and keeps it for `state`. The next look tries again. */
  guarded(work: () => Promise<void>): Promise<void>
  state(): Pick<ShieldHealth, 'repairs' | 'lastRepairAt'> & { readonly damage: string | null }
}

/** Compares the kernel's table with the wanted one, and repairs it. */
export const createWatch = (needs: {
  kernel: Kernel
  table: ShieldTable
  drift: Drift
  banCount: () => number
  /** Whether connections are tracked on this host. */
  isTracking: () => boolean
  now: () => number
  steadyNow: () => number
  log: Log
}): Watch => {
  const { kernel, table, drift, log } = needs
  const trouble = createOnce(log.warn)
  let damage: string | null = null
  let repairs = 0
  let lastRepairAt: number | null = null
  let seenForeign: number | null = null
  let blindLookAt = 0

  const load = async (): Promise<void> => {
    await table.load()
    seenForeign = kernel.foreign()
    drift.settle()
    damage = null
  }

  const noteRepair = (text: string): void => {
    repairs += 1
    lastRepairAt = needs.now()
    log.warn(`shield: ${text}`)
  }

  return {
    load,
    async look() {
      // Our own changes do not count, so they hide nothing that others do at the same time.
      const foreign = kernel.foreign()
      if (foreign === null ? needs.steadyNow() < blindLookAt : foreign === seenForeign) return
      blindLookAt = needs.steadyNow() + blindLookEvery
      const tableDamage = await table.damage()
      if (tableDamage === null) {
        damage = null
        seenForeign = foreign
        return
      }
      damage = `the table ${tableDamage}`
      await load()
      noteRepair(`its table ${tableDamage}; it is in force again with ${needs.banCount()} bans`)
    },
    async lookSlowly() {
      const missing = kernel.isOwned() ? 0 : await table.addMissing()
      if (missing > 0) noteRepair(`${missing} bans were missing in the kernel; they are in force again`)
      if (needs.isTracking()) await table.setMode('stateful')
      if (drift.hasJumped()) {
        await load()
        log.info('shield: the clock jumped, so the ends of all bans are set again')
      }
    },
    async guarded(work) {
      try {
        await work()
        trouble.over()
      } catch (error) {
        damage = errorText(error)
        // The next look must not take the table for whole.
        seenForeign = null
        trouble.tell(`shield: ${damage}`)
      }
    },
    state: () => ({ damage, repairs, lastRepairAt }),
  }
}
