import { readText } from '../../files.ts'
import { runProgram } from '../../process.ts'
import type { Ran } from '../../process.ts'
import type { Closed } from './closed.ts'
import { notAmong } from './cover.ts'
import { escape, placeOfNftBans, placeOfNftSet, placeOfSet, readChain } from './front.ts'
import type { Place, Traffic } from './front.ts'
import type { Firewall, JailFirewall } from './kinds.ts'
import type { NftListings } from './nft-listings.ts'

/** What the rules of a firewall say about the packets of some addresses. `why` says what is missing, as the end of a sentence. */
export type Held =
  /** Its rule names them all. `place`: where it stands; null where the agent cannot tell. */
  | { readonly state: 'yes'; readonly place: Place | null }
  | { readonly state: 'no'; readonly why: string; readonly absent: readonly string[] }
  | { readonly state: 'unknown' | 'partly'; readonly why: string }

export type Run = (command: readonly string[]) => Promise<Ran>

const unknown = (why: string): Held => ({ state: 'unknown', why })

const timeout = 20_000
/** iptables is another program after a change of Debian's alternatives. */
const dialectKept = 3_600_000

/**
 * Programs run once for all questions of one look. What iptables lists is kept longer where its rules are those of nftables, whose changes
 * the kernel counts.
 */
export const createRuns = (needs: {
  nft: NftListings
  generation: () => number | null
  steadyNow: () => number
}): (() => Run) => {
  let keptOf: number | null = null
  let runByCommand = new Map<string, Promise<Ran>>()
  const dialects = new Map<string, { readonly at: number; readonly isNft: Promise<boolean> }>()

  const isByNft = (program: string): Promise<boolean> => {
    const knownDialect = dialects.get(program)
    if (knownDialect && needs.steadyNow() - knownDialect.at < dialectKept) return knownDialect.isNft
    const isNft = runProgram([program, '-V'], { timeout }).then(({ stdout }) => stdout.includes('nf_tables'))
    dialects.set(program, { at: needs.steadyNow(), isNft })
    return isNft
  }

  const listed = async (command: readonly string[]): Promise<Ran> => {
    const generation = needs.generation()
    if (generation === null || !(await isByNft(command[0] ?? ''))) return runProgram(command, { timeout })
    if (generation !== keptOf) runByCommand = new Map()
    keptOf = generation
    const key = command.join('\0')
    const ran = runByCommand.get(key) ?? runProgram(command, { timeout })
    runByCommand.set(key, ran)
    if ((await ran).code !== 0) runByCommand.delete(key)
    return ran
  }

  return () => {
    const results = new Map<string, Promise<Ran>>()
    const start = (command: readonly string[]): Promise<Ran> => {
      const [program = '', ...rest] = command
      if (program === 'nft') return needs.nft(rest)
      return /ip6?tables/.test(program) ? listed(command) : runProgram(command, { timeout })
    }
    return command => {
      const key = command.join('\0')
      const ran = results.get(key) ?? start(command)
      results.set(key, ran)
      return ran
    }
  }
}

/** Reads the kernel's rules: do they name the addresses, and where do they stand? They are of one family. */
export const holds = async (run: Run, { firewall, closed }: JailFirewall, ips: readonly string[]): Promise<Held> => {
  switch (firewall.kind) {
    case 'nftables':
      return nftablesHolds(run, firewall, trafficOf(closed, ips))
    case 'iptables':
      return iptablesHolds(run, firewall, trafficOf(closed, ips))
    case 'ipset':
      return ipsetHolds(run, firewall, trafficOf(closed, ips))
    case 'route':
      return routeHolds(run, firewall.program, ips)
    case 'rich-rules':
      return richRulesHold(run, trafficOf(closed, ips))
    case 'idle':
      return { state: 'no', why: `action ${firewall.name} does nothing for a ban`, absent: ips }
    case 'hosts.deny':
      return { state: 'partly', why: 'hosts.deny, which only programs with libwrap obey' }
    case 'unread':
      return unknown(`${firewall.name}, whose rules the agent cannot read`)
  }
}

const trafficOf = ({ ports }: Closed, ips: readonly string[]): Traffic => ({
  ips,
  ports,
  services: readText('/etc/services') ?? '',
})

const nftablesHolds = async (
  run: Run,
  { program, family, table, set }: Extract<Firewall, { kind: 'nftables' }>,
  traffic: Traffic,
): Promise<Held> => {
  const failure = (ran: Ran): Held => unknown(`nft, which fails: ${firstLine(ran)}`)
  const no = (why: string, absent = traffic.ips): Held => ({ state: 'no', why, absent })
  const where = `nftables table ${family} ${table}`
  const rules = await run([...program, '-t', 'list', 'table', family, table])
  if (rules.code !== 0) return isAbsent(rules) ? no(`${where} is gone`) : failure(rules)
  if (/^\s*flags [^\n]*dormant/m.test(rules.stdout)) return no(`${where} is dormant`)
  if (!new RegExp(`@${escape(set)}(?![\\w-])`).test(rules.stdout)) return no(`no rule of ${where} uses set ${set}`)
  const place = placeOfNftSet(rules.stdout, set, traffic)
  if (place === null) return no(`no packet comes to a rule of ${where} that stops what is in set ${set}`)
  const listed = await run([...program, 'list', 'set', family, table, set])
  if (listed.code !== 0) return isAbsent(listed) ? no(`set ${set} of ${where} is gone`) : failure(listed)
  const absent = notAmong(listed.stdout, traffic.ips)
  return absent.length === 0 ? { state: 'yes', place } : no(`it is not in set ${set} of ${where}`, absent)
}

const iptablesHolds = async (
  run: Run,
  { program, chain }: Extract<Firewall, { kind: 'iptables' }>,
  traffic: Traffic,
): Promise<Held> => {
  const no = (why: string, absent = traffic.ips): Held => ({ state: 'no', why, absent })
  const name = program[0] ?? ''
  const all = await run([...program, '-S'])
  if (all.code !== 0) return unknown(`${name}, whose rules cannot be read: ${firstLine(all)}`)
  const listed = readChain(all.stdout, chain, traffic)
  if (listed === null) return no(`chain ${chain} of ${name} is gone`)
  const absent = listed.absent(traffic.ips)
  if (absent.length > 0) return no(`it is not in chain ${chain} of ${name}`, absent)
  if (listed.effect === 'unclear') return unknown(`chain ${chain} of ${name}, which only marks packets`)
  return listed.place === null
    ? no(`no rule of ${name} leads to chain ${chain}`)
    : { state: 'yes', place: listed.place }
}

const ipsetHolds = async (
  run: Run,
  { program, set, iptables }: Extract<Firewall, { kind: 'ipset' }>,
  traffic: Traffic,
): Promise<Held> => {
  const { ips } = traffic
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
  const place = placeOfSet(rules.stdout, set, traffic)
  if (place !== null) return { state: 'yes', place }
  // Another firewall may use the set: firewalld, shorewall.
  return iptables === null ? unknown(`ipset, and no ${name} rule uses it`) : no(`no ${name} rule uses ipset ${set}`)
}

/** firewalld keeps its zones in a table of nftables, unless it uses iptables for all of its rules. */
const richRulesHold = async (run: Run, traffic: Traffic): Promise<Held> => {
  const table = await run(['nft', '-t', 'list', 'table', 'inet', 'firewalld'])
  if (table.code !== 0) return unknown('firewall-cmd, whose rules the agent cannot read')
  const absent = notAmong(table.stdout, traffic.ips)
  if (absent.length > 0) return { state: 'no', why: 'no rule of firewalld names it', absent }
  return { state: 'yes', place: placeOfNftBans(table.stdout, traffic) }
}

const routeHolds = async (run: Run, program: readonly string[], ips: readonly string[]): Promise<Held> => {
  const isIPv6 = ips.some(ip => ip.includes(':'))
  const routes = await run([...program, isIPv6 ? '-6' : '-4', 'route', 'show', 'table', 'all'])
  if (routes.code !== 0) return unknown(`ip route, which fails: ${firstLine(routes)}`)
  const blocked = routes.stdout.split('\n').filter(line => /^(?:unreachable|blackhole|prohibit) /.test(line))
  const absent = notAmong(blocked.join('\n'), ips)
  return absent.length === 0
    ? { state: 'yes', place: { isInput: true, isForward: true, front: [] } }
    : { state: 'no', why: 'it has no route that blocks it', absent }
}

const isAbsent = ({ stderr }: Ran): boolean => /No such file or directory/.test(stderr)
const firstLine = ({ stderr }: Ran): string => stderr.trim().split('\n')[0] ?? ''
