import { lastOf } from '@stockade/contract/spans.ts'
import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { covers, ipText, parseIp, parseRange } from './ip.ts'

describe('one canonical form', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['::', '::'],
    ['0.0.0.0', '0.0.0.0'],
  ])('%s', (given, canonical) => expect(parseIp(given)?.text).toBe(canonical))
})

describe('refused', () => {
  test.each([
    '',
    ' ',
    'localhost',
    '010.0.0.1',
    '1.2.3.04',
    '10.1',
    '1',
    '0x7f.0.0.1',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1.2.3.4:22',
    '[::1]',
    '[::1]:22',
    'fe80::1%eth0',
    '::1%lo',
    '::ffff:01.2.3.4',
    ':::',
    '1::2::3',
    '12345::',
    'g::',
    '1.2.3.4\n',
    '１.2.3.4',
    '1.2.3.4/24',
    '::ffff:1.2.3',
    '-1.2.3.4',
    '1.2.3.-4',
    '1,2,3,4',
    '\u0000',
    '::1\u0000',
  ])('%j', given => expect(parseIp(given)).toBeNull())
})

describe('ranges', () => {
  test.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.0.2.77/32', '192.0.2.77'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['2001:db8:ffff::1/32', '2001:db8::/32'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::ffff:10.1.2.3/64', '::/64'],
    ['192.0.2.1', '192.0.2.1'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])('%s', (given, canonical) => expect(parseRange(given)?.text).toBe(canonical))
  test.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/ 8',
    '/8',
    '10.0.0.0/1e1',
  ])('refused: %s', given => expect(parseRange(given)).toBeNull())
  test('first, last and what lies between', () => {
    const range = parseRange('198.51.100.64/26')
    if (!range) throw new Error('it is a range')
    expect(ipText(lastOf(range), null)).toBe('198.51.100.127')
    const inside = (text: string) => covers(range, parseIp(text) ?? range)
    expect(inside('198.51.100.64') && inside('198.51.100.127')).toBe(true)
    expect(inside('198.51.100.63') || inside('198.51.100.128') || inside('2001:db8::1')).toBe(false)
  })
})

test('any bytes come back from their text, and Node reads the text alike', () => {
  const bytes = fc.oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 }))
  fc.assert(
    fc.property(bytes, given => {
      const text = ipText(given, null)
      const parsed = parseIp(text)
      const mapped =
        given.length === 16 && given.slice(0, 10).every(b => b === 0) && given[10] === 255 && given[11] === 255
      expect(isIP(text)).not.toBe(0)
      expect([...(parsed?.bytes ?? [])]).toEqual([...(mapped ? given.slice(12) : given)])
      expect(parsed && parseIp(parsed.text)?.text).toBe(parsed?.text)
    }),
  )
})

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => void [parseIp(text), parseRange(text)]))
  const likely = fc.string({ unit: fc.constantFrom(...'0123456789abcdef.:/%x'), maxLength: 45 })
  fc.assert(
    fc.property(likely, text => {
      const parsed = parseIp(text)
      if (parsed) expect(isIP(text)).not.toBe(0)
    }),
  )
})
