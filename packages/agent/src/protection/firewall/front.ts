import { mayMeet, notAmong } from './cover.ts'
import { haveCommon, rangesOf } from './ports.ts'
import type { PortRange } from './ports.ts'

/* What packets meet before the rule of a ban. Only rules that surely have nothing to do with them are left out. */

/** A rule that may let a banned address in before its ban is looked at. */
export interface Passage {
  readonly rule: string
  /** The network card that it is limited to, which a test packet does not come by; null: any. */
  readonly device: string | null
  /** Whether it surely lets these packets in: it accepts them and looks at nothing that the agent cannot judge. */
  readonly isSure: boolean
}

/** The packets of a jail's bans. */
export interface Traffic {
  readonly ips: readonly string[]
  /** Null: all. */
  readonly ports: readonly PortRange[] | null
  readonly services: string
}

const maxDepth = 5

/** Where the rule of a ban stands. */
export interface Place {
  /** Whether packets for this server itself come there, and those that it forwards. */
  readonly isInput: boolean
  readonly isForward: boolean
  readonly front: readonly Passage[]
}

type Rules = ReadonlyMap<string, readonly string[]>

/** The way to one rule: what stands before it in each chain. */
interface Route {
  readonly base: string
  readonly front: readonly Passage[]
}

interface Dialect {
  readonly chains: Rules
  /** The chains that the kernel enters by itself. */
  readonly bases: ReadonlySet<string>
  readonly targetOf: (rule: string) => string | null
  /** What the rule does with a packet that it meets. */
  readonly verdictOf: (rule: string) => 'accept' | 'return' | 'none'
  /** Whether it may drop or reject a packet. */
  readonly stops: (rule: string) => boolean
  /** Null: it surely has nothing to do with such packets. `isSure` of a jump: every one of them takes it. */
  readonly passageOf: (rule: string, traffic: Traffic) => Passage | null
}

/** Whether a packet that enters this chain may be accepted there. */
const mayAccept = (dialect: Dialect, chain: string, traffic: Traffic, depth = 0): boolean =>
  (dialect.chains.get(chain) ?? []).some(rule => {
    if (dialect.passageOf(rule, traffic) === null) return false
    const target = dialect.targetOf(rule)
    if (dialect.verdictOf(rule) === 'accept') return true
    return target !== null && depth < maxDepth && mayAccept(dialect, target, traffic, depth + 1)
  })

/** What surely becomes of a new packet that enters this chain; null: the agent cannot tell, or it leaves the chain again. */
const fateIn = (dialect: Dialect, chain: string, traffic: Traffic, depth = 0): 'accept' | 'other' | null => {
  for (const rule of dialect.chains.get(chain) ?? []) {
    const passage = dialect.passageOf(rule, traffic)
    if (passage === null) continue
    if (dialect.verdictOf(rule) === 'return') return null
    const fate = fateBy(dialect, rule, traffic, depth)
    // One that is not met by every packet decides nothing when it accepts.
    if (fate === 'other' || (fate === 'accept' && passage.isSure && passage.device === null)) return fate
  }
  return null
}

/** What a rule does with a packet that it meets. */
const fateBy = (dialect: Dialect, rule: string, traffic: Traffic, depth: number): ReturnType<typeof fateIn> => {
  const target = dialect.targetOf(rule)
  if (target !== null) return depth < maxDepth ? fateIn(dialect, target, traffic, depth + 1) : 'other'
  if (dialect.stops(rule)) return 'other'
  return dialect.verdictOf(rule) === 'accept' ? 'accept' : null
}

const frontIn = (dialect: Dialect, rules: readonly string[], traffic: Traffic): Passage[] =>
  rules.flatMap(rule => {
    const passage = dialect.passageOf(rule, traffic)
    if (passage === null) return []
    const target = dialect.targetOf(rule)
    const passes = dialect.verdictOf(rule) !== 'none' || (target !== null && mayAccept(dialect, target, traffic))
    const isSure = passage.isSure && (target === null || fateIn(dialect, target, traffic) === 'accept')
    return passes ? [{ ...passage, isSure }] : []
  })

/** Each way from a base chain to the first rule of a chain that `isMeant`. */
const routesTo = (dialect: Dialect, isMeant: (chain: string, rule: string) => boolean, traffic: Traffic): Route[] => {
  const routes: Route[] = []
  const visit = (base: string, chain: string, before: readonly Passage[], path: readonly string[]): void => {
    if (path.length > maxDepth || path.includes(chain)) return
    const rules = dialect.chains.get(chain) ?? []
    for (const [index, rule] of rules.entries()) {
      const here = (): Passage[] => [...before, ...frontIn(dialect, rules.slice(0, index), traffic)]
      if (isMeant(chain, rule)) {
        routes.push({ base, front: here() })
        return
      }
      const target = dialect.targetOf(rule)
      if (target !== null && dialect.chains.has(target)) visit(base, target, here(), [...path, chain])
    }
  }
  for (const base of dialect.bases) visit(base, base, [], [])
  return routes
}

/** Null: no packet comes to such a rule. */
const placeOf = (routes: readonly Route[], hookOf: (base: string) => string): Place | null => {
  if (routes.length === 0) return null
  const of = (pattern: RegExp): Route[] => routes.filter(({ base }) => pattern.test(hookOf(base)))
  const [input, forward] = [of(/^(?:input|prerouting|ingress)$/i), of(/^(?:forward|prerouting|ingress)$/i)]
  // One clear way is enough.
  const [best] = (input.length > 0 ? input : routes).toSorted((a, b) => a.front.length - b.front.length)
  return { isInput: input.length > 0, isForward: forward.length > 0, front: best?.front ?? [] }
}

/* iptables -S */

const optionOf = (rule: string, names: string): { value: string; isNot: boolean } | null => {
  const match = new RegExp(`(?:^|\\s)(! )?(?:${names})[ =](\\S+)`).exec(rule)
  return match ? { value: match[2] ?? '', isNot: match[1] !== undefined } : null
}

/** Whether such a rule surely has nothing to do with these packets. */
type Excludes = (rule: string, traffic: Traffic) => boolean

const ofIptables: readonly Excludes[] = [
  rule => isOption(rule, '-i|--in-interface', value => value === 'lo'),
  rule => isOption(rule, '--ctstate|--state', value => !/\bNEW\b/.test(value)),
  rule => isOption(rule, '-p|--protocol', value => !/^(?:tcp|6|all|0)$/.test(value)),
  (rule, { ips }) => isOption(rule, '-s|--source', value => !mayMeet(value, ips)),
  (rule, { ports, services }) =>
    isOption(rule, '--dports?|--destination-ports?', value => !haveCommon(rangesOf(value, services), ports)),
]
const isOption = (rule: string, names: string, is: (value: string) => boolean): boolean => {
  const option = optionOf(rule, names)
  return option !== null && !option.isNot && is(option.value)
}

const iptablesPassage = (rule: string, traffic: Traffic): Passage | null => {
  if (ofIptables.some(excludes => excludes(rule, traffic))) return null
  const device = optionOf(rule, '-i|--in-interface')
  const others = rule
    .replace(/ --comment (?:"[^"]*"|\S+)/, '')
    .replace(/ (?:-m (?:tcp|multiport|conntrack|state|comment)|-[ipsj] \S+|--(?:dports?|ctstate|state) \S+)/g, '')
  const isSure = /^-A \S+$/.test(others.trim().replace(/ -g \S+$/, '')) && !/ -j (?:RETURN|LOG)$/.test(rule)
  return { rule: rule.replace(/^-A /, ''), device: device && !device.isNot ? device.value : null, isSure }
}

const iptablesDialect = (listing: string): Dialect => {
  const chains = new Map<string, string[]>()
  const bases = new Set<string>()
  for (const line of listing.split('\n')) {
    const [kind, chain = ''] = line.split(' ', 2)
    if (kind === '-P') bases.add(chain)
    if (kind === '-P' || kind === '-N') chains.set(chain, [])
    if (kind === '-A') chains.get(chain)?.push(line)
  }
  const target = (rule: string): string => /\s(?:-j|-g) (\S+)/.exec(rule)?.[1] ?? ''
  return {
    chains,
    bases,
    targetOf: rule => (chains.has(target(rule)) ? target(rule) : null),
    verdictOf: rule => (target(rule) === 'ACCEPT' ? 'accept' : target(rule) === 'RETURN' ? 'return' : 'none'),
    stops: rule => /^(?:DROP|REJECT)$/.test(target(rule)),
    passageOf: iptablesPassage,
  }
}

/** What `iptables -S` says of a chain of bans. */
export interface ListedChain {
  /** The addresses that no rule of the chain stops. */
  readonly absent: (ips: readonly string[]) => readonly string[]
  /** `unclear`: its rules only mark packets. */
  readonly effect: 'stops' | 'unclear'
  readonly place: Place | null
}

const withoutFullPrefix = (rules: string): string => rules.replace(/\/(?:32|128)(?!\d)/g, '')

/** Null: the chain is not there. */
export const readChain = (listing: string, chain: string, traffic: Traffic): ListedChain | null => {
  const dialect = iptablesDialect(listing)
  const rules = dialect.chains.get(chain)
  if (!rules) return null
  const bans = new Set(rules.filter(rule => /\s-[jg] /.test(rule) && !/ -j (?:ACCEPT|RETURN|LOG|NFLOG)\b/.test(rule)))
  const isBan = (rule: string): boolean =>
    bans.has(rule) && notAmong(withoutFullPrefix(rule), traffic.ips).length < traffic.ips.length
  const isMark = (rule: string): boolean => / -j (?:MARK|CONNMARK|SET|CLASSIFY|DSCP|TTL|HL)\b/.test(rule)
  const isMarking = rules.some(isMark) && rules.filter(isBan).every(isMark)
  return {
    absent: ips => notAmong(withoutFullPrefix([...bans].join('\n')), ips),
    effect: isMarking ? 'unclear' : 'stops',
    place: placeOf(
      routesTo(dialect, (at, rule) => at === chain && isBan(rule), traffic),
      base => base,
    ),
  }
}

/** Where the rule stands that uses an ipset; null: no packet comes to one. */
export const placeOfSet = (listing: string, set: string, traffic: Traffic): Place | null => {
  const use = new RegExp(`--match-set ${escape(set)} `)
  const stops = (rule: string): boolean => use.test(rule) && !/ -j (?:ACCEPT|RETURN)\b/.test(rule)
  return placeOf(
    routesTo(iptablesDialect(listing), (_, rule) => stops(rule), traffic),
    base => base,
  )
}

/* nft list table */

const ofNft: readonly Excludes[] = [
  rule => isMatch(rule, deviceOfNft, value => value === 'lo'),
  rule => isMatch(rule, /\bct state (!= )?(\{[^}]*\}|\S+)/, value => !/\b(?:new|untracked)\b/.test(value)),
  rule => otherProtocol.test(rule),
  (rule, { ips }) =>
    isMatch(
      rule,
      /\bip6? saddr (!= )?(\{[^}]*\}|[^@\s]\S*)/,
      value => !wordsIn(value).some(range => mayMeet(range, ips)),
    ),
  (rule, { ports, services }) =>
    isMatch(
      rule,
      /\bdport (!= )?(\{[^}]*\}|[^@\s]\S*)/,
      value => !haveCommon(rangesOf(wordsIn(value).join(' '), services), ports),
    ),
]
const deviceOfNft = /\biif(?:name)? (!= )?"?([^"\s]+)"?/
/** The pattern's first group is a negation, its second one the value. */
const isMatch = (rule: string, pattern: RegExp, is: (value: string) => boolean): boolean => {
  const match = pattern.exec(rule)
  return match !== null && !match[1] && is(match[2] ?? '')
}

const nftPassage = (rule: string, traffic: Traffic): Passage | null => {
  if (ofNft.some(excludes => excludes(rule, traffic))) return null
  const device = deviceOfNft.exec(rule)
  const others = rule
    .replace(/ comment "[^"]*"/, '')
    .replace(/\b(?:iif(?:name)? "?[^"\s]+"?|(?:ct state|tcp dport) (?:\{[^}]*\}|\S+)|ip6? saddr [0-9a-f.:/]+)/g, '')
    .replace(/\bcounter(?: packets \d+ bytes \d+)?/, '')
  return {
    rule,
    device: device && !device[1] ? (device[2] ?? null) : null,
    isSure: /^(?:accept|(?:jump|goto) \S+)$/.test(others.trim()),
  }
}
const wordsIn = (list = ''): string[] => list.split(/[{},\s]+/).filter(Boolean)
const otherProtocol =
  /\b(?:udp|icmp|icmpv6|sctp) |(?:ip protocol|l4proto|nexthdr) (?:udp|icmp|icmpv6|ipv6-icmp|esp|ah|igmp)\b/

const nftDialect = (table: string): { dialect: Dialect; hooks: ReadonlyMap<string, string> } => {
  const chains = new Map<string, string[]>()
  const hooks = new Map<string, string>()
  for (const [, name = '', body = ''] of table.matchAll(/^\tchain (\S+) \{\n([^]*?)^\t\}/gm)) {
    const lines = body
      .split('\n')
      .map(line => line.trim())
      .filter(Boolean)
    const hook = /^type \S+ hook (\w+)/.exec(lines.find(line => line.startsWith('type ')) ?? '')?.[1]
    if (hook !== undefined) hooks.set(name, hook)
    chains.set(
      name,
      lines.filter(line => !/^(?:type \S+ hook|policy |comment )/.test(line)),
    )
  }
  const target = (rule: string): string => /\b(?:jump|goto) (\S+)/.exec(rule)?.[1] ?? ''
  return {
    hooks,
    dialect: {
      chains,
      bases: new Set(hooks.keys()),
      targetOf: rule => (chains.has(target(rule)) ? target(rule) : null),
      verdictOf: rule => (/\baccept\b/.test(rule) ? 'accept' : /\breturn\b/.test(rule) ? 'return' : 'none'),
      stops: rule => /\b(?:drop|reject)\b/.test(rule),
      passageOf: nftPassage,
    },
  }
}

/** Where the first rule stands that stops one of these addresses, which rules of a table of nftables name; null: no packet comes to one. */
export const placeOfNftBans = (table: string, traffic: Traffic): Place | null => {
  const { dialect, hooks } = nftDialect(table)
  const bans = new Set(
    [...dialect.chains.values()]
      .flat()
      .filter(rule => dialect.stops(rule) && notAmong(rule, traffic.ips).length < traffic.ips.length),
  )
  return placeOf(
    routesTo(dialect, (_, rule) => bans.has(rule), traffic),
    base => hooks.get(base) ?? '',
  )
}

/** Where the rule stands that uses a set of a table of nftables; null: no packet comes to one. */
export const placeOfNftSet = (table: string, set: string, traffic: Traffic): Place | null => {
  const { dialect, hooks } = nftDialect(table)
  const use = new RegExp(`@${escape(set)}(?![\\w-])`)
  const stops = (rule: string): boolean => use.test(rule) && !/\b(?:accept|return)\b/.test(rule)
  return placeOf(
    routesTo(dialect, (_, rule) => stops(rule), traffic),
    base => hooks.get(base) ?? '',
  )
}

export const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
