import type { BodyOf, rules as contract } from '@stockade/contract'
import { day, second } from '../../core/clock.ts'
import { covers, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { parseJson } from '../../core/json-text.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import type { Protection } from '../reach/protected.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import type { RuleLogic } from './evaluator.ts'
import { countryCodes, jailNames } from './rules.store.ts'
import type { RuleRow } from './rules.store.ts'
import type { SharingConditions } from '../../db/tables/stored.ts'

export interface Limits {
  readonly per_hour: number
  readonly standing: number
  /** Canonical addresses and ranges. */
  readonly exclude: readonly string[]
}

type Input = Omit<BodyOf<typeof contract.createRule>, 'name'>
export const usualConditions: SharingConditions = {
  min_servers: 2,
  min_bans: 2,
  within: day / second,
  jails: null,
  countries: null,
  asns: null,
  from: 'all',
  target: 'all',
  duration: day / second,
  factor: 1,
  max_duration: null,
}
export const usualLimits: Limits = { per_hour: 50, standing: 1000, exclude: [] }

const sorted = <T extends string | number>(values: readonly T[] | null): readonly T[] | null =>
  values === null ? null : [...new Set(values)].sort((a, b) => (a < b ? -1 : 1))

const filtersWith = (before: SharingConditions, { jails, countries, asns }: Input) => ({
  jails: jails === undefined ? before.jails : sorted(jails),
  countries: countries === undefined ? before.countries : sorted(countries?.map(code => code.toUpperCase()) ?? null),
  asns: asns === undefined ? before.asns : sorted(asns),
})
/** A change of the number of servers alone sets the number of bans too. */
const thresholdsWith = (before: SharingConditions, input: Input) => {
  const min_servers = input.min_servers ?? before.min_servers
  const usualBans = input.min_servers === undefined ? before.min_bans : min_servers
  return { min_servers, min_bans: input.min_bans ?? usualBans }
}
const lengthsWith = (before: SharingConditions, input: Input) => ({
  within: input.within ?? before.within,
  duration: input.duration ?? before.duration,
  factor: input.factor ?? before.factor,
  max_duration: input.max_duration === undefined ? before.max_duration : input.max_duration,
})

/** What results when the fields that are given replace those before. @throws Problem 400 */
export const withInput = (
  before: SharingConditions,
  input: Input,
  textOfTarget: (path: string, target: NonNullable<Input['target']>) => string,
): SharingConditions => {
  const { from, target } = input
  const after: SharingConditions = {
    ...thresholdsWith(before, input),
    ...filtersWith(before, input),
    ...lengthsWith(before, input),
    from: from === undefined ? before.from : textOfTarget('from', from),
    target: target === undefined ? before.target : textOfTarget('target', target),
  }
  if (after.min_bans < after.min_servers)
    throw invalid('min_bans', 'min_bans must be at least min_servers: each server bans at least once.')
  if (after.max_duration !== null && after.duration > after.max_duration)
    throw invalid('max_duration', 'max_duration must be at least duration.')
  return after
}
export const limitsWith = (before: Limits, input: Pick<Input, 'per_hour' | 'standing' | 'exclude'>): Limits => ({
  per_hour: input.per_hour ?? before.per_hour,
  standing: input.standing ?? before.standing,
  exclude:
    input.exclude === undefined
      ? before.exclude
      : [...new Set(input.exclude.flatMap(text => parseRange(text)?.text ?? []))].sort(),
})

export const conditionsOf = (row: Pick<RuleRow, 'conditions'>): SharingConditions => parseJson(row.conditions)
export const limitsOf = (row: Pick<RuleRow, 'per_hour' | 'standing' | 'exclude'>): Limits => ({
  per_hour: row.per_hour,
  standing: row.standing,
  exclude: parseJson(row.exclude),
})

/** Names of jails and countries by number. Numbers never change their meaning; new ones come. */
export interface Names {
  jail(id: number): string | undefined
  country(id: number): string | undefined
  refresh(): Promise<void>
}
export const createNames = (db: Pick<Database, 'read'>): Names => {
  let jails: ReadonlyMap<number, string> = new Map()
  let countries: ReadonlyMap<number, string> = new Map()
  return {
    jail: id => jails.get(id),
    country: id => countries.get(id),
    async refresh() {
      jails = await jailNames(db.read)
      countries = await countryCodes(db.read)
    },
  }
}
/** What simulations and armed rules both ask. */
export interface RuleNeeds {
  readonly names: Names
  readonly registry: Pick<Registry, 'all' | 'byNo'>
  readonly targeting: Targeting
  readonly mirror: Pick<Mirror, 'touches'>
  readonly protection: Pick<Protection, 'now'>
}

const nameFilter = (names: readonly string[] | null, nameOf: (id: number) => string | undefined) => {
  if (names === null) return () => true
  const nameSet = new Set(names)
  return (id: number) => {
    const name = nameOf(id)
    return name !== undefined && nameSet.has(name)
  }
}

/** The rule as the evaluator asks for it. */
export const logicOf = (
  id: number,
  conditions: SharingConditions,
  limits: Limits,
  needs: Pick<RuleNeeds, 'names' | 'registry' | 'targeting'>,
): RuleLogic => {
  const from = targetsOf(conditions.from)
  const asns = conditions.asns === null ? null : new Set(conditions.asns)
  /** A server that was deleted does not count, and one in quarantine may say anything. */
  const isTrusted = (no: number) => {
    const server = needs.registry.byNo(no)
    return server !== undefined && server.row.quarantined_at === null
  }
  return {
    id,
    minServers: conditions.min_servers,
    minBans: conditions.min_bans,
    within: conditions.within * second,
    duration: conditions.duration < 0 ? null : conditions.duration * second,
    factor: conditions.factor,
    longest: conditions.max_duration === null ? null : conditions.max_duration * second,
    perHour: limits.per_hour,
    standing: limits.standing,
    filter: {
      jail: nameFilter(conditions.jails, needs.names.jail),
      country: nameFilter(conditions.countries, needs.names.country),
      network: asn => asns === null || asns.has(asn),
      server: no => needs.targeting.concerns(from, no) && isTrusted(no),
    },
  }
}

export const rangesOf = (texts: readonly string[]): readonly IpRange[] => texts.flatMap(text => parseRange(text) ?? [])
export const overlaps = (a: IpRange, b: IpRange): boolean => covers(a, b) || covers(b, a)
