import { maskOf } from '../ip.ts'
import type { Sequence } from './model.ts'

/**
 * The rules of port knocking as a script for nft. Everything is in one table of our own; other rules are not touched.
 * Loading the script again changes the rules but keeps the sets, and with them openings and blocks. Therefore the
 * definition of a set must not contain a parameter of its sequence.
 *
 * - On a protected TCP port only the SYN is judged. Everything else passes, so established connections survive, even if
 *   connection tracking never saw them start.
 * - The same UDP port is closed too (VPNs, QUIC). There connection tracking decides what belongs to a flow.
 * - An address is in at most one stage of a sequence. Its next knock advances it, sends it back or counts as wrong.
 */

export const tableName = 'stockade_knock'
/** The chain that all packets pass. */
export const entranceChain = 'pre'
/** The sets that the agent reads: addresses with a sequence, a kind and a counter. Elements outlive a restart of the agent. */
export const eventSets = ['done_4', 'done_6', 'told_4', 'told_6'] as const
export const doneSeconds = 86_400
export const toldSeconds = 60
const eventSetSize = 4096

const kinds = ['success', 'wrong', 'late', 'block', 'hit'] as const
export type Kind = (typeof kinds)[number]

/** Packs sequence and kind into the 32 bits of an element's mark. */
export const markOf = (sequence: number, kind: Kind): number => sequence * 8 + kinds.indexOf(kind)
export const ofMark = (mark: number): { sequence: number; kind: Kind } | null => {
  const kind = kinds[mark % 8]
  return kind === undefined ? null : { sequence: Math.floor(mark / 8), kind }
}

const families = [
  { f: '4', is: 'meta nfproto ipv4', from: 'ip saddr', type: 'ipv4_addr', bits: 32 },
  { f: '6', is: 'meta nfproto ipv6', from: 'ip6 saddr', type: 'ipv6_addr', bits: 128 },
] as const
type Family = (typeof families)[number]

/** Lets the addresses pass that are never locked out. */
const allowChain = 'allow'
const setSize = 65_536
/** How long the stage of an address outlives the time for the sequence, to distinguish a late knock from a wrong one. */
const lateMemory = 30
/** After a success, repeated knocks do not count as failures for this long. */
const graceSeconds = 30
/** An unanswered SYN is repeated after one and three seconds from the same port; the repetitions are one knock. */
const repeatSeconds = 4
const isSyn = 'tcp flags & (fin|syn|rst|ack) == syn'

export interface ScriptOptions {
  /** Whether a cut connection is reset (Linux 5.9 and newer) or only dropped. */
  readonly reset: boolean
  /** Deletes the table first; its members must be added again. */
  readonly fresh: boolean
  /** Names of the chains and sets that the table has now. */
  readonly present: readonly string[]
}

/** The whole table for these sequences, as one transaction. `allow` null: the allow list stays as it is. */
export const script = (
  sequences: readonly Sequence[],
  allow: readonly string[] | null,
  options: ScriptOptions,
): string => {
  const sorted = [...sequences].sort((a, b) => a.id - b.id)
  const ports = [...new Set(sorted.map(({ protectedPort }) => protectedPort))].sort((a, b) => a - b)
  const sets = [...families.flatMap(commonSets), ...sorted.flatMap(sequence => families.flatMap(setsOf(sequence)))]
  const chains = [
    ...sorted.flatMap(sequence => families.flatMap(family => knockChains(sequence, family))),
    ...ports.map(port => portChain(port, sorted, options.reset)),
  ]
  const ownNames = new Set([entranceChain, ...sets.map(({ name }) => name), ...chains.map(({ name }) => name)])
  const gone = options.fresh ? [] : options.present.filter(name => !ownNames.has(name) && !isOfAllowList(name))
  return [
    `add table inet ${tableName}`,
    ...(options.fresh ? [`delete table inet ${tableName}`, `add table inet ${tableName}`] : []),
    ...sets.map(({ name, shape }) => `add set inet ${tableName} ${name} { ${shape} }`),
    `add chain inet ${tableName} ${allowChain}`,
    ...(allow ? allowScript(allow) : []),
    `add chain inet ${tableName} ${entranceChain} { type filter hook prerouting priority -150; policy accept; }`,
    ...chains.map(({ name }) => `add chain inet ${tableName} ${name}`),
    `flush chain inet ${tableName} ${entranceChain}`,
    ...[...chains.map(({ name }) => name), ...gone.filter(isChain)].map(
      name => `flush chain inet ${tableName} ${name}`,
    ),
    ...preRules(sorted, ports).map(rule => `add rule inet ${tableName} ${entranceChain} ${rule}`),
    ...chains.flatMap(({ name, rules }) => rules.map(rule => `add rule inet ${tableName} ${name} ${rule}`)),
    ...gone.filter(isChain).map(name => `delete chain inet ${tableName} ${name}`),
    ...gone.filter(name => !isChain(name)).map(name => `delete set inet ${tableName} ${name}`),
    '',
  ].join('\n')
}

/** Names of the chains and sets that a script creates. */
export const namesIn = (text: string): string[] =>
  [...text.matchAll(new RegExp(`^add (?:set|chain) inet ${tableName} (\\S+)`, 'gm'))].map(([, name]) => name ?? '')

/**
 * Replaces the allow list by disjoint addresses and ranges, in one transaction, so that none is ever locked out. Each
 * prefix length is a hash set of its own, looked up by the masked address: nft reads all interval sets of a host before
 * any program changes any set, and so a long list in one would slow down every ban of fail2ban.
 */
export const allowScript = (entries: readonly string[]): string[] => {
  const byLength = new Map<string, { rule: string; type: string; addresses: string[] }>()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    const { f, from, type, bits } = entry.includes(':') ? families[1] : families[0]
    const length = Number(prefix ?? bits)
    const name = `allow${length}_${f}`
    const masked = length === bits ? from : `${from} and ${maskOf(bits, length)}`
    const set = byLength.get(name) ?? { rule: `${masked} @${name} accept`, type, addresses: [] }
    set.addresses.push(address)
    byLength.set(name, set)
  }
  const lines = [`add chain inet ${tableName} ${allowChain}`, `flush chain inet ${tableName} ${allowChain}`]
  for (const [name, { rule, type, addresses }] of byLength) {
    lines.push(`add set inet ${tableName} ${name} { type ${type}; }`, `flush set inet ${tableName} ${name}`)
    for (let at = 0; at < addresses.length; at += 1000)
      lines.push(`add element inet ${tableName} ${name} { ${addresses.slice(at, at + 1000).join(', ')} }`)
    lines.push(`add rule inet ${tableName} ${allowChain} ${rule}`)
  }
  return lines
}

export type ListName = 'open' | 'block' | 'kill'

/** Adds an address to a list of a sequence for this many milliseconds, or changes its time. */
export const putScript = (list: ListName, sequence: number, ip: string, ms: number): string[] => {
  const set = setName(list, sequence, ip)
  return [
    ...takeScript(list, sequence, ip),
    `add element inet ${tableName} ${set} { ${ip} timeout ${Math.max(1, Math.round(ms))}ms }`,
  ]
}

/** Removes an address from a list. It is added first, because deleting an absent element fails the transaction. */
export const takeScript = (list: ListName, sequence: number, ip: string): string[] => {
  const names = list === 'block' ? (['block', 'lim'] as const) : ([list] as const)
  return names.flatMap(name => {
    const element = `inet ${tableName} ${setName(name, sequence, ip)} { ${ip} }`
    return [`add element ${element}`, `delete element ${element}`]
  })
}

export const setName = (list: ListName | 'lim', sequence: number, ip: string): string =>
  `k${sequence}_${list}_${ip.includes(':') ? 6 : 4}`

/** These change with the allow list, not with the sequences. Tables of older agents have `allow_4` and `allow_6`. */
const isOfAllowList = (name: string): boolean => name === allowChain || /^allow\d+_[46]$/.test(name)

const isChain = (name: string): boolean => /^(c\d+_|p\d+$)/.test(name)

const commonSets = ({ f, type }: Family) => {
  const events = `type ${type} . mark; size ${eventSetSize}; flags dynamic,timeout; counter;`
  return [
    { name: `done_${f}`, shape: events },
    { name: `told_${f}`, shape: events },
    {
      name: `again_${f}`,
      shape: `type ${type} . inet_service . inet_service; size ${setSize}; flags dynamic,timeout;`,
    },
  ]
}

const setsOf =
  ({ id, knockPorts }: Sequence) =>
  ({ f, type }: Family) => {
    const stages = knockPorts.slice(1).map((_, i) => `s${i + 1}`)
    return [...stages, 't', 'ok', 'open', 'lim', 'block', 'kill'].map(name => ({
      name: `k${id}_${name}_${f}`,
      shape: `type ${type}; size ${setSize}; flags dynamic,timeout;`,
    }))
  }

const preRules = (sequences: readonly Sequence[], ports: readonly number[]): string[] => [
  'iifname "lo" accept',
  'fib daddr type != local accept',
  `jump ${allowChain}`,
  ...ports.map(port => `meta l4proto { tcp, udp } th dport ${port} jump p${port}`),
  ...sequences.flatMap(({ id, knockPorts, protocol }) => {
    const among = `{ ${[...new Set(knockPorts)].sort((a, b) => a - b).join(', ')} }`
    const begins = protocol === 'tcp' ? isSyn : 'ct state new'
    return families.map(({ f, is }) => `${is} ${protocol} dport ${among} ${begins} jump c${id}_${f}`)
  }),
]

/** Decides who may open a connection to a protected port, which sequences may share. */
const portChain = (port: number, sequences: readonly Sequence[], reset: boolean): { name: string; rules: string[] } => {
  const lists = (list: ListName): string[] =>
    sequences
      .filter(({ protectedPort }) => protectedPort === port)
      .flatMap(({ id }) => families.map(({ f, from }) => `${from} @k${id}_${list}_${f}`))
  return {
    name: `p${port}`,
    rules: [
      // Both ends of a cut connection should learn that it is over, so the peer's own resets pass.
      ...lists('kill').flatMap(cut => [
        `${cut} tcp flags & rst == rst accept`,
        ...(reset ? [`${cut} meta l4proto tcp reject with tcp reset`] : []),
        `${cut} drop`,
      ]),
      'tcp flags & (fin|syn|rst|ack) != syn accept',
      'meta l4proto udp ct state established,related accept',
      ...lists('open').map(open => `${open} accept`),
      'drop',
    ],
  }
}

/** Builders for the parts of a sequence's rules. */
const termsOf = ({ id, knockPorts, protocol }: Sequence, { f, from }: Family) => {
  const set = (name: string): string => `@k${id}_${name}_${f}`
  return {
    set,
    chain: (name: string): string => `c${id}_${name}${f}`,
    inSet: (name: string): string => `${from} ${set(name)}`,
    put: (name: string, seconds: number): string => `update ${set(name)} { ${from} timeout ${seconds}s }`,
    take: (name: string): string => `delete ${set(name)} { ${from} }`,
    knocks: (stage: number): string => `${protocol} dport ${knockPorts[stage - 1] ?? 0}`,
    /** The stages that an address can be in, the last one first. */
    stages: Array.from({ length: knockPorts.length - 1 }, (_, i) => knockPorts.length - 1 - i),
  }
}

/** The rules for a knock that continues the sequence. */
const advanceRules = (sequence: Sequence, family: Family): string[] => {
  const { chain, inSet, put, take, stages, knocks } = termsOf(sequence, family)
  const last = sequence.knockPorts.length
  const remembered = sequence.knockTimeout + lateMemory
  return stages.flatMap(stage => [
    stage === last - 1
      ? `${knocks(last)} ${inSet(`s${stage}`)} ${inSet('t')} goto ${chain('o')}`
      : `${knocks(stage + 1)} ${inSet(`s${stage}`)} ${inSet('t')} ${take(`s${stage}`)} ${put(`s${stage + 1}`, remembered)} drop`,
    `${knocks(stage + 1)} ${inSet(`s${stage}`)} goto ${chain('l')}`,
    // Some senders repeat a knock to make sure.
    ...(stage > 1 ? [`${knocks(stage)} ${inSet(`s${stage}`)} drop`] : []),
  ])
}

const knockChains = (sequence: Sequence, family: Family): { name: string; rules: string[] }[] => {
  const { id, protocol, timeout, knockTimeout, maxAttempts, blockDuration } = sequence
  const { f, from } = family
  const { set, chain, inSet, put, take, stages, knocks } = termsOf(sequence, family)
  const tell = (to: 'done' | 'told', kind: Kind): string =>
    `update @${to}_${f} { ${from} . ${markOf(id, kind)} timeout ${to === 'done' ? doneSeconds : toldSeconds}s }`
  const forget = [...stages.map(stage => `s${stage}`), 't'].map(take)
  const again = `${from} . tcp sport . tcp dport`

  return [
    {
      name: `c${id}_${f}`,
      rules: [
        ...(protocol === 'tcp'
          ? [`${again} @again_${f} drop`, `add @again_${f} { ${again} timeout ${repeatSeconds}s }`]
          : []),
        `${inSet('block')} goto ${chain('h')}`,
        ...advanceRules(sequence, family),
        `${knocks(1)} goto ${chain('s')}`,
        `${inSet('open')} drop`,
        `${inSet('ok')} drop`,
        `goto ${chain('w')}`,
      ],
    },
    // The first knock starts the sequence again.
    {
      name: chain('s'),
      rules: [
        ...stages.filter(s => s > 1).map(s => take(`s${s}`)),
        put('s1', knockTimeout + lateMemory),
        put('t', knockTimeout),
        'drop',
      ],
    },
    {
      name: chain('o'),
      rules: [...forget, take('kill'), put('open', timeout), put('ok', graceSeconds), tell('done', 'success'), 'drop'],
    },
    // If the event set is full, the rule ends but the chain continues: the failure counts, unreported.
    { name: chain('l'), rules: [...forget, tell('told', 'late'), `goto ${chain('x')}`] },
    { name: chain('w'), rules: [...forget, tell('told', 'wrong'), `goto ${chain('x')}`] },
    {
      name: chain('x'),
      rules: [
        maxAttempts === 1
          ? put('block', blockDuration)
          : `add ${set('lim')} { ${from} timeout ${blockDuration}s limit rate over 1/day burst ${maxAttempts - 1} packets } ${put('block', blockDuration)}`,
        `${inSet('block')} ${tell('told', 'block')}`,
        'drop',
      ],
    },
    { name: chain('h'), rules: [tell('told', 'hit'), 'drop'] },
  ]
}
