import { join } from 'node:path'
import { isWide } from '@stockade/contract/seal.ts'
import { readJson, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import { Refused } from '../commands/refused.ts'
import type { Handlers } from '../commands/params.ts'

const maxApprovals = 1000
export const approvalsFile = (stateDirectory: string): string => join(stateDirectory, 'approvals.json')

type ApprovalHandlers = Pick<Handlers, 'approve-whitelist' | 'approve-port' | 'approve-ban'>

export interface Approvals {
  /** The commands that approve something. */
  readonly handlers: ApprovalHandlers
  /** The first entry that lacks an approval, or null. Entries that the host already holds need none. */
  unapproved(entries: readonly string[], held: () => ReadonlySet<string>): string | null
  isPortApproved(port: number): boolean
  /** Wide ranges that fleet bans and lists may hold. */
  approvedBans(): ReadonlySet<string>
  followList(entries: readonly string[]): void
  followPorts(wanted: readonly number[]): void
  /** @param wanted the fleet bans, and of the lists at least the ranges that are approved */
  followBans(wanted: Iterable<string>): void
}

/**
 * Wide whitelist entries, closed ports and wide bans that an operator approved on this host with a signature. An approval
 * ends when the server no longer wants what it is for, so that a compromised server cannot use it later.
 */
export const openApprovals = (path: string, changed: () => void): Approvals => {
  const fields = asFields(readJson(path))
  const ranges = new Set(asList(fields['ranges']).map(range => asText(range)))
  const ports = new Set(asList(fields['ports']).map(port => asInteger(port, 0)))
  const bans = new Set(asList(fields['bans']).map(range => asText(range)))
  const seenIn = (key: string): unknown[] =>
    asList(fields[key]).filter(item => typeof item === 'string' || typeof item === 'number')
  /** Approvals whose entry or port the server has wanted since. */
  const seenItems = new Set<unknown>(seenIn('seen'))
  const seenBans = new Set<unknown>(seenIn('seenBans'))

  const save = (): void => {
    const sets = { ranges, ports, bans, seen: seenItems, seenBans }
    const lists = Object.entries(sets).map(([key, set]) => [key, [...set]] as const)
    writeDurably(path, JSON.stringify({ v: 1, ...Object.fromEntries(lists) }))
  }

  const approve = <T extends string | number>(approved: Set<T>, item: T, since: Set<unknown> = seenItems): void => {
    if (approved.size >= maxApprovals) throw new Refused(`this host has ${maxApprovals} approvals already`)
    approved.add(item)
    since.delete(item)
    save()
    changed()
  }

  /** Ends approvals of what the server wanted once and no longer wants. */
  const follow = <T extends string | number>(
    approved: Set<T>,
    wanted: Iterable<T>,
    since: Set<unknown> = seenItems,
  ): void => {
    if (approved.size === 0) return
    const now = new Set(wanted)
    let unsaved = false
    for (const item of approved) {
      if (now.has(item) ? !since.has(item) : since.has(item)) {
        unsaved = true
        if (now.has(item)) since.add(item)
        else approved.delete(item)
        if (!now.has(item)) since.delete(item)
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
    'approve-ban': ({ ip: range }) => {
      approve(bans, range, seenBans)
      return Promise.resolve(`${range} may be banned on this host by the fleet's bans and lists`)
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
    approvedBans: (): ReadonlySet<string> => bans,
    followList: (entries: readonly string[]): void => follow(ranges, entries),
    followPorts: (wanted: readonly number[]): void => follow(ports, wanted),
    followBans: (wanted: Iterable<string>): void => follow(bans, wanted, seenBans),
  }
}
