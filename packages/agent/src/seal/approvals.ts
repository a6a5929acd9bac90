import { isWide } from '@stockade/contract/seal.ts'
import { readJson, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import { Refused } from '../commands/refused.ts'
import type { Handlers } from '../commands/params.ts'

const maxApprovals = 1000
type ApprovalHandlers = Pick<Handlers, 'approve-whitelist' | 'approve-port'>

export interface Approvals {
  /** The commands that approve something. */
  readonly handlers: ApprovalHandlers
  /** The first entry that lacks an approval, or null. Entries that the host already holds need none. */
  unapproved(entries: readonly string[], held: () => ReadonlySet<string>): string | null
  isPortApproved(port: number): boolean
  followList(entries: readonly string[]): void
  followPorts(wanted: readonly number[]): void
}

/**
 * Wide whitelist entries and closed ports that an operator approved on this host with a signature. An approval ends when
 * the server no longer wants what it is for, so that a compromised server cannot use it later.
 */
export const openApprovals = (path: string, changed: () => void): Approvals => {
  const fields = asFields(readJson(path))
  const ranges = new Set(asList(fields['ranges']).map(range => asText(range)))
  const ports = new Set(asList(fields['ports']).map(port => asInteger(port, 0)))
  /** Approvals whose entry or port the server has wanted since. */
  const seen = new Set<string | number>(
    asList(fields['seen']).filter(item => typeof item === 'string' || typeof item === 'number'),
  )

  const save = (): void => {
    writeDurably(path, JSON.stringify({ v: 1, ranges: [...ranges], ports: [...ports], seen: [...seen] }))
  }

  const approve = <T extends string | number>(approved: Set<T>, item: T): void => {
    if (approved.size >= maxApprovals) throw new Refused(`this host has ${maxApprovals} approvals already`)
    approved.add(item)
    seen.delete(item)
    save()
    changed()
  }

  /** Ends approvals of what the server wanted once and no longer wants. */
  const follow = <T extends string | number>(approved: Set<T>, wanted: readonly T[]): void => {
    const now = new Set(wanted)
    let unsaved = false
    for (const item of approved) {
      if (now.has(item) ? !seen.has(item) : seen.has(item)) {
        unsaved = true
        if (now.has(item)) seen.add(item)
        else approved.delete(item)
        if (!now.has(item)) seen.delete(item)
      }
    }
    if (unsaved) save()
  }

  const handlers: ApprovalHandlers = {
    'approve-whitelist': ({ ip: range }) => {
      approve(ranges, range)
      return Promise.resolve(`${range} may be whitelisted on this host`)
    },
    'approve-port': ({ port }) => {
      approve(ports, port)
      return Promise.resolve(`port knocking may close port ${port} on this host`)
    },
  }

  return {
    handlers,
    unapproved(entries: readonly string[], held: () => ReadonlySet<string>): string | null {
      const wide = entries.filter(entry => isWide(entry) && !ranges.has(entry))
      if (wide.length === 0) return null
      const before = held()
      return wide.find(entry => !before.has(entry)) ?? null
    },
    isPortApproved: (port: number): boolean => ports.has(port),
    followList: (entries: readonly string[]): void => follow(ranges, entries),
    followPorts: (wanted: readonly number[]): void => follow(ports, wanted),
  }
}
