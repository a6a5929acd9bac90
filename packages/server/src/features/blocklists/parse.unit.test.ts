import { describe, expect, test } from 'vitest'
import { entriesOf } from '../../core/entries.ts'
import { parseBlocklist } from './parse.ts'
import type { Reading } from './parse.ts'

const parse = (text: string | Buffer, reading: Partial<Reading> = {}) =>
  parseBlocklist(Buffer.from(text), { format: 'auto', column: null, allowsWide: false, ...reading })
const entries = (text: string, reading?: Partial<Reading>) => [...entriesOf(parse(text, reading).spans)]

describe('what is read', () => {
  test.each<[string, string, readonly string[], Partial<Reading>?]>([
    ['an empty content', '', []],
    ['a last line without its end', '198.51.100.1\n198.51.100.3', ['198.51.100.1', '198.51.100.3']],
    ['lines that end as on Windows', '198.51.100.1\r\n198.51.100.3\r\n', ['198.51.100.1', '198.51.100.3']],
    ['a mark of byte order', '\ufeff198.51.100.1\n', ['198.51.100.1']],
    [
      'ranges in all their forms',
      '198.51.100.0-198.51.100.1\n198.51.100.4 - 198.51.100.5 # two\n198.51.100.8 198.51.100.9\n',
      ['198.51.100.0/31', '198.51.100.4/31', '198.51.100.8/31'],
    ],
    ['doubles and neighbours', '198.51.100.0\n198.51.100.0\n198.51.100.1\n', ['198.51.100.0/31']],
    [
      'a JSON array',
      '[{"cidr":"198.51.100.0/24"},"203.0.113.7",{"type":"metadata"}]',
      ['198.51.100.0/24', '203.0.113.7'],
    ],
    ['a JSON object a line', '{"cidr":"198.51.100.0/24"}\n{"type":"metadata"}\n', ['198.51.100.0/24']],
    ['a hosts file', '127.0.0.1 localhost\n0.0.0.0 203.0.113.7\n', ['203.0.113.7']],
    ['neighbours in their order', '192.0.2.10\n192.0.2.11\n', ['192.0.2.10/31']],
    ['zeros before each part', '192.000.002.010\t187012\t9143\t2026-11-01\t2026-11-27\n', ['192.0.2.10']],
    [
      'exits of Tor',
      'ExitNode 0011BD24\nPublished 2026-11-27 20:11:15\nLastStatus 2026-11-27 23:00:00\nExitAddress 192.0.2.10 2026-11-27 23:07:00\n',
      ['192.0.2.10'],
    ],
    [
      'a set of ipset',
      'create b hash:net family inet\nadd b 198.51.100.0/24 timeout 60\nadd b 203.0.113.1\n',
      ['198.51.100.0/24', '203.0.113.1'],
    ],
    [
      'a list of RouterOS',
      '/ip firewall address-list\nadd address=198.51.100.0/24 comment="a 1" list=x\nadd list=x address=203.0.113.1\n',
      ['198.51.100.0/24', '203.0.113.1'],
    ],
    ['columns of DShield', 'Start\tEnd\tNetmask\n198.51.100.0\t198.51.100.255\t24\t3511\tname\n', ['198.51.100.0/24']],
    ['addresses with ports', '192.0.2.10:443\n[2001:db8::1]:22\n', ['192.0.2.10', '2001:db8::1']],
    ['rules of nginx', 'deny 192.0.2.10;\nallow 198.51.100.0/24;\n', ['192.0.2.10', '198.51.100.0/24']],
    ['rules of Apache', 'Deny from 192.0.2.10\nRequire not ip 198.51.100.0/24\n', ['192.0.2.10', '198.51.100.0/24']],
    ['hosts.deny', 'sshd: 192.0.2.10\nALL: 198.51.100.0/255.255.255.0\n', ['192.0.2.10', '198.51.100.0/24']],
    [
      'PeerGuardian',
      'Some org, Inc.:198.51.100.0-198.51.100.255\nOther:203.0.113.1-203.0.113.1\n',
      ['198.51.100.0/24', '203.0.113.1'],
    ],
    ['items of YAML', '---\n- 192.0.2.10\n- "198.51.100.0/24"\n', ['192.0.2.10', '198.51.100.0/24']],
    ['items in quotes', "'192.0.2.10',\n'198.51.100.0/24',\n", ['192.0.2.10', '198.51.100.0/24']],
    ['semicolons between columns', '1;192.0.2.10;ssh\n2;192.0.2.20;web\n', ['192.0.2.10', '192.0.2.20']],
    [
      'several in a line',
      '192.0.2.10, 192.0.2.20\n192.0.2.30 192.0.2.40 # x\n192.0.2.50;192.0.2.60\n',
      ['192.0.2.10', '192.0.2.20', '192.0.2.30', '192.0.2.40', '192.0.2.50', '192.0.2.60'],
    ],
    ['words behind an address', '192.0.2.10 seen by 192.0.2.20\n', ['192.0.2.10']],
    ['a netmask', '198.51.100.0 255.255.255.0\n', ['198.51.100.0/24']],
    ['rules of iptables', '-A INPUT -s 198.51.100.0/24 -j DROP\n', ['198.51.100.0/24']],
    ['Spamhaus', '; Spamhaus DROP List 2026/11/28\n198.51.100.0/24 ; SBL1\n', ['198.51.100.0/24']],
    [
      'abuse.ch',
      '[{"ip_address":"192.0.2.10","port":443},{"ip_address":"192.0.2.20","hostname":null}]',
      ['192.0.2.10', '192.0.2.20'],
    ],
    [
      'AbuseIPDB',
      '{"meta":{"generatedAt":"2026-11-28T04:00:08+00:00"},"data":[{"ipAddress":"192.0.2.10","abuseConfidenceScore":100}]}',
      ['192.0.2.10'],
    ],
    [
      'ranges of a cloud',
      '{"syncToken":"1","prefixes":[{"ip_prefix":"198.51.100.0/24","region":"eu"}],"ipv6_prefixes":[{"ipv6_prefix":"2001:db8::/48"}]}',
      ['198.51.100.0/24', '2001:db8::/48'],
    ],
    [
      'ranges of another cloud',
      '{"prefixes":[{"ipv4Prefix":"198.51.100.0/24"},{"ipv6Prefix":"2001:db8::/48"}]}',
      ['198.51.100.0/24', '2001:db8::/48'],
    ],
    [
      'service tags',
      '{"values":[{"name":"x","properties":{"region":"","addressPrefixes":["198.51.100.0/24","2001:db8::/48"]}}]}',
      ['198.51.100.0/24', '2001:db8::/48'],
    ],
    ['objects by number', '{"1":[{"ioc_value":"x","ioc":"192.0.2.10:443"}]}', ['192.0.2.10']],
    ['decisions', '{"items":[{"value":"192.0.2.10","scope":"Ip"}]}', ['192.0.2.10']],
    ['a cell with a comma in quotes', '"1","192.0.2.10","a, b"\n', ['192.0.2.10'], { format: 'csv', column: 2 }],
    ['a column', 'a,203.0.113.7,198.51.100.1\n', ['198.51.100.1'], { format: 'csv', column: 3 }],
  ])('%s', (_, text, expected, reading) => expect(entries(text, reading)).toEqual(expected))
})

test('an object of one long line is read whole', () => {
  const prefixes = Array.from({ length: 2000 }, (_, n) => ({
    ip_prefix: `198.${18 + (n >> 10)}.${(n >> 2) & 255}.${(n & 3) * 64}/27`,
  }))
  expect(parse(JSON.stringify({ prefixes }))).toMatchObject({ lines: 2000, invalid: 0 })
})
test('an object without a list is no list, one with an empty list is', () => {
  expect(() => parse('{"error":"rate limit"}')).toThrow('holds no address')
  expect(parse('{"prefixes":[]}')).toMatchObject({ lines: 0, invalid: 0 })
})

describe('what is refused, or counted', () => {
  test.each<[string, Partial<Reading>, object]>([
    ['192.0.2.1\n192.0.2.2\n192.0.2.3\n', {}, { duplicates: 0, invalid: 0, lines: 3 }],
    ['192.0.2.1\n192.0.2.1\n192.0.2.0/24\n192.0.2.0/24\n2001:db8::1\n2001:db8::1\n', {}, { duplicates: 4 }],
    ['192.0.2.1\nnonsense\n010.1.2.3\n192.0.2.300\n', {}, { lines: 1, invalid: 3 }],
    ['"1","192.0.2.1","22"\n"2","none","22"\n', { format: 'csv', column: 2 }, { lines: 1, invalid: 1 }],
    ['id,address,port\n1,192.0.2.1,22\n', { format: 'csv', column: 2 }, { lines: 1, invalid: 0 }],
    ['[{"ip":"192.0.2.1"},{"name":"x"},7]', {}, { lines: 1, invalid: 2 }],
  ])('%j counts what it holds', (text, reading, counts) => expect(parse(text, reading)).toMatchObject(counts))
  test('a first line of CSV that holds a number is no header, so it does not vanish', () =>
    expect(() => parse('"1","none, 192.0.2.1","22"\n', { format: 'csv', column: 2 })).toThrow('holds no address'))
  test('the first line that is not understood is named by what it looks like', () =>
    expect(() => parse('# list\nSecret 42: no\n')).toThrow('Line 2 is not understood: it looks like "aaaaaa 00: aa"'))
  test('the first ten lines that are not understood are told by number and form', () => {
    const lines = Array.from({ length: 12 }, (_, n) => `host-${n}`)
    const { unread } = parse(`192.0.2.1\n192.0.2.3\n${lines.join('\n')}\n${'198.51.100.7\n'.repeat(20)}`)
    expect(unread).toHaveLength(10)
    expect([unread[0], unread[9]]).toEqual([
      { line: 3, form: 'aaaa-0' },
      { line: 12, form: 'aaaa-0' },
    ])
  })

  test.each<[string, string, RegExp]>([
    ['a JSON array of millions of values', `[${'{},'.repeat(8_000_000)}{}]`, /JSON of more than 1,000,000 values/],
    ['a JSON array of numbers', `[${'1,'.repeat(1_000_001)}1]`, /JSON of more than 1,000,000 values/],
    ['deep JSON', '['.repeat(20_000_000), /nested deeper than 8 levels/],
    ['damaged JSON', '[{"cidr":', /can’t be read/],
    ['too many lines', '\n'.repeat(1_000_001), /more than 1,000,000 lines/],
    ['too many addresses', '198.51.100.1\n'.repeat(500_001), /more than 500,000 addresses/],
    ['bytes that are no text', '198.51.100.1\0', /not text/],
  ])('%s', (_, text, reason) => expect(() => parse(text)).toThrow(reason))

  test('a range has as much white space around its dash as it likes', () =>
    expect(entries(`198.51.100.0${' '.repeat(2000)}-${' '.repeat(2000)}198.51.100.1`)).toEqual(['198.51.100.0/31']))

  const wide = ['8.0.0.0/15', '8.0.0.0-8.1.0.0', '2001:db8::/31', '2001:db8:: - 2001:db9::']
  test.each(wide)('%s is left out unless the list takes wide ranges', text => {
    expect(parse(`203.0.113.7\n${text}`)).toMatchObject({ too_wide: 1, lines: 1 })
    expect(parse(`203.0.113.7\n${text}`, { allowsWide: true })).toMatchObject({ too_wide: 0, lines: 2 })
  })
  test.each(['8.0.0.0/7', '8.0.0.0-9.0.0.0', '2001::/18', '0.0.0.0/0', '::/0'])('%s is always too wide', text =>
    expect(parse(`203.0.113.7\n${text}`, { allowsWide: true })).toMatchObject({ too_wide: 1, lines: 1 }),
  )
})
