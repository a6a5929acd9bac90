import { isAbsolute } from 'node:path'
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
  readonly whitelist: ListLimits
  /** Absolute paths with globs, beside /var/log, that templates may read and whose lines are reported. */
  readonly logPaths: readonly string[]
  readonly agentUpgrades: boolean
}

export interface PortRange {
  readonly first: number
  readonly last: number
}

export interface ListLimits {
  readonly maxEntries: number
  /** The largest share of the public addresses. */
  readonly maxShare: number
  /** Prefix lengths: wider ranges are refused. */
  readonly widestIpv4: number
  readonly widestIpv6: number
}

export const defaultRules: Rules = {
  commands: 'all',
  refuse: new Set(),
  allowForce: true,
  knockPorts: 'all',
  bansPerHour: null,
  whitelist: { maxEntries: 250_000, maxShare: 1 / 64, widestIpv4: 8, widestIpv6: 16 },
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
    'log_paths',
    'agent_upgrades',
  ])
  const rules = defaultRules
  return {
    commands: given(fields, 'commands', allOr(commandTypes), rules.commands),
    refuse: given(fields, 'refuse', commandTypes, rules.refuse),
    allowForce: given(fields, 'allow_force', truth, rules.allowForce),
    knockPorts: given(fields, 'knock_ports', allOr(ports), rules.knockPorts),
    bansPerHour: given(fields, 'bans_per_hour', whole(0, largestNumber), rules.bansPerHour),
    whitelist: given(fields, 'whitelist', parseListLimits, rules.whitelist),
    logPaths: given(fields, 'log_paths', paths, rules.logPaths),
    agentUpgrades: given(fields, 'agent_upgrades', truth, rules.agentUpgrades),
  }
}

/** The format before versions: `{ "refuse": ["service-restart"] }`. */
const parseUnversioned = (fields: Fields): Rules => {
  if (Object.keys(fields).some(key => key !== 'refuse')) throw new Error('"version" is missing')
  return { ...defaultRules, refuse: given(fields, 'refuse', commandTypes, defaultRules.refuse) }
}

const parseListLimits: Reader<ListLimits> = (value, key) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(key, 'an object')
  const fields = asFields(value)
  knowsOnly(fields, `${key}.`, ['max_entries', 'max_share', 'widest_ipv4', 'widest_ipv6'])
  const limits = defaultRules.whitelist
  return {
    maxEntries: given(fields, 'max_entries', whole(0, largestNumber), limits.maxEntries),
    maxShare: given(fields, 'max_share', share, limits.maxShare),
    widestIpv4: given(fields, 'widest_ipv4', whole(0, 32), limits.widestIpv4),
    widestIpv6: given(fields, 'widest_ipv6', whole(0, 128), limits.widestIpv6),
  }
}

const given = <T, D>(fields: Fields, key: string, read: Reader<T>, otherwise: D): T | D =>
  fields[key] === undefined ? otherwise : read(fields[key], key)

const knowsOnly = (fields: Fields, prefix: string, known: readonly string[]): void => {
  const strange = Object.keys(fields).find(key => !known.includes(key))
  if (strange !== undefined) throw new Error(`"${prefix}${strange.slice(0, 60)}" is no key that this agent knows`)
}
