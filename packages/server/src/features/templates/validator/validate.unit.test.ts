import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conditionMs } from '../../../testing/waiting.ts'
import { builtins } from '../builtin/catalogue.ts'
import { readRegex } from './regex.ts'
import { validate } from './validate.ts'
import { secondsOf } from './values.ts'

const knownFilters = new Set(builtins.map(builtin => /^filter = (.*)$/m.exec(builtin.jail_config)?.[1] ?? ''))
const goodFilter = String.raw`[Definition]
failregex = ^\s*(?:\S+ )?app(?:\[\d+\])?: login failed from <ADDR>$
`
const goodJail = '[app]\nenabled = true\nport = http,https\nbackend = auto\nlogpath = /var/log/app.log\n'
const check = (jail_config: string, filter_config = goodFilter, name?: string) =>
  validate({ jail_config, filter_config }, { knownFilters, ...(name === undefined ? {} : { name }) }).problems
const errors = (...texts: Parameters<typeof check>) => check(...texts).filter(({ severity }) => severity === 'error')
const filterOf = (lines: string) => `[Definition]\nfailregex = ^a <HOST>$\n${lines}\n`
const regexOf = (regex: string) => `[Definition]\nfailregex = ${regex}\n`

test.each(builtins.map(builtin => [builtin.name, builtin] as const))('%s passes without a remark', (name, builtin) => {
  const verdict = validate(builtin, { name, knownFilters })
  expect(verdict.problems).toEqual([])
  expect(builtin.required_files).toEqual(expect.arrayContaining([...verdict.requiredFiles]))
})

describe('good ones', () => {
  test.each([
    [
      'comments, blank lines, colons, capitals',
      '# one\n\n[app]\n; two\nENABLED: true ; three\nlogpath = /var/log/a.log\n\n   /var/log/b*.log tail\nbackend=auto',
    ],
    ['Windows line ends', goodJail.replaceAll('\n', '\r\n')],
    [
      'times in words',
      `${goodJail}bantime = 1d 12h\nfindtime = 10m\nbantime.maxtime = 5w\nbantime.increment = true\nbantime.factor = 1.5\nbantime.rndtime = 30m`,
    ],
    ['for ever', `${goodJail}bantime = -1`],
    [
      'times that grow',
      `${goodJail}bantime.increment = true\nbantime.multipliers = 1 5 30 60 300\nbantime.overalljails = true`,
    ],
    ['flags of the journal', '[app]\nbackend = systemd[journalflags=1]\njournalmatch = _COMM=app'],
    ['the journal', '[app]\nbackend = systemd\njournalmatch = _SYSTEMD_UNIT=app.service + _COMM=app'],
    [
      "the engine's variables",
      '[app]\nbackend = %(sshd_backend)s\nlogpath = %(nginx_error_log)s\n          %(apache_error_log)s',
    ],
    ['expressions in the jail', `${goodJail}failregex = ^%%s <HOST>$\nignoreregex = ^b`],
    ['every protocol', `${goodJail}protocol = tcp,udp`],
    ['a range of ports', '[app]\nport = 0:65535\nbackend = auto\nlogpath = /dev/null'],
  ])('%s', (_, jail) => expect(errors(jail)).toEqual([]))
  test.each([
    ['variables', filterOf('_who = (?:a|%(_b)s)\n_b = b\nignoreregex = ^%(_who)s <_b>')],
    [
      "the engine's prefix",
      '[INCLUDES]\nbefore = common.conf\n[Definition]\n_daemon = app\nfailregex = ^%(__prefix_line)sfailed from <HOST>$\n',
    ],
    [
      'a prefix expression',
      '[Definition]\nprefregex = ^app: <F-CONTENT>.+</F-CONTENT>$\nfailregex = ^failed <HOST>$\n',
    ],
    ['several lines at once', filterOf('[Init]\nmaxlines = 10')],
    [
      'dates',
      filterOf(
        'datepattern = ^[^\\[]*\\[({DATE})\n              {^LN-BEG}%%ExY-%%Exm-%%Exd\n              ^%%b %%d %%H:%%M:%%S(?:\\.%%f)?',
      ),
    ],
    ['two tags for two things', regexOf('^<F-USER>\\S+</F-USER> from <SUBNET>$')],
    ['a group to refer to', regexOf('^(?P<_quote>["\'])a(?P=_quote) <F-USER>x</F-USER> <HOST>$')],
    ['html stays html', regexOf('^<b>failed</b> <HOST>$')],
    ['a condition', regexOf('^(a)?(?(1)b|c) <HOST>$')],
    ['braces that repeat nothing', regexOf('^a{ x{} <HOST> {b}$')],
    ['many percent signs', regexOf(Array.from({ length: 60 }, () => `^${'%%'.repeat(200)} <HOST>$`).join('\n  '))],
    ['a bracket first in a class', regexOf('^[]a] [^]b] <HOST>$')],
  ])('%s', (_, filter) => expect(errors(goodJail, filter)).toEqual([]))
})

describe('bad jails', () => {
  test.each([
    ['nothing', ''],
    ['only blanks', '  \n\n'],
    ['no section', 'enabled = true'],
    ['[DEFAULT]', '[DEFAULT]\nbantime = 1'],
    ['another section after it', `${goodJail}[sshd]\nenabled = false`],
    ['[DEFAULT] after it', `${goodJail}[DEFAULT]\nignoreip = 0.0.0.0/0`],
    ['[INCLUDES]', `${goodJail}[INCLUDES]\nbefore = /tmp/x`],
    ['the section twice', `${goodJail}${goodJail}`],
    ['an option twice', `${goodJail}port = ssh`],
    ['an option twice, in capitals', `${goodJail}PORT = ssh`],
    ['a reserved name', '[stockade]\nenabled = true'],
    ['a name too long', `[${'a'.repeat(25)}]\nenabled = true`],
    ['a name that is no name', '[../x]\nenabled = true'],
    ['words after the section', '[app] x = 1\nbackend = auto'],
    ['a line that is nothing', `${goodJail}hello`],
    ['an option without a name', `${goodJail}= x`],
    ['an indented first option', '[app]\n enabled = true'],
    ['action', `${goodJail}action = run`],
    ['action on the next line', `${goodJail}port2 = x\n`],
    ['banaction', `${goodJail}banaction = x`],
    ['ignorecommand', `${goodJail}ignorecommand = /bin/sh`],
    ['ignoreip', `${goodJail}ignoreip = 0.0.0.0/0`],
    ['a formula', `${goodJail}bantime.formula = __import__('os')`],
    ['multipliers that are a program', `${goodJail}bantime.multipliers = 1 __import__('os')`],
    ['known/action', `${goodJail}known/action = x`],
    ['arithmetic for a time', `${goodJail}bantime = 60*60`],
    ['a program for a time', `${goodJail}bantime = __import__("os").system("id")`],
    ['a time too long', `${goodJail}bantime = 2y`],
    ['a time of nothing', `${goodJail}findtime = 0`],
    ['findtime for ever', `${goodJail}findtime = -1`],
    ['maxretry 0', `${goodJail}maxretry = 0`],
    ['maxretry 1001', `${goodJail}maxretry = 1001`],
    ['maxretry in words', `${goodJail}maxretry = five`],
    ['a variable in a number', `${goodJail}maxretry = %(known/maxretry)s`],
    ['a factor that is a program', `${goodJail}bantime.factor = 1 if 1 else 2`],
    ['names as they stand in the log', `${goodJail}usedns = raw`],
    ['names as they stand in the log, in capitals', `${goodJail}UseDNS = RAW`],
    ['a shell in a port', '[app]\nport = ssh; id'],
    ['a shell in a protocol', '[app]\nprotocol = tcp $(id)'],
    ['ports the wrong way round', '[app]\nport = 90:80'],
    ['a port that is none', '[app]\nport = 65536'],
    ['sixteen ports', `[app]\nport = ${Array.from({ length: 16 }, (_, n) => n + 1).join(',')}`],
    ['a relative path', '[app]\nlogpath = app.log'],
    ['a path elsewhere', '[app]\nlogpath = /etc/shadow'],
    ['a path that climbs', '[app]\nlogpath = /var/log/../../etc/shadow'],
    ['a folder', '[app]\nlogpath = /var/log/'],
    ['a value that would be a comment', `${goodJail}failregex=;x <HOST>`],
    ['a path with a blank', '[app]\nlogpath = /var/log/a /etc/shadow'],
    ['a path with a variable within', '[app]\nlogpath = /var/log/%(action)s'],
    ['a variable that is no path', '[app]\nlogpath = %(action_mwl)s'],
    ['a backend with options', '[app]\nbackend = systemd[journalfiles="/tmp/x"]'],
    ['a backend that is none', '[app]\nbackend = python'],
    ['quotes in a journalmatch', "[app]\njournalmatch = _COMM='a b'"],
    ['an encoding that is none', `${goodJail}logencoding = nosuch`],
    ['a zone that is none', `${goodJail}logtimezone = Europe/Berlin`],
    ['a filter with options', '[app]\nfilter = sshd[mode=ddos, port=1]', ''],
    ['a filter with another mode', '[app]\nfilter = sshd[mode=x]', ''],
    ['a journal with other options', '[app]\nbackend = systemd[journalpath=/etc]'],
    ['a filter by path', '[app]\nfilter = ../action.d/x', ''],
    ['a filter of a template', '[app]\nfilter = stockade-other', ''],
    ["another filter beside one's own", `${goodJail}filter = sshd`],
    ['a tag where none belongs', `${goodJail}mode = <failregex>`],
    ['NUL', `${goodJail}mode = a\u0000b`],
    ['CR within a line', `${goodJail}mode = a\raction = x`],
    ['a line separator', `${goodJail}mode = a\u2028action = x`],
    ['NEL', `${goodJail}mode = a\u0085action = x`],
    ['a form feed', `${goodJail}mode = a\faction = x`],
    ['a byte-order mark', `\ufeff${goodJail}`],
    ['a blank of no width', `${goodJail}mo\u200bde = a`],
    ['a hard blank', `${goodJail}\u00a0action = x`],
    ['half a character', `${goodJail}mode = \ud800`],
    ['a tab in a line', `${goodJail}failregex = ^a\tb <HOST>`],
    ['a line without end', `${goodJail}failregex = ^${'a'.repeat(9000)} <HOST>`],
    ['too many lines', `${goodJail}${'\n'.repeat(2001)}`],
  ] as [string, string, string?][])('%s', (_, jail, filter) => expect(errors(jail, filter)).not.toEqual([]))
  test('a name that is not the template’s', () => {
    expect(errors(goodJail, goodFilter, 'app')).toEqual([])
    expect(errors(goodJail, goodFilter, 'other')).toMatchObject([{ file: 'jail', line: 1 }])
  })
})

describe('bad filters', () => {
  test.each([
    ['no [Definition]', '[Init]\nmaxlines = 1'],
    ['no failregex', '[Definition]\nignoreregex = a'],
    ['[DEFAULT]', `[DEFAULT]\n_x = 1\n${goodFilter}`],
    ['another section', `${goodFilter}[sshd]\nx = 1`],
    ['an action', filterOf('actionban = rm -rf /')],
    ['an option that is none', filterOf('logtype = file')],
    ['a variable with a question', filterOf('_x?family=inet6 = 1')],
    ['an include by path', `[INCLUDES]\nbefore = /etc/passwd\n${goodFilter}`],
    ['an include that climbs', `[INCLUDES]\nbefore = ../jail.conf\n${goodFilter}`],
    ['an include of a stranger', `[INCLUDES]\nbefore = mine.conf\n${goodFilter}`],
    ['an include after', `[INCLUDES]\nafter = common.conf\n${goodFilter}`],
    ['a second include that is evil', `[INCLUDES]\nbefore = common.conf\n  /etc/passwd\n${goodFilter}`],
    ['a variable of others', regexOf('^%(action)s <HOST>$')],
    ['the known ones', regexOf('^%(known/failregex)s <HOST>$')],
    ["another section's", regexOf('^%(sshd/filter)s <HOST>$')],
    ['a variable that is not there', regexOf('^%(_nothing)s <HOST>$')],
    ["the engine's prefix without its include", regexOf('^%(__prefix_line)s <HOST>$')],
    ['a circle', filterOf('_a = %(_b)s\n_b = %(_a)s\nignoreregex = %(_a)s')],
    ['a circle of tags', filterOf('_a = <_b>\n_b = <_a>\nignoreregex = <_a>')],
    ['a tag that is itself', regexOf('^<failregex> <HOST>$')],
    ['a tag that reaches elsewhere', regexOf('^<known/failregex> <HOST>$')],
    ['a tag that reaches elsewhere, in capitals', regexOf('^<KNOWN/failregex> <HOST>$')],
    ['a tag of the jail', regexOf('^<action> <HOST>$')],
    ['a tag of an included file', `[INCLUDES]\nbefore = sshd.conf\n${regexOf('^<cmnfailre> <HOST>$')}`],
    [
      'a variable that is made of what it is part of',
      `[INCLUDES]\nbefore = common.conf\n${regexOf('^<HOST>$')}_daemon = %(__prefix_line)s`,
    ],
    ['an empty prefregex', filterOf('prefregex =')],
    ['an empty datepattern', filterOf('datepattern =')],
    ['a single percent sign', regexOf('^100% <HOST>$')],
    ['a percent sign at the end', regexOf('^<HOST> %')],
    ['nobody', regexOf('^failed$')],
    ['an id', regexOf('^id <F-ID>.+</F-ID>$')],
    ['an id by itself', regexOf('^id <F-ID/>$')],
    ['an id beside an address', regexOf('^<HOST> <F-ID>.+</F-ID>$')],
    ['an id, spelled by a variable', filterOf('_x = ID\nignoreregex = ^<F-%(_x)s>.+</F-%(_x)s>')],
    ['an id, spelled by a tag', filterOf('_x = F-ID\nignoreregex = ^<<_x>>.+</<_x>>')],
    ['an id, before the prefix', filterOf('prefregex = ^<F-ID>.+</F-ID><F-CONTENT>.+</F-CONTENT>$')],
    ['an id within a name', regexOf('^a\\(?P<F-ID>.+)<HOST>$')],
    ['a connection', regexOf('^<F-MLFID>.+</F-MLFID> <HOST>$')],
    ['another name of an id', regexOf('^<F-ALT_ID>.+</F-ALT_ID> <HOST>$')],
    ['a part of an id', regexOf('^<F-TUPLE_ID>.+</F-TUPLE_ID> <HOST>$')],
    ['an address by another tag', regexOf('^<F-IP4/>$')],
    ...['fid', 'id', 'ip', 'ip4', 'ip6', 'dns', 'cidr', 'mlfid', 'alt_fid', 'tuple_id_1', 'matches', 'failures'].map(
      name => [`a group ${name}`, regexOf(`^(?P<${name}>.+)$`)] as [string, string],
    ),
    ['two hosts', regexOf('^<HOST> to <HOST>$')],
    ['a host and its address', regexOf('^<HOST> <IP4>$')],
    ['an open group', regexOf('^(a <HOST>')],
    ['a closed group', regexOf('^a) <HOST>')],
    ['an open class', regexOf('^[a <HOST>')],
    ['a range the wrong way round', regexOf('^[z-a] <HOST>')],
    ['a class in a range', regexOf('^[\\w-z] <HOST>')],
    ['nothing to repeat', regexOf('^* <HOST>')],
    ['nothing to repeat, counted', regexOf('{2} <HOST>')],
    ['repeated twice', regexOf('^a** <HOST>')],
    ['possessive', regexOf('^a++ <HOST>')],
    ['atomic', regexOf('^(?>a) <HOST>')],
    ['a group of another language', regexOf('^(?<n>a) <HOST>')],
    ['an escape of another language', regexOf('^\\pL <HOST>')],
    ['the end of another language', regexOf('^a\\z <HOST>')],
    ['a backslash at the end', regexOf('^<HOST>\\')],
    ['a backslash before a tag', regexOf('^\\<HOST>$')],
    ['a part of a tag repeated', regexOf('^<ADDR>{2} x$')],
    ['a tag in a class', regexOf('^[<HOST>]$')],
    ['a tag as a name', regexOf('^(?P<HOST>a)$')],
    ['flags in the middle', regexOf('^a(?i)b <HOST>')],
    ['verbose', regexOf('(?x)^a <HOST>')],
    ['a group that is not there', regexOf('^\\1 <HOST>')],
    ['a name that is not there', regexOf('^(?P=n) <HOST>')],
    ['a look behind of any length', regexOf('^(?<=a+)b <HOST>')],
    ['a tag not closed', regexOf('^<F-USER>a <HOST>')],
    ['a count the wrong way round', regexOf('^a{3,2} <HOST>')],
    ['a count beyond reason', regexOf('^a{99999} <HOST>')],
    ['a thousand groups in one another', regexOf(`^${'('.repeat(1000)}a${')'.repeat(1000)} <HOST>`)],
    ['a private character', regexOf('^\ue000 <HOST>')],
    ['a conversion that is none', filterOf('datepattern = %%Q')],
    ['a conversion twice', filterOf('datepattern = %%d %%d')],
    ['a date with an open group', filterOf('datepattern = (%%Y')],
    ['maxlines of nothing', filterOf('maxlines = 0')],
    ['ignoreregex broken', filterOf('ignoreregex = (')],
    ['prefregex broken', filterOf('prefregex = ^(')],
    ['prefregex in lines', filterOf('prefregex = ^a\n   ^b')],
  ])('%s', (_, filter) => expect(errors(goodJail, filter)).not.toEqual([]))
})

test('the filter of Nextcloud’s manual passes: each turn of its repetition takes a name in quotes', () => {
  const filter = String.raw`[Definition]
_groupsre = (?:(?:,?\s*"\w+":(?:"[^"]+"|\w+))*)
failregex = ^\{%(_groupsre)s,?\s*"remoteAddr":"<HOST>"%(_groupsre)s,?\s*"message":"Login failed:
            ^\{%(_groupsre)s,?\s*"remoteAddr":"<HOST>"%(_groupsre)s,?\s*"message":"Trusted domain error.
datepattern = ,?\s*"time"\s*:\s*"%%Y-%%m-%%d[T ]%%H:%%M:%%S(%%z)?"
`
  expect(errors(goodJail, filter)).toEqual([])
  expect(check(goodJail, filter)).toEqual([])
})
test('a packaged filter passes in each of its modes', () =>
  expect(errors(`${goodJail}filter = sshd[mode=aggressive]`, '')).toEqual([]))

describe('warnings', () => {
  test('of a logpath that the journal’s backend never reads', () =>
    expect(check('[app]\nbackend = systemd\njournalmatch = _COMM=app\nlogpath = /var/log/app.log')).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('never the logpath') },
    ]))
  const warned = (filter: string, jail = goodJail) => {
    expect(errors(jail, filter)).toEqual([])
    return check(jail, filter).map(({ message }) => message)
  }
  test.each([
    ['not anchored', regexOf('a <HOST>$'), /"\^"/],
    ['anchored in one branch only', regexOf('(?:^a|b) <HOST>$'), /"\^"/],
    ['(a+)+', regexOf('^\\s*(a+)+ <HOST>$'), /in several ways/],
    ['(a|a)*', regexOf('^\\s*(?:a|\\w){0,200} <HOST>$'), /several ways/],
    ['.*.*.*', regexOf('^\\s*.*.*.* <HOST>$'), /one another/],
    ['the blank before the host', regexOf('^app: <HOST>$'), /date is cut out/],
    ['a prefix that hands nothing on', '[Definition]\nprefregex = ^a\nfailregex = ^b <HOST>$\n', /F-CONTENT/],
  ])('%s', (_, filter, message) => expect(warned(filter).join('\n')).toMatch(message))
  test.each([
    '^(?:q|q)*! <HOST>$',
    '^(?:ab|a|b)*! <HOST>$',
    '^(?:a{1,3})*! <HOST>$',
    '^(?:b(?:a|a)?)*! <HOST>$',
    '^(?:a|aa)+! <HOST>$',
    '^(\\w+\\s?)*! <HOST>$',
    '^.*.*.*! <HOST>$',
    '(?i)^(?:a|A)*! <HOST>$',
  ])('%s refuses the template', regex => {
    expect(check(goodJail, regexOf(regex))).toContainEqual(expect.objectContaining({ refuses: true }))
  })
  test.each(['^(?:ab|ac)+ <HOST>$', '^(?:[^"\\\\]|\\\\.)*" <HOST>$', '^(?:\\d{1,3}\\.){3} .*x <HOST>$'])(
    '%s does not',
    regex => {
      expect(check(goodJail, regexOf(regex))).toEqual([])
    },
  )
  test('a jail that leaves much to the host', () => {
    expect(warned('', '[app]\nenabled = no').join('\n')).toMatch(/no filter.*no backend.*no logpath.*not enabled/s)
    expect(warned('', '[app]\nfilter = mine\nbackend = auto\nlogpath = /dev/null').join('\n')).toMatch(
      /ships no filter mine/,
    )
  })
  test('an option that is spelled wrong, with the one that is near', () => {
    const said = (line: string) => errors(`${goodJail}\n${line}`, goodFilter).map(({ message }) => message)
    expect(said('bantme = 5')).toEqual(['The option bantme is not one that a template may set. Did you mean bantime?'])
    expect(said('qqqq = 5')).toEqual(['The option qqqq is not one that a template may set.'])
  })
  test('a log that hosts may not want to be read', () => {
    const jail = goodJail.replace('/var/log/app.log', '/var/log/app.log\n  /srv/app/app.log tail')
    expect(warned(goodFilter, jail)).toEqual([
      expect.stringMatching(/\/srv\/app\/app\.log.*outside \/var\/log.*policy\.json/),
    ])
  })
  test('no more than a hundred of them', () => {
    const lines = Array.from({ length: 400 }, (_, n) => `^a${n}`).join('\n  ')
    expect(errors(goodJail, regexOf(lines))).toHaveLength(100)
  })
})

describe('bounded in time', () => {
  const size = 64 * 1024
  const fill = (piece: string, most = size) => piece.repeat(Math.floor(most / piece.length))
  const lined = (piece: string) => Array.from({ length: 8 }, () => fill(piece, 8000)).join('\n  ')
  test.each([
    ['percent signs', `[Definition]\nfailregex = ${lined('%%')}`],
    ['open groups', `[Definition]\nfailregex = ${lined('(')}`],
    ['groups', `[Definition]\nfailregex = ${lined('(a)*')}`],
    ['branches', `[Definition]\nfailregex = (${fill('a|', 8000)}b)* <HOST>`],
    ['classes', `[Definition]\nfailregex = ${lined('[^a-z]+')}`],
    ['tags', `[Definition]\nfailregex = ${lined('<F-A>')}`],
    ['strange tags', `[Definition]\nfailregex = ${lined('<a')}`],
    ['comments', `[Definition]\nfailregex = ${lined('(?#')}`],
    ['semicolons', `[Definition]\nfailregex = ${lined(' ;')}`],
    ['repetitions', `[Definition]\nfailregex = ${lined('.*')}`],
    ['deep repetitions', `[Definition]\nfailregex = ${fill('(?:', 170)}a${fill(')+', 110)} <HOST>`],
    ['sections', fill('[a]\n')],
    ['options', Array.from({ length: 1900 }, (_, n) => `o${n}=`).join('\n')],
    ['lines of expressions', `[Definition]\nfailregex = ${fill('^a <HOST>\n  ', 22_000)}`],
    ['dates', filterOf(`datepattern = ${lined('%%Y')}`)],
    [
      'variables that double',
      `[Definition]\n_v0 = aaaaaaaa\n${Array.from({ length: 9 }, (_, n) => `_v${n + 1} = ${`%(_v${n})s`.repeat(9)}`).join('\n')}\nfailregex = ^%(_v9)s <HOST>`,
    ],
    [
      'tags that double',
      `[Definition]\n_v0 = aaaaaaaa\n${Array.from({ length: 9 }, (_, n) => `_v${n + 1} = ${`<_v${n}>`.repeat(9)}`).join('\n')}\nfailregex = ^<_v9> <HOST>`,
    ],
    ['one long line', `[Definition]\n${fill('x')}`],
  ])('%s', (_, filter) => {
    const checks = [goodJail, filter.slice(0, size)].map(jail => () => check(jail, filter.slice(0, size)))
    // What never ends is ended, so that it fails.
    for (const work of checks) runInNewContext('work()', { work }, { timeout: conditionMs })
  })
})

test('warnings crowd out no error', () => {
  const lines = Array.from({ length: 300 }, (_, n) => `a${n} <HOST>`).join('\n  ')
  expect(errors(`${goodJail}action = evil`, regexOf(lines))).toMatchObject([{ file: 'jail', line: 6 }])
})

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'])(
  '%s is a name like any other',
  name => {
    expect(errors(`${goodJail}${name} = x`)).toMatchObject([{ file: 'jail', line: 6 }])
    // What begins with "_" is a variable of the filter's own.
    if (!name.startsWith('_'))
      expect(errors(goodJail, filterOf(`${name} = x`))).toMatchObject([{ file: 'filter', line: 3 }])
    expect(errors(goodJail, regexOf(`^<${name}>(?P<${name}>x) <HOST>(?P=${name})$`))).toEqual([])
    expect(errors(goodJail, regexOf(`^<F-${name.toUpperCase()}>x <HOST>$`))).toHaveLength(1)
  },
)

test('no text makes it throw', () => {
  const likely = fc.string({
    unit: fc.constantFrom(
      ...'[]()<>{}%\\^$.*+?|=:;# \n\tabAF-_0,!/',
      '<HOST>',
      '%(',
      ')s',
      '[Definition]\n',
      'failregex = ',
      '\n  ',
    ),
    maxLength: 200,
  })
  fc.assert(
    fc.property(likely, fc.string({ unit: 'binary', maxLength: 60 }), (text, noise) => {
      for (const given of [
        text,
        noise,
        `[Definition]\nfailregex = ${text}`,
        `[app]\nfailregex = ${text}`,
        filterOf(`datepattern = ${text}`),
      ])
        check(given, given)
    }),
    { numRuns: 200 },
  )
})

test.each([
  ['600', 600],
  ['-1', -1],
  ['10m', 600],
  ['1h 30min', 5400],
  ['1d12h', 129_600],
  ['2 weeks', 1_209_600],
  ['1mo', 2_629_800],
  ['1h-30m', null],
  ['1.5h', null],
  ['', null],
  ['h', null],
  ['1 fortnight', null],
])('%s lasts %s seconds', (text, seconds) => expect(secondsOf(text)).toBe(seconds))

test('the groups of an expression are known', () => {
  expect([...readRegex('^(?P<a>x)<HOST><F-ID/><F-USER>y</F-USER>(?P=a)$').names]).toEqual(
    expect.arrayContaining(['a', 'ip4', 'ip6', 'dns', 'fid', 'user']),
  )
})
