import type { ShownKey } from './pins.ts'
import { createBudget } from './schedule.ts'
import { createTransport } from './transport.ts'
import type { Transport } from './transport.ts'
import { agentVersion } from './version.ts'

/** A connection to the server for a command of the command line, beside the agent that may run. Close it. */
export const oneOffTransport = (to: {
  baseUrl: string
  apiKey: string | null
  ca: string | null
  pins: readonly string[]
  proxy: string | null
  judge?: (shown: ShownKey) => string | null
}): Transport =>
  createTransport({
    ...to,
    budget: createBudget({ perMinute: 80, now: Date.now }),
    now: Date.now,
    userAgent: `stockade-agent/${agentVersion}`,
  })
