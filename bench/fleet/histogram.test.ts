import { expect, test } from 'vitest'
import { Histogram } from './histogram.ts'

const of = (samples: readonly number[]) => {
  const histogram = new Histogram()
  for (const sample of samples) histogram.add(sample)
  return histogram
}

test('a percentile is that of the samples, at most 2 % above it', () => {
  const histogram = of(Array.from({ length: 1000 }, (_, index) => index + 1))
  for (const share of [0.01, 0.5, 0.99]) {
    expect(histogram.at(share)).toBeGreaterThanOrEqual(share * 1000)
    expect(histogram.at(share)).toBeLessThanOrEqual(share * 1020)
  }
  expect(histogram.at(1)).toBe(1000)
})

test('percentiles of several processes are those of all samples, not averages', () => {
  const merged = new Histogram()
  // 99 fast samples in one process, one slow sample in the other: the averages of their medians would be 500 ms.
  merged.merge(of(Array.from({ length: 99 }, () => 1)).data())
  merged.merge(of([1000]).data())
  expect(merged.total).toBe(100)
  expect(merged.at(0.5)).toBeCloseTo(1, 1)
  expect(merged.at(0.99)).toBeCloseTo(1, 1)
  expect(merged.at(1)).toBe(1000)
})

test('a sample of no time counts, and nothing measured is not a number', () => {
  expect(of([0]).total).toBe(1)
  expect(of([0]).at(0.5)).toBe(0)
  expect(of([]).at(0.5)).toBeNaN()
})
