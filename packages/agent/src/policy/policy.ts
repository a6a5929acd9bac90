import * as fs from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../files.ts'
import { errorText } from '../text.ts'
import { defaultRules, parseRules } from './format.ts'
import type { BlocklistLimits, Limits, Rules } from './format.ts'
import { isAllowedLog, isNamedLog } from './logs.ts'

/** What is reported about the policy. */
export interface PolicyState {
  readonly state: 'default' | 'file' | 'unreadable'
  readonly error: string | null
}

const maxFileBytes = 64 * 1024
const hour = 3_600_000
const writableByOthers = 0o022

interface Found extends PolicyState {
  /** Null if the file cannot be read: nothing is allowed then. */
  readonly rules: Rules | null
}

export interface PolicyOfHost {
  state(): PolicyState
  /** Changes whenever the file does. */
  mark(): string
  /** Why a command must not run; null if it may. */
  whyNotCommand(type: string, params: Readonly<Record<string, unknown>>): string | null
  /** Counts a ban by command toward the hourly limit, whether it succeeds or not. */
  countBan(): void
  /** Why port knocking must not close a port; null if it may. Closed ports stay closed while the file cannot be read. */
  whyNotClose(port: number, holds: boolean): string | null
  /** @throws Error if the policy cannot be read: no list is accepted then */
  whitelistLimits(): Limits
  /** Null: the server may ban nothing here by a fleet ban. @throws Error if the policy cannot be read: no further ban is accepted then */
  fleetBanLimits(): Limits | null
  /** Null: no list is accepted. @throws Error if the policy cannot be read: no new list is accepted then */
  blocklistLimits(): BlocklistLimits | null
  /** Whether templates may read a log and its lines may be reported, judged by its path with links resolved. */
  allowsLog(path: string): boolean
  /** Whether the policy names a path beyond /var/log as it is written. */
  namesLog(path: string): boolean
  agentUpgrades(): boolean
}

/**
 * The policy of this host, `policy.json`: what its owner lets the server do. The file is read again when it changes. An
 * invalid file allows nothing; without a file the defaults apply.
 */
export const createPolicy = (needs: {
  directory: string
  now: () => number
  owners?: readonly number[]
}): PolicyOfHost => {
  const file = join(needs.directory, 'policy.json')
  const owners = needs.owners ?? [0, process.getuid?.() ?? 0]
  let lastPolicy: { readonly mark: string; readonly found: Found } | null = null
  let bans: number[] = []

  const look = (): Found => {
    const mark = markOf(file)
    if (lastPolicy?.mark !== mark) lastPolicy = { mark, found: read() }
    return lastPolicy.found
  }

  const read = (): Found => {
    try {
      const text = readChecked(file, owners)
      if (text === null) return { state: 'default', error: null, rules: defaultRules }
      return { state: 'file', error: null, rules: parseRules(JSON.parse(text)) }
    } catch (error) {
      return { state: 'unreadable', error: errorText(error).slice(0, 300), rules: null }
    }
  }

  /** @throws Error with the reason, if the rules cannot be read */
  const rules = (): Rules => {
    const { rules, error } = look()
    if (rules === null) throw new Error(unreadable(error))
    return rules
  }

  const whyNotBan = (rules: Rules): string | null => {
    if (rules.bansPerHour === null) return null
    const since = needs.now() - hour
    bans = bans.filter(at => at > since)
    return bans.length < rules.bansPerHour
      ? null
      : `policy.json on this host allows ${rules.bansPerHour} bans by commands an hour, and so many were done`
  }

  return {
    state(): PolicyState {
      const { state, error } = look()
      return { state, error }
    },
    mark(): string {
      look()
      return lastPolicy?.mark ?? ''
    },
    whyNotCommand(type: string, params: Readonly<Record<string, unknown>>): string | null {
      const { rules, error } = look()
      if (rules === null) return unreadable(error)
      // Who refuses templates of the server wants none of its expressions to run here.
      const isOfTemplate = type === 'template-preview' && rules.refuse.has('deploy-template')
      if (rules.refuse.has(type) || isOfTemplate || (rules.commands !== 'all' && !rules.commands.has(type)))
        return `policy.json on this host refuses ${type}`
      if ('force' in params && params['force'] !== false && !rules.allowForce)
        return 'policy.json on this host refuses "force"'
      return type === 'ban-ip' ? whyNotBan(rules) : null
    },
    countBan: (): void => void bans.push(needs.now()),
    whyNotClose(port: number, holds: boolean): string | null {
      const { rules, error } = look()
      if (rules === null) return holds ? null : unreadable(error)
      if (rules.knockPorts === 'all' || rules.knockPorts.some(({ first, last }) => first <= port && port <= last))
        return null
      return `policy.json on this host does not let port knocking close port ${port}`
    },
    whitelistLimits: (): Limits => rules().whitelist,
    fleetBanLimits: (): Limits | null => rules().fleetBans,
    blocklistLimits: (): BlocklistLimits | null => rules().lists,
    allowsLog: (path: string): boolean => isAllowedLog(path, look().rules?.logPaths ?? []),
    namesLog: (path: string): boolean => isNamedLog(path, look().rules?.logPaths ?? []),
    agentUpgrades: (): boolean => look().rules?.agentUpgrades ?? false,
  }
}

const unreadable = (error: string | null): string =>
  `policy.json on this host can not be read, so nothing is done: ${error ?? 'unknown'}`

/** Changes whenever the file does. */
const markOf = (file: string): string => {
  try {
    const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
    if (!stat) return 'missing'
    return [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs, stat.mode, stat.uid].join(' ')
  } catch (error) {
    return `unknown ${errorText(error)}`
  }
}

/** Null if there is no file. @throws Error if others may write it, or if it is too long */
const readChecked = (file: string, owners: readonly number[]): string | null => {
  let handle: number
  try {
    handle = fs.openSync(file, 'r')
  } catch (error) {
    if (isMissing(error) && fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return null
    throw error
  }
  try {
    const stat = fs.fstatSync(handle)
    if (!stat.isFile()) throw new Error('it is no file')
    if (!owners.includes(stat.uid)) throw new Error(`it belongs to user ${stat.uid} and not to root`)
    if ((stat.mode & writableByOthers) !== 0) throw new Error('others than its owner may write it; use chmod 0644')
    if (stat.size > maxFileBytes) throw new Error(`it is longer than ${maxFileBytes / 1024} KiB`)
    return fs.readFileSync(handle, 'utf8')
  } finally {
    fs.closeSync(handle)
  }
}
