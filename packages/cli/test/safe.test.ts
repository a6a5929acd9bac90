import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { safe, safeJson, safeLines } from '../src/safe.ts'
import { durationOf, momentOf, spanOf } from '../src/times.ts'

/** What a terminal could act upon, or that turns the direction of what stands around it. */
const dangerous = /[\p{Cc}\p{Cf}\u2028\u2029]/u

test.each([
  ['\u001b[31mred\u001b[0m', '\ufffd[31mred\ufffd[0m'],
  ['\u009b2J\u0007', '\ufffd2J\ufffd'],
  ['two\nlines\tand\r\nmore\rover', 'two lines and more over'],
  ['exe.\u202egpj', 'exe.\ufffdgpj'],
  ['zero\u200bwidth', 'zero\ufffdwidth'],
  ['half \ud800 pair', 'half \ufffd pair'],
  ['Zürich 東京 \u{1f600}', 'Zürich 東京 \u{1f600}'],
])('%j becomes %j', (given, shown) => expect(safe(given)).toBe(shown))

test('output of several lines keeps its lines and nothing else', () =>
  expect(safeLines('a\r\nb\u001b]0;title\u0007\n\tc')).toBe('a\nb\ufffd]0;title\ufffd\n c'))

test('no text brings a control character to a terminal', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(safe(text)).not.toMatch(dangerous)
      expect(safeLines(text).replaceAll('\n', '')).not.toMatch(dangerous)
    }),
  )
})
test('JSON is safe to show and says the same', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), value => {
      const text = safeJson(value)
      expect(text.replaceAll('\n', '')).not.toMatch(dangerous)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
  expect(safeJson({ a: '\u009b\u{e0001}' })).toBe('{\n  "a": "\\u009b\\udb40\\udc01"\n}')
})

test.each([
  ['90', 90],
  ['90s', 90],
  ['30m', 1800],
  ['1h', 3600],
  ['7D', 604_800],
  ['2w', 1_209_600],
  ['1y', 31_557_600],
  ['1 h', 3600],
  ['perm', -1],
  ['-1', -1],
])('a duration of %s', (given, seconds) => expect(durationOf(given)).toBe(seconds))
test.each(['', '0', '1.5h', '366d', 'h', '-2', '1e3', '99999999999'])('%j is no duration', given =>
  expect(() => durationOf(given)).toThrow('Give seconds'),
)

test.each([
  ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ['2026-11-20T09:30Z', '2026-11-20T09:30:00.000Z'],
  ['2026-11-20T09:30:15.5+02:00', '2026-11-20T07:30:15.500Z'],
])('the moment %s', (given, moment) => expect(momentOf(given)).toBe(moment))
test('24h is that long ago', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T12:00:00Z') })
  onTestFinished(() => void vi.useRealTimers())
  expect(momentOf('24h')).toBe('2026-11-20T12:00:00.000Z')
})
test.each(['', 'yesterday', '2026-13-01', '2026-11-20T09:30', '1763631000', '2026-11-20 09:30Z'])(
  '%j is no moment',
  given => expect(() => momentOf(given)).toThrow('Give a time'),
)
test.each([
  [0, '0s'],
  [59, '59s'],
  [3600, '1h'],
  [93_784, '1d 2h'],
])('%i seconds are %s', (seconds, text) => expect(spanOf(seconds)).toBe(text))
