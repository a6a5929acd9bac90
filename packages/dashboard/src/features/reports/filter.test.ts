import { expect, test } from 'vitest'
import { dateAfter, readReportsSearch } from './filter.ts'

test('the address is read, and what makes no sense is left out', () => {
  expect(readReportsSearch({ period: 'month', at: '2026-11-01', tag: 'web' })).toEqual({
    period: 'month',
    at: '2026-11-01',
    tag: 'web',
  })
  expect(readReportsSearch({ period: 'year', at: 'today', tag: '<b>' })).toEqual({})
})

test('dates follow each other over the end of a year', () => {
  expect(dateAfter('2026-12-31', 1)).toBe('2027-01-01')
  expect(dateAfter('2028-03-01', -1)).toBe('2028-02-29')
})
