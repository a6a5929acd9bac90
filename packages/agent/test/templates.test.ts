import { describe, expect, it } from 'vitest'
import { forbiddenGroup } from '@stockade/contract/filter-groups.ts'
import { templateFiles } from '../src/templates/files.ts'
import { parseIni, writeIni } from '../src/templates/ini.ts'
import { readTemplate } from '../src/templates/model.ts'
import { strangers } from '../src/templates/stream.ts'

const jail = (lines: string): string => `[door]\nenabled = true\nlogpath = /var/log/door.log\n${lines}\n`
const template = (more: object = {}): unknown => ({
  name: 'door',
  jail_config: jail('port = 8080'),
  filter_config: '[Definition]\nfailregex = ^ door: knock from <HOST>$\nignoreregex =\n',
  required_files: [],
  settings: {},
  ...more,
})
const stanza = (more: object = {}): string | null =>
  templateFiles('/etc/fail2ban', readTemplate(template(more)), null)[1]?.text ?? null

describe('the INI dialect', () => {
  it('is read as fail2ban reads it and written anew', () => {
    const text =
      '# c\n[A]\nOne: 1 ; said\n; gone\ntwo = a=b:c\n\tthree\n  # gone\n\n   four;five\nempty =\n[b C]\nx=\n  y\n'
    const sections = parseIni('text', text)
    expect(sections.map(({ name, options }) => [name, [...options]])).toEqual([
      [
        'A',
        [
          ['one', ['1']],
          ['two', ['a=b:c', 'three', 'four;five']],
          ['empty', []],
        ],
      ],
      ['b C', [['x', ['y']]]],
    ])
    expect(writeIni(sections)).toBe('[A]\none = 1\ntwo = a=b:c\n    three\n    four;five\nempty =\n[b C]\nx = y\n')
    expect(parseIni('text', writeIni(sections))).toEqual(sections)
  })

  it.each([
    ['a = 1\n', /line 1: an option before the first section/],
    ['[A]\n  a = 1\n', /line 2: a line that begins with a blank/],
    ['[A]\na\n', /line 2: neither a section nor an option/],
    ['[A]\na = 1\nA: 2\n', /line 3: option a comes twice/],
    ['[A]\n[A]\n', /line 2: section \[A\] comes twice/],
    ['[A]\na = 1\rb = 2\n', /line 2: a control character/],
    ['[A]\na = 1\u0000\n', /control character/],
    ['[A]\na = 1\u2028b = 2\n', /invisible/],
    ['[A]\na = 1\u0085b = 2\n', /control character/],
    ['[A]\na = 1\u000bb\n', /control character/],
    ['[A]\na = 1\u00a0\n', /invisible/],
    ['[A]\n\u202ea = 1\n', /invisible/],
    [`[A]\na = ${'x'.repeat(70_000)}\n`, /longer than 64 KiB/],
    [`[A]\n${'\n'.repeat(3000)}`, /more than 2000 lines/],
  ])('%j is refused', (text, says) => {
    expect(() => parseIni('text', text)).toThrow(says)
  })
})

describe('a template', () => {
  it('becomes files made from the model', () => {
    const [filter, stanzaFile] = templateFiles(
      '/etc/fail2ban',
      readTemplate(
        template({ settings: { maxretry: 4, bantime: -1, findtime: null, logpath: '/srv/door/*.log tail' } }),
        path => path === '/srv/door/*.log',
      ),
      { backend: 'auto', logpaths: ['/srv/door/*.log tail'], journalmatch: [] },
    )
    expect(filter).toEqual({
      path: '/etc/fail2ban/filter.d/stockade-door.conf',
      text: '# stockade: managed, do not edit\n[Definition]\nfailregex = ^ door: knock from <HOST>$\nignoreregex =\n',
    })
    expect(stanzaFile).toEqual({
      path: '/etc/fail2ban/jail.d/zz-stockade-30-template-door.local',
      text: '# stockade: managed, do not edit\n[door]\nenabled = true\nport = 8080\nmaxretry = 4\nbantime = -1\nfilter = stockade-door\nbackend = auto\nlogpath = /srv/door/*.log tail\n',
    })
  })

  it('of an engine filter brings no filter file, and takes an old one away', () => {
    const [filter] = templateFiles('/etc/fail2ban', readTemplate(template({ filter_config: '' })), null)
    expect(filter?.text).toBeNull()
  })

  it('may say all that is on the list', () => {
    const rich = [
      'port = ssh,2222,8000:8010',
      'protocol = tcp,udp',
      'maxretry = 5',
      'findtime = 10m',
      'bantime = 1h 30m',
      'bantime.increment = true',
      'bantime.maxtime = 5w',
      'bantime.factor = 1.5',
      'bantime.rndtime = 30',
      'backend = %(sshd_backend)s',
      'journalmatch = _SYSTEMD_UNIT=ssh.service + _COMM=sshd',
      'usedns = no',
      'maxlines = 3',
      'mode = aggressive',
      'logencoding = utf-8',
      'logtimezone = UTC+02:00',
      'filter = sshd[mode=aggressive, _daemon="sshd(?:-session)?"]',
      'ignoreregex = 100%% sure',
    ].join('\n')
    expect(readTemplate(template({ jail_config: jail(rich), filter_config: '' })).options.size).toBe(16)
    const filter =
      '[INCLUDES]\nbefore = common.conf\n[Definition]\n_daemon = door\nfailregex = ^%(__prefix_line)s%(_daemon)s <HOST>$\nprefregex = ^<F-CONTENT>.+</F-CONTENT>$\ndatepattern = %%Y-%%m-%%d\n[Init]\nmaxlines = 2\n'
    expect(readTemplate(template({ filter_config: filter })).filterText).toHaveLength(3)
    expect(
      readTemplate(template({ jail_config: '[door]\nlogpath = %(nginx_access_log)s %(syslog_authpriv)s\n' })).logpaths,
    ).toHaveLength(2)
  })

  it.each([
    'action = iptables[name=x]',
    'banaction = noop',
    'ignorecommand = /usr/bin/touch /tmp/x',
    'ignoreip = 0.0.0.0/0',
    'bantime.formula = __import__("os").system("id")',
    'bantime.multipliers = 1 __import__',
    'bantime = __import__("os")',
    'bantime = 1+1',
    'findtime = -1',
    'maxretry = 0',
    'maxretry = 3\n  4',
    'port = 22; touch /tmp/x',
    'port = $(id)',
    'port = %(sshd_log)s',
    'protocol = tcp -j ACCEPT',
    'chain = INPUT',
    'logencoding = utf-8\n  x',
    'logtimezone = `id`',
    'mode = a]b',
    'usedns = maybe',
    'usedns = raw',
    'UseDNS : RAW',
    'failregex = ^x <F-ID>.+</F-ID>$',
    'failregex = ^x (?P<fid>.+)$',
    'backend = /tmp/x.py',
    'backend = %(banaction)s',
    'filter = ../../tmp/evil',
    'filter = sshd[mode=ddos, x=1]',
    'backend = systemd[journalpath=/etc]',
    'filter = apache-auth[x="%(y)s"]',
    'journalmatch = _COMM=x; y',
    'known/ignoreip = 1.2.3.4',
    'failregex = %(action_)s <HOST>',
    'failregex = 5% <HOST>',
    'before = /etc/shadow',
    '[DEFAULT]\nbantime = 1',
    '[other]\nenabled = true',
    '[INCLUDES]\nbefore = /etc/hostname',
  ])('with %j in its jail is refused', line => {
    expect(() => readTemplate(template({ jail_config: jail(line) }))).toThrow()
  })

  it.each([
    '/etc/shadow',
    'door.log',
    '/var/log/../../etc/shadow',
    '/var/log/$(id)',
    '/var/log/a;b',
    '/tmp/x',
    '/srv/app/x.log',
    '/home/alice/.bash_history',
    '/opt/x.log',
    '/var/lib/x.log',
    '/var/log/./x',
    '/var/logs/x',
    '/var/log/x\nignorecommand = /bin/true',
    '/var/log/x\rignorecommand = /bin/true',
    '/var/log/x\u2028y',
    '%(banaction)s',
    '%(known/logpath)s',
    '/var/log/%(x_log)s',
    `/var/log/${'x'.repeat(2000)}`,
  ])('with the log path %j is refused, as an option and as a setting', path => {
    expect(() => readTemplate(template({ settings: { logpath: path } }))).toThrow()
    expect(() => readTemplate(template({ jail_config: `[door]\nlogpath = ${path}\n` }))).toThrow()
  })

  it.each([
    ['[Definition]\nfailregex = <HOST>\naction = x\n', /must not set the option "action"/],
    ['[Definition]\nfailregex = <HOST>\nignorecommand = x\n', /"ignorecommand"/],
    ['[INCLUDES]\nbefore = /etc/hostname\n[Definition]\nfailregex = <HOST>\n', /bare name/],
    ['[INCLUDES]\nbefore = ../jail.conf\n[Definition]\nfailregex = <HOST>\n', /bare name/],
    ['[INCLUDES]\nafter = common.conf\n[Definition]\nfailregex = <HOST>\n', /only say "before"/],
    ['[DEFAULT]\n_x = 1\n[Definition]\nfailregex = <HOST>\n', /section \[DEFAULT\]/],
    ['[Init]\nmaxlines = 1\n', /\[Definition\]/],
    ['[Definition]\nfailregex = %(known/failregex)s\n', /not a variable of this filter/],
    ['[Definition]\nfailregex = %(_other)s <HOST>\n', /not a variable of this filter/],
    ['[Definition]\nfailregex = 100% <HOST>\n', /"%%"/],
  ])('with the filter %j is refused', (filter_config, says) => {
    expect(() => readTemplate(template({ filter_config }))).toThrow(says)
  })

  it('with a bad name, required file or setting is refused', () => {
    for (const name of [
      '',
      'A',
      'stockade',
      'stockade-probe',
      'default',
      'known',
      '../x',
      'x'.repeat(25),
      'a\nb',
      '1a',
      7,
    ])
      expect(() => readTemplate(template({ name })), String(name)).toThrow(/name/)
    for (const file of ['/etc/shadow', 'filter.d/../../x', 'jail.conf', '', 5])
      expect(() => readTemplate(template({ required_files: [file] })), String(file)).toThrow(/required file/)
    for (const settings of [
      { maxretry: 1.5 },
      { maxretry: '5' },
      { bantime: 0 },
      { findtime: -1 },
      { port: 5 },
      { bantime: 4e7 },
    ])
      expect(() => readTemplate(template({ settings })), JSON.stringify(settings)).toThrow(/setting/)
    expect(() => readTemplate(null)).toThrow()
    expect(() => readTemplate(template({ jail_config: '[nginx]\nenabled = true\n' }))).toThrow(/one section \[door\]/)
  })

  it('wins with its settings over its options', () => {
    expect(stanza({ jail_config: jail('maxretry = 9'), settings: { maxretry: 2 } })).toMatch(/^maxretry = 2$/m)
  })
})

it('knows groups whose text could reach a firewall command', () => {
  for (const bad of [
    '<F-ID>.+</F-ID>',
    '<F-ID/>',
    'a\\(?P<F-ID>.+)',
    '<f-Id>.+</f-Id>',
    '<F-MLFID>\\d+</F-MLFID>',
    '<F-IP4/>',
    '<F-ALT_IP4>.+</F-ALT_IP4>',
    '<F-TUPLE_ID>.+</F-TUPLE_ID>',
    ...['fid', 'id', 'ip', 'ip4', 'ip6', 'dns', 'cidr', 'mlfid', 'alt_dns_1', 'tuple_id', 'DNS', 'matches'].map(
      name => `(?P<${name}>.+)`,
    ),
  ])
    expect(forbiddenGroup(`^x ${bad}$`), bad).not.toBeNull()
  for (const good of [
    '<HOST>',
    '<SUBNET>',
    '<F-USER>\\S+</F-USER>',
    '<F-CONTENT>.+</F-CONTENT>',
    '(?P<_q>")',
    '(?<=ip)',
    '(?P=_q)',
  ])
    expect(forbiddenGroup(`^x ${good}$`), good).toBeNull()
})

it('a stream may hold what a filter sets, and what the host itself has', () => {
  const reference = [
    ['add', 'door', 'polling'],
    ['set', 'door', 'addaction', 'nftables'],
    ['start', 'door'],
  ]
  const good = [
    ...reference,
    ['set', 'door', 'addfailregex', '<HOST>'],
    ['multi-set', 'door', 'addfailregex', ['a', 'b']],
  ]
  expect(strangers('door', good, reference)).toEqual([])
  for (const bad of [
    ['set', 'door', 'ignorecommand', '/bin/true'],
    ['set', 'sshd', 'addfailregex', '<HOST>'],
    ['set', 'door', 'addaction', 'other'],
    ['stop', 'sshd'],
    ['start', 'door', 'x'],
    ['config-error', 'x'],
    ['set', 'loglevel', 'DEBUG'],
  ])
    expect(strangers('door', [...good, bad], reference), JSON.stringify(bad)).toHaveLength(1)
})
