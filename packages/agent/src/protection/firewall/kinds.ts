import type { Engine } from '../../engine/engine.ts'
import { readText } from '../../files.ts'
import { closedBy } from './closed.ts'
import type { Closed } from './closed.ts'

/** How an action of fail2ban bans an address of one family. */
export type Firewall =
  | {
      readonly kind: 'nftables'
      readonly program: readonly string[]
      readonly family: string
      readonly table: string
      readonly set: string
    }
  /** `program` names the table, where it is not the usual one. */
  | { readonly kind: 'iptables'; readonly program: readonly string[]; readonly chain: string }
  | {
      readonly kind: 'ipset'
      readonly program: readonly string[]
      readonly set: string
      /** The iptables with the rule that uses the set; null if the action has no such option. */
      readonly iptables: readonly string[] | null
    }
  | { readonly kind: 'route'; readonly program: readonly string[] }
  | { readonly kind: 'hosts.deny' }
  /** Rules of a zone of firewalld, which it keeps in a table of nftables. */
  | { readonly kind: 'rich-rules'; readonly program: readonly string[] }
  /** A firewall action of fail2ban whose command for a ban does nothing. */
  | { readonly kind: 'idle'; readonly name: string }
  /** The agent cannot read what it does. `program` is null if it needs none. */
  | { readonly kind: 'unread'; readonly name: string; readonly program: readonly string[] | null }

/** An action of a jail that is a firewall. */
export interface JailFirewall {
  readonly action: string
  readonly firewall: Firewall
  readonly closed: Closed
}

type Family = 'ipv4' | 'ipv6'

const maxDepth = 5
/** Actions that fail2ban brings along for a firewall of this server. */
const firewallActions = /^(?:nftables|iptables|firewallcmd|ufw|shorewall|apf|bsd-ipfw|ipfw|npf|pf|route)(?:-|$)/
const doesNothing = /^\s*(?:(?:(?:\/usr)?\/bin\/)?true|:|exit 0)?\s*$/
const tag = /<([a-zA-Z0-9_/-]+)>/g

/** How this action bans, from its commands; null if it is not a firewall action (a mail, a report to somebody). */
export const firewallOf = async (
  engine: Pick<Engine, 'actionOption'>,
  jail: string,
  action: string,
  family: Family,
): Promise<JailFirewall | null> => {
  const option = async (name: string): Promise<string | null> =>
    (family === 'ipv6' ? await engine.actionOption(jail, action, `${name}?family=inet6`) : null) ??
    (await engine.actionOption(jail, action, name))
  /** With the tags replaced that are options of the action. */
  const resolved = async (name: string): Promise<string> => {
    let text = (await option(name)) ?? ''
    for (let depth = 0; depth < maxDepth; depth += 1) {
      const values = new Map<string, string>()
      for (const [, name = ''] of text.matchAll(tag)) {
        const value = name === 'ip' ? null : await option(name)
        if (value !== null && !value.includes(`<${name}>`)) values.set(name, value)
      }
      if (values.size === 0) break
      text = text.replace(tag, (whole, name: string) => values.get(name) ?? whole)
    }
    return text
  }
  const [start, ban] = [await resolved('actionstart'), await resolved('actionban')]
  // A ban that only writes into a list of the kernel is a firewall by the rule that its start makes.
  const isIdle = firewallActions.test(action) && doesNothing.test(ban)
  const parsed = isIdle ? ({ kind: 'idle', name: action } as const) : (parseBan(ban) ?? parseUnread(start))
  if (parsed === null) return null
  const firewall = parsed.kind === 'ipset' ? { ...parsed, iptables: await wordsOf(resolved('iptables')) } : parsed
  return { action, firewall, closed: closedBy(start, ban, readText('/etc/services') ?? '') }
}

const wordsOf = async (text: Promise<string>): Promise<string[] | null> => {
  const output = await text
  return output === '' ? null : words(output)
}

/** The program in front of its arguments, with its own options. */
const words = (text: string): string[] => text.trim().split(/\s+/)

/** Reads the command that bans, with its tags replaced. */
export const parseBan = (text: string): Firewall | null => {
  for (const parse of parsers) {
    const parsed = parse(text)
    if (parsed) return parsed
  }
  return parseUnread(text)
}

const parsers: readonly ((text: string) => Firewall | null)[] = [
  text => {
    const element = /^\s*((?:\S*\/)?nft\b[^\n]*?) +add element +(\S+) +(\S+) +(\S+) +\\?\{/m.exec(text)
    if (!element) return null
    const [, program = '', family = '', table = '', set = ''] = element
    return { kind: 'nftables', program: words(program), family, table, set }
  },
  text => {
    const rule = /^\s*((?:\S*\/)?ip6?tables\b[^\n]*?) +(?:-[IA]|--insert|--append) +(\S+)([^\n]*)/m.exec(text)
    if (!rule) return null
    const [, program = '', chain = '', rest = ''] = rule
    const [, table] = /\s(?:-t|--table)[ =]+(\S+)/.exec(rest) ?? []
    return { kind: 'iptables', program: [...words(program), ...(table === undefined ? [] : ['-t', table])], chain }
  },
  text => {
    const ipset = /(?:^|\|\|)\s*((?:\S*\/)?ipset)(?: +-(?!-add)(?!A )\S+)* +(?:--add|-A|add) +(\S+)/m.exec(text)
    return ipset && { kind: 'ipset', program: words(ipset[1] ?? ''), set: ipset[2] ?? '', iptables: null }
  },
  text => {
    const route = /^\s*((?:\S*\/)?ip) +(?:-\d +)?route +(?:add|replace|append)\b/m.exec(text)
    return route && { kind: 'route', program: words(route[1] ?? '') }
  },
  text => (/hosts\.deny/.test(text) ? { kind: 'hosts.deny' } : null),
  text =>
    /(?<![\w-])firewall-cmd\b[^\n]* --add-rich-rule=/.test(text)
      ? { kind: 'rich-rules', program: ['firewall-cmd'] }
      : null,
]

/** Firewalls that are known by the program that sets them. One that runs on another machine is none of this server. */
const parseUnread = (text: string): Firewall | null => {
  if (/(?:^|[;&|]|\bthen\b|\bdo\b)\s*(?:sudo\s+)?(?:ssh|curl|wget|nsenter|docker exec|ip netns)\s/m.test(text))
    return null
  for (const name of unreadPrograms)
    if (new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(text)) return { kind: 'unread', name, program: [name] }
  return null
}
const unreadPrograms = [
  ...['firewall-cmd', 'ufw', 'shorewall', 'ipfw', 'pfctl', 'apf', 'csf'],
  ...['nft', 'iptables', 'ip6tables', 'ipset'],
] as const
