import { expect, test } from 'vitest'
import { readDuration } from './durations.ts'

test.each([
  ['90', 90],
  ['90s', 90],
  [' 30m ', 1800],
  ['10 min', 600],
  ['1h', 3600],
  ['2 hours', 7200],
  ['an hour', 3600],
  ['7D', 604_800],
  ['a day', 86_400],
  ['1 week', 604_800],
  ['2w', 1_209_600],
  ['1mo', 2_629_800],
  ['1 year', 31_557_600],
  ['365d', 31_536_000],
  ['perm', -1],
  ['Permanent', -1],
  ['forever', -1],
  ['-1', -1],
])('%j', (typed, seconds) => expect(readDuration(typed)).toBe(seconds))

test.each([
  '',
  ' ',
  '0',
  '0d',
  '1.5h',
  '366d',
  '2y',
  'h',
  'a',
  'an',
  'aday',
  '-2',
  '1e3',
  '99999999999',
  '1 fortnight',
  'a a',
])('%j is none', typed => expect(readDuration(typed)).toBeNull())

test('another bound', () => {
  expect(readDuration('10y', 315_576_000)).toBe(315_576_000)
  expect(readDuration('11y', 315_576_000)).toBeNull()
})
