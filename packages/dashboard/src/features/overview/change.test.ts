import { expect, it } from 'vitest'
import { changeOf } from './change.ts'

it.each([
  [0, 0, { is: 'same' }],
  [7, 7, { is: 'same' }],
  [7, 0, { is: 'none' }],
  [0, 7, { is: 'less', percent: 100 }],
  [112, 100, { is: 'more', percent: 12 }],
  [100_001, 100_000, { is: 'more', percent: 1 }],
  [1, 100_000, { is: 'less', percent: 99 }],
  [299, 100, { is: 'more', percent: 199 }],
  [1204, 100, { is: 'manifold', times: 12 }],
  [28_561, 1, { is: 'none' }],
])('%i after %i', (count, before, change) => expect(changeOf(count, before)).toEqual(change))
