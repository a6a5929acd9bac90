import type { Serial } from '../serial.ts'
import type { Kernel } from './kernel.ts'
import type { Shield } from './model.ts'
import { placeOf } from './table.ts'
import type { ShieldTable } from './table.ts'
import { maxTimeout } from './wanted.ts'

/** The kernel ends the ban of a test by itself, in case the agent dies meanwhile. */
const testTime = 60_000
/** How much earlier than ordered the kernel may end a ban: its clock and the server's differ a little. */
const endTolerance = 5000

/** What the kernel holds and counts, read back from it. */
export const createReading = (needs: {
  inTurn: Serial
  table: ShieldTable
  kernel: Kernel
  isOn: () => boolean
  serverNow: () => number
}): Pick<Shield, 'holds' | 'holdsList' | 'listed' | 'endsInKernel' | 'allDropped' | 'droppedFrom'> & {
  testBan: Omit<Shield['testBan'], 'whyNot'>
} => {
  const { inTurn, table, kernel, isOn, serverNow } = needs
  return {
    holds: entry =>
      isOn()
        ? inTurn(async () => !(await table.isKept(entry)) && (await table.find(entry)) !== null)
        : Promise.resolve(false),
    holdsList: list => inTurn(async () => isOn() && table.holdsList(list)),
    listed: () => (isOn() ? kernel.listed() : null),
    endsInKernel: wanted =>
      inTurn(async () => {
        const elements = await table.elements()
        const now = serverNow()
        const isHeld = (entry: string, until: number | null): boolean => {
          if (until !== null && until <= now + endTolerance) return true
          const left = elements.get(placeOf(entry))
          if (left === undefined || left === null) return left === null
          return left >= Math.min(maxTimeout, until === null ? Infinity : until - now) - endTolerance
        }
        return new Map([...wanted].filter(([entry, until]) => isHeld(entry, until)))
      }),
    testBan: {
      isKept: entry => inTurn(() => table.isKept(entry)),
      hold: entry => inTurn(() => table.change([{ entry, timeout: testTime }], [])),
      stopped: entry =>
        inTurn(async () => {
          const element = await table.find(entry)
          if (element === null) throw new Error(`the kernel does not hold the ban of ${entry}`)
          return element.packets
        }),
      release: entry => inTurn(() => table.change([], [entry])),
    },
    allDropped: () => (isOn() ? kernel.dropped() : null),
    droppedFrom: entry => inTurn(async () => (isOn() ? ((await table.find(entry))?.packets ?? null) : null)),
  }
}
