import { runProgram } from '../../process.ts'
import type { Ran } from '../../process.ts'
import type { Firewall } from './kinds.ts'
import type { NftListings } from './nft-listings.ts'

/** Whether a firewall drops what comes from some addresses. `why` says what is missing, as the end of a sentence. */
export type Held =
  | { readonly state: 'yes' }
  | { readonly state: 'no'; readonly why: string; readonly absent: readonly string[] }
  | { readonly state: 'unknown' | 'partly'; readonly why: string }

type Run = (command: readonly string[]) => Promise<Ran>

const unknown = (why: string): Held => ({ state: 'unknown', why })

const timeout = 20_000

/** Programs run once for all questions of one look. */
export const createRun = (nft: NftListings): Run => {
  const results = new Map<string, Promise<Ran>>()
  return command => {
    const [program = '', ...rest] = command
    const key = command.join('\0')
    const known = results.get(key) ?? (program === 'nft' ? nft(rest) : runProgram(command, { timeout }))
    results.set(key, known)
    return known
  }
}

/** Reads the kernel's rules: does this firewall hold the addresses now? They are of one family. */
export const holds = async (run: Run, firewall: Firewall, ips: readonly string[]): Promise<Held> => {
  switch (firewall.kind) {
    case 'nftables':
      return nftablesHolds(run, firewall, ips)
    case 'iptables':
      return iptablesHolds(run, firewall, ips)
    case 'ipset':
      return ipsetHolds(run, firewall, ips)
    case 'route':
      return routeHolds(run, firewall.program, ips)
    case 'hosts.deny':
      return { state: 'partly', why: 'hosts.deny, which only programs with libwrap obey' }
    case 'unread':
      return unknown(`${firewall.name}, whose rules the agent cannot read`)
  }
}

const nftablesHolds = async (
  run: Run,
  { program, family, table, set }: Extract<Firewall, { kind: 'nftables' }>,
  ips: readonly string[],
): Promise<Held> => {
  const failure = (ran: Ran): Held => unknown(`nft, which fails: ${firstLine(ran)}`)
  const no = (why: string, absent = ips): Held => ({ state: 'no', why, absent })
  const place = `nftables table ${family} ${table}`
  const rules = await run([...program, '-t', 'list', 'table', family, table])
  if (rules.code !== 0) return isAbsent(rules) ? no(`${place} is gone`) : failure(rules)
  if (/^\s*flags [^\n]*dormant/m.test(rules.stdout)) return no(`${place} is dormant`)
  if (!new RegExp(`@${escape(set)}(?![\\w-])`).test(rules.stdout)) return no(`no rule of ${place} uses set ${set}`)
  const listed = await run([...program, 'list', 'set', family, table, set])
  if (listed.code !== 0) return isAbsent(listed) ? no(`set ${set} of ${place} is gone`) : failure(listed)
  const absent = notAmong(listed.stdout, ips)
  const [first] = absent
  if (first === undefined) return { state: 'yes' }
  // The listing may show it as a part of a range.
  const element = await run([...program, 'get', 'element', family, table, set, `{ ${first} }`])
  if (element.code === 0) return { state: 'yes' }
  return isAbsent(element) ? no(`it is not in set ${set} of ${place}`, absent) : failure(element)
}

const iptablesHolds = async (
  run: Run,
  { program, chain }: Extract<Firewall, { kind: 'iptables' }>,
  ips: readonly string[],
): Promise<Held> => {
  const no = (why: string, absent = ips): Held => ({ state: 'no', why, absent })
  const name = program[0] ?? ''
  const all = await run([...program, '-S'])
  if (all.code !== 0) return unknown(`${name}, whose rules cannot be read: ${firstLine(all)}`)
  if (!all.stdout.includes(`-N ${chain}\n`)) return no(`chain ${chain} of ${name} is gone`)
  const inChain = all.stdout.split('\n').filter(line => line.startsWith(`-A ${chain} `))
  const absent = notAmong(inChain.join('\n').replace(/\/(?:32|128)(?!\d)/g, ''), ips)
  if (absent.length > 0) return no(`it is not in chain ${chain} of ${name}`, absent)
  return new RegExp(`-[jg] ${escape(chain)}(?![\\w-])`).test(all.stdout)
    ? { state: 'yes' }
    : no(`no rule of ${name} leads to chain ${chain}`)
}

const ipsetHolds = async (
  run: Run,
  { program, set, iptables }: Extract<Firewall, { kind: 'ipset' }>,
  ips: readonly string[],
): Promise<Held> => {
  const no = (why: string, absent = ips): Held => ({ state: 'no', why, absent })
  const listed = await run([...program, 'list', set, '-o', 'save'])
  if (listed.code !== 0)
    return /does not exist/i.test(listed.stderr)
      ? no(`ipset ${set} is gone`)
      : unknown(`ipset, which fails: ${firstLine(listed)}`)
  const absent = notAmong(listed.stdout, ips)
  if (absent.length > 0) return no(`it is not in ipset ${set}`, absent)
  const ruleProgram = iptables ?? [ips.some(ip => ip.includes(':')) ? 'ip6tables' : 'iptables', '-w']
  const name = ruleProgram[0] ?? ''
  const rules = await run([...ruleProgram, '-S'])
  if (rules.code !== 0) return unknown(`ipset, whose ${name} rule cannot be read`)
  if (rules.stdout.includes(`--match-set ${set} `)) return { state: 'yes' }
  // Another firewall may use the set: firewalld, shorewall.
  return iptables === null ? unknown(`ipset, and no ${name} rule uses it`) : no(`no ${name} rule uses ipset ${set}`)
}

const routeHolds = async (run: Run, program: readonly string[], ips: readonly string[]): Promise<Held> => {
  const isIPv6 = ips.some(ip => ip.includes(':'))
  const routes = await run([...program, isIPv6 ? '-6' : '-4', 'route', 'show', 'table', 'all'])
  if (routes.code !== 0) return unknown(`ip route, which fails: ${firstLine(routes)}`)
  const blocked = routes.stdout.split('\n').filter(line => /^(?:unreachable|blackhole|prohibit) /.test(line))
  const absent = notAmong(blocked.join('\n'), ips)
  return absent.length === 0 ? { state: 'yes' } : { state: 'no', why: 'it has no route that blocks it', absent }
}

/** The addresses and ranges that are missing from a listing as separate words. */
const notAmong = (listing: string, ips: readonly string[]): string[] => {
  const found = new Set(listing.match(/[0-9a-f.:]+(?:\/\d+)?/gi) ?? [])
  return ips.filter(ip => !found.has(ip))
}

const isAbsent = ({ stderr }: Ran): boolean => /No such file or directory/.test(stderr)
const firstLine = ({ stderr }: Ran): string => stderr.trim().split('\n')[0] ?? ''
const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
