import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Measured } from './load.ts'
import { judge, lineOf, median, paired, print, verdictOf } from './report.ts'

/* A goal that nothing was measured for is not met, whatever the goal. */

const aRound = (given: Partial<Measured> = {}): Measured => ({
  ...{ done: 100, errors: 0, firstError: null, seconds: 1, cpuSeconds: 0.01, ownCpuSeconds: 0.01, p50: 2, p99: 9 },
  ...given,
})
const empty = aRound({ done: 0, errors: 3, firstError: 'timed out', p50: 0, p99: 0 })
const printed: string[] = []
let exitCode: typeof process.exitCode
beforeEach(() => {
  printed.length = 0
  exitCode = process.exitCode
  process.exitCode = undefined
  vi.spyOn(process.stdout, 'write').mockImplementation(text => {
    printed.push(String(text))
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = exitCode
})

test('a line is the median of its rounds', () => {
  expect(lineOf('page', [aRound(), aRound({ p50: 4 }), aRound({ p50: 3 })])).toMatchObject({ name: 'page', p50: 3 })
})
test.each([
  ['no round', []],
  ['one round of three without a finished request', [aRound(), empty, aRound()]],
])('a line of %s meets neither a lower nor an upper bound', (_, rounds) => {
  const line = lineOf('statistics', rounds)
  expect(line.name).toBe('statistics (NO SAMPLE)')
  expect(verdictOf('p50, at most', line.p50, 50)).toBe('NO SAMPLE')
  expect(verdictOf('a second, at least', line.rate, 0)).toBe('NO SAMPLE')
  print(line)
  expect(process.exitCode).toBe(1)
})
test('bounds hold at their value', () => {
  expect(verdictOf('p50, at most', 50, 50)).toBe('yes')
  expect(verdictOf('p50, at most', 50.1, 50)).toBe('NO')
  expect(verdictOf('a second, at least', 50, 50)).toBe('yes')
  expect(verdictOf('a second, at least', 49.9, 50)).toBe('NO')
})
test('medians and ratios of nothing are no numbers', () => {
  expect(median([])).toBeNaN()
  expect(paired([], [1, 2])).toBeNaN()
  expect(paired([1], [])).toBeNaN()
})
test('what was not measured is printed as such and fails the bench; a missed goal is only printed', () => {
  judge('errors of all, at most', 3, 0)
  expect(process.exitCode).toBeUndefined()
  judge('errors of all, at most', NaN, 0)
  expect(process.exitCode).toBe(1)
  expect(printed.join('')).toBe(
    '  NO   errors of all, at most 0: 3\n  NO SAMPLE  errors of all, at most 0: nothing was measured\n',
  )
})
