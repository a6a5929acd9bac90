import { ok, warning } from '../model.ts'
import type { Check } from '../model.ts'

const tolerance = 30_000

/** Whether this host and the Stockade server agree on the time. */
export const clockCheck = (needs: { clockOffset: () => number | null }): Check => ({
  id: 'clock',
  every: 30_000,
  badAfter: 0,
  looks: 2,
  needsEngine: false,
  look() {
    const offset = needs.clockOffset()
    if (offset === null) return Promise.resolve([ok(null)])
    const seconds = Math.round(Math.abs(offset) / 1000)
    const side = offset > 0 ? 'behind' : 'ahead of'
    return Promise.resolve([
      Math.abs(offset) <= tolerance
        ? ok(null)
        : warning(null, `the clock of this server is ${seconds} s ${side} that of the Stockade server`),
    ])
  },
})
