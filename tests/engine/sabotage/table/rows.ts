/*
 * The table of sabotages: what somebody does to a host, in shell, and how it ends. Each row has a jail of its own (`$JAIL`), which closes
 * `$PORT` and bans `$BAD`. The functions that the rows call are in prelude.ts.
 */

export const firewallNames = ['nftables', 'iptables', 'legacy', 'ipset', 'firewalld'] as const
export type FirewallName = (typeof firewallNames)[number]

export interface Row {
  readonly name: string
  readonly on: readonly FirewallName[]
  /**
   * `opens`: the banned attacker gets in, which is tried. `blinds`: nothing new is banned, or what is banned is lost later. `none`: it does no
   * harm, and the banned attacker stays out.
   */
  readonly harm: 'opens' | 'blinds' | 'none'
  /** Patience that the checks have for a restart: it lasts as long as it lasts, so accelerated checks would call it a harm. */
  readonly isAtRealPace?: boolean
  /** Before the ban. */
  readonly before?: string
  readonly does: string
  readonly undoes?: string
  /** Lines of the jail's section. */
  readonly jail?: string
  /** Whether the jail reads a log (`$LOG`). */
  readonly hasLog?: boolean
  /** What is banned; the attacker where not given; '': nobody. */
  readonly bans?: string
  /** What the host may say though it is no harm, or has to say of harm; any sentence about the jail or about fail2ban, where not given. */
  readonly says?: RegExp
}

const all = firewallNames
const byRules: readonly FirewallName[] = ['iptables', 'legacy']
const input: readonly FirewallName[] = ['iptables', 'legacy', 'ipset']
const accept = 'iptables -w -I INPUT -p tcp --dport $PORT -j ACCEPT'

/** Rules of iptables, in the interface of the kernel that the host's iptables uses. */
const ofIptables: readonly Row[] = [
  { name: 'port accepted in front (-I INPUT)', on: input, harm: 'opens', does: accept, undoes: 'unrule' },
  {
    name: 'range of the attacker accepted in front',
    on: input,
    harm: 'opens',
    does: 'iptables -w -I INPUT -s 198.51.100.0/24 -j ACCEPT',
    undoes: 'unrule',
  },
  {
    name: 'all new connections accepted in front',
    on: input,
    harm: 'opens',
    does: 'iptables -w -I INPUT -m conntrack --ctstate NEW -j ACCEPT',
    undoes: 'unrule',
  },
  {
    name: 'accepted by a chain of its own, by goto',
    on: input,
    harm: 'opens',
    does: 'iptables -w -N mine; iptables -w -A mine -j ACCEPT; iptables -w -I INPUT -g mine',
    undoes: 'iptables -w -D INPUT -g mine; iptables -w -F mine; iptables -w -X mine',
  },
  {
    name: 'accepted for most packets (-m statistic)',
    on: input,
    harm: 'opens',
    does: 'iptables -w -I INPUT -m statistic --mode random --probability 0.99 -j ACCEPT',
    undoes: 'unrule',
  },
  {
    name: 'accepted by the length of a packet',
    on: input,
    harm: 'opens',
    does: 'iptables -w -I INPUT -p tcp --syn -m length --length 20:100 -j ACCEPT',
    undoes: 'unrule',
  },
  {
    name: "accepted on the attacker's network card only (-i)",
    on: ['iptables'],
    harm: 'opens',
    does: 'iptables -w -I INPUT -i att0 -p tcp --dport $PORT -j ACCEPT',
    undoes: 'unrule',
  },
  {
    // Test packets do not come by that card, and the agent may not read these rules: only the log can tell.
    name: "accepted on the attacker's network card only, and the attack goes on",
    on: ['legacy', 'ipset'],
    harm: 'opens',
    hasLog: true,
    does: 'iptables -w -I INPUT -i att0 -p tcp --dport $PORT -j ACCEPT; attack',
    undoes: 'end_attack; unrule',
    says: /still writes to its log/,
  },
  {
    name: 'rule that leads to the bans deleted',
    on: input,
    harm: 'opens',
    does: 'iptables -w -S INPUT | grep f2b-$JAIL | sed "s/^-A/-w -D/" | xargs -r iptables',
    undoes: 'again',
  },
  {
    name: 'rule that leads to the bans now names another port',
    on: input,
    harm: 'opens',
    does: 'iptables -w -S INPUT | grep f2b-$JAIL | sed "s/^-A/-w -D/" | xargs -r iptables; iptables -w -I INPUT -p tcp --dport 9999 -j REJECT',
    undoes: 'unrule; again',
  },
  {
    name: 'out of the chain before the ban (RETURN)',
    on: byRules,
    harm: 'opens',
    does: 'iptables -w -I f2b-$JAIL -s 198.51.100.0/24 -j RETURN',
    undoes: 'iptables -w -D f2b-$JAIL -s 198.51.100.0/24 -j RETURN',
  },
  {
    name: 'rule of one ban deleted',
    on: byRules,
    harm: 'opens',
    does: 'iptables -w -D f2b-$JAIL 1',
    undoes: 'again',
  },
  {
    name: 'rule of the ban counts only',
    on: byRules,
    harm: 'opens',
    does: 'iptables -w -D f2b-$JAIL 1; iptables -w -I f2b-$JAIL -s $BAD',
    undoes: 'again',
  },
  {
    name: 'rule of the ban logs only',
    on: byRules,
    harm: 'opens',
    does: 'iptables -w -R f2b-$JAIL 1 -s $BAD -j LOG',
    undoes: 'again',
  },
  {
    name: 'chain of the bans emptied',
    on: byRules,
    harm: 'opens',
    does: 'iptables -w -F f2b-$JAIL',
    undoes: 'again',
  },
  { name: 'iptables -F', on: input, harm: 'opens', does: 'iptables -w -F', undoes: 'again' },
  {
    name: 'iptables-restore of a save from before the ban',
    on: input,
    harm: 'opens',
    before: 'iptables-save >$DIR/save',
    does: 'iptables-restore <$DIR/save',
    undoes: 'again',
  },
  {
    name: 'bans in a chain that only forwarded packets reach',
    on: byRules,
    harm: 'opens',
    jail: 'chain = FORWARD',
    does: '',
  },
  {
    name: 'chain of the bans renamed, its rules kept',
    on: byRules,
    harm: 'none',
    does: 'iptables -w -E f2b-$JAIL renamed',
    undoes: 'iptables -w -E renamed f2b-$JAIL',
  },
  {
    name: 'save and restore of the same rules',
    on: input,
    harm: 'none',
    does: 'iptables-save >$DIR/save; iptables-restore <$DIR/save',
  },
  {
    name: 'known connections, loopback and ping accepted in front',
    on: input,
    harm: 'none',
    does: 'iptables -w -I INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT; iptables -w -I INPUT -i lo -j ACCEPT; iptables -w -I INPUT -p icmp -j ACCEPT',
    undoes: 'unrule; unrule; unrule',
  },
  {
    name: 'accepted behind the ban',
    on: input,
    harm: 'none',
    does: 'iptables -w -A INPUT -p tcp --dport $PORT -j ACCEPT',
    undoes: 'iptables -w -D INPUT -p tcp --dport $PORT -j ACCEPT',
  },
  {
    name: 'policy DROP with an accept for the port behind the ban',
    on: input,
    harm: 'none',
    does: 'iptables -w -A INPUT -i eth0 -j ACCEPT; iptables -w -A INPUT -p tcp --dport $PORT -j ACCEPT; iptables -w -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT; iptables -w -P INPUT DROP',
    undoes:
      'iptables -w -P INPUT ACCEPT; iptables -w -D INPUT -i eth0 -j ACCEPT; iptables -w -D INPUT -p tcp --dport $PORT -j ACCEPT; iptables -w -D INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT',
  },
]

const ofIpset: readonly Row[] = [
  { name: 'ipset flush', on: ['ipset'], harm: 'opens', does: 'ipset flush f2b-$JAIL', undoes: 'again' },
  { name: 'ipset del', on: ['ipset'], harm: 'opens', does: 'ipset del f2b-$JAIL $BAD', undoes: 'again' },
  {
    name: 'set swapped with an empty one',
    on: ['ipset'],
    harm: 'opens',
    does: 'ipset create other hash:ip timeout 0; ipset swap f2b-$JAIL other',
    undoes: 'ipset swap f2b-$JAIL other; ipset destroy other',
  },
  {
    name: "entry's own timeout ends sooner than the ban",
    on: ['ipset'],
    harm: 'opens',
    does: 'ipset -exist add f2b-$JAIL $BAD timeout 1; sleep 2',
    undoes: 'again',
  },
  {
    name: 'set of friends accepted in front, with the attacker',
    on: ['ipset'],
    harm: 'opens',
    does: 'ipset create friends hash:net; ipset add friends 198.51.100.0/24; iptables -w -I INPUT -m set --match-set friends src -j ACCEPT',
    undoes: 'unrule; ipset destroy friends',
  },
  {
    name: 'set of friends accepted in front, without the attacker',
    on: ['ipset'],
    harm: 'none',
    does: 'ipset create friends hash:net comment; ipset add friends 203.0.113.0/28 comment "a friend"; iptables -w -I INPUT -m set --match-set friends src -j ACCEPT',
    undoes: 'unrule; ipset destroy friends',
  },
  {
    name: 'ipset save and restore',
    on: ['ipset'],
    harm: 'none',
    does: 'ipset save >$DIR/sets; ipset -exist restore <$DIR/sets',
  },
]

const rule = 'inet f2b-table f2b-chain'
const set = 'inet f2b-table addr-set-$JAIL'
const ofNftables: readonly Row[] = [
  {
    name: 'range accepted in front, same chain',
    on: ['nftables'],
    harm: 'opens',
    does: `nft insert rule ${rule} ip saddr 198.51.100.0/24 accept`,
    undoes: 'nft_away "198.51.100.0/24 accept"',
  },
  {
    name: 'port accepted in front, same chain',
    on: ['nftables'],
    harm: 'opens',
    does: `nft insert rule ${rule} tcp dport $PORT counter accept`,
    undoes: 'nft_away "dport $PORT counter"',
  },
  {
    name: 'accepted in front by a chain of its own',
    on: ['nftables'],
    harm: 'opens',
    does: `nft add chain inet f2b-table trusted; nft add rule inet f2b-table trusted accept; nft insert rule ${rule} meta l4proto tcp jump trusted`,
    undoes: 'nft_away "jump trusted"; nft delete chain inet f2b-table trusted',
  },
  {
    name: 'set of friends accepted in front, with the attacker',
    on: ['nftables'],
    harm: 'opens',
    does: `nft 'add set inet f2b-table friends { type ipv4_addr; elements = { 198.51.100.7 }; }'; nft insert rule ${rule} ip saddr @friends accept`,
    undoes: 'nft_away "@friends"; nft delete set inet f2b-table friends',
  },
  {
    name: 'map of verdicts in front',
    on: ['nftables'],
    harm: 'opens',
    does: `nft insert rule ${rule} ip saddr vmap { 198.51.100.7 : accept }`,
    undoes: 'nft_away vmap',
  },
  {
    name: 'element deleted from the set',
    on: ['nftables'],
    harm: 'opens',
    does: `nft delete element ${set} { $BAD }`,
    undoes: 'again',
  },
  { name: 'set flushed', on: ['nftables'], harm: 'opens', does: `nft flush set ${set}`, undoes: 'again' },
  {
    name: 'rule of the set deleted',
    on: ['nftables'],
    harm: 'opens',
    does: 'nft_away "@addr-set-$JAIL "',
    undoes: 'again',
  },
  {
    name: 'rule of the set names another port',
    on: ['nftables'],
    harm: 'opens',
    does: `nft_away "@addr-set-$JAIL "; nft insert rule ${rule} tcp dport 9999 ip saddr @addr-set-$JAIL reject`,
    undoes: 'again',
  },
  {
    name: 'rule of the set counts only',
    on: ['nftables'],
    harm: 'opens',
    does: `nft_away "@addr-set-$JAIL "; nft insert rule ${rule} tcp dport $PORT ip saddr @addr-set-$JAIL counter`,
    undoes: 'again',
  },
  {
    name: 'rule of the set looks at the destination',
    on: ['nftables'],
    harm: 'opens',
    does: `nft_away "@addr-set-$JAIL "; nft insert rule ${rule} tcp dport $PORT ip daddr @addr-set-$JAIL reject`,
    undoes: 'again',
  },
  { name: 'nft flush chain', on: ['nftables'], harm: 'opens', does: `nft flush chain ${rule}`, undoes: 'again' },
  { name: 'nft flush ruleset', on: ['nftables'], harm: 'opens', does: 'nft flush ruleset', undoes: 'again' },
  {
    name: "fail2ban's table deleted",
    on: ['nftables'],
    harm: 'opens',
    does: 'nft delete table inet f2b-table',
    undoes: 'again',
  },
  {
    name: 'table dormant',
    on: ['nftables'],
    harm: 'opens',
    does: "nft 'add table inet f2b-table { flags dormant; }'",
    undoes: "nft 'add table inet f2b-table { }'",
  },
  {
    name: 'table remade with its chain on the hook output',
    on: ['nftables'],
    harm: 'opens',
    does: `nft list table inet f2b-table | sed 's/hook input/hook output/' >$DIR/table; nft delete table inet f2b-table; nft -f $DIR/table`,
    undoes: 'nft delete table inet f2b-table; again',
  },
  {
    name: 'range banned that the set refuses',
    on: ['nftables'],
    harm: 'opens',
    bans: '198.51.100.0/24',
    does: '',
    undoes: 'f2b set $JAIL unbanip 198.51.100.0/24',
  },
  {
    name: 'answers to own connections accepted in front',
    on: ['nftables'],
    harm: 'none',
    does: `nft insert rule ${rule} ct state established,related accept`,
    undoes: 'nft_away "established,related accept"',
  },
  {
    name: 'other range accepted in front',
    on: ['nftables'],
    harm: 'none',
    does: `nft insert rule ${rule} ip saddr 203.0.113.0/24 accept`,
    undoes: 'nft_away "203.0.113.0/24 accept"',
  },
  {
    name: 'limit for the attacker in front, which drops',
    on: ['nftables'],
    harm: 'none',
    does: `nft insert rule ${rule} ip saddr $BAD limit rate over 1/hour drop`,
    undoes: 'nft_away "limit rate"',
  },
  {
    name: 'rules of iptables accept the port',
    on: ['nftables'],
    harm: 'none',
    does: accept,
    undoes: 'unrule',
  },
  {
    name: 'iptables -F, bans in nftables',
    on: ['nftables'],
    harm: 'none',
    does: 'iptables -w -F',
  },
  {
    name: 'set with comments and counters',
    on: ['nftables'],
    harm: 'none',
    does: `nft 'add element ${set.replace('$JAIL', "'$JAIL'")} { 203.0.113.99 comment "by hand" }'`,
    undoes: `nft delete element ${set} { 203.0.113.99 }`,
  },
]

const rich = (text: string): string =>
  `firewall-cmd --add-rich-rule="rule ${text} family=ipv4 source address=198.51.100.0/24 accept"`
const ofFirewalld: readonly Row[] = [
  {
    name: 'firewall-cmd --reload',
    on: ['firewalld'],
    harm: 'opens',
    does: 'firewall-cmd --reload',
    undoes: 'again',
  },
  {
    name: 'firewall-cmd --complete-reload',
    on: ['firewalld'],
    harm: 'opens',
    does: 'firewall-cmd --complete-reload',
    undoes: 'again',
  },
  {
    name: 'rich rule of the ban removed',
    on: ['firewalld'],
    harm: 'opens',
    does: 'for rule in "$(firewall-cmd --list-rich-rules | grep -F $BAD)"; do firewall-cmd --remove-rich-rule="$rule"; done',
    undoes: 'again',
  },
  {
    name: 'rich rule that accepts, by a lower priority',
    on: ['firewalld'],
    harm: 'opens',
    does: rich('priority=-100'),
    undoes: rich('priority=-100').replace('--add', '--remove'),
  },
  {
    name: "range of the attacker put into the zone 'trusted'",
    on: ['firewalld'],
    harm: 'opens',
    does: 'firewall-cmd --zone=trusted --add-source=198.51.100.0/24',
    undoes: 'firewall-cmd --zone=trusted --remove-source=198.51.100.0/24',
  },
  {
    name: "zone of the attacker's network card changed to 'trusted'",
    on: ['firewalld'],
    harm: 'opens',
    does: 'firewall-cmd --zone=trusted --change-interface=att0',
    undoes: 'firewall-cmd --zone=trusted --remove-interface=att0',
  },
  {
    name: "default zone set to 'trusted'",
    on: ['firewalld'],
    harm: 'opens',
    does: 'firewall-cmd --set-default-zone=trusted',
    undoes: 'firewall-cmd --set-default-zone=public',
  },
  {
    name: 'firewalld stopped',
    on: ['firewalld'],
    harm: 'opens',
    does: 'stop_firewalld',
    undoes: 'start_firewalld; again',
  },
  {
    name: 'firewallcmd-ipset: set flushed',
    on: ['firewalld'],
    harm: 'opens',
    jail: 'banaction = firewallcmd-ipset',
    does: 'ipset flush f2b-$JAIL',
    undoes: 'again',
  },
  {
    name: 'firewallcmd-ipset: firewall-cmd --reload',
    on: ['firewalld'],
    harm: 'opens',
    jail: 'banaction = firewallcmd-ipset',
    does: 'firewall-cmd --reload',
    undoes: 'again',
  },
  {
    name: 'firewallcmd-multiport: direct rule that accepts in front',
    on: ['firewalld'],
    harm: 'opens',
    jail: 'banaction = firewallcmd-multiport',
    does: accept,
    undoes: 'unrule',
  },
  {
    name: 'firewallcmd-multiport: direct rule of the ban removed',
    on: ['firewalld'],
    harm: 'opens',
    jail: 'banaction = firewallcmd-multiport',
    does: 'iptables -w -F f2b-$JAIL',
    undoes: 'again',
  },
  {
    name: 'firewallcmd-allports: firewall-cmd --reload',
    on: ['firewalld'],
    harm: 'opens',
    jail: 'banaction = firewallcmd-allports',
    does: 'firewall-cmd --reload',
    undoes: 'again',
  },
  { name: 'rich rules, untouched', on: ['firewalld'], harm: 'none', does: '' },
  {
    name: 'firewallcmd-ipset, untouched',
    on: ['firewalld'],
    harm: 'none',
    jail: 'banaction = firewallcmd-ipset',
    does: '',
  },
  {
    name: 'firewallcmd-multiport, untouched',
    on: ['firewalld'],
    harm: 'none',
    jail: 'banaction = firewallcmd-multiport',
    does: '',
  },
  {
    name: 'firewallcmd-allports, untouched',
    on: ['firewalld'],
    harm: 'none',
    jail: 'banaction = firewallcmd-allports',
    does: '',
  },
  {
    name: 'panic mode switched on and off',
    on: ['firewalld'],
    harm: 'none',
    does: 'firewall-cmd --panic-on; firewall-cmd --panic-off',
  },
  {
    name: 'service added to the zone',
    on: ['firewalld'],
    harm: 'none',
    does: 'firewall-cmd --add-service=https',
    undoes: 'firewall-cmd --remove-service=https',
  },
  {
    name: 'direct rule that accepts, bans in rich rules',
    on: ['firewalld'],
    harm: 'none',
    does: 'firewall-cmd --direct --add-rule ipv4 filter INPUT 0 -p tcp --dport $PORT -j ACCEPT',
    undoes: 'firewall-cmd --direct --remove-rule ipv4 filter INPUT 0 -p tcp --dport $PORT -j ACCEPT',
  },
]

/** What is done to the network around any firewall. */
const ofNetwork: readonly Row[] = [
  {
    name: 'port redirected to another one before the ban',
    on: all,
    harm: 'opens',
    does: 'iptables -w -t nat -I PREROUTING -p tcp --dport $PORT -j REDIRECT --to-ports 8082',
    undoes: 'iptables -w -t nat -D PREROUTING -p tcp --dport $PORT -j REDIRECT --to-ports 8082',
  },
  {
    name: 'jail closes another port than the one that is attacked',
    on: all,
    harm: 'opens',
    hasLog: true,
    jail: 'port = 2222',
    does: 'attack',
    undoes: 'end_attack',
    says: /still writes to its log/,
  },
  {
    name: 'action that bans nobody and answers 0',
    on: all,
    harm: 'opens',
    before: 'f2b set $JAIL action $ACTION actionban true',
    does: '',
    undoes: 'f2b reload $JAIL',
  },
  {
    name: "jail's action removed at run time (delaction)",
    on: all,
    harm: 'opens',
    before: 'f2b set $JAIL delaction $ACTION',
    does: '',
    // A reload does not bring the action back.
    undoes: 'again',
  },
  {
    name: 'not tracked (raw, NOTRACK)',
    on: all,
    harm: 'none',
    does: 'iptables -w -t raw -I PREROUTING -p tcp --dport $PORT -j NOTRACK',
    undoes: 'iptables -w -t raw -D PREROUTING -p tcp --dport $PORT -j NOTRACK',
  },
  {
    name: 'other table of nftables that accepts, earlier and later',
    on: all,
    harm: 'none',
    does: "nft 'add table inet other; add chain inet other a { type filter hook input priority -200; }; add rule inet other a accept; add chain inet other b { type filter hook input priority 200; }; add rule inet other b accept'",
    undoes: 'nft delete table inet other',
  },
  {
    name: 'other port accepted in front',
    on: all,
    harm: 'none',
    does: 'iptables -w -I INPUT -p tcp --dport 443 -j ACCEPT',
    undoes: 'unrule',
  },
  {
    name: 'other addresses accepted in front',
    on: all,
    harm: 'none',
    does: 'iptables -w -I INPUT -s 203.0.113.0/24 -j ACCEPT',
    undoes: 'unrule',
  },
  {
    name: 'IPv6 only: all accepted in front',
    on: all,
    harm: 'none',
    does: 'ip6tables -w -I INPUT -j ACCEPT',
    undoes: 'ip6tables -w -D INPUT -j ACCEPT',
  },
  {
    name: 'rule that logs in front',
    on: all,
    harm: 'none',
    does: 'iptables -w -I INPUT -j LOG --log-prefix "in: "',
    undoes: 'unrule',
  },
  {
    name: 'chain of somebody else behind',
    on: all,
    harm: 'none',
    does: 'iptables -w -N theirs; iptables -w -A theirs -j ACCEPT; iptables -w -A INPUT -j theirs',
    undoes: 'iptables -w -D INPUT -j theirs; iptables -w -F theirs; iptables -w -X theirs',
  },
  {
    name: 'port forwarded to a container, as Docker does',
    on: all,
    harm: 'none',
    does: 'iptables -w -t nat -A PREROUTING -p tcp --dport 8081 -j DNAT --to-destination 10.92.1.2:80',
    undoes: 'iptables -w -t nat -D PREROUTING -p tcp --dport 8081 -j DNAT --to-destination 10.92.1.2:80',
    says: /^port 8081 is forwarded to .*, which bans of jails do not cover|cannot read whether iptables-legacy forwards ports/,
  },
  {
    name: 'ufw enabled, with a rule for the port',
    on: ['nftables', 'iptables', 'ipset'],
    harm: 'none',
    does: 'ufw allow $PORT/tcp; ufw --force enable',
    undoes: 'ufw --force disable; ufw --force delete allow $PORT/tcp',
  },
  {
    name: 'action ufw',
    on: ['nftables', 'iptables'],
    harm: 'none',
    jail: 'banaction = ufw',
    before: 'ufw allow $PORT/tcp; ufw --force enable',
    does: '',
    undoes: 'ufw --force disable; ufw --force delete allow $PORT/tcp',
  },
  {
    name: 'action ufw, ufw disabled',
    on: ['nftables', 'iptables'],
    harm: 'opens',
    jail: 'banaction = ufw',
    before: 'ufw allow $PORT/tcp; ufw --force enable',
    does: 'ufw --force disable',
    undoes: 'ufw --force enable',
  },
  {
    name: 'action ufw, rule of the ban deleted',
    on: ['nftables', 'iptables'],
    harm: 'opens',
    jail: 'banaction = ufw',
    before: 'ufw allow $PORT/tcp; ufw --force enable',
    does: 'while ufw status | grep -qF $BAD; do ufw --force delete reject from $BAD; done',
    undoes: 'again; ufw --force disable; ufw --force delete allow $PORT/tcp',
  },
]

/** What is done to fail2ban. */
const ofEngine: readonly Row[] = [
  {
    name: 'fail2ban stopped',
    on: all,
    harm: 'blinds',
    does: 'f2b stop',
    undoes: 'f2b start; restored',
    isAtRealPace: true,
  },
  {
    name: 'fail2ban stopped by a signal (SIGSTOP)',
    isAtRealPace: true,
    on: all,
    harm: 'blinds',
    does: 'kill -STOP $(cat $DIR/run/f2b.pid)',
    undoes: 'kill -CONT $(cat $DIR/run/f2b.pid)',
  },
  {
    name: 'socket removed',
    isAtRealPace: true,
    on: all,
    harm: 'blinds',
    does: 'rm $DIR/run/f2b.sock',
    undoes: 'kill $(cat $DIR/run/f2b.pid); while test -e $DIR/run/f2b.pid; do sleep 0.2; done; f2b start; restored',
  },
  { name: 'jail stopped', on: all, harm: 'blinds', does: 'f2b stop $JAIL', undoes: 'f2b reload' },
  {
    name: 'log taken out of the jail (dellogpath)',
    on: all,
    harm: 'blinds',
    hasLog: true,
    does: 'f2b set $JAIL dellogpath $LOG',
    undoes: 'f2b set $JAIL addlogpath $LOG',
  },
  {
    name: 'log removed',
    on: all,
    harm: 'blinds',
    hasLog: true,
    does: 'rm $LOG',
    undoes: ': >$LOG',
  },
  {
    name: 'log renamed, no new one',
    on: all,
    harm: 'blinds',
    hasLog: true,
    does: 'mv $LOG $LOG.1',
    undoes: ': >$LOG',
  },
  {
    name: 'everybody ignored (ignoreip)',
    on: all,
    harm: 'blinds',
    does: 'f2b set $JAIL addignoreip 0.0.0.0/1 128.0.0.0/1',
    undoes: 'f2b set $JAIL delignoreip 0.0.0.0/1; f2b set $JAIL delignoreip 128.0.0.0/1',
  },
  {
    name: 'everybody ignored (ignorecommand)',
    on: all,
    harm: 'blinds',
    does: 'f2b set $JAIL ignorecommand /bin/true',
    undoes: 'f2b set $JAIL ignorecommand ""',
  },
  {
    name: 'bantime 1',
    on: all,
    harm: 'blinds',
    does: 'f2b set $JAIL bantime 1',
    undoes: 'f2b set $JAIL bantime 7200',
    bans: '',
  },
  {
    name: 'maxretry 100000',
    on: all,
    harm: 'blinds',
    does: 'f2b set $JAIL maxretry 100000',
    undoes: 'f2b set $JAIL maxretry 3',
  },
  {
    name: 'findtime 1',
    on: all,
    harm: 'blinds',
    does: 'f2b set $JAIL findtime 1',
    undoes: 'f2b set $JAIL findtime 600',
  },
  {
    name: 'expressions of the filter deleted (delfailregex)',
    on: all,
    harm: 'blinds',
    does: 'forget_filter',
    undoes: 'f2b reload $JAIL',
  },
  {
    name: 'jail set idle',
    on: all,
    harm: 'blinds',
    hasLog: true,
    does: 'fail_once; sleep 2; f2b set $JAIL idle on; attack 203.0.113.62',
    undoes: 'end_attack; f2b set $JAIL idle off',
  },
  {
    name: 'database deleted while it runs',
    on: all,
    harm: 'blinds',
    does: 'mv $DIR/lib/f2b.sqlite3 $DIR/lib/away',
    undoes: 'mv $DIR/lib/away $DIR/lib/f2b.sqlite3',
  },
  {
    name: 'configuration broken',
    on: all,
    harm: 'blinds',
    does: 'printf "[$JAIL]\\nfilter = nosuchfilter\\n" >$DIR/etc/jail.d/zz-broken.local',
    undoes: 'rm $DIR/etc/jail.d/zz-broken.local',
  },
  { name: 'fail2ban reload', on: all, harm: 'none', does: 'f2b reload', isAtRealPace: true },
  { name: 'jail restart', on: all, harm: 'none', does: 'f2b restart $JAIL', isAtRealPace: true },
  { name: 'fail2ban restart', on: all, harm: 'none', does: 'f2b restart', isAtRealPace: true },
  ...['jail', 'fail2ban'].map((what): Row => ({
    name: `${what} restart, while the name server never answers`,
    on: all,
    harm: 'none',
    // fail2ban-client gives up before the daemon does.
    does: `silent_resolver; f2b restart ${what === 'jail' ? '$JAIL' : ''} || true; end_silent_resolver; restored`,
    isAtRealPace: true,
  })),
  {
    name: 'ban by hand, lifted again',
    on: all,
    harm: 'none',
    does: 'f2b set $JAIL banip 203.0.113.60; sleep 2; f2b set $JAIL unbanip 203.0.113.60',
  },
  {
    name: 'twenty bans, lifted at once',
    isAtRealPace: true,
    on: all,
    harm: 'none',
    does: 'f2b set $JAIL banip $(seq -f "203.0.113.%.0f" 100 119) >/dev/null; sleep 2; f2b set $JAIL unbanip $(seq -f "203.0.113.%.0f" 100 119) >/dev/null',
  },
  {
    name: 'address whitelisted by hand',
    on: all,
    harm: 'none',
    does: 'f2b set $JAIL addignoreip 203.0.113.77',
    undoes: 'f2b set $JAIL delignoreip 203.0.113.77',
  },
  {
    name: 'jail added at run time',
    on: all,
    harm: 'none',
    does: 'printf "[late]\\nenabled = true\\nfilter = sshd\\nport = 22\\nlogpath = /dev/null\\n" >$DIR/etc/jail.d/zz-late.local; f2b reload',
    isAtRealPace: true,
    undoes: 'rm $DIR/etc/jail.d/zz-late.local; f2b stop late',
  },
  {
    name: 'log rotated (copytruncate)',
    on: all,
    harm: 'none',
    hasLog: true,
    does: 'fail_once; cp $LOG $LOG.1; : >$LOG; fail_once',
  },
  {
    name: 'log rotated (create)',
    on: all,
    harm: 'none',
    hasLog: true,
    does: 'fail_once; mv $LOG $LOG.1; : >$LOG; f2b set $JAIL logpath >/dev/null 2>&1 || true; fail_once',
  },
  {
    name: "fail2ban's own log rotated",
    on: all,
    harm: 'none',
    does: 'mv $DIR/log/fail2ban.log $DIR/log/f2b.1; f2b flushlogs',
  },
  {
    name: 'bantime longer, findtime 5 min, maxretry 5',
    on: all,
    harm: 'none',
    does: 'f2b set $JAIL bantime 86400; f2b set $JAIL findtime 300; f2b set $JAIL maxretry 5',
    undoes: 'f2b set $JAIL bantime 7200; f2b set $JAIL findtime 600; f2b set $JAIL maxretry 3',
  },
  { name: 'loglevel DEBUG', on: all, harm: 'none', does: 'f2b set loglevel DEBUG', undoes: 'f2b set loglevel INFO' },
  { name: 'conntrack and neighbour caches emptied', on: all, harm: 'none', does: 'ip neigh flush all' },
]

export const rows: readonly Row[] = [
  ...ofIptables,
  ...ofIpset,
  ...ofNftables,
  ...ofFirewalld,
  ...ofNetwork,
  ...ofEngine,
]
