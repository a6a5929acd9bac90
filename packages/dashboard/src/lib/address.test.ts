import { describe, expect, it } from 'vitest'
import { covers, readRange } from './address.ts'

describe('what is an address', () => {
  it.each(['203.0.113.7', '203.0.113.0/24', '2001:db8::1', '2001:db8::/32', '::', '::ffff:203.0.113.7', ' 192.0.2.1 '])(
    '%s is',
    typed => expect(readRange(typed)).not.toBeNull(),
  )
  it.each([
    '',
    '203.0.113',
    '203.0.113.300',
    '203.0.113.07',
    '203.0.113.7/33',
    '203.0.113.7/',
    '203.0.113.7/8/8',
    '2001:db8',
    '2001:db8:::1',
    '1:2:3:4:5:6:7:8:9',
    '2001:db8::g',
    '203.0.113.7:22',
    'fe80::1%eth0',
    'web-01',
  ])('%j is not', typed => expect(readRange(typed)).toBeNull())
})

describe('what covers what', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.7', true],
    ['203.0.113.0/24', '203.0.114.7', false],
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.0/24', false],
    // The same first address, and wider.
    ['203.0.113.0/28', '203.0.113.0/24', false],
    ['2001:db8::/32', '2001:DB8:0:1::5', true],
    ['2001:db8::/32', '2001:db9::', false],
    ['203.0.113.0/24', '::ffff:203.0.113.7', true],
    ['::/0', '203.0.113.7', false],
    ['0.0.0.0/0', '203.0.113.7', true],
    ['nonsense', '203.0.113.7', false],
  ])('%s and %s: %j', (outer, inner, is) => expect(covers(outer, inner)).toBe(is))
})
