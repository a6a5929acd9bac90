import { describe, expect, it } from 'vitest'
import { isSettled, phaseOf, segmentsOf } from './receipt-state.ts'

const counts = { total: 12, done: 0, failed: 0, cancelled: 0, later: 0 }

describe('the phase of a receipt', () => {
  it.each([
    ['asked', {}],
    ['running', { done: 3 }],
    ['running', { failed: 1 }],
    ['running', { done: 9, later: 2 }],
    ['done', { done: 12 }],
    ['rest-later', { done: 10, later: 2 }],
    ['rest-later', { later: 12 }],
    ['partly-failed', { done: 11, failed: 1 }],
    ['partly-failed', { failed: 2, later: 10 }],
    ['failed', { failed: 12 }],
    ['cancelled', { cancelled: 12 }],
    ['done', { done: 10, cancelled: 2 }],
  ] as const)('is %s for %j', (phase, some) => {
    expect(phaseOf({ ...counts, ...some })).toBe(phase)
  })
  it('does not settle before it is known how many commands there are', () => {
    expect(isSettled(phaseOf({ ...counts, total: 0 }))).toBe(false)
  })
})

describe('the segments of a receipt', () => {
  it('are one a server', () => {
    expect(segmentsOf({ ...counts, done: 10, later: 1 })).toEqual([...Array<string>(10).fill('done'), 'later', 'open'])
  })
  it('stay few for 3,000 servers, and never hide the one that failed', () => {
    const segments = segmentsOf({ total: 3000, done: 2998, failed: 1, cancelled: 0, later: 1 })
    expect(segments.length).toBeLessThanOrEqual(64)
    expect(segments).toContain('failed')
    expect(segments).toContain('later')
  })
})
