import { ipText, parseRange } from '../../core/ip.ts'
import { createHistory, keyOfAddress, mostRules } from './history.ts'
import type { AddressKey, BanHistory, RuleBits } from './history.ts'

/** A ban that a host reported, as rules see it. */
export interface SeenBan {
  readonly id: number
  /**
   * Milliseconds: when the host made it, as it says, or when a late report arrived. So the clock of a host moves a ban by a quarter of an hour at most
   * (`lateAfter`), and a simulation counts as the rule does.
   */
  readonly at: number
  /** Its report came long after it: it is evidence for later ones, and completes no match. */
  readonly isLate: boolean
  readonly serverNo: number
  readonly jailId: number
  readonly countryId: number
  readonly asn: number | null
  readonly ip: Uint8Array
}

/** Which bans count for a rule: those that meet all four. A ban of no known network has the network 0. */
export interface RuleFilter {
  jail(id: number): boolean
  country(id: number): boolean
  network(asn: number): boolean
  server(no: number): boolean
}

/** What a rule asks for. Lengths are milliseconds. */
export interface RuleLogic {
  readonly id: number
  readonly minServers: number
  readonly minBans: number
  readonly within: number
  /** Null: permanent. */
  readonly duration: number | null
  /** Factor by which each further ban of an entry is longer than the previous one. */
  readonly factor: number
  /** Longest ban; null: no limit. */
  readonly longest: number | null
  readonly perHour: number
  readonly standing: number
  readonly filter: RuleFilter
}

export interface RuleMatch {
  readonly ruleId: number
  /** Address, or the /64 of an IPv6 address. */
  readonly entry: string
  /** Time of the ban that completed the condition, and its id. */
  readonly at: number
  readonly banId: number
  /** How often the rule banned the entry, this time included. */
  readonly times: number
  /** End of the ban; null: permanent. */
  readonly until: number | null
  /** Servers and bans that met the condition, the last one first. */
  readonly servers: readonly number[]
  readonly bans: readonly number[]
}
/** `banned`: the ban is made. `refused`: it must not be banned. `tripped`: the rule went beyond its limits and stops. */
export type Verdict =
  | { readonly outcome: 'banned' }
  | { readonly outcome: 'refused'; readonly cause: string }
  | { readonly outcome: 'tripped'; readonly cause: string }
export type JudgedMatch = RuleMatch & Verdict

/** What a rule did to an entry before. */
export type PastMatch = Pick<RuleMatch, 'ruleId' | 'entry' | 'at' | 'banId' | 'times' | 'until'> & {
  readonly outcome: Verdict['outcome']
}

export interface Evaluator {
  /** Names, tags and servers may have changed: the filters of the rules are asked again. */
  refreshFilters(): void
  /** Adds a ban to the window without asking the rules. */
  remember(ban: SeenBan): void
  /**
   * Adds a ban, where the window does not hold it yet, and answers which rules match now. The same ban twice matches once, since the
   * ban of the fleet that it caused goes on.
   */
  take(ban: SeenBan): readonly JudgedMatch[]
  /** What is known of earlier matches, the oldest first. */
  recall(match: PastMatch): void
  /** Whether a rule bans the address at the time of the ban. */
  isBanned(ruleId: number, ban: SeenBan): boolean
  readonly history: Pick<BanHistory, 'size' | 'pushedOut'>
}

interface EntryState {
  times: number
  /** Infinity: permanent. */
  until: number
  matchedAt: number
  /** Bans up to this id are used up. */
  banId: number
}
interface RuleState {
  readonly logic: RuleLogic
  /** By `high low` of the address. */
  readonly entries: Map<number, Map<number, EntryState>>
  /** Times of the bans of the last hour, the oldest first. */
  lately: number[]
  /** Ends of the bans that stand, in no order. */
  standing: number[]
  isTripped: boolean
}

/** After so long an entry counts as new. */
export const rememberedFor = 90 * 86_400_000
const hour = 3_600_000
/** Bans of one address that are examined at most. */
const longestLook = 256
/** Servers of one address, while they are counted. */
const scratch = new Float64Array(longestLook)
const none: readonly JudgedMatch[] = []

/**
 * Decides which bans of hosts become bans of the fleet. It knows no clock: its time is that of the newest ban, so the same bans in
 * the same order give the same decisions in a simulation and in earnest.
 */
export const createEvaluator = (
  rules: readonly RuleLogic[],
  /** Why an entry must not be banned; null: it may. */
  refusal: (ruleId: number, entry: string) => string | null,
): Evaluator => {
  if (rules.length > mostRules) throw new RangeError(`At most ${mostRules} rules fit into the bits of a ban.`)
  const states: RuleState[] = rules.map(logic => ({
    logic,
    entries: new Map(),
    lately: [],
    standing: [],
    isTripped: false,
  }))
  const history = createHistory(Math.max(0, ...rules.map(({ within }) => within)))
  let now = 0

  const logics = states.map(({ logic }) => logic)
  const filters = {
    jail: createFilter(logics.map(({ filter }) => filter.jail)),
    country: createFilter(logics.map(({ filter }) => filter.country)),
    network: createFilter(logics.map(({ filter }) => filter.network)),
    server: createFilter(logics.map(({ filter }) => filter.server)),
  }
  const bitsOf = (ban: SeenBan): RuleBits => {
    const jail = filters.jail.bits(ban.jailId)
    const country = filters.country.bits(ban.countryId)
    const network = filters.network.bits(ban.asn ?? 0)
    const server = filters.server.bits(ban.serverNo)
    return {
      low: (jail.low & country.low & network.low & server.low) >>> 0,
      high: (jail.high & country.high & network.high & server.high) >>> 0,
    }
  }
  const entryState = (state: RuleState, { high, low }: AddressKey) => state.entries.get(high)?.get(low)
  const setEntry = (state: RuleState, { high, low }: AddressKey, value: EntryState) => {
    const ofHigh = state.entries.get(high) ?? new Map<number, EntryState>()
    state.entries.set(high, ofHigh.set(low, value))
  }

  /** The servers and bans that meet the condition of the rule; null: not enough. */
  const evidence = (place: number, rule: number, logic: RuleLogic, past: EntryState | undefined) => {
    const at = history.at(place)
    const servers: number[] = []
    const bans: number[] = []
    for (let next = place, looked = 0; next >= 0 && looked < longestLook; next = history.before(next), looked++) {
      if (!history.meets(next, rule) || Math.abs(at - history.at(next)) > logic.within) continue
      if (past && history.id(next) <= past.banId) continue
      bans.push(history.id(next))
      const server = history.server(next)
      if (!servers.includes(server)) servers.push(server)
    }
    return servers.length >= logic.minServers && bans.length >= logic.minBans ? { servers, bans } : null
  }
  const overLimit = (state: RuleState): string | null => {
    const firstLately = state.lately.findIndex(at => at > now - hour)
    state.lately.splice(0, firstLately < 0 ? state.lately.length : firstLately)
    if (state.lately.length >= state.logic.perHour) return `more than ${state.logic.perHour} bans within an hour`
    if (state.standing.length >= state.logic.standing) state.standing = state.standing.filter(until => until > now)
    if (state.standing.length >= state.logic.standing) return `more than ${state.logic.standing} bans at the same time`
    return null
  }
  const judge = (state: RuleState, entry: string): Verdict => {
    const cause = refusal(state.logic.id, entry)
    if (cause !== null) return { outcome: 'refused', cause }
    const limit = overLimit(state)
    return limit === null ? { outcome: 'banned' } : { outcome: 'tripped', cause: limit }
  }
  const note = (state: RuleState, key: AddressKey, match: PastMatch) => {
    const { outcome, until, at, times, banId } = match
    if (outcome === 'tripped') {
      state.isTripped = true
      return
    }
    setEntry(state, key, { times, until: until ?? Infinity, matchedAt: at, banId })
    if (outcome !== 'banned') return
    state.lately.push(at)
    state.standing.push(until ?? Infinity)
  }
  const lengthOf = ({ duration, factor, longest }: RuleLogic, times: number): number | null => {
    if (duration === null) return null
    return Math.min(duration * factor ** (times - 1), longest ?? Infinity, longestBan)
  }

  const matchOf = (
    state: RuleState,
    rule: number,
    place: number,
    { ban, key, past }: { ban: SeenBan; key: AddressKey; past: EntryState | undefined },
  ): JudgedMatch | null => {
    const { logic } = state
    if (past && past.until > ban.at) return null
    const proof = evidence(place, rule, logic, past)
    if (!proof) return null
    const entry = entryOf(ban.ip)
    const verdict = judge(state, entry)
    const before = past && past.matchedAt > ban.at - rememberedFor ? past.times : 0
    // What is refused is asked again only after the time that its ban would have taken.
    const times = verdict.outcome === 'banned' ? before + 1 : Math.max(1, before)
    const length = lengthOf(logic, times)
    const match = {
      ruleId: logic.id,
      entry,
      at: ban.at,
      banId: ban.id,
      times,
      until: length === null ? null : ban.at + length,
      ...proof,
      ...verdict,
    }
    note(state, key, match)
    return match
  }

  const add = (ban: SeenBan): number => {
    now = Math.max(now, ban.at)
    const rules = bitsOf(ban)
    if (rules.low === 0 && rules.high === 0) return -1
    return history.add({ id: ban.id, at: ban.at, serverNo: ban.serverNo, key: keyOfAddress(ban.ip), rules })
  }
  const byId = new Map(states.map(state => [state.logic.id, state]))
  /** Bans of an address and the servers that made them: most addresses have too few for any rule, so no rule is asked. */
  const heldBack = { bans: 0, servers: 0 }
  const countChain = (place: number): void => {
    let bans = 0
    let servers = 0
    for (let next = place; next >= 0 && bans < longestLook; next = history.before(next), bans++) {
      const server = history.server(next)
      let at = 0
      while (at < servers && scratch[at] !== server) at++
      if (at === servers) scratch[servers++] = server
    }
    heldBack.bans = bans
    heldBack.servers = servers
  }
  const fewestServers = Math.min(...logics.map(({ minServers }) => minServers))
  const fewestBans = Math.min(...logics.map(({ minBans }) => minBans))

  return {
    history,
    refreshFilters() {
      for (const filter of Object.values(filters)) filter.clear()
    },
    remember: ban => void add(ban),
    take(ban) {
      const place = add(ban)
      if (place < 0 || ban.isLate) return none
      // Two thirds of the bans are the only one of their address.
      if (fewestBans > 1 && history.before(place) < 0) return none
      countChain(place)
      if (heldBack.servers < fewestServers || heldBack.bans < fewestBans) return none
      const key = keyOfAddress(ban.ip)
      const matches: JudgedMatch[] = []
      for (let rule = 0; rule < states.length; rule++) {
        const state = states[rule]
        if (!state || heldBack.servers < state.logic.minServers || heldBack.bans < state.logic.minBans) continue
        if (state.isTripped || !history.meets(place, rule)) continue
        const match = matchOf(state, rule, place, { ban, key, past: entryState(state, key) })
        if (match) matches.push(match)
      }
      return matches
    },
    recall(match) {
      const state = byId.get(match.ruleId)
      const key = keyOfEntry(match.entry)
      if (state && key && match.outcome !== 'tripped') note(state, key, match)
    },
    isBanned(ruleId, ban) {
      const state = byId.get(ruleId)
      const past = state && entryState(state, keyOfAddress(ban.ip))
      return past !== undefined && past.matchedAt < ban.at && past.until > ban.at
    },
  }
}

/** Ten years: what is longer is permanent in all but name, and would leave the range of dates. */
const longestBan = 3653 * 86_400_000

/** The entry that is banned for an address. */
const entryOf = (ip: Uint8Array): string => {
  if (ip.length === 4) return ipText(ip, null)
  const network = Uint8Array.from(ip)
  network.fill(0, 8)
  return ipText(network, 64)
}
const keyOfEntry = (entry: string): AddressKey | null => {
  const range = parseRange(entry)
  return range && keyOfAddress(range.bytes)
}

/** Which of the rules take a value, asked once for each value: many bans share jail, country, network and server. */
const createFilter = (tests: readonly ((value: number) => boolean)[]) => {
  const bitsByRule = new Map<number, RuleBits>()
  const find = (value: number): RuleBits => {
    let low = 0
    let high = 0
    tests.forEach((isTaken, place) => {
      if (!isTaken(value)) return
      if (place < 32) low |= 1 << place
      else high |= 1 << (place - 32)
    })
    return { low, high }
  }
  return {
    bits(value: number): RuleBits {
      let bits = bitsByRule.get(value)
      if (bits === undefined) bitsByRule.set(value, (bits = find(value)))
      return bits
    },
    clear: () => bitsByRule.clear(),
  }
}
