import type { Engine } from '../../engine/engine.ts'

/** How an action of fail2ban bans an address of one family. */
export type Firewall =
  | {
      readonly kind: 'nftables'
      readonly program: readonly string[]
      readonly family: string
      readonly table: string
      readonly set: string
    }
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
  /** The agent cannot read what it does. `program` is null if it needs none. */
  | { readonly kind: 'unread'; readonly name: string; readonly program: readonly string[] | null }

type Family = 'ipv4' | 'ipv6'

const maxDepth = 5
const tag = /<([a-zA-Z0-9_-]+)>/g

/** How this action bans, from its command; null if it is not a firewall action (a mail, a report to somebody). */
export const firewallOf = async (
  engine: Pick<Engine, 'actionOption'>,
  jail: string,
  action: string,
  family: Family,
): Promise<Firewall | null> => {
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
  const firewall = parseBan(await resolved('actionban'))
  if (firewall?.kind !== 'ipset') return firewall
  const iptables = await resolved('iptables')
  return { ...firewall, iptables: iptables === '' ? null : words(iptables) }
}

/** The program in front of its arguments, with its own options. */
const words = (text: string): string[] => text.trim().split(/\s+/)

/** Reads the command that bans, with its tags replaced. */
export const parseBan = (text: string): Firewall | null => {
  const element = /^\s*((?:\S*\/)?nft\b[^\n]*?) +add element +(\S+) +(\S+) +(\S+) +\\?\{/m.exec(text)
  if (element) {
    const [, program = '', family = '', table = '', set = ''] = element
    return { kind: 'nftables', program: words(program), family, table, set }
  }
  const chain = /^\s*((?:\S*\/)?ip6?tables\b[^\n]*?) +-[IA] +(\S+)/m.exec(text)
  if (chain) return { kind: 'iptables', program: words(chain[1] ?? ''), chain: chain[2] ?? '' }
  const ipset = /(?:^|\|\|)\s*((?:\S*\/)?ipset)(?: +-(?!-add)(?!A )\S+)* +(?:--add|-A|add) +(\S+)/m.exec(text)
  if (ipset) return { kind: 'ipset', program: words(ipset[1] ?? ''), set: ipset[2] ?? '', iptables: null }
  const route = /^\s*((?:\S*\/)?ip) +(?:-\d +)?route +add\b/m.exec(text)
  if (route) return { kind: 'route', program: words(route[1] ?? '') }
  if (/hosts\.deny/.test(text)) return { kind: 'hosts.deny' }
  return parseUnread(text)
}

/** Firewalls that are known by the program that sets them. */
const parseUnread = (text: string): Firewall | null => {
  for (const name of ['firewall-cmd', 'ufw', 'shorewall', 'ipfw', 'pfctl', 'nft', 'iptables', 'ipset'])
    if (new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(text)) return { kind: 'unread', name, program: [name] }
  return null
}
