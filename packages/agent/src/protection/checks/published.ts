import { readText } from '../../files.ts'
import { runProgram } from '../../process.ts'
import type { NftListings } from '../firewall/nft-listings.ts'
import { unknown, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

const maxNamed = 10
const timeout = 20_000
/** The code of a program that is not there: then nothing is forwarded by it. */
const missing = 127

/**
 * Ports that are translated to containers or other hosts. Their packets are forwarded, so a jail whose rule is in the
 * input chain does not stop them.
 */
export const publishedCheck = (needs: { nft: NftListings }): Check => ({
  id: 'published',
  every: 30_000,
  badAfter: 0,
  looks: 1,
  needsEngine: false,
  async look() {
    const ports = new Map<string, string>()
    let forwarded = ''
    const unread: Finding[] = []
    const { rules: all, failure } = await allRules(needs.nft)
    if (failure !== null)
      unread.push(unknown('nft', `the agent cannot read whether nftables forwards ports: ${firstLine(failure)}`))
    for (const rules of all) {
      for (const [port, target] of translations(rules)) ports.set(port, target)
      forwarded += jailSetsIn(rules)
    }
    for (const { program, tables } of legacyPrograms) {
      if (!/^nat$/m.test(readText(tables) ?? '')) continue
      const rules = await runProgram([program, '-w', '-t', 'nat', '-S'], { timeout })
      const filter = await runProgram([program, '-w', '-S'], { timeout })
      for (const [port, target] of legacyTranslations(rules.stdout)) ports.set(port, target)
      forwarded += legacyJailRulesIn(filter.stdout)
      if (rules.code !== 0)
        unread.push(
          unknown(program, `the agent cannot read whether ${program} forwards ports, which bans of jails do not cover`),
        )
    }
    if (forwarded !== '') return unread
    const warnings = [...ports]
      .slice(0, maxNamed)
      .map(([port, target]): Finding =>
        warning(`port ${port}`, `port ${port} is forwarded to ${target}, which bans of jails do not cover`),
      )
    return [...warnings, ...unread]
  },
})

/** The rules of each table of nftables, and what nft said where it failed. */
const allRules = async (nft: NftListings): Promise<{ rules: string[]; failure: string | null }> => {
  const rules: string[] = []
  let failure: string | null = null
  for (const family of ['ip', 'ip6', 'inet']) {
    const listed = await nft(['-t', 'list', 'tables', family])
    if (listed.code !== 0 && listed.code !== missing) failure ??= listed.stderr
    for (const [, table = ''] of listed.stdout.matchAll(/^table \S+ (\S+)$/gm))
      rules.push((await nft(['-t', 'list', 'table', family, table])).stdout)
  }
  return { rules, failure }
}

/** Ports that nftables forwards, with their targets; none where it cannot be read. */
export const forwardedPorts = async (nft: NftListings): Promise<{ port: number; leadsTo: string }[]> =>
  (await allRules(nft)).rules
    .flatMap(translations)
    .map(([port, leadsTo]) => ({ port: Number(port), leadsTo }))
    .filter(({ port }) => port >= 1 && port <= 65_535)

/** Whether rules send packets to other ports of this server than they were for; of iptables-legacy only the table can be seen. */
export const redirectsPorts = async (nft: NftListings): Promise<boolean> =>
  legacyPrograms.some(({ tables }) => /^nat$/m.test(readText(tables) ?? '')) ||
  (await allRules(nft)).rules.some(rules => /\bredirect\b|\bREDIRECT\b/.test(rules))

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? ''

/** The old interface of the kernel, which nft does not list, and where the kernel names its tables. */
const legacyPrograms = [
  { program: 'iptables-legacy', tables: '/proc/net/ip_tables_names' },
  { program: 'ip6tables-legacy', tables: '/proc/net/ip6_tables_names' },
] as const

/** Published port -> where it leads, from the rules that iptables lists. */
export const legacyTranslations = (rules: string): [port: string, target: string][] =>
  [...rules.matchAll(/--dport (\d+)\b[^\n]*-j DNAT --to-destination (\S+)/g)].map(([, port = '', target = '']) => [
    port,
    target,
  ])

/** The chains and sets of fail2ban's jails that are used where forwarded packets pass. */
const legacyJailRulesIn = (rules: string): string =>
  (rules.match(/^-A (?:FORWARD|DOCKER-USER) [^\n]*(?:-j f2b-|--match-set f2b-)\S+/gm) ?? []).join(' ')

/** Published port -> where it leads, from the rules that nft lists, also those that iptables made. */
export const translations = (rules: string): [port: string, target: string][] =>
  [...rules.matchAll(/\bdport (\d+)\b[^\n]*\bdnat (?:ip6? )?to (\S+)/g)].map(([, port = '', target = '']) => [
    port,
    target,
  ])

/** The sets and chains of fail2ban's jails that are used where forwarded packets pass. */
const jailSetsIn = (rules: string): string =>
  rules
    .split(/^\s*chain /m)
    .filter(chain => /^(?:FORWARD|DOCKER-USER) /.test(chain) || /hook (?:forward|prerouting) /.test(chain))
    .flatMap(chain => chain.match(/@addr6?-set-\S+|jump f2b-\S+/g) ?? [])
    .join(' ')
