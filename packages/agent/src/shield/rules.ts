import { maskOf } from '../ip.ts'
import type { SetShape } from '../netlink/tables.ts'
import { bitsOf, setName } from './entry.ts'
import type { Family } from './entry.ts'

/* The shield's table: its sets, chains and rules. */

export const shieldTable = 'stockade_shield'
/** The chain of packets that a ban or a list matched; its last rule drops and counts them. */
export const hitChain = 'hit'

/** How many bans a set takes, and how many addresses that are never dropped. */
const maxBans = 131_072
const maxKept = 262_144

/** Prefix lengths in use, by family. Each one is a hash set and a rule. */
export type Lengths = Readonly<Record<Family, readonly number[]>>

/** `stateful` needs connection tracking, which a rule with `ct` switches on for the whole host. */
export type Mode = 'stateful' | 'stateless'

export interface Shape {
  readonly mode: Mode
  readonly bans: Lengths
  readonly kept: Lengths
  /** Of bans that also cut connections which were open before. */
  readonly cut: Lengths
  /** Blocklists, in the order in which packets meet them. */
  readonly lists?: readonly ListShape[]
}

/** A blocklist in the table. Its sets have one of two generations, so that a new version is loaded beside the old one. */
export interface ListShape {
  readonly id: number
  readonly content: string
  readonly mode: 'enforce' | 'observe'
  readonly generation: 'a' | 'b'
  readonly sets: readonly { readonly family: Family; readonly length: number; readonly size: number }[]
}

/** The chain that looks lists up. */
export const listsChain = 'lists'
/** The chain of a list; its first rule counts. */
export const listChain = (id: number): string => `list_${id}`

export interface Chain {
  readonly name: string
  /** The place in the prerouting hook; null: other chains jump here. */
  readonly priority: number | null
  readonly rules: readonly string[]
}

/** Lengths that the table always has, so that the most frequent bans need no new rule. */
export const usualLengths: Lengths = { 4: [24, 32], 6: [64, 128] }
export const singleLengths: Lengths = { 4: [32], 6: [128] }
export const noLengths: Lengths = { 4: [], 6: [] }

const families: readonly Family[] = [4, 6]
const isSyn = 'tcp flags & (fin|syn|rst|ack) == syn'

/**
 * What the link of the host needs from a banned address (docs/adr/0052). A router lowers the hop limit of what it forwards, so
 * a solicitation or advertisement that arrives with 255 comes from a neighbour. No rule holds a set: the netlink driver copies rules without
 * the anonymous sets that nft makes for `{ }`.
 */
const linkControl = [
  'icmpv6 type 135-136 ip6 hoplimit 255 return',
  'meta nfproto ipv4 udp sport 67 udp dport 68 return',
  'meta nfproto ipv6 udp sport 547 udp dport 546 return',
]

/**
 * A banned router reports the path MTU of connections that it only forwards. `ct direction reply` covers those that the host
 * opened. Only ICMP: an expected connection, as of FTP, is related too.
 */
const relatedErrors = ['meta l4proto icmp ct state related return', 'meta l4proto ipv6-icmp ct state related return']

export const addLengths = (lengths: Lengths, used: Iterable<{ family: Family; length: number }>): Lengths => {
  const lengthSets = { 4: new Set(lengths[4]), 6: new Set(lengths[6]) }
  for (const { family, length } of used) lengthSets[family].add(length)
  // The same order each time, so that equal shapes have equal texts.
  const sorted = (family: Family): number[] => [...lengthSets[family]].sort((a, b) => b - a)
  return { 4: sorted(4), 6: sorted(6) }
}

export const setsOf = ({ bans, kept, cut, lists = [] }: Shape): SetShape[] => [
  ...listSetsOf(lists),
  ...families.flatMap(family => [
    ...kept[family].map(length => ({
      name: setName('keep', family, length),
      family,
      hasTimeout: false,
      hasCounter: false,
      size: maxKept,
    })),
    ...bans[family].map(length => ({
      name: setName('ban', family, length),
      family,
      hasTimeout: true,
      hasCounter: true,
      size: maxBans,
    })),
    ...cut[family].map(length => ({
      name: setName('cut', family, length),
      family,
      hasTimeout: true,
      hasCounter: false,
      size: maxBans,
    })),
  ]),
]

export const listSetsOf = (lists: readonly ListShape[]): SetShape[] =>
  lists.flatMap(({ id, generation, sets }) =>
    sets.map(({ family, length, size }) => ({
      name: setName(`l${id}${generation}_`, family, length),
      family,
      hasTimeout: false,
      hasCounter: false,
      size,
    })),
  )

/** A list judges new connections only. The names of sets begin with the list's own. */
const listChainsOf = (lists: readonly ListShape[]): Chain[] =>
  lists.length === 0
    ? []
    : [
        ...lists.map(({ id, mode }) => ({
          name: listChain(id),
          priority: null,
          rules: [mode === 'enforce' ? 'counter goto hit' : 'counter return'],
        })),
        {
          name: listsChain,
          priority: null,
          rules: lists.flatMap(({ id, mode, generation, sets }) =>
            sets.map(
              ({ family, length }) =>
                `${maskedSource(family, length)} @${setName(`l${id}${generation}_`, family, length)} ${mode === 'enforce' ? 'goto' : 'jump'} ${listChain(id)}`,
            ),
          ),
        },
      ]

/**
 * `early` stands before connection tracking and judges each new TCP connection, so that a flood of them makes no entries
 * in the tracking table. `pre` stands after tracking and before address translation, so that it also covers published
 * ports of containers. What the rules let pass is returned and not accepted: the host's other rules keep their say.
 */
export const chainsOf = (shape: Shape): Chain[] => {
  // A ban judges new TCP connections only, since nothing here knows which side opened one. `cut` names those that judge every packet.
  const lists = shape.lists ?? []
  const hasLists = lists.length > 0
  const udp = 'udp dport 1-32767'
  const stateless = [
    ...(hasLists ? [`${udp} jump bans`, `${udp} goto lists`] : [`${udp} goto bans`]),
    ...lookUps('cut', shape.cut, 'goto bans'),
  ]
  const passed = [
    ...lookUps('keep', shape.kept, 'return'),
    ...linkControl,
    ...(shape.mode === 'stateful' ? relatedErrors : []),
  ]
  const chains: Chain[] = [
    // Here and not before the sets: packets that no ban matches pay nothing for it.
    { name: hitChain, priority: null, rules: [...passed, 'counter drop'] },
    { name: 'bans', priority: null, rules: lookUps('ban', shape.bans, 'goto hit') },
    ...listChainsOf(lists),
    {
      name: 'early',
      priority: -290,
      rules: [
        'iif lo return',
        `${isSyn} jump bans`,
        ...(hasLists ? [`${isSyn} goto lists`] : []),
        ...(shape.mode === 'stateless' ? stateless : []),
      ],
    },
  ]
  if (shape.mode === 'stateless') return chains
  const judged = hasLists ? ['jump bans', 'ct state new goto lists'] : ['goto bans']
  const rules = ['iif lo return', 'ct direction reply return', `${isSyn} return`, ...judged]
  return [...chains, { name: 'pre', priority: -150, rules }]
}

const lookUps = (kind: 'ban' | 'cut' | 'keep', lengths: Lengths, verdict: string): string[] =>
  families.flatMap(family =>
    lengths[family].map(length => `${maskedSource(family, length)} @${setName(kind, family, length)} ${verdict}`),
  )

const maskedSource = (family: Family, length: number): string => {
  const source = family === 4 ? 'ip saddr' : 'ip6 saddr'
  return length === bitsOf(family) ? source : `${source} and ${maskOf(bitsOf(family), length)}`
}

/** A new table for nft. Without hooks it can be loaded without any effect on packets. */
export const tableText = (shape: Shape, table: string, hasHooks: boolean): string => {
  const sets = setsOf(shape).map(setText)
  const chains = chainsOf(shape).map(({ name, priority, rules }) => {
    const hook =
      priority === null || !hasHooks ? [] : [`type filter hook prerouting priority ${priority}; policy accept;`]
    return `  chain ${name} {\n${[...hook, ...rules].map(line => `    ${line}\n`).join('')}  }\n`
  })
  return `table inet ${table} {\n${[...sets, ...chains].join('')}}\n`
}

/** The new sets and rules for nft, for a table that has another shape. */
export const reshapeText = (shape: Shape, table: string): string => {
  const lines = setsOf(shape).map(set => addSetLine(set, table))
  for (const { name, priority } of chainsOf(shape))
    lines.push(
      `add chain inet ${table} ${name}${priority === null ? '' : ` { type filter hook prerouting priority ${priority}; policy accept; }`}`,
      `flush chain inet ${table} ${name}`,
    )
  for (const { name, rules } of chainsOf(shape))
    for (const rule of rules) lines.push(`add rule inet ${table} ${name} ${rule}`)
  return `${lines.join('\n')}\n`
}

export const addSetLine = (set: SetShape, table: string): string =>
  `add set inet ${table} ${set.name} { ${setFields(set)} }`

const setText = (set: SetShape): string => `  set ${set.name} { ${setFields(set)} }\n`

const setFields = ({ family, hasTimeout, hasCounter, size }: SetShape): string =>
  `type ipv${family}_addr; size ${size};${hasTimeout ? ' flags timeout;' : ''}${hasCounter ? ' counter;' : ''}`
