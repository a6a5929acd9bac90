import { describe, expect, it } from 'vitest'
import { closedBy } from '../src/protection/firewall/closed.ts'
import type { Closed } from '../src/protection/firewall/closed.ts'
import { notAmong } from '../src/protection/firewall/cover.ts'
import { placeOfNftBans, placeOfNftSet, placeOfSet, readChain } from '../src/protection/firewall/front.ts'
import { parseBan } from '../src/protection/firewall/kinds.ts'
import { throughOf } from '../src/protection/firewall/packet-proof.ts'
import { listenersOf } from '../src/protection/firewall/ports.ts'
import { targetsOf } from '../src/protection/firewall/targets.ts'

/* What the commands of public configurations close, and what stands before the rules that they make. */

const services = 'ssh\t\t22/tcp\nhttp\t\t80/tcp\t\twww\nhttps\t\t443/tcp\n'
const ip = '198.51.100.20'
const ssh = { ips: [ip], ports: [{ first: 22, last: 22 }], services }

it.each([
  ['iptables -I INPUT -s <ip> -j DROP', 'iptables', 'INPUT'],
  ['iptables -t raw -I PREROUTING -s <ip> -j DROP', 'iptables -t raw', 'PREROUTING'],
  ['iptables -I PREROUTING -t raw -s <ip> -j DROP', 'iptables -t raw', 'PREROUTING'],
  ['/usr/sbin/iptables -w --insert f2b-x 1 -s <ip>/24 -j LOGDROP', '/usr/sbin/iptables -w', 'f2b-x'],
])('reads table and chain of %s', (ban, program, chain) => {
  expect(parseBan(ban)).toEqual({ kind: 'iptables', program: program.split(' '), chain })
})

it('takes a firewall of another machine for none of this server', () => {
  expect(parseBan('ssh root@gateway "iptables -I FORWARD -s <ip> -j DROP"')).toBeNull()
  expect(parseBan('curl -s https://api.example/firewall/rules -d "ip=<ip>&tool=iptables"')).toBeNull()
})

it.each([
  ['{ iptables -C INPUT -p $proto -m multiport --dports ssh,2222 -j f2b-sshd; }', '', [22, 2222]],
  ["nft add rule inet t c $proto dport \\{ $(echo 'http,https' | sed s/:/-/g) \\} ip saddr @s reject", '', [80, 443]],
  ['nft add rule inet t c tcp dport { 22, 8000-8010 } ip saddr @s drop', '', [22, 8000]],
  ['', `ports="ssh"; for p in $(echo $ports); do firewall-cmd --add-rich-rule="port port='$p' reject"; done`, [22]],
  ['iptables -I INPUT -p tcp -j f2b-x', '', null],
  ['iptables -I INPUT -p tcp --dport 0:65535 -j f2b-x', '', null],
  ['', 'iptables -I INPUT -s <ip> -j DROP', null],
] as const)('reads the ports that %s %s closes', (start, ban, ports) => {
  expect(closedBy(start, ban, services).ports?.map(({ first }) => first) ?? null).toEqual(ports)
})

it('reads which packets come to an action, and which of them a test packet can stand for', () => {
  const of = (start: string, ban = ''): Closed => closedBy(start, ban, services)
  expect(of('iptables -I INPUT -p tcp -j f2b-x').hook).toBe('input')
  expect(of('iptables -I DOCKER-USER -p tcp -j f2b-x').hook).toBe('forward')
  expect(of('nft add chain inet t c \\{ type filter hook prerouting priority -300 \\; \\}').hook).toBe('both')
  expect(of('firewall-cmd --direct --add-rule ipv4 filter INPUT_direct 0 -p tcp -j f2b-x').hook).toBe('input')
  expect(of('iptables -I INPUT -p udp -j f2b-x').isTcp).toBe(false)
  const both = "for proto in $(echo 'tcp,udp' | sed 's/,/ /g'); do iptables -I INPUT -p $proto -j f2b-x; done"
  expect(of(both).isTcp).toBe(true)
  expect(of('iptables -I INPUT -i eth0 -p tcp -j f2b-x').isOfDevice).toBe(true)
  expect(of('', 'iptables -I INPUT -m string --algo bm --string "X-Forwarded-For: <ip>" -j DROP').bySource).toBe(false)
})

it('finds an address within the ranges of a listing', () => {
  const listing = [
    '-A f2b-x -s 198.51.100.0/24 -j DROP',
    'add s 203.0.113.4-203.0.113.9',
    'add t 2001:db8:7::/48 timeout 9',
    '-A r -s 192.0.2.0/255.255.255.0 -j DROP',
  ].join('\n')
  const held = ['198.51.100.20', '203.0.113.9', '2001:db8:7::1', '192.0.2.255', '198.51.100.128/25']
  const absent = ['203.0.113.10', '198.51.0.0/16', '2001:db8:8::1', 'joe']
  expect(notAmong(listing, [...held, ...absent])).toEqual(absent)
})

describe('of zones of firewalld', () => {
  const chain = (name: string, ...rules: string[]): string =>
    `\tchain ${name} {\n${rules.map(rule => `\t\t${rule}\n`).join('')}\t}\n`
  const placeIn = (zones: string[], ...trusted: string[]) =>
    placeOfNftBans(
      [
        chain('filter_INPUT', 'type filter hook input priority filter + 10; policy accept;', 'jump filter_INPUT_ZONES'),
        chain('filter_INPUT_ZONES', ...zones, 'goto filter_IN_public'),
        chain('filter_IN_public', 'jump filter_IN_public_deny', 'tcp dport 22 accept'),
        chain('filter_IN_public_deny', `ip saddr ${ip} tcp dport 22 reject`),
        chain('filter_IN_trusted', 'jump filter_IN_trusted_pre', ...trusted),
        chain('filter_IN_trusted_pre', 'ct state { established, related } accept'),
      ].join(''),
      ssh,
    )
  const zone = 'iifname "eth1" goto filter_IN_trusted'

  it('finds the rule of a ban', () => {
    expect(placeIn([])).toEqual({ isInput: true, isForward: false, front: [] })
  })

  it('sees a zone of another network card in front, which lets everybody in', () => {
    expect(placeIn([zone], 'accept')?.front).toEqual([{ rule: zone, device: 'eth1', isSure: true }])
  })

  it('sees a zone of another range in front', () => {
    const range = 'ip saddr 198.51.100.0/24 goto filter_IN_trusted'
    expect(placeIn([range], 'accept')?.front).toEqual([{ rule: range, device: null, isSure: true }])
  })

  it('leaves out a zone that stops everybody else, that leaves it to the next rule, or that bans the address itself', () => {
    expect(placeIn([zone], 'reject')?.front).toEqual([])
    expect(placeIn([zone], 'tcp dport 443 accept')?.front).toEqual([])
    expect(placeIn([zone], `ip saddr ${ip} drop`, 'accept')?.front).toEqual([])
  })
})

describe('before a rule of iptables', () => {
  const chains = '-P INPUT ACCEPT\n-P FORWARD DROP\n-N f2b-sshd\n-N DOCKER-USER\n-N trusted\n'
  const jump = '-A INPUT -p tcp -m multiport --dports 22 -j f2b-sshd\n'
  const bans = [
    '-A f2b-sshd -s 203.0.113.1/32 -j REJECT',
    '-A f2b-sshd -s 198.51.100.20/32 -j REJECT --reject-with icmp-port-unreachable',
    '-A f2b-sshd -j RETURN\n',
  ].join('\n')
  const frontOf = (...before: string[]) => {
    const listing = `${chains}${before.map(rule => `${rule}\n`).join('')}${jump}${bans}`
    return readChain(listing, 'f2b-sshd', ssh)?.place?.front.map(({ rule }) => rule)
  }

  it.each([
    '-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT',
    '-A INPUT -s 198.51.100.0/24 -j ACCEPT',
    '-A INPUT -m set --match-set friends src -j ACCEPT',
    '-A INPUT -j ACCEPT',
    '-A INPUT -p tcp -j RETURN',
  ])('stands %s', rule => {
    expect(frontOf(rule)).toEqual([rule.slice(3)])
  })

  it.each([
    '-A INPUT -i lo -j ACCEPT',
    '-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    '-A INPUT -p udp -m udp --dport 22 -j ACCEPT',
    '-A INPUT -p tcp -m multiport --dports 80,443 -j ACCEPT',
    '-A INPUT -s 192.0.2.0/24 -j ACCEPT',
    '-A INPUT -p tcp --dport 22 -j LOG',
    '-A INPUT -s 192.0.2.7/32 -j DROP',
    '-A INPUT -j trusted',
  ])('does not stand %s', rule => {
    expect(frontOf(rule)).toEqual([])
  })

  it('stands a chain that accepts, and within its own chain what lets it out again', () => {
    const trusting = frontOf('-A INPUT -p tcp -j trusted', '-A trusted -p tcp --dport 22 -j ACCEPT')
    expect(trusting).toEqual(['INPUT -p tcp -j trusted'])
    const leaving = 'f2b-sshd -s 198.51.100.0/24 -j RETURN'
    expect(frontOf(`-A ${leaving}`)).toEqual([leaving])
  })

  it('knows a chain that only forwarded packets reach, and one that nobody reaches', () => {
    const forwarding = '-A FORWARD -j DOCKER-USER\n-A DOCKER-USER -p tcp --dport 22 -j f2b-sshd\n'
    const placeIn = (rules: string, chain = 'f2b-sshd') => readChain(rules, chain, ssh)?.place
    expect(placeIn(`${chains}${forwarding}${bans}`)).toMatchObject({ isInput: false, isForward: true })
    expect(placeIn(`${chains}-A trusted -j f2b-sshd\n${bans}`)).toBeNull()
    expect(placeIn('-P INPUT ACCEPT\n-A INPUT -s 198.51.100.20/32 -j DROP\n', 'INPUT')).toEqual({
      isInput: true,
      isForward: false,
      front: [],
    })
    const use = '-A INPUT -p tcp --dport 22 -m set --match-set f2b-sshd src -j'
    expect(placeOfSet(`${chains}${use} REJECT\n`, 'f2b-sshd', ssh)).toMatchObject({ isInput: true, front: [] })
    expect(placeOfSet(`${chains}${use} ACCEPT\n`, 'f2b-sshd', ssh)).toBeNull()
  })

  it('calls rules that accept a banned address, or only mark its packets, no ban', () => {
    const of = (target: string) =>
      readChain(`-P INPUT ACCEPT\n-A INPUT -s 198.51.100.20/32 -j ${target}\n`, 'INPUT', ssh)
    expect(of('ACCEPT')?.absent([ip])).toEqual([ip])
    expect(of('MARK --set-xmark 0x1')?.effect).toBe('unclear')
    expect(of('DROP')?.effect).toBe('stops')
  })
})

describe('before a rule of nftables', () => {
  const ban = 'tcp dport 22 ip saddr @addr-set-sshd reject with icmp port-unreachable'
  const table = (hook: string, ...rules: string[]): string => `table inet f2b-table {
	set addr-set-sshd {
		type ipv4_addr
	}

	chain f2b-chain {
		type filter hook ${hook} priority filter - 1; policy accept;
${[...rules, ban].map(rule => `\t\t${rule}\n`).join('')}	}
}
`
  const placeIn = (text: string) => placeOfNftSet(text, 'addr-set-sshd', ssh)
  const frontOf = (rule: string) => placeIn(table('input', rule))?.front.map(each => each.rule)

  it.each([
    'ip saddr 198.51.100.0/24 accept',
    'tcp dport { 22, 80 } accept',
    'accept',
    'ip saddr @friends accept',
    'ct state new tcp dport 22 accept',
    'return',
  ])('stands %s', rule => {
    expect(frontOf(rule)).toEqual([rule])
  })

  it.each([
    'iif "lo" accept',
    'ct state established,related accept',
    'ct state { established, related } accept',
    'udp dport 22 accept',
    'tcp dport { 80, 443 } accept',
    'ip saddr 192.0.2.0/24 accept',
    'ip protocol icmp accept',
    'ip saddr 192.0.2.7 drop',
    'tcp dport 22 ip saddr @addr-set-web reject with icmp port-unreachable',
  ])('does not stand %s', rule => {
    expect(frontOf(rule)).toEqual([])
  })

  it('knows the network card of a rule that a test packet does not meet', () => {
    const passage = (rule: string) => placeIn(table('input', rule))?.front[0]
    const open = 'iifname "eth0" tcp dport 22 counter packets 3 bytes 180 accept'
    expect(passage(open)).toMatchObject({ device: 'eth0', isSure: true })
    const limited = 'iifname "eth0" tcp dport 22 limit rate 3/minute accept'
    expect(passage(limited)).toMatchObject({ device: 'eth0', isSure: false })
  })

  it('knows a chain that only forwarded packets reach, and one that none reach', () => {
    expect(placeIn(table('forward'))).toMatchObject({ isInput: false, isForward: true })
    expect(placeIn(table('input').replace(/type filter hook.*\n/, '\n'))).toBeNull()
  })
})

describe('a packet of a banned address goes', () => {
  const usual: Closed = {
    ports: [{ first: 22, last: 22 }],
    isTcp: true,
    hook: 'input',
    isOfDevice: false,
    byReset: false,
    bySource: true,
  }
  const tcp = [
    '  sl  local_address rem_address   st',
    '   0: 00000000:0016 00000000:0000 0A 0 0 0 0 0 11',
    '   1: 0100007F:0050 00000000:0000 0A 0 0 0 0 0 12',
    '   2: 0A0000C0:01BB 00000000:0000 0A 0 0 0 0 0 13',
  ].join('\n')
  const doors = {
    addresses: ['192.0.0.10', '2001:db8::10'],
    listeners: listenersOf(tcp, null),
    published: [{ port: 8080, leadsTo: '172.30.0.2:80' }],
  }
  const portsOf = (more: Partial<Closed>) =>
    targetsOf([{ ...usual, ...more }], false, doors, 0).map(({ kind, port }) => `${kind} ${port}`)

  it('where the jail closes what this server listens on', () => {
    expect(doors.listeners.map(({ address, port }) => [address, port])).toEqual([
      [null, 22],
      ['192.0.0.10', 443],
    ])
    expect(portsOf({})).toEqual(['own 22'])
    expect(portsOf({ ports: null })).toEqual(['own 22', 'own 443'])
    expect(portsOf({ ports: [{ first: 2222, last: 2222 }] })).toEqual(['closed 2222'])
    expect(portsOf({ ports: [{ first: 80, last: 80 }], hook: 'forward' })).toEqual(['forwarded 8080'])
    expect(portsOf({ ports: [{ first: 25, last: 25 }], hook: 'forward' })).toEqual([])
    for (const more of [{ isTcp: false }, { isOfDevice: true }, { bySource: false }]) expect(portsOf(more)).toEqual([])
  })

  it('through where it is answered as a packet of somebody else is', () => {
    const at = (kind: 'own' | 'forwarded', port: number, banned: 'none' | 'syn-ack') => ({
      target: { kind, address: '192.0.0.10', port },
      control: 'syn-ack' as const,
      banned,
    })
    const forwarding = [at('own', 22, 'syn-ack'), at('forwarded', 2222, 'none')]
    expect(throughOf([at('own', 22, 'none')], [usual])).toBeNull()
    expect(throughOf([at('own', 22, 'none'), at('own', 443, 'syn-ack')], [usual])).toMatchObject({ port: 443 })
    expect(throughOf(forwarding, [{ ...usual, hook: 'forward' }])).toBeNull()
    expect(throughOf(forwarding, [usual])).toMatchObject({ port: 22 })
    expect(throughOf([{ ...at('own', 22, 'none'), control: 'none' }], [usual])).toBeUndefined()
  })
})
