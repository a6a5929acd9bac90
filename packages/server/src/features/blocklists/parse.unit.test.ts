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
    ['a column', 'a,203.0.113.7,198.51.100.1\n', ['198.51.100.1'], { format: 'csv', column: 3 }],
  ])('%s', (_, text, expected, reading) => expect(entries(text, reading)).toEqual(expected))
})

describe('what is refused, or counted', () => {
  test.each<[string, string, RegExp]>([
    ['a JSON array of millions of values', `[${'{},'.repeat(8_000_000)}{}]`, /JSON of more than 1,000,000 values/],
    ['a JSON array of numbers', `[${'1,'.repeat(1_000_001)}1]`, /JSON of more than 1,000,000 values/],
    ['deep JSON', '['.repeat(20_000_000), /nested deeper than 8 levels/],
    ['damaged JSON', '[{"cidr":', /can’t be read/],
    ['too many lines', '\n'.repeat(1_000_001), /more than 1,000,000 lines/],
    ['too many addresses', '198.51.100.1\n'.repeat(500_001), /more than 500,000 addresses/],
    ['too many addresses of IPv6', '2001:db8::1\n'.repeat(500_001), /more than 500,000 addresses/],
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
