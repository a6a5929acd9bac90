import { isAbsolute } from 'node:path'
import { widest } from '@stockade/contract/reach.ts'
import { asFields, isList } from '../json.ts'
import type { Fields } from '../json.ts'

/** What the host's owner allows the server to do here. */
export interface Rules {
  /** Command types that may run. */
  readonly commands: ReadonlySet<string> | 'all'
  /** Command types that may not run, whatever `commands` says. */
  readonly refuse: ReadonlySet<string>
  readonly allowForce: boolean
  /** Ports that port knocking may close. */
  readonly knockPorts: readonly PortRange[] | 'all'
  /** Bans by commands in any hour; null: no limit. */
  readonly bansPerHour: number | null
  readonly whitelist: Limits
  /** What the server may ban here by desired state; null: nothing. */
  readonly fleetBans: Limits | null
  readonly lists: BlocklistLimits | null
  /** Absolute paths with globs, beside /var/log, that templates may read and whose lines are reported. */
  readonly logPaths: readonly string[]
  readonly agentUpgrades: boolean
}

export interface PortRange {
  readonly first: number
  readonly last: number
}

/** How much of one kind the server may want this host to hold. */
export interface Limits {
  readonly maxEntries: number
  /** The largest share of the public addresses. */
  readonly maxShare: number
  /** Prefix lengths: wider ranges are refused. */
  readonly widestIpv4: number
  readonly widestIpv6: number
}
export interface BlocklistLimits extends Limits {
  /** Whether lists may hold wide ranges without an operator's approval, on a host that seals `wide-ban`. */
  readonly allowsUnapproved: boolean
}

const defaultFleetBans: Limits = {
  maxEntries: 10_000,
  maxShare: 1 / 64,
  widestIpv4: widest.banned[4],
  widestIpv6: widest.banned[6],
}
const defaultLists: BlocklistLimits = {
  maxEntries: 250_000,
  maxShare: 1 / 8,
  widestIpv4: widest.listed[4],
  widestIpv6: widest.listed[6],
  allowsUnapproved: false,
}
export const defaultRules: Rules = {
  commands: 'all',
  refuse: new Set(),
  allowForce: true,
  knockPorts: 'all',
  bansPerHour: null,
  whitelist: { maxEntries: 250_000, maxShare: 1 / 64, widestIpv4: 8, widestIpv6: 16 },
  fleetBans: defaultFleetBans,
  lists: defaultLists,
  logPaths: [],
  agentUpgrades: true,
}

const formatVersion = 1
const largestNumber = 1_000_000
const maxItems = 1000

type Reader<T> = (value: unknown, key: string) => T

const fail = (key: string, wanted: string): never => {
  throw new Error(`"${key}" must be ${wanted}`)
}
const truth: Reader<boolean> = (value, key) => (typeof value === 'boolean' ? value : fail(key, 'true or false'))
const whole =
  (least: number, most: number): Reader<number> =>
  (value, key) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
      ? value
      : fail(key, `a whole number from ${least} to ${most}`)
const share: Reader<number> = (value, key) =>
  typeof value === 'number' && value >= 0 && value <= 1 ? value : fail(key, 'a number from 0 to 1')

const texts: Reader<string[]> = (value, key) => {
  const items: readonly unknown[] = isList(value) ? value : fail(key, 'a list of texts')
  if (items.length > maxItems) fail(key, `a list of ${maxItems} texts at most`)
  return items.map(item => (typeof item === 'string' ? item : fail(key, 'a list of texts')))
}
const commandTypes: Reader<ReadonlySet<string>> = (value, key) => {
  const names = texts(value, key)
  if (names.some(name => !/^[a-z][a-z-]{0,39}$/.test(name))) fail(key, 'a list of command types such as "ban-ip"')
  return new Set(names)
}
const ports: Reader<PortRange[]> = (value, key) =>
  texts(value, key).map(text => {
    const [, low = '', high = low] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
    const range = { first: Number(low), last: Number(high) }
    const isRange = low !== '' && range.first >= 1 && range.last <= 65_535 && range.first <= range.last
    return isRange ? range : fail(key, 'a list of ports such as "22" and "1024-65535"')
  })
const paths: Reader<string[]> = (value, key) => {
  const all = texts(value, key)
  if (all.some(path => !isAbsolute(path) || path.length > 1024 || path.split('/').includes('..')))
    fail(key, 'a list of absolute paths without ".."')
  return all
}
const allOr =
  <T>(read: Reader<T>): Reader<T | 'all'> =>
  (value, key) =>
    value === 'all' ? value : read(value, key)

/** Reads the content of the file. @throws Error with a sentence about the first thing that is not understood */
export const parseRules = (value: unknown): Rules => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it must be an object')
  const fields = asFields(value)
  if (fields['version'] === undefined) return parseUnversioned(fields)
  if (fields['version'] !== formatVersion)
    throw new Error(`"version" must be ${formatVersion}; this agent knows no other`)
  knowsOnly(fields, '', [
    'version',
    'commands',
    'refuse',
    'allow_force',
    'knock_ports',
    'bans_per_hour',
    'whitelist',
    'fleet_bans',
    'lists',
    'log_paths',
    'agent_upgrades',
  ])
  const rules = defaultRules
  return {
    commands: valueOr(fields, 'commands', allOr(commandTypes), rules.commands),
    refuse: valueOr(fields, 'refuse', commandTypes, rules.refuse),
    allowForce: valueOr(fields, 'allow_force', truth, rules.allowForce),
    knockPorts: valueOr(fields, 'knock_ports', allOr(ports), rules.knockPorts),
    bansPerHour: valueOr(fields, 'bans_per_hour', whole(0, largestNumber), rules.bansPerHour),
    whitelist: valueOr(fields, 'whitelist', parseWhitelist, rules.whitelist),
    fleetBans: valueOr(fields, 'fleet_bans', allowedOr(parseFleetBans, rules.fleetBans), rules.fleetBans),
    lists: valueOr(fields, 'lists', allowedOr(parseLists, rules.lists), rules.lists),
    logPaths: valueOr(fields, 'log_paths', paths, rules.logPaths),
    agentUpgrades: valueOr(fields, 'agent_upgrades', truth, rules.agentUpgrades),
  }
}

/** The format before versions: `{ "refuse": ["service-restart"] }`. */
const parseUnversioned = (fields: Fields): Rules => {
  if (Object.keys(fields).some(key => key !== 'refuse')) throw new Error('"version" is missing')
  return { ...defaultRules, refuse: valueOr(fields, 'refuse', commandTypes, defaultRules.refuse) }
}

const limitKeys = ['max_entries', 'max_share', 'widest_ipv4', 'widest_ipv6']
/** @param atMost what the agent itself takes: neither more entries nor wider ranges can be allowed */
const limitsOr =
  (otherwise: Limits, atMost: Pick<Limits, 'maxEntries' | 'widestIpv4' | 'widestIpv6'>, otherKeys: string[] = []) =>
  (value: unknown, key: string): Limits => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(key, 'an object')
    const fields = asFields(value)
    knowsOnly(fields, `${key}.`, [...limitKeys, ...otherKeys])
    return {
      maxEntries: valueOr(fields, 'max_entries', whole(0, atMost.maxEntries), otherwise.maxEntries),
      maxShare: valueOr(fields, 'max_share', share, otherwise.maxShare),
      widestIpv4: valueOr(fields, 'widest_ipv4', whole(atMost.widestIpv4, 32), otherwise.widestIpv4),
      widestIpv6: valueOr(fields, 'widest_ipv6', whole(atMost.widestIpv6, 128), otherwise.widestIpv6),
    }
  }
const ownWhitelist = { maxEntries: largestNumber, widestIpv4: 0, widestIpv6: 0 }
const parseWhitelist = limitsOr(defaultRules.whitelist, ownWhitelist)
const parseFleetBans = limitsOr(defaultFleetBans, defaultFleetBans)
const parseLists: Reader<BlocklistLimits> = (value, key) => ({
  ...limitsOr(defaultLists, defaultLists, ['wide_without_approval'])(value, key),
  allowsUnapproved: valueOr(asFields(value), 'wide_without_approval', truth, defaultLists.allowsUnapproved),
})
/** `true` is as if nothing were said, `false` allows nothing. */
const allowedOr =
  <T>(read: Reader<T>, whenTrue: T): Reader<T | null> =>
  (value, key) => {
    if (typeof value === 'boolean') return value ? whenTrue : null
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? read(value, key)
      : fail(key, 'true, false or an object')
  }

const valueOr = <T, D>(fields: Fields, key: string, read: Reader<T>, otherwise: D): T | D =>
  fields[key] === undefined ? otherwise : read(fields[key], key)

const knowsOnly = (fields: Fields, prefix: string, known: readonly string[]): void => {
  const strange = Object.keys(fields).find(key => !known.includes(key))
  if (strange !== undefined) throw new Error(`"${prefix}${strange.slice(0, 60)}" is no key that this agent knows`)
}
