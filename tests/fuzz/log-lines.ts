import type { randomness } from './templates.ts'

/* Makes up filters, and lines of logs that some of them match: dates of every form in every place, addresses whole and broken. */

type Random = ReturnType<typeof randomness>
export interface SampleCase {
  readonly jail: string
  readonly filter: string
  readonly lines: readonly string[]
}
export const sampleJail = (more = '') =>
  `[sample]\nenabled = true\nfilter = sample\nbackend = auto\nlogpath = /dev/null\n${more}`

const dates = [
  'Nov 20 12:02:07',
  'Nov  2 02:02:07',
  'nov 20 12:02:07',
  'Fri Nov 20 12:05:06.123456 2026',
  'Fri Nov 20 2026 12:05:06.1',
  '2026-11-20 12:00:02,000',
  '2026-11-20T12:31:07.120934+00:00',
  '2026/11/20 12:05:04',
  '2026.12.21 06:43:20',
  '20/Nov/2026:12:40:01 +0000',
  '20-Nov-2026 12:06:04.123',
  '20-Nov-2026 12:05:08 +0000',
  '11/20/2026:01:57:39',
  '01-27-2026 16:22:44.252',
  '23/01/2026 21:59:59',
  '23-01-26 21:59:59',
  '1795176367.123',
  '1795176367',
  '[1795176367]',
  'audit(1795176367.123:24)',
  '12:01:02',
  '<09/16/26@05:03:30>',
  '260322 11:46:11',
  'Nov 20, 2026 12:05:05 PM',
  'Apr-27-26 02:33:06',
  '20260123T215959',
  '20260123 215959.5 +0200',
  'PDT Apr 16 21:05:29',
  'ERROR Nov 20 12:02:07',
  'error Nov 20 12:02:07',
  '+00:00 Jan 23 21:59:59.011 2026',
  '@400000004a32f2e41e8b5d2c',
  '2026-02-31 10:00:00',
  'Nov 31 25:61:61',
  '1998-02-03 10:00:00',
  '2036-02-03 10:00:00',
  '',
]
const around: readonly (readonly [string, string])[] = [
  ['', ''],
  ['', ''],
  ['[', ']'],
  ['', ': '],
  ['(', ')'],
  ['"', '"'],
  ['- ', ' -'],
  ['x', ''],
  ['', 'x'],
  ['  ', ''],
  ['<34>', ''],
  ['t=', ''],
]
const addresses = [
  '203.0.113.7',
  '2001:db8::7',
  '::ffff:198.51.100.9',
  '[2001:db8::1]',
  '2001:0db8:0000:0000:0000:0000:0000:bad1',
  'host.example',
  '203.0.113.7.example',
  'x_y.example',
  '999.1.1.1',
  '198.51.100.3/24',
  '2001:db8::/32',
  '1.2.3',
  '::',
  'abc:',
  '12:30:45',
]
const words = ['login failed from', 'sshd[12]:', 'web1', 'kernel: [12.3]', 'user alice', 'user "bob"', 'FAILED', 'from']
const more = ['ip=', '[]', 'x', '\t', '@vserver_a', '[ID 12 auth.info]', 'sshd(pam)[3]:', '<a.b>']
const foreign = ['é', '\u{1f600}', '\u212a', '\u017f', '٢٠٢٦-11-20 12:00:00', '\u00a0', '\u001c', '\u2028']

const makeLine = (random: Random, ascii: boolean): string => {
  const dated = () => random.pick(around).join(random.pick(dates))
  const parts: string[] = []
  if (random.chance(0.75)) parts.push(dated())
  for (let count = random.below(5); count > 0; count--)
    parts.push(random.pick(!ascii && random.chance(0.2) ? foreign : random.chance(0.7) ? words : more))
  if (random.chance(0.8)) parts.push(random.pick(['login failed from', 'user alice from']), random.pick(addresses))
  if (random.chance(0.3)) parts.push(dated())
  if (random.chance(0.3)) parts.push(random.pick(['end', '.', 'port 22', ...addresses]))
  return parts.join(random.pick([' ', ' ', ' ', '  ', '']))
}

const beginnings = [
  '^\\s*(?:\\S+ )?',
  '',
  '^.*',
  '^\\s*',
  '^',
  '(?i)^.*',
  '^[^f]*',
  '^(?:\\W*\\w+)?',
  '\\b',
  '(?i)',
  '^%(__prefix_line)s',
  '^\\S*\\s',
  '^.{0,30}?',
]
const middles = [
  'from ',
  'failed from ',
  '(?:login|user) \\w+ from ',
  'from\\s+',
  '(?i:FROM) ',
  'f[a-r]{2}m ',
  '(?P<quote>["\\\' ]?)from(?P=quote) ?',
  '(?<=o)m ',
  '(?!x)from ',
  '.*?from ',
  'FROM ',
  '[\\w\\s]+ ',
  '<F-USER>\\w+</F-USER> from ',
  '(a|l)?.*from ',
  '\\D+',
]
const hosts = [
  '<HOST>',
  '<HOST>',
  '<ADDR>',
  '<ADDR>',
  '<IP4>',
  '<IP6>',
  '<DNS>',
  '<SUBNET>',
  '(?:<HOST>)?',
  '<IP4>/<CIDR>',
]
const endings = [
  '$',
  '',
  '\\s*$',
  '\\b',
  '(?: .*)?$',
  '\\Z',
  '.*$',
  '(?=\\s|$)',
  ' (?:port \\d+|end)?$',
  '\\B',
  '(\\d)?',
]
const prefixes = [
  '^.*?<F-CONTENT>(?:login|user).*</F-CONTENT>$',
  '^\\s*(?:\\S+ )?<F-CONTENT>.*</F-CONTENT>',
  '^<F-CONTENT>.+</F-CONTENT>$',
  '^.*from <ADDR>',
  '(?i)^.*?<F-CONTENT>FROM.*</F-CONTENT>$',
]
const datepatterns = [
  '{^LN-BEG}',
  '{^LN-BEG}%%ExY-%%Exm-%%Exd %%H:%%M:%%S',
  '^[^\\[]*\\[({DATE})\n              {^LN-BEG}',
  '{NONE}',
  '%%b %%d %%H:%%M:%%S',
  'EPOCH',
  '{^LN-BEG}EPOCH',
  't={EPOCH}',
  'TAI64N',
  '^\\[{DATE}\\]',
  '**%%H:%%M:%%S**',
  '{UNB}%%H:%%M',
  '(?:%%Z )?%%d/%%b/%%Y:%%H:%%M:%%S %%z',
  '%%I:%%M:%%S(?: %%p)?',
  '%%Y-%%m-%%d(-| |T)%%H',
  '%%Exz %%b',
  '%%Exz %%b %%d',
  '{LEPOCH}',
  'LEPOCH',
  '%%d-%%m-%%y\n  %%H:%%M$',
  '\\[%%d/%%b/%%Y\n    {DATE}',
  '{DEFAULT}',
]

const makeFilter = (random: Random): string => {
  const makeExpression = () => [beginnings, middles, hosts, endings].map(random.pick).join('')
  const fails = Array.from({ length: 1 + random.below(4) }, makeExpression)
  const ignores = random.chance(0.3)
    ? Array.from({ length: 1 + random.below(2) }, () =>
        random.pick(['end$', '2001:db8', 'user alice', '^\\s*x', '\\.7']),
      )
    : []
  const included = fails.some(fail => fail.includes('__prefix_line'))
  return [
    included ? '[INCLUDES]\nbefore = common.conf\n' : '',
    '[Definition]\n',
    included && random.chance(0.7) ? '_daemon = sshd\n' : '',
    random.chance(0.25) ? `prefregex = ${random.pick(prefixes)}\n` : '',
    `failregex = ${fails.join('\n            ')}\n`,
    `ignoreregex = ${ignores.join('\n    ')}\n`,
    random.chance(0.75) ? `datepattern = ${random.pick(datepatterns)}\n` : '',
  ].join('')
}

/** A filter and lines for it, half of the time of ASCII only. */
export const makeSample = (random: Random): SampleCase => {
  const ascii = random.chance(0.5)
  return {
    jail: sampleJail(random.pick(['', '', '', 'usedns = no\n'])),
    filter: makeFilter(random),
    lines: Array.from({ length: 25 }, () => makeLine(random, ascii)),
  }
}
