import { delivery, times } from '@stockade/contract/limits.ts'
import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { CommandRow } from './commands.store.ts'

/** When an open command is next due to be handed out; null if never again. */
export const dueAt = (row: Pick<CommandRow, 'status' | 'deliveries' | 'delivered_at'>): number | null => {
  if (row.status === 'pending') return 0
  // A lost response must not lose the command: one without a result is delivered again after a while, a few times.
  if (row.status === 'running' && row.deliveries < delivery.attempts)
    return (row.delivered_at ?? 0) + times.commandLease * second
  return null
}

/** What is due for which server, in memory, so that an agent for which there is nothing costs no query. */
export const createQueue = (clock: Clock) => {
  /** For each server its open commands, and when each is due. */
  const due = new Map<number, Map<string, number>>()
  /** The last change of each server's part, as a count: a read that began before it may be stale. */
  const changes = new Map<number, number>()
  let count = 0

  const track = (row: CommandRow) => {
    changes.set(row.server_no, ++count)
    const at = dueAt(row)
    const knownDue = due.get(row.server_no)
    if (at !== null) {
      if (knownDue) knownDue.set(row.id, at)
      else due.set(row.server_no, new Map([[row.id, at]]))
    } else if (knownDue?.delete(row.id) && knownDue.size === 0) due.delete(row.server_no)
  }
  return {
    /** Takes over a committed row. */
    track,
    forget: (serverNo: number) => void due.delete(serverNo),
    isDue(serverNo: number): boolean {
      const now = clock()
      for (const at of due.get(serverNo)?.values() ?? []) if (at <= now) return true
      return false
    },
    /** Milliseconds until the server's next command is due; Infinity if it has none. */
    nextIn: (serverNo: number): number =>
      Math.min(...[...(due.get(serverNo)?.values() ?? [])].map(at => Math.max(10, at - clock()))),
    /** Call it before storage is read, and pass the result to `replace`. */
    mark: () => count,
    /**
     * Replaces what is known by what was read: of these servers, or of all. Servers that changed here since `mark` keep what
     * they have. Returns those that were replaced.
     */
    replace(rows: readonly CommandRow[], mark: number, serverNos?: readonly number[]): ReadonlySet<number> {
      const servers = serverNos ?? [...due.keys(), ...rows.map(row => row.server_no)]
      const replaced = new Set(servers.filter(no => (changes.get(no) ?? 0) <= mark))
      for (const no of replaced) {
        due.delete(no)
        changes.set(no, ++count)
      }
      for (const row of rows) if (replaced.has(row.server_no)) track(row)
      return replaced
    },
  }
}
export type Queue = ReturnType<typeof createQueue>
