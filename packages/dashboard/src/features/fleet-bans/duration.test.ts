import { expect, it } from 'vitest'
import { readLength } from './duration.ts'

it.each([
  ['1h', 3600],
  ['7d', 7 * 86_400],
  ['3650d', 3650 * 86_400],
  ['3651d', null],
  ['perm', -1],
  ['0', null],
  ['soon', null],
])('the length of %j is %j', (typed, seconds) => {
  expect(readLength(typed)).toBe(seconds)
})
