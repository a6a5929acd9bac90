import type { Serial } from '../serial.ts'
import type { Disk } from './disk.ts'
import type { Shield } from './model.ts'
import type { ShieldTable } from './table.ts'
import { trialTime } from './trial.ts'
import type { WantedBans } from './wanted.ts'

/** A transaction of this many elements takes the event loop about 20 ms. */
const portion = 5000

/** Brings what other parts of the agent hold into the kernel. */
export const createFollowing = (needs: {
  inTurn: Serial
  disk: Disk
  table: ShieldTable
  wanted: WantedBans
  isOn: () => boolean
}): Pick<Shield, 'follow' | 'followLists'> => {
  const { inTurn, disk, table, wanted, isOn } = needs
  return {
    follow: (change, onTrial = []) =>
      inTurn(async () => {
        const entries = change()
        if (!isOn() || entries.length + onTrial.length === 0) return
        disk.isFallbackOld = true
        const tried = onTrial.map(entry => ({ entry, timeout: trialTime }))
        for (let at = 0; at < entries.length; at += portion) {
          const some = entries.slice(at, at + portion)
          await table.change(
            some.flatMap(wanted.now),
            some.filter(entry => wanted.now(entry).length === 0),
          )
        }
        if (tried.length > 0) await table.change(tried, [])
      }),
    followLists: change =>
      inTurn(async () => {
        change()
        if (!isOn()) return
        disk.isFallbackOld = true
        await table.takeLists()
      }),
  }
}
