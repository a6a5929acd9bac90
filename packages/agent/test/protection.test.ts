import { describe, expect, it } from 'vitest'
import { otherEngines, socketOf } from '../src/protection/checks/engine.ts'
import { databasePathOf } from '../src/engine/engine.ts'
import { progressOf } from '../src/protection/checks/log.ts'
import { legacyTranslations, translations } from '../src/protection/checks/published.ts'
import { firewallOf, parseBan } from '../src/protection/firewall/kinds.ts'
import { isStopped } from '../src/protection/firewall/packet-proof.ts'
import { rangesOf } from '../src/protection/firewall/ports.ts'
import { judge } from '../src/protection/level.ts'
import { bad, ok, unknown, warning } from '../src/protection/model.ts'
import type { Check, Entry, Finding } from '../src/protection/model.ts'
import { createTracker, defaultPatience } from '../src/protection/tracker.ts'

const check = (id: Check['id'], more: Partial<Check> = {}): Check => ({
  id,
  every: 5000,
  badAfter: 15_000,
  looks: 3,
  needsEngine: id !== 'engine',
  look: () => Promise.resolve([]),
  ...more,
})

const entry = (id: Check['id'], finding: Finding, isFailure = false): Entry => ({
  ...finding,
  id,
  needsEngine: id !== 'engine',
  since: 0,
  isFailure,
})

/** A tracker and a clock that moves by 5 s with each look. */
const build = (of: Check = check('jail')) => {
  let time = 0
  const tracker = createTracker({ now: () => time, patience: defaultPatience })
  return {
    tracker,
    check: of,
    state: () => tracker.entries().find(({ subject }) => subject === 'sshd')?.state,
    look: (times: number, ...findings: Finding[]) => {
      for (let i = 0; i < times; i += 1) {
        time += 5000
        tracker.note(of, findings)
      }
    },
    wait: (ms: number) => {
      time += ms
    },
  }
}
const stopped = bad('sshd', 'jail sshd does not run')
const fine = ok('sshd')

it('calls a problem bad only when it lasts and was seen often enough', () => {
  const { look, state } = build()
  look(1, fine)
  expect(state()).toBe('ok')
  look(3, stopped)
  expect(state()).toBe('ok')
  look(1, fine)
  look(3, stopped)
  expect(state()).toBe('ok')
  look(1, stopped)
  expect(state()).toBe('bad')
})

it('calls a problem over only when it stays away', () => {
  const { look, state } = build()
  look(4, stopped)
  expect(state()).toBe('bad')
  look(2, fine)
  expect(state()).toBe('bad')
  look(1, stopped)
  look(2)
  expect(state()).toBe('bad')
  look(1)
  expect(state()).not.toBe('bad')
})

it('lets a problem wait while fail2ban starts, and never forgets it', () => {
  const { look, state, tracker } = build()
  look(1, fine)
  tracker.hold('engine')
  look(7, stopped)
  expect(state()).toBe('ok')
  look(1, stopped)
  expect(state()).toBe('bad')
})

it('counts a long problem in spite of one restart after the other', () => {
  const { look, state, tracker } = build()
  look(1, fine)
  for (let i = 0; i < 40; i += 1) {
    tracker.hold('engine')
    look(1, stopped)
  }
  expect(state()).toBe('bad')
})

it('holds fail2ban itself back only while a command runs', () => {
  for (const [scope, expected] of [
    ['engine', 'bad'],
    ['everything', 'ok'],
  ] as const) {
    const { look, tracker } = build(check('engine'))
    look(1, ok(null))
    tracker.hold(scope)
    look(5, bad(null, 'fail2ban is not running'))
    expect(tracker.entries()[0]?.state).toBe(expected)
  }
})

it('names a subject that comes and goes, and is then slow to call it fine', () => {
  const { look, state, tracker } = build()
  for (let i = 0; i < 4; i += 1) {
    look(4, stopped)
    expect(state()).toBe('bad')
    if (i < 3) look(7, fine)
  }
  expect(tracker.entries()[0]?.detail).toContain('unstable: 4 times in an hour')
  look(50, fine)
  expect(state()).toBe('bad')
  look(100, fine)
  expect(state()).toBe('ok')
})

it('tells after five minutes that a check fails', () => {
  const { tracker, check, look, wait } = build()
  look(1, fine)
  tracker.fail(check, 'no python')
  wait(299_000)
  tracker.fail(check, 'no python')
  expect(judge(tracker.entries()).level).toBe('protected')
  wait(2000)
  tracker.fail(check, 'no python')
  expect(judge(tracker.entries())).toEqual({ level: 'degraded', summary: 'the check "jail" fails: no python' })
  look(8, fine)
  expect(judge(tracker.entries()).level).toBe('protected')
})

it('makes a level of the checks', () => {
  const engine = entry('engine', ok(null))
  const sshd = entry('enforced', bad('sshd', 'bans of jail sshd are not enforced'))
  const log = entry('log', bad('sshd: /var/log/auth.log', 'the log is missing'))
  const levelOf = (...entries: Entry[]): string => judge(entries).level
  expect(levelOf(engine)).toBe('protected')
  expect(levelOf(engine, entry('published', warning(null, 'w')), entry('enforced', unknown('web', 'u')))).toBe(
    'protected',
  )
  expect(levelOf(engine, log)).toBe('degraded')
  expect(levelOf(engine, sshd)).toBe('unprotected')
  expect(levelOf(engine, sshd, entry('enforced', ok('web')))).toBe('degraded')
  expect(levelOf(engine, entry('jail', stopped))).toBe('degraded')
  expect(levelOf(engine, entry('jail', bad(null, 'no jail runs')))).toBe('unprotected')
  const down = entry('engine', bad(null, 'fail2ban is not running'))
  expect(judge([log, down])).toEqual({ level: 'unprotected', summary: 'fail2ban is not running' })
  expect(judge([down, entry('shield', ok(null))]).level).toBe('unprotected')
  expect(judge([engine, log, entry('jail', stopped)]).summary).toBe('the log is missing; and 1 more problem')
})

describe('a log is unread', () => {
  const clock = { at: 0 }
  interface Seen {
    readonly position?: number
    readonly size: number
    readonly hasUnread?: boolean
    /** Milliseconds before the look at which the log was written last. */
    readonly writtenAgo?: number
    readonly after?: number
  }
  const look = (before: Parameters<typeof progressOf>[0], seen: Seen) => {
    const { position = 100, size, hasUnread = true, writtenAgo = 500, after = 12_000 } = seen
    const at = (clock.at += after)
    return progressOf(before, { position, size, hasUnread, writtenAt: at - writtenAgo, at, lookedAt: at })
  }

  it('only when it grows again while fail2ban stands still', () => {
    const first = look(undefined, { size: 120 })
    const same = look(first, { size: 120 })
    expect(same).toMatchObject({ growths: 0 })
    const grown = look(same, { size: 140 })
    expect(grown).toMatchObject({ growths: 1, isQuiet: false })
    // Before fail2ban can have looked again, a look says nothing.
    expect(look(grown, { size: 160, after: 1000 })).toBe(grown)
    expect(look(grown, { size: 140 })).toMatchObject({ growths: 1, isQuiet: true })
    expect(look(grown, { position: 140, size: 140, hasUnread: false })).toMatchObject({ growths: 0, isQuiet: false })
    expect(look(grown, { position: 120, size: 140 })).toMatchObject({ growths: 0, isQuiet: false })
  })
  it('not when the first look came in the middle of a burst, whose end fail2ban leaves unsaved', () => {
    const first = look(undefined, { size: 120 })
    // Written nine seconds after the first look.
    const grown = look(first, { size: 140, writtenAgo: 3000 })
    expect(grown).toMatchObject({ growths: 0, isQuiet: false })
    const quiet = look(grown, { size: 140, writtenAgo: 15_000 })
    expect(quiet).toMatchObject({ growths: 0, isQuiet: false })
    expect(look(quiet, { size: 160 })).toMatchObject({ growths: 1 })
  })
})

it('reads from an action how it bans', () => {
  expect(parseBan('nft add element inet f2b-table addr-set-sshd \\{ <ip> \\}')).toEqual({
    kind: 'nftables',
    program: ['nft'],
    family: 'inet',
    table: 'f2b-table',
    set: 'addr-set-sshd',
  })
  expect(parseBan('ip6tables -w -I f2b-sshd 1 -s <ip> -j DROP')).toEqual({
    kind: 'iptables',
    program: ['ip6tables', '-w'],
    chain: 'f2b-sshd',
  })
  expect(parseBan('ipset -exist add f2b-sshd6 <ip> timeout 0')).toEqual({
    kind: 'ipset',
    program: ['ipset'],
    set: 'f2b-sshd6',
    iptables: null,
  })
  expect(parseBan('ipset --test f2b-sshd <ip> ||  ipset --add f2b-sshd <ip>')).toMatchObject({
    kind: 'ipset',
    set: 'f2b-sshd',
  })
  expect(parseBan('ip route add unreachable <ip>')).toMatchObject({ kind: 'route' })
  expect(parseBan("printf '%s: %s' ALL <ip> >> /etc/hosts.deny")).toEqual({ kind: 'hosts.deny' })
  expect(parseBan('if [ -n "ssh" ]; then ufw insert 1 deny from <ip>; fi')).toMatchObject({
    kind: 'unread',
    name: 'ufw',
  })
  expect(
    parseBan(`for p in 22; do firewall-cmd --add-rich-rule="rule family='ipv4' source address='<ip>' reject"; done`),
  ).toEqual({
    kind: 'rich-rules',
    program: ['firewall-cmd'],
  })
  expect(parseBan('firewall-cmd --direct --add-rule ipv4 filter f2b-sshd 0 -s <ip> -j REJECT')).toMatchObject({
    kind: 'unread',
    name: 'firewall-cmd',
  })
  expect(parseBan('printf "Subject: banned <ip>" | /usr/sbin/sendmail root')).toBeNull()
})

it('reads published ports from the rules of the kernel', () => {
  const rules = `table ip nat {
	chain DOCKER {
		iifname != "br-1" tcp dport 8080 counter packets 0 bytes 0 dnat to 172.30.0.2:80
		tcp dport 22 accept
	}
	chain pre {
		tcp dport 8443 dnat ip6 to [2001:db8::2]:443
	}
}`
  expect(translations(rules)).toEqual([
    ['8080', '172.30.0.2:80'],
    ['8443', '[2001:db8::2]:443'],
  ])
})

it('reads published ports from the rules of the old iptables', () => {
  const rule = '-A DOCKER ! -i docker0 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 172.30.0.2:80'
  expect(legacyTranslations(`-P INPUT ACCEPT\n${rule}\n`)).toEqual([['8080', '172.30.0.2:80']])
})

it('knows a firewall action whose ban does nothing, and one that is no firewall', async () => {
  const of = (action: string, actionban: string) =>
    firewallOf(
      { actionOption: (_jail, _action, name) => Promise.resolve(name === 'actionban' ? actionban : null) },
      'sshd',
      action,
      'ipv4',
    )
  expect((await of('firewallcmd-rich-rules', 'true'))?.firewall).toEqual({
    kind: 'idle',
    name: 'firewallcmd-rich-rules',
  })
  expect((await of('iptables-multiport', ' /bin/true\n'))?.firewall).toMatchObject({ kind: 'idle' })
  expect(await of('nftables-own', '/usr/local/sbin/block <ip>')).toBeNull()
  expect(await of('dummy', 'true')).toBeNull()
})

it('reads which iptables has the rule of an ipset, from the options of the action', async () => {
  const options: Readonly<Record<string, string>> = {
    actionban: 'ipset -exist add <ipmset> <ip> timeout 0',
    ipmset: 'f2b-<name>',
    name: 'sshd',
    iptables: 'iptables-legacy <lockingopt>',
    lockingopt: '-w',
  }
  const engine = {
    actionOption: (_jail: string, _action: string, name: string) => Promise.resolve(options[name] ?? null),
  }
  expect((await firewallOf(engine, 'sshd', 'iptables-ipset', 'ipv4'))?.firewall).toEqual({
    kind: 'ipset',
    program: ['ipset'],
    set: 'f2b-sshd',
    iptables: ['iptables-legacy', '-w'],
  })
})

it('reads the ports of a jail, also by their names', () => {
  const services = 'ssh\t\t22/tcp\nhttp\t\t80/tcp\t\twww\nntp\t\t123/udp\n'
  const first = (text: string): number | null => rangesOf(text, services)[0]?.first ?? null
  expect(['ssh', '2222,ssh', 'http,https', '8000:8010', '0:65535', 'www', 'ntp', ''].map(first)).toEqual([
    22,
    2222,
    80,
    8000,
    0,
    80,
    null,
    null,
  ])
})

it('believes a packet only where the same packet of somebody else is answered', () => {
  expect(isStopped('syn-ack', 'none', false)).toBe(true)
  expect(isStopped('rst', 'unreachable', false)).toBe(true)
  expect(isStopped('syn-ack', 'syn-ack', true)).toBe(false)
  expect(isStopped('rst', 'rst', false)).toBe(false)
  expect(isStopped('rst', 'rst', true)).toBeNull()
  expect(isStopped('none', 'none', false)).toBeNull()
})

it('finds a second fail2ban among the sockets of the server, also one that lost its path', () => {
  const line = (flags: string, path: string): string => `00000000: 00000002 00000000 ${flags} 0001 01 4711 ${path}`
  const sockets = [
    'Num       RefCount Protocol Flags    Type St Inode Path',
    line('00010000', '/run/fail2ban/fail2ban.sock'),
    line('00000000', '/run/fail2ban/fail2ban.sock'),
    line('00010000', '/run/other.sock'),
    line('00010000', ''),
  ]
  const named = (...more: string[]): string[] =>
    otherEngines([...sockets, ...more].join('\n'), '/run/fail2ban/fail2ban.sock').map(({ detail }) => detail)
  expect(named()).toEqual([])
  expect(named(line('00010000', '/run/fail2ban/fail2ban.sock'))).toEqual([
    'a second fail2ban runs on this server (/run/fail2ban/fail2ban.sock): Stockade does not see what it bans',
  ])
  expect(named(line('00010000', '/srv/mail/fail2ban-mail.sock'))).toEqual([
    'a second fail2ban runs on this server (/srv/mail/fail2ban-mail.sock): Stockade does not see what it bans',
  ])
})

it('finds a second fail2ban by its process, whatever its socket is called', () => {
  const files: Readonly<Record<string, string>> = {
    '/srv/a/fail2ban.conf': '[DEFAULT]\nsocket = /run/of-conf.sock\n',
    '/srv/b/fail2ban.conf': '[DEFAULT]\nsocket = /run/of-conf.sock\n',
    '/srv/b/fail2ban.local': '[DEFAULT]\n# socket = /run/no\nsocket = /run/of-local\n',
  }
  const socket = (line: string): string | null => socketOf(line.split(' '), file => files[file] ?? null)
  expect(socket('/usr/bin/python3 /usr/bin/fail2ban-server --async -b -s /tmp/f.sock -p /tmp/f.pid start')).toBe(
    '/tmp/f.sock',
  )
  expect(socket('/usr/bin/python3 -I /opt/f2b/fail2ban-server --socket=/tmp/g -xf start')).toBe('/tmp/g')
  expect(socket('fail2ban-server -s/tmp/h -f start')).toBe('/tmp/h')
  expect(socket('/usr/bin/fail2ban-server -c /srv/a -xf start')).toBe('/run/of-conf.sock')
  expect(socket('/usr/bin/fail2ban-server -c /srv/b -xf start')).toBe('/run/of-local')
  expect(socket('/usr/bin/python3 /usr/bin/fail2ban-server -xf start')).toBeNull()
  for (const other of [
    'vim /usr/bin/fail2ban-server -s /tmp/f.sock',
    'grep -s fail2ban-server',
    '/usr/bin/fail2ban-client -s /tmp/f.sock',
  ])
    expect(socket(other), other).toBeNull()
  const lines =
    '00: 00000002 00000000 00010000 0001 01 1 /tmp/f.sock\n00: 00000002 00000000 00010000 0001 01 2 /run/other.sock'
  const found = otherEngines(
    lines,
    '/run/fail2ban/fail2ban.sock',
    new Set(['/tmp/f.sock', '/run/of-another-namespace']),
  )
  expect(found.map(({ subject }) => subject)).toEqual(['/tmp/f.sock'])
})

it('takes a database in memory for none', () => {
  expect(['None', ':memory:', 'file::memory:?cache=shared', ''].map(databasePathOf)).toEqual([null, null, null, null])
  expect(databasePathOf('/var/lib/fail2ban/fail2ban.sqlite3')).toBe('/var/lib/fail2ban/fail2ban.sqlite3')
})
