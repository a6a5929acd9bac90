import { readText } from '../../files.ts'
import { ok, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

const netAdmin = 1n << 12n
const halfFull = 32 * 1024 * 1024

/** Whether the agent itself can work: the right to read the firewall, and room for events that wait for the server. */
export const agentCheck = (needs: { waitingBytes: () => number; read?: (path: string) => string | null }): Check => ({
  id: 'agent',
  every: 60_000,
  badAfter: 0,
  looks: 1,
  needsEngine: false,
  look() {
    const status = (needs.read ?? readText)('/proc/self/status') ?? ''
    const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1]
    const rights: Finding =
      mask !== undefined && (BigInt(`0x${mask}`) & netAdmin) === 0n
        ? warning('rights', 'the agent runs without CAP_NET_ADMIN: it cannot read the firewall')
        : ok('rights')
    const events: Finding =
      needs.waitingBytes() > halfFull
        ? warning('events', 'more than half of the space for events that wait for the Stockade server is used')
        : ok('events')
    return Promise.resolve([rights, events])
  },
})
