import { expect, it } from 'vitest'
import { sharesOf } from './coverage.tsx'

it.each([
  [
    [40, 0, 0],
    [24, 0, 0],
  ],
  [
    [39, 0, 1],
    [23, 0, 1],
  ],
  [
    [2999, 0, 1],
    [23, 0, 1],
  ],
  [
    [0, 12, 0],
    [0, 12, 0],
  ],
  [
    [1, 2998, 1],
    [1, 22, 1],
  ],
  [
    [10, 10, 0],
    [10, 10, 0],
  ],
  [
    [0, 0, 0],
    [0, 0, 0],
  ],
])('the stakes of %j are %j', (counts, shares) => {
  expect(sharesOf(counts)).toEqual(shares)
})
