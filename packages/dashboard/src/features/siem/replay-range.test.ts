import { expect, it } from 'vitest'
import { rangeOf, readReplaySearch } from './replay-range.ts'

const now = Date.parse('2026-11-20T09:30:00.000Z')

it('a range ends now, or is between two moments', () => {
  const none = { from: '', to: '' }
  expect(rangeOf('day', none, now)).toEqual({ from: '2026-11-19T09:30:00.000Z', to: '2026-11-20T09:30:00.000Z' })
  expect(rangeOf('between', { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' }, now)).toEqual({
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-02T00:00:00.000Z',
  })
  expect(rangeOf('between', { from: '2026-11-02T00:00', to: '2026-11-01T00:00' }, now)).toBeNull()
  expect(rangeOf('between', { from: '2026-11-02T00:00', to: '' }, now)).toBeNull()
})
it.each([
  [{}, {}],
  [{ job: '019a9c4e-7b00-7abc-8def-0123456789ab' }, { job: '019a9c4e-7b00-7abc-8def-0123456789ab' }],
  [{ job: '../settings', other: '1' }, {}],
])('of the address %j it reads %j', (raw, search) => expect(readReplaySearch(raw)).toEqual(search))
