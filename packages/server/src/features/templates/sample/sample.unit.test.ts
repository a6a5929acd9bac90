import { describe, expect, test } from 'vitest'
import { readRegex } from '../validator/regex.ts'
import { blameOf } from './blame.ts'
import { Untriable, plainer, toJavaScript } from './javascript.ts'
import { judgeLines } from './lines.ts'
import { planOf } from './plan.ts'
import { createTrials, readSample } from './trials.ts'

/* What fail2ban itself finds in such lines is asked in tests/engine/samples.long.test.ts. */

const now = Date.UTC(2026, 10, 20)
const jail = '[app]\nenabled = true\nbackend = auto\nlogpath = /var/log/app.log\n'
const regex = (...lines: string[]) => `[Definition]\nfailregex = ${lines.join('\n  ')}\n`
const found = (filter_config: string, lines: readonly string[], more = '') => {
  const plan = planOf({ jail_config: jail + more, filter_config }, now)
  return [...judgeLines(plan, lines)].map(verdict =>
    verdict === null || typeof verdict === 'string' ? verdict : blameOf(verdict, plan.usedns),
  )
}
const many = (date: string) => Array.from({ length: 40 }, (_, n) => `${n}${'x'.repeat(200)}${date}`).join('\n  ')
const somebody = (ip: string | null, name: string | null = null) => ({ ip, name })

describe('an expression of Python in JavaScript', () => {
  const search = (expression: string, text: string) => {
    const script = toJavaScript(readRegex(expression))
    const find = ({ source, flags }: typeof script) => new RegExp(source, flags).exec(text)?.[0] ?? null
    if (/^[\0-\x7f]*$/.test(text)) expect(find(plainer(script))).toBe(find(script))
    return find(script)
  }
  test.each([
    ['a$', 'a\n', 'a'],
    ['a\\Z', 'a\n', null],
    ['a.b', 'a\rb', 'a\rb'],
    ['a.b', 'a\nb', null],
    ['(?s)a.b', 'a\nb', 'a\nb'],
    ['(?m)^b', 'a\nb', 'b'],
    ['\\d+', '٢٠٢٦', '٢٠٢٦'],
    ['\\w+', 'ünïcode', 'ünïcode'],
    ['\\s', '\u001c', '\u001c'],
    ['\\s', '\ufeff', null],
    ['\\bé', 'é', 'é'],
    ['x\\B', 'xé', 'x'],
    ['(?i)straSSe', 'STRAsse', 'STRAsse'],
    ['a(?i:b)c', 'aBc', 'aBc'],
    ['a(?i:b)c', 'aBC', null],
    ['(?i)a(?-i:b)', 'Ab', 'Ab'],
    ['(?i)a(?-i:b)', 'AB', null],
    ['(?P<q>["\'])x(?P=q)', '\'x"', null],
    ['[]a-]+', 'a-]', 'a-]'],
    ['[\\w.]+?$', 'a.b', 'a.b'],
    ['a{,2}b', 'aaab', 'aab'],
    ['(a)\\1', 'aa', 'aa'],
    ['(?<=a)b', 'ab', 'b'],
    ['\\x41\\101\\u0041', 'AAA', 'AAA'],
    ['.', '\u{1f600}', '\u{1f600}'],
  ])('%s in %j', (expression, text, what) => expect(search(expression, text)).toBe(what))
  test.each([
    ['(a)?(?(1)b|c)', /condition/],
    ['(a)?\\1', /need not have taken part/],
    ['(?:(a)|b)\\1', /need not have taken part/],
    ['(?:x|<ADDR>)+', /some turns/],
    ['(?!<ADDR>)a', /\(\?!/],
    ['a<SKIPLINES>b', /several lines/],
  ])('%s is not guessed', (expression, why) => {
    expect(() => toJavaScript(readRegex(expression))).toThrow(Untriable)
    expect(() => toJavaScript(readRegex(expression))).toThrow(why)
  })
})

describe('what a filter finds', () => {
  test('once the date is cut out, and only where it is the date', () => {
    expect(
      found(regex('^\\s*app: <ADDR>'), [
        'Nov 20 12:02:07 app: 192.0.2.1',
        '2026-11-20T12:02:07.5+01:00 app: 192.0.2.2',
        'app: 192.0.2.3',
        'x, then Nov 20 12:02:07 app: 192.0.2.4',
      ]),
    ).toEqual([somebody('192.0.2.1'), somebody('192.0.2.2'), somebody('192.0.2.3'), null])
    expect(found(regex('^<HOST> - - \\[\\] x'), ['192.0.2.5 - - [20/Nov/2026:12:40:01 +0000] x'])).toEqual([
      somebody('192.0.2.5'),
    ])
  })
  test('where the date stood in the line before it is looked for again', () => {
    const lines = ['20/Nov/2026:12:40:01 a from 192.0.2.1', 'x 2026-11-20 12:00:00 b from 192.0.2.1']
    const filter = `${regex('^ a from <ADDR>', '^x  b from <ADDR>')}datepattern = %%d/%%b/%%Y:%%H:%%M:%%S\n  %%Y-%%m-%%d %%H:%%M:%%S\n`
    expect(found(filter, lines)).toEqual([somebody('192.0.2.1'), somebody('192.0.2.1')])
  })
  test('a pattern of its own for dates, none, and seconds', () => {
    const at = (datepattern: string, line: string) =>
      found(`${regex('^(?:t=)? from <ADDR>$')}datepattern = ${datepattern}\n`, [line])[0]
    expect(at('t={EPOCH}', 't=1795176367.123 from 192.0.2.1')).toEqual(somebody('192.0.2.1'))
    expect(at('EPOCH', '1795176367 from 192.0.2.1')).toEqual(somebody('192.0.2.1'))
    expect(at('{NONE}', '1795176367 from 192.0.2.1')).toBe(null)
    expect(at('^%%Y%%m%%d', '20261120 from 192.0.2.1')).toEqual(somebody('192.0.2.1'))
  })
  test('what the engine runs into at a date', () => {
    const at = (datepattern: string, line: string) =>
      found(`${regex('from <ADDR>$')}datepattern = ${datepattern}\n`, [line])[0]
    expect(at('%%I:%%M:%%S(?: %%p)?', '12:00:00 from 192.0.2.1')).toBe(null)
    expect(at('%%I:%%M:%%S(?: %%p)?', '12:00:00 pm from 192.0.2.1')).toEqual(somebody('192.0.2.1'))
    expect(at('%%b %%Y', 'Nov 2026 from 192.0.2.1')).toBe(null)
    expect(found(regex('from <ADDR>$'), ['ERROR Nov 20 12:00:00 from 192.0.2.1'])).toEqual([
      expect.stringContaining('"ERROR"'),
    ])
    expect(found(regex('^\\s+from <ADDR>$'), ['2026-02-31 10:00:00 from 192.0.2.1'])).toEqual([
      expect.stringContaining('may not be one'),
    ])
    expect(found(regex('from <ADDR>$'), ['2026-02-31 10:00:00 from 192.0.2.1'])).toEqual([somebody('192.0.2.1')])
  })
  test('with a prefix, variables, and lines that are ignored', () => {
    const filter =
      '[Definition]\n_who = (?:bob|%(_more)s)\n_more = eve\nprefregex = ^\\s*app: <F-CONTENT>.+</F-CONTENT>$\n' +
      'failregex = ^%(_who)s failed <ADDR>$\n  ^<_more> locked <ADDR>$\nignoreregex = ^eve .*7$\n'
    expect(
      found(filter, [
        'app: bob failed 192.0.2.1',
        'app: eve locked 192.0.2.2',
        'app: eve failed 192.0.2.7',
        'bob failed 192.0.2.4',
      ]),
    ).toEqual([somebody('192.0.2.1'), somebody('192.0.2.2'), null, null])
  })
  test("with the engine's beginning of a line", () => {
    const filter =
      '[INCLUDES]\nbefore = common.conf\n[Definition]\n_daemon = app(?:-\\w+)?\nfailregex = ^%(__prefix_line)sfailed <ADDR>$\n'
    expect(
      found(filter, [
        'Nov 20 12:02:07 host app-x[12]: failed 192.0.2.1',
        'Nov 20 12:02:07 host other[12]: failed 192.0.2.1',
      ]),
    ).toEqual([somebody('192.0.2.1'), null])
  })
  test('the jail has the last word', () => {
    const lines = ['a 192.0.2.1', 'b 192.0.2.2', 'a www.example']
    expect(found(regex('^a <HOST>$'), lines, 'failregex = ^[ab] <HOST>$\nignoreregex = 2$\n')).toEqual([
      somebody('192.0.2.1'),
      null,
      somebody(null, 'www.example'),
    ])
    expect(found(regex('^a <HOST>$'), lines, 'usedns = no\n')).toEqual([somebody('192.0.2.1'), null, null])
  })
  test('a letter whose case two languages see differently is not judged', () => {
    expect(found(regex('(?i)^I from <ADDR>'), ['\u0131 from 192.0.2.1'])).toEqual([expect.stringContaining('Turkish')])
  })
  test.each([
    ['mlfid', regex('^<F-MLFID>\\d+</F-MLFID> <ADDR>'), /several lines/],
    ['alt_', regex('^(?P<alt_ip4>\\d+) <IP6>'), /alt_ip4/],
    ['maxlines', `${regex('^<ADDR>')}[Init]\nmaxlines = 2\n`, /several lines/],
    ['[Init]', `${regex('^<ADDR>')}[Init]\nfailregex = ^b <ADDR>\n`, /\[Init\]/],
    ['a piece of common.conf', `[INCLUDES]\nbefore = common.conf\n${regex('^<ADDR>')}__pid_re = x\n`, /__pid_re/],
    ['many boundaries', regex(...Array.from({ length: 3 }, () => `^(?:${'\\b'.repeat(3000)})?<ADDR>`)), /longer than/],
    ['many dates', `${regex('^<ADDR>')}datepattern = ${many('{DATE}')}\n`, /longer than/],
    ['one date pattern twice', `${regex('^<ADDR>')}datepattern = %%Y\n  %%Y\n`, /twice/],
  ])('%s is not tried', (_, filter, why) => {
    expect(() => found(filter, [])).toThrow(Untriable)
    expect(() => found(filter, [])).toThrow(why)
  })
})

test.each([
  [{ ip4: '192.0.2.1' }, somebody('192.0.2.1')],
  [{ ip4: '999.1.1.1' }, somebody(null)],
  [{ ip6: '2001:DB8:0::1' }, somebody('2001:db8::1')],
  [{ ip6: '2001:db8::1', cidr: '32' }, somebody('2001:db8::/32')],
  [{ ip4: '192.0.2.1', cidr: '77' }, somebody('192.0.2.1')],
  [{ dns: '192.0.2.1' }, somebody('192.0.2.1')],
  [{ dns: 'a.example' }, somebody(null, 'a.example')],
  [{ fid: '[2001:db8::1]' }, somebody('2001:db8::1')],
  [{ fid: 'bob' }, somebody(null)],
  [{ fid: 'bob/eve' }, 'no failure'],
  [{ fid: '20/2026' }, somebody(null)],
  [{ fid: '192.0.2.1/24' }, somebody('192.0.2.0/24')],
  [{ fid: '192.0.2.1/255.255.255.0' }, 'unknown'],
  [{ fid: 'bob', ip4: '192.0.2.1' }, somebody('192.0.2.1')],
] as const)('blamed for %o', (groups, blame) => {
  const none = { ip4: null, ip6: null, dns: null, fid: null, cidr: null }
  expect(blameOf({ ...none, ...groups }, 'warn')).toEqual(blame)
})

test('a sample is cut into lines', () => {
  expect(readSample('')).toEqual([])
  expect(readSample('a')).toEqual(['a'])
  expect(readSample('a\r\n\nb\n')).toEqual(['a', '', 'b'])
})

test('few are tried at once, some wait, and the rest are told', async () => {
  const limits = { start: 5000, run: 250, wait: 5000, memory: 64, atOnce: 1, waiting: 1 }
  const trials = createTrials({ clock: () => now, limits })
  const slow = { jail_config: jail, filter_config: regex('^(?:a|aa)+$|<HOST>') }
  const all = await Promise.all([1, 2, 3].map(() => trials.try(slow, [`${'a'.repeat(4000)}!`])))
  expect(all.map(({ note }) => /longer than 250 ms|Many samples/.exec(note ?? '')?.[0])).toEqual([
    'longer than 250 ms',
    'longer than 250 ms',
    'Many samples',
  ])
  const more = await trials.try({ jail_config: jail, filter_config: regex('^<ADDR>') }, ['192.0.2.1'])
  expect(more).toEqual({ matches: [{ line: 1, matched: true, ip: '192.0.2.1' }], note: null })
})
test('what can not be run is told', async () => {
  const trials = createTrials({ clock: () => now })
  const backwards = regex('^[\\xe9-\\xe0]?<ADDR>')
  expect(await trials.try({ jail_config: jail, filter_config: backwards }, ['192.0.2.1'])).toEqual({
    matches: [],
    note: expect.stringContaining('can not be run here'),
  })
})
