import { expect, it } from 'vitest'
import { endAt, endWords } from './ends.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
it.each([
  ['never', '', null],
  ['hour', '', '2026-11-21T13:00:00.000Z'],
  ['day', '', '2026-11-22T12:00:00.000Z'],
  ['week', '', '2026-11-28T12:00:00.000Z'],
  ['until', '2026-11-21T12:30:00Z', '2026-11-21T12:30:00.000Z'],
  ['until', '', undefined],
  ['until', 'tomorrow', undefined],
  ['until', '2026-11-21T11:59:59Z', undefined],
  ['until', '2037-01-01T00:00:00Z', undefined],
] as const)('%s %s: %s', (kind, until, end) => expect(endAt({ kind, until }, now)).toBe(end))

it.each([
  [null, 'For ever'],
  ['2026-11-21T12:59:10Z', '59 min left'],
  ['2026-11-21T12:00:40Z', '40 s left'],
  ['2026-11-21T11:00:00Z', 'Ending now'],
])('%s: %s', (at, words) => expect(endWords(at, 'For ever', now)).toBe(words))
