import { expect, it } from 'vitest'
import { canonicalIp, isOwnGround, overlaps } from '../src/ip.ts'
import { cleanText, commandOutput, firstBytes, lastBytes } from '../src/text.ts'

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:DB8:0:0:0:0:0:7', '2001:db8::7'],
  ['2001:db8:0:1:0:0:0:1', '2001:db8:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['::', '::'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['::FFFF:0102:0304', '1.2.3.4'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['203.0.113.7/32', '203.0.113.7'],
  ['2001:db8::ffff/32', '2001:db8::/32'],
  ['2001:db8::1/128', '2001:db8::1'],
  ['010.0.0.1', null],
  ['10.1', null],
  ['1.2.3.4:22', null],
  ['fe80::1%eth0', null],
  ['[::1]', null],
  ['1.2.3.4 ', null],
  ['1.2.3.4/33', null],
  ['1.2.3.4/08', null],
  ['1.2.3.4/', null],
  ['example.org', null],
  ['', null],
])('%j is %j', (text, expected) => {
  expect(canonicalIp(text)).toBe(expected)
})

it('knows what overlaps', () => {
  expect(overlaps('10.0.0.0/8', '10.200.1.1')).toBe(true)
  expect(overlaps('10.200.1.1', '10.0.0.0/8')).toBe(true)
  expect(overlaps('10.0.0.0/9', '10.200.1.1')).toBe(false)
  expect(overlaps('2001:db8::/32', '2001:db8:ffff::1')).toBe(true)
  expect(overlaps('0.0.0.0/0', '::1')).toBe(false)
  expect(['127.1.2.3', '::1', 'fe80::1', '0.0.0.0/0', '169.254.1.1'].every(isOwnGround)).toBe(true)
  expect(['203.0.113.1', '2001:db8::1'].some(isOwnGround)).toBe(false)
})

it('cleans text and cuts it at whole characters', () => {
  expect(cleanText('a\u0000\u001b[31mb\r\n\tc\u007f\u0085\ud800x😀')).toBe('a[31mb\n\tc\ufffdx😀')
  expect(lastBytes('äöü', 4)).toBe('öü')
  expect(lastBytes('äöü', 3)).toBe('ü')
  expect(Buffer.byteLength(firstBytes('ä'.repeat(100), 50))).toBeLessThanOrEqual(50)
  expect(firstBytes('ä'.repeat(100), 51)).toMatch(/^ä+\n\[cut\]$/)
  expect(Buffer.byteLength(commandOutput('😀'.repeat(50_000)))).toBeLessThanOrEqual(65_536)
})
