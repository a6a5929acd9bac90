import { describe, expect, it } from 'vitest'
import { readId } from './numbers.ts'

describe('the number that an address names', () => {
  it('is made of digits alone', () => {
    expect(readId('1')).toBe(1)
    expect(readId('9007199254740991')).toBe(9_007_199_254_740_991)
  })
  it.each([
    undefined,
    '',
    '0',
    '01',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    ' 1',
    'abc',
    '9007199254740993',
    '99999999999999999999',
  ])('is not %s', text => expect(readId(text)).toBeNull())
})
