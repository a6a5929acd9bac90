import * as fs from 'node:fs'
import { join } from 'node:path'
import type { HostSettings } from '../host-config.ts'
import type { Host } from '../host.ts'

/** A kind of firewall that fail2ban's actions use, and how to damage it behind fail2ban's back. */
export interface FirewallKind {
  readonly name: string
  readonly settings: (engine: string) => Pick<HostSettings, 'banactions' | 'programs' | 'root'>
  /** Forwards port 8080 to a container, and ends that. */
  publish(host: Host): Promise<unknown>
  unpublish(host: Host): Promise<unknown>
  /** Removes everything that fail2ban has in the kernel. */
  flush(host: Host): Promise<unknown>
  /** Removes the rule through which packets reach the bans of a jail. */
  unhook(host: Host, jail: string): Promise<unknown>
  /** Takes one IPv4 ban out of the kernel. */
  drop(host: Host, jail: string, ip: string): Promise<unknown>
  /** What the report says after each of them, of a jail and an address. */
  readonly says: {
    readonly flushed: string
    readonly unhooked: (jail: string) => string
    readonly dropped: (jail: string) => string
    readonly published: string
  }
  /** The program that bans, and a word of its command line that only a ban has. */
  readonly banProgram: string
  readonly banWord: string
}

const forwarding = ['PREROUTING', '-p', 'tcp', '--dport', '8080', '-j', 'DNAT', '--to-destination', '172.30.0.2:80']
const byIptables = {
  publish: (host: Host) => host.inside('iptables', '-w', '-t', 'nat', '-A', ...forwarding),
  unpublish: (host: Host) => host.inside('iptables', '-w', '-t', 'nat', '-D', ...forwarding),
}
const published = 'port 8080 is forwarded to 172\\.30\\.0\\.2:80, which bans of jails do not cover'
/** The agent may not read rules of the old interface. */
const unreadPublished = 'the agent cannot read whether iptables-legacy forwards ports'

const nftables: FirewallKind = {
  ...byIptables,
  name: 'nftables',
  settings: () => ({ banactions: ['nftables-multiport', 'nftables-allports'] }),
  flush: host => host.inside('nft', 'flush', 'ruleset'),
  async unhook(host, jail) {
    const rules = await host.inside('nft', '-a', 'list', 'chain', 'inet', 'f2b-table', 'f2b-chain')
    for (const [, handle = ''] of rules.matchAll(new RegExp(`@addr6?-set-${jail} .*# handle (\\d+)`, 'g')))
      await host.inside('nft', 'delete', 'rule', 'inet', 'f2b-table', 'f2b-chain', 'handle', handle)
  },
  drop: (host, jail, ip) =>
    host.inside('nft', 'delete', 'element', 'inet', 'f2b-table', `addr-set-${jail}`, `{ ${ip} }`),
  says: {
    flushed: 'nftables table inet f2b-table is gone',
    unhooked: jail => `no rule of nftables table inet f2b-table uses set addr6?-set-${jail}`,
    dropped: jail => `it is not in set addr-set-${jail}`,
    published,
  },
  banProgram: 'nft',
  banWord: 'add element',
}

/** Both families, with the program that this host calls iptables. */
const bothTables = async (host: Host, ...rule: string[]): Promise<void> => {
  for (const program of ['iptables', 'ip6tables']) await host.inside(program, '-w', ...rule)
}

/** Removes each rule of INPUT that the pattern finds. */
const unhookInput = async (host: Host, pattern: RegExp): Promise<void> => {
  for (const program of ['iptables', 'ip6tables']) {
    const rules = (await host.inside(program, '-w', '-S', 'INPUT')).split('\n')
    for (const rule of rules.filter(line => pattern.test(line)))
      await host.inside(program, '-w', ...rule.replace('-A ', '-D ').split(' '))
  }
}

const iptables: FirewallKind = {
  ...byIptables,
  name: 'iptables-nft',
  settings: () => ({ banactions: ['iptables-multiport', 'iptables-allports'] }),
  async flush(host) {
    await bothTables(host, '-F')
    await bothTables(host, '-X')
  },
  unhook: (host, jail) => unhookInput(host, new RegExp(`-j f2b-${jail}$`)),
  async drop(host, jail, ip) {
    const rules = (await host.inside('iptables', '-w', '-S', `f2b-${jail}`)).split('\n')
    const rule = rules.find(line => line.includes(` ${ip}/32 `)) ?? ''
    await host.inside('iptables', '-w', ...rule.replace('-A ', '-D ').split(' '))
  },
  says: {
    flushed: 'chain f2b-sshd of ip6?tables is gone',
    unhooked: jail => `no rule of ip6?tables leads to chain f2b-${jail}`,
    dropped: jail => `it is not in chain f2b-${jail} of iptables`,
    published,
  },
  banProgram: 'iptables',
  banWord: 'REJECT',
}

/** The agent may not read these rules, so it sends a packet of a banned address. */
const answers = '\\S+ still answers its packets'

/** The same names, as Debian's alternatives have them: programs of the old kernel interface. */
const legacyPrograms = Object.fromEntries(
  [...['iptables', 'iptables-save', 'iptables-restore'], ...['ip6tables', 'ip6tables-save', 'ip6tables-restore']].map(
    name => [name, '/usr/sbin/xtables-legacy-multi'],
  ),
)

const legacy: FirewallKind = {
  ...iptables,
  name: 'iptables-legacy',
  settings: engine => ({ ...iptables.settings(engine), programs: legacyPrograms }),
  says: { flushed: answers, unhooked: () => answers, dropped: () => answers, published: unreadPublished },
}

const ipset: FirewallKind = {
  ...byIptables,
  name: 'ipset',
  settings: () => ({ banactions: ['iptables-ipset-proto6', 'iptables-ipset-proto6-allports'] }),
  async flush(host) {
    await bothTables(host, '-F', 'INPUT')
    for (const set of (await host.inside('ipset', 'list', '-n')).split('\n').filter(Boolean))
      await host.inside('ipset', 'destroy', set)
  },
  unhook: (host, jail) => unhookInput(host, new RegExp(`--match-set f2b-${jail}6? `)),
  drop: (host, jail, ip) => host.inside('ipset', 'del', `f2b-${jail}`, ip),
  says: {
    flushed: 'ipset f2b-sshd6? is gone',
    unhooked: () => answers,
    dropped: jail => `it is not in ipset f2b-${jail}`,
    published,
  },
  banProgram: 'ipset',
  banWord: 'add',
}

const legacyIpset: FirewallKind = {
  ...ipset,
  name: 'ipset with iptables-legacy',
  settings: engine => ({ ...ipset.settings(engine), programs: legacyPrograms }),
  says: { ...ipset.says, published: unreadPublished },
}

/** A Debian 12 with fail2ban and nftables and nothing that they recommend, so without iptables; unpacked by `npm run check -- sabotage`. */
export const bareRoot = join(process.env['STOCKADE_ENGINES'] ?? '', 'bare')

const bare: FirewallKind = {
  ...nftables,
  name: 'nftables, without iptables',
  settings: engine => ({ ...nftables.settings(engine), root: bareRoot }),
  publish: host =>
    host.inside(
      'nft',
      'add table ip nat; add chain ip nat prerouting { type nat hook prerouting priority -100; }; add rule ip nat prerouting tcp dport 8080 dnat to 172.30.0.2:80',
    ),
  unpublish: host => host.inside('nft', 'delete', 'table', 'ip', 'nat'),
}

export const firewallKinds = { nftables, iptables, legacy, ipset, legacyIpset } as const
/** Of the packaged fail2ban only: it is the one that this Debian has. */
export const bareKind = bare

/** From now on the program that bans does nothing and ends with this code: 0 says that all is well. Answers how to end that. */
export const silenceBans = async (
  host: Host,
  { banProgram, banWord }: Pick<FirewallKind, 'banProgram' | 'banWord'>,
  code = 0,
): Promise<() => void> => {
  const path = join(host.directory, 'programs', banProgram)
  const before = fs.lstatSync(path, { throwIfNoEntry: false }) ? fs.readlinkSync(path) : null
  const real = before ?? (await host.inside('which', banProgram)).trim()
  fs.rmSync(path, { force: true })
  const script = `#!/bin/sh\ncase " $* " in *" ${banWord} "*) exit ${code} ;; esac\nexec -a ${banProgram} ${real} "$@"\n`
  fs.writeFileSync(path, script.replace('#!/bin/sh', '#!/bin/bash'), { mode: 0o755 })
  return () => {
    fs.rmSync(path)
    if (before !== null) fs.symlinkSync(before, path)
  }
}
