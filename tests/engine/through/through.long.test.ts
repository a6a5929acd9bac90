import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import { stamp } from '../host-config.ts'
import { until } from '../host.ts'
import { sources } from '../neighbours.ts'
import { reports } from '../protection.ts'
import { carriedOut } from '../scenarios.ts'
import { onStage } from '../stage.ts'
import { hasProgram, play, settings, throughOn, type Sabotage, type Through } from './scene.ts'

const nft = (rule: string): string => `nft 'insert rule inet f2b-table f2b-chain ${rule}'`
const unNft = (pattern: string): string =>
  `nft -a list chain inet f2b-table f2b-chain | sed -n 's/.*${pattern}.*# handle //p' | xargs -r -n1 nft delete rule inet f2b-table f2b-chain handle`
const stillAnswers = /198\.51\.100\.7 is banned, but \S+:8080 still answers its packets/

/** What lets the attacker in. Each is told. */
const harmful: Readonly<Record<string, Sabotage>> = {
  'nftables: a range that is accepted in front': {
    jail: 'nft',
    does: nft('ip saddr 198.51.100.0/24 accept'),
    mends: unNft('198.51.100.0\\/24 accept'),
    says: /still answers its packets: the rule "ip saddr 198\.51\.100\.0\/24 accept" stands in front$/,
  },
  'nftables: all of a protocol accepted in front, by a chain': {
    jail: 'nft-all',
    does: `nft add chain inet f2b-table trusted; nft add rule inet f2b-table trusted accept\n${nft('meta l4proto tcp jump trusted')}`,
    mends: `${unNft('jump trusted')}\nnft delete chain inet f2b-table trusted`,
    says: stillAnswers,
  },
  'nftables: a set of friends that holds the attacker': {
    jail: 'nft',
    does: `nft 'add set inet f2b-table friends { type ipv4_addr; elements = { 198.51.100.7 }; }'\n${nft('ip saddr @friends accept')}`,
    mends: `${unNft('@friends accept')}\nnft delete set inet f2b-table friends`,
    says: stillAnswers,
  },
  'nftables: the rule of the ban now has another port': {
    jail: 'nft',
    does: `${nft('tcp dport 9999 ip saddr @addr-set-nft reject')}\n${unNft('dport 8080 ip saddr @addr-set-nft reject[^#]*')}`,
    mends: `${nft('tcp dport 8080 ip saddr @addr-set-nft reject')}\n${unNft('dport 9999 ip saddr @addr-set-nft[^#]*')}`,
    says: stillAnswers,
  },
  'nftables: a table that is dormant': {
    jail: 'other',
    does: "nft 'add table inet other-table { flags dormant; }'",
    mends: "nft 'add table inet other-table { }'",
    says: /nftables table inet other-table is dormant/,
  },
  'iptables: every new connection accepted in front': {
    jail: 'ipt-all',
    does: 'iptables -w -I INPUT -m conntrack --ctstate NEW -j ACCEPT',
    mends: 'iptables -w -D INPUT -m conntrack --ctstate NEW -j ACCEPT',
    says: stillAnswers,
  },
  'iptables: accepted in front by a chain of another program': {
    jail: 'ipt',
    does: 'iptables -w -N mine\niptables -w -A mine -p tcp -j ACCEPT\niptables -w -I INPUT -j mine',
    mends: 'iptables -w -D INPUT -j mine\niptables -w -F mine\niptables -w -X mine',
    says: stillAnswers,
  },
  'iptables: out of the chain of the bans before the ban': {
    jail: 'ipt',
    does: 'iptables -w -I f2b-ipt -s 198.51.100.0/24 -j RETURN',
    mends: 'iptables -w -D f2b-ipt -s 198.51.100.0/24 -j RETURN',
    says: stillAnswers,
  },
  'iptables: the jump to the bans now names another port': {
    jail: 'ipt',
    does: 'iptables -w -D INPUT -p tcp -m multiport --dports 8080 -j f2b-ipt\niptables -w -I INPUT -p tcp -m multiport --dports 9999 -j f2b-ipt',
    mends:
      'iptables -w -D INPUT -p tcp -m multiport --dports 9999 -j f2b-ipt\niptables -w -I INPUT -p tcp -m multiport --dports 8080 -j f2b-ipt',
    says: stillAnswers,
  },
  'iptables: a chain that only forwarded packets reach': {
    jail: 'docker',
    does: '',
    mends: 'iptables -w -I INPUT -j DOCKER-USER',
    says: /still answers its packets: only forwarded packets come to the rule of its ban$/,
  },
  'iptables: a rule of its own in INPUT, behind one that accepts': {
    jail: 'input',
    does: 'iptables -w -I INPUT -p tcp --dport 8080 -j ACCEPT',
    mends: 'iptables -w -D INPUT -p tcp --dport 8080 -j ACCEPT',
    says: stillAnswers,
  },
  'iptables: marks that nothing drops any more': {
    jail: 'mark',
    does: 'iptables -w -D INPUT -m mark --mark 0x5 -j DROP',
    mends: 'iptables -w -I INPUT -m mark --mark 0x5 -j DROP',
    says: stillAnswers,
  },
  'iptables: a chain of drops that was emptied': {
    jail: 'chain',
    does: 'iptables -w -F LOGDROP',
    mends: 'iptables -w -A LOGDROP -j DROP',
    says: stillAnswers,
  },
  'raw table: not tracked and accepted before its drop': {
    jail: 'raw',
    does: 'iptables -w -t raw -I PREROUTING -p tcp --dport 8080 -j ACCEPT',
    mends: 'iptables -w -t raw -D PREROUTING -p tcp --dport 8080 -j ACCEPT',
    says: stillAnswers,
  },
}

/** What only looks like it. Nothing is said. */
const harmless: Readonly<Record<string, Sabotage>> = {
  'nftables: answers to own connections accepted in front': {
    jail: 'nft',
    does: nft('ct state established,related accept'),
    mends: unNft('established,related accept'),
    says: null,
  },
  'nftables: another range accepted in front': {
    jail: 'nft',
    does: nft('ip saddr 203.0.113.0/24 accept'),
    mends: unNft('203.0.113.0\\/24 accept'),
    says: null,
  },
  'nftables: another table that accepts everything, earlier and later': {
    jail: 'nft',
    does: "nft 'add table inet other; add chain inet other a { type filter hook input priority -200; }; add rule inet other a accept; add chain inet other b { type filter hook input priority 200; }; add rule inet other b accept'",
    mends: 'nft delete table inet other',
    says: null,
  },
  'nftables: a limited rule of the attacker in front': {
    jail: 'nft',
    does: nft('tcp dport 8080 ip saddr 198.51.100.7 limit rate over 1/hour drop'),
    mends: unNft('limit rate over 1\\/hour[^#]*drop'),
    says: null,
  },
  'nftables: all of the range banned by an action of its own': { jail: 'nft-range', does: '', mends: '', says: null },
  'iptables: connections that are known, loopback and ping accepted in front': {
    jail: 'ipt',
    does: 'iptables -w -I INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\niptables -w -I INPUT -i lo -j ACCEPT\niptables -w -I INPUT -p icmp -j ACCEPT',
    mends:
      'iptables -w -D INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\niptables -w -D INPUT -i lo -j ACCEPT\niptables -w -D INPUT -p icmp -j ACCEPT',
    says: null,
  },
  'iptables: another port accepted in front': {
    jail: 'ipt',
    does: 'iptables -w -I INPUT -p tcp --dport 443 -j ACCEPT',
    mends: 'iptables -w -D INPUT -p tcp --dport 443 -j ACCEPT',
    says: null,
  },
  'iptables: accepted behind the ban': {
    jail: 'ipt-all',
    does: 'iptables -w -A INPUT -p tcp --dport 8080 -j ACCEPT',
    mends: 'iptables -w -D INPUT -p tcp --dport 8080 -j ACCEPT',
    says: null,
  },
  'iptables: the first rule of a shared firewall is moved to its end': {
    jail: 'ipt',
    does: 'iptables -w -D INPUT -p tcp -m multiport --dports 8080 -j f2b-ipt\niptables -w -A INPUT -p tcp -m multiport --dports 8080 -j f2b-ipt',
    mends: '',
    says: null,
  },
  'iptables: a drop of its own in INPUT': { jail: 'input', does: '', mends: '', says: null },
  'iptables: a drop of its own in the table raw': { jail: 'raw', does: '', mends: '', says: null },
  'iptables: a range that covers the ban': { jail: 'range', does: '', mends: '', says: null },
  'iptables: a mark, and a rule that drops what has it': { jail: 'mark', does: '', mends: '', says: null },
  'iptables: a chain that drops by another chain': { jail: 'chain', does: '', mends: '', says: null },
  'iptables: new connections only': { jail: 'ipt-new', does: '', mends: '', says: null },
  'iptables: with a log': { jail: 'ipt-log', does: '', mends: '', says: null },
}

/** A program of the given name that listens on the given port. */
const namedListener = `
import ctypes, socket, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
s = socket.socket(); s.bind(("0.0.0.0", int(sys.argv[2]))); s.listen(); print("ready", flush=True)
while True: time.sleep(60)
`

/** The same with programs that not every machine has: told, then not seen. */
const ofPrograms: Readonly<Record<string, readonly Sabotage[]>> = {
  'iptables-legacy': [
    {
      jail: 'iptables-legacy',
      does: 'iptables-legacy -w -I INPUT -p tcp --dport 8080 -j ACCEPT',
      mends: 'iptables-legacy -w -D INPUT -p tcp --dport 8080 -j ACCEPT',
      says: stillAnswers,
    },
    {
      jail: 'iptables-legacy',
      does: 'iptables-legacy -w -I INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT',
      mends: 'iptables-legacy -w -D INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT',
      says: null,
    },
  ],
  ipset: [
    {
      jail: 'ipset',
      does: 'ipset create friends hash:net\nipset add friends 198.51.100.0/24\niptables -w -I INPUT -m set --match-set friends src -j ACCEPT',
      mends: 'iptables -w -D INPUT -m set --match-set friends src -j ACCEPT\nipset destroy friends',
      says: stillAnswers,
    },
    {
      jail: 'ipset',
      does: 'ipset create friends hash:net\niptables -w -I INPUT -m set --match-set friends src -j ACCEPT',
      mends: 'iptables -w -D INPUT -m set --match-set friends src -j ACCEPT\nipset destroy friends',
      says: null,
    },
  ],
}

onStage(
  'what lets banned addresses in',
  [],
  scene => {
    let through: Through
    beforeAll(async () => {
      through = await throughOn(scene())
      await through.prepare()
    })
    afterAll(() => through.end())

    describe('is told', () => {
      for (const [name, sabotage] of Object.entries(harmful)) it(name, () => play(through, sabotage))
    })

    describe('is not seen in', () => {
      for (const [name, sabotage] of Object.entries(harmless)) it(name, () => play(through, sabotage))
    })

    for (const [program, sabotages] of Object.entries(ofPrograms))
      it.skipIf(!hasProgram(program))(`is told, and else not seen, with ${program}`, async () => {
        for (const sabotage of sabotages) await play(through, sabotage)
      })

    it('is left open in words where an action is no firewall', async () => {
      await through.ban('cdn')
      await through.silent('cdn', ['unknown'])
      expect(reports(scene()).at(-1)).toMatchObject({ level: 'protected' })
      expect(reports(scene()).at(-1)?.summary).toMatch(/as far as the agent can tell/)
      await through.unban('cdn')
    })

    it('is told by the log of fail2ban, where a jail closes another port than the one that is attacked', async () => {
      const { host } = through
      fs.writeFileSync(
        join(host.f2bConfig, 'jail.d', 'z-elsewhere.local'),
        `[elsewhere]\nlogpath = ${join(host.directory, 'log', 'elsewhere.log')}\n`,
      )
      const log = join(host.directory, 'log', 'elsewhere.log')
      const fail = (): void => {
        for (let time = 0; time < 3; time += 1)
          fs.appendFileSync(
            log,
            `${stamp()} host sshd[${Math.floor(Math.random() * 30_000)}]: Failed password for root from ${sources.bad} port 4${time} ssh2\n`,
          )
      }
      fs.writeFileSync(log, '')
      await host.client('reload', 'elsewhere')
      fail()
      await until(() => host.bannedInEngine('elsewhere', sources.bad), 'the ban')
      await through.getsIn(true)
      const attack = setInterval(fail, 2000)
      try {
        await through.told(
          'elsewhere',
          'degraded',
          /^198\.51\.100\.7 is banned in elsewhere and still writes to its log \(\d+ lines in \d+ min\)$/,
        )
      } finally {
        clearInterval(attack)
      }
      await through.unban('elsewhere')
      await through.well()
    })

    it('is warned of where the program of a jail listens on a port that the jail leaves open', async () => {
      await through.neighbours.runOnHost(namedListener, 'sshd', '2222')
      await through.told('sshd', 'protected', /^jail sshd closes port 22; sshd listens on 2222$/)
    })

    it('does not pass a self-test of fail2ban', async () => {
      const { host } = through
      const test = async (): Promise<SelfTestResult> =>
        JSON.parse((await carriedOut(scene(), 'self-test', { level: 'engine' })).output) as SelfTestResult
      await through.ban('ipt')
      await host.inside('iptables', '-w', '-I', 'INPUT', '-p', 'tcp', '--dport', '8080', '-j', 'ACCEPT')
      const failed = await test()
      expect(failed.result).toBe('failed')
      expect(failed.steps.filter(({ ok }) => ok === false).map(({ text }) => text)).toContainEqual(
        expect.stringMatching(/^198\.51\.100\.7 is banned in jail ipt, but \S+:8080 still answers its packets$/),
      )
      await host.inside('iptables', '-w', '-D', 'INPUT', '-p', 'tcp', '--dport', '8080', '-j', 'ACCEPT')
      const { steps } = await test()
      expect(steps.map(({ text }) => text)).toContain(
        'packets of 198.51.100.7, which is banned in jail ipt, do not get through',
      )
      await through.unban('ipt')
    })

    it('does not pass a self-test of fail2ban where no jail bans anybody now', async () => {
      const { host } = through
      await host.inside('iptables', '-w', '-I', 'INPUT', '-p', 'tcp', '--dport', '8080', '-j', 'ACCEPT')
      try {
        const { output } = await carriedOut(scene(), 'self-test', { level: 'engine' })
        const { result, steps } = JSON.parse(output) as SelfTestResult
        expect(result, output).toBe('failed')
        expect(steps.filter(({ ok }) => ok === false).map(({ text }) => text)).toContainEqual(
          expect.stringMatching(/^192\.0\.2\.\d+ was put where jail ipt bans, but \S+:8080 still answers its packets$/),
        )
        expect(await host.inside('iptables', '-w', '-S')).not.toContain('192.0.2.')
      } finally {
        await host.inside('iptables', '-w', '-D', 'INPUT', '-p', 'tcp', '--dport', '8080', '-j', 'ACCEPT')
      }
    })
  },
  settings,
)
