import { expect, it } from 'vitest'
import { ruleStates } from './rules.ts'

const wanted = { min_length: 12, max_length: 20, upper: true, lower: true, digit: true }
const missing = (password: string, of = wanted) =>
  ruleStates(password, of)
    .filter(({ met }) => !met)
    .map(({ rule }) => rule)

it.each([
  ['', ['length', 'lower', 'upper', 'digit']],
  ['Sup3r-secret', []],
  ['Sup3r-secre', ['length']],
  ['Sup3r-secret-and-more', ['length']],
  ['sup3r-secret', ['upper']],
  ['SUP3R-SECRET', ['lower']],
  ['Super-secret', ['digit']],
  // Counted as people count: each of these is one character.
  ['😀😀😀😀😀😀😀😀😀aA1', []],
])('%s lacks %j', (password, rules) => expect(missing(password)).toEqual(rules))
it('asks only for what holds here', () =>
  expect(missing('x'.repeat(12), { ...wanted, upper: false, digit: false })).toEqual([]))
