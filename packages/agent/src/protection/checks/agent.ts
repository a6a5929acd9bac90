import { join } from 'node:path'
import { readText, writeDurably } from '../../files.ts'
import { errorText } from '../../text.ts'
import { bad, ok, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

const netAdmin = 1n << 12n
const halfFull = 32 * 1024 * 1024

/** Whether the agent itself can work: the right to read the firewall, and room for its state and for events that wait for the server. */
export const agentCheck = (needs: {
  waitingBytes: () => number
  /** What the server refused for good within a day. */
  refused: () => { readonly count: number; readonly reason: string } | null
  stateDirectory: string
  read?: (path: string) => string | null
}): Check => ({
  id: 'agent',
  every: 30_000,
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
    const refused = needs.refused()
    const reports: Finding =
      refused === null
        ? ok('reports')
        : warning(
            'reports',
            `the Stockade server refused ${refused.count === 1 ? 'a report' : `${refused.count} reports`} of this server for good within a day: ${refused.reason}`,
          )
    return Promise.resolve([rights, events, reports, diskFinding(needs.stateDirectory)])
  },
})

/** Free space alone does not tell: a file system may be read-only, or have a quota. */
const diskFinding = (directory: string): Finding => {
  try {
    writeDurably(join(directory, 'disk-check'), 'The agent writes this to see whether it can.\n')
    return ok('disk')
  } catch (error) {
    const why = errorText(error)
    return bad('disk', `the agent cannot write to ${directory}: reports and commands have to wait (${why})`)
  }
}
